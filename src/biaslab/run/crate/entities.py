"""Entities of a crate's graph, and what describes them."""

import base64
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote

from biaslab.run.crate.contents import Packed

if TYPE_CHECKING:
    from rocrate.model import Entity
    from rocrate.rocrate import ROCrate

_TYPES = {
    ".bz2": "application/x-bzip2",
    ".cff": "application/yaml",
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".html": "text/html",
    ".json": "application/json",
    ".lock": "text/plain",
    ".md": "text/markdown",
    ".npz": "application/zip",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".py": "text/x-python",
    ".rst": "text/x-rst",
    ".sh": "application/x-sh",
    ".smk": "text/x-python",
    ".svg": "image/svg+xml",
    ".tex": "text/x-tex",
    ".toml": "application/toml",
    ".tsv": "text/tab-separated-values",
    ".yaml": "application/yaml",
}
"""By suffix. The standard library's types depend on the machine."""
_TEXT, _BYTES = "text/plain", "application/octet-stream"
_TEXTS = {"", ".txt", ".mplstyle", ".j2", ".typed"}


def add(crate: "ROCrate", identifier: str, kind: str, /, **properties: object) -> "Entity":
    """Add an entity that is no file of the crate."""
    from rocrate.model import ContextEntity

    return crate.add(ContextEntity(crate, identifier, {"@type": kind, **properties}))


def add_elsewhere(crate: "ROCrate", identifier: str, /, **properties: object) -> "Entity":
    """Add a file that lies elsewhere; its identifier is an absolute address."""
    from rocrate.model import DataEntity

    return crate.add(DataEntity(crate, identifier, {"@type": "File", **properties}))


def file_at(crate: "ROCrate", place: str) -> "Entity | None":
    """Return a file or folder of the crate, None where it has none at this place."""
    return crate.get(quote(place))


def named(name: str, version: str) -> dict[str, str]:
    """Return what describes software."""
    return {"name": name, "softwareVersion": version}


def file_properties(packed: Packed) -> dict[str, object]:
    """Return what describes a file of the crate."""
    return {
        "name": packed.place,
        "sha256": packed.sha256,
        "contentSize": str(packed.source.stat().st_size),
        "encodingFormat": media_type(packed.place),
    }


def media_type(name: str) -> str:
    """Return the media type of a file by its name, the same on every machine."""
    suffix = PurePosixPath(name).suffix
    return _TYPES.get(suffix) or (_TEXT if suffix in _TEXTS else _BYTES)


def digest_address(digest: str, name: str) -> str:
    """Return the address (RFC 6920) of content with this sha256; the name keeps equal contents apart."""
    encoded = base64.urlsafe_b64encode(bytes.fromhex(digest)).decode().rstrip("=")
    return f"ni:///sha-256;{encoded}?name={quote(name)}"


def iso(moment: datetime) -> str:
    """Return a time as the profile wants it."""
    return moment.isoformat(timespec="seconds")
