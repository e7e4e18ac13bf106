"""Write a run as a folder or archive for others: a Workflow Run Crate."""

import json
import shutil
import tempfile
import zipfile
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from biaslab.core.errors import InputError
from biaslab.core.files import atomic_path, write_json, write_text
from biaslab.run.crate import ARCHIVE, METADATA, RESULTS
from biaslab.run.crate.contents import Packed, Record, read_record, workflow_files
from biaslab.run.crate.graph import describe
from biaslab.run.manifest import MANIFEST
from biaslab.run.provenance import sha256_file
from biaslab.run.records import RECORDS, records_text

_LEVEL = 6
_IS_FOLDER = 0x10  # attribute of MS-DOS


def write_crate(
    results: Path, out: Path, root: Path, more: Collection[str] = (), leave_out: Collection[str] = ()
) -> list[str]:
    """Write the crate of a run, with equal bytes for equal runs; return notices for its readers.

    `out` is an archive (``.zip``), which replaces an existing one, or a new folder. With `more` types of
    results (see `biaslab.run.crate.contents.is_packed`), another run can continue from the crate. For results
    that match a pattern in `leave_out`, the crate contains only digests.
    """
    if out.resolve().is_relative_to(results.resolve()):
        raise InputError(f"{out}: lies in the results folder; name another place")
    _check_new(out)
    return write_record(read_record(results, more, leave_out), out, root)


def _check_new(out: Path) -> None:
    if out.suffix != ARCHIVE and out.exists():
        raise InputError(f"{out}: already exists; name a new folder or an archive ({ARCHIVE})")


def write_record(record: Record, out: Path, root: Path) -> list[str]:
    """Write the crate of a run from its record."""
    _check_new(out)
    with tempfile.TemporaryDirectory(prefix="biaslab-crate-") as folder:
        files = [*workflow_files(root), *_written(record, Path(folder))]
        metadata, notices = describe(record, files, root)
        text = json.dumps(metadata, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        packed = sorted([*files, *record.outputs], key=lambda file: file.place)
        if out.suffix == ARCHIVE:
            _write_archive(out, packed, text, _folders(metadata), record.ended)
        else:
            _write_folder(out, packed, text, _folders(metadata))
    return notices


def _written(record: Record, folder: Path) -> list[Packed]:
    """Write additional files to a folder: records of steps, and the manifest of an unfinished run."""
    files = {}
    if record.steps:
        files[RECORDS] = folder / RECORDS
        write_text(files[RECORDS], records_text(record.steps))
    if not record.is_whole:
        files[f"{RESULTS}/{MANIFEST}"] = folder / MANIFEST
        write_json(folder / MANIFEST, record.manifest)
    return [Packed(place, file, sha256_file(file)) for place, file in files.items()]


def _folders(metadata: Mapping[str, Any]) -> list[str]:
    """Return the folders in the metadata, because readers expect an entry for each of them."""
    names = (entity["@id"] for entity in metadata["@graph"])
    return sorted(name for name in names if name.endswith("/") and name != "./" and ":" not in name)


def _write_archive(
    out: Path, packed: Sequence[Packed], metadata: str, folders: Sequence[str], ended: datetime
) -> None:
    """Write a zip archive with sorted members, all dated to the end of the run."""
    time = max(ended.timetuple()[:6], (1980, 1, 1, 0, 0, 0))
    with atomic_path(out) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for place, source in [(METADATA, None), *((file.place, file.source) for file in packed)]:
            member = zipfile.ZipInfo(place, time)
            member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            data = metadata.encode() if source is None else source.read_bytes()
            archive.writestr(member, data, compresslevel=_LEVEL)
        for folder in folders:
            member = zipfile.ZipInfo(folder, time)
            member.external_attr = 0o40755 << 16 | _IS_FOLDER
            archive.writestr(member, b"")


def _write_folder(out: Path, packed: Sequence[Packed], metadata: str, folders: Sequence[str]) -> None:
    """Write a temporary folder, and rename it when it is complete."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as temporary:
            folder = Path(temporary, out.name)
            for file in packed:
                place = folder / file.place
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file.source, place)
            for name in folders:
                (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / METADATA).write_text(metadata, encoding="utf-8", newline="\n")
            folder.rename(out)
    except OSError as error:
        raise InputError(
            f"cannot write {out}: {error.strerror}; free space or choose another folder"
        ) from error
