"""Write and read the manifest of a run: inputs, code, outputs and machine."""

import hashlib
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from biaslab.core.errors import InputError
from biaslab.core.files import parse_json, read_text, write_json
from biaslab.run.record.notes import in_utc, noted_times
from biaslab.run.record.provenance import environment, sha256_file
from biaslab.run.record.resources import write_resources

AUDIT = "audit/"  # the audit in a results folder

MANIFEST = f"{AUDIT}manifest.json"  # path of the manifest in a results folder

CLAIMS = f"{AUDIT}claims.tsv"  # path of the measured claims in a results folder

VARIABLE_KEY = "environment"  # the key of entries that may differ between two runs of the same input

STARTED, ENDED = "started", "ended"
"""The keys of the environment for the start of the first job, and for the end of the run."""

TAKEN = "logs/taken.json"
"""Record of the results that a run has taken from another run (`biaslab.run.record.taken`)."""

PLANNED = "logs/planned.json"
"""List of the results of a run's plan. Other results in the folder are of earlier configurations."""

STALE = "logs/stale.json"
"""Record of earlier results that depend on failed steps (`biaslab.run.travel.failures`)."""

_NO_RESULTS = frozenset({"logs", "benchmarks"})
_SHA256 = re.compile("[0-9a-f]{64}")


def write_manifest(
    results: Path,
    out: Path,
    config: Path,
    code: Mapping[str, str],
    inputs: Mapping[str, str | Path],
    known_inputs: Mapping[str, str] | None = None,
    lost: Sequence[str] = (),
) -> None:
    """Record inputs and code of a finished run, the sha256 of each result, and the resources of its jobs.

    `code` are digests by rule, `known_inputs` sha256 of inputs that are not here. Results `lost` to failed
    steps and results that are not `PLANNED` are left out: if such a file exists, an earlier run wrote it.
    """
    earlier = {*lost, *(read_stale(results) if lost else ())}
    names = [name for name in result_files(results) if name not in earlier]
    if (file := results / PLANNED).is_file():
        names = sorted(set(names) & set(json.loads(file.read_text(encoding="utf-8"))))
    outputs = [name for name in names if (results / name).resolve() != out.resolve()]
    digests = {name: sha256_file(results / name) for name in outputs}
    manifest = make_manifest(config, code, inputs, digests)
    manifest["inputs"] |= known_inputs or {}
    if times := noted_times(results):
        manifest[VARIABLE_KEY][STARTED] = times[0]
    manifest[VARIABLE_KEY][ENDED] = in_utc(time.time())
    if (file := results / TAKEN).is_file():
        manifest[VARIABLE_KEY]["taken"] = json.loads(file.read_text(encoding="utf-8"))
    write_json(out, manifest)
    write_resources(results)


def read_stale(results: Path) -> list[str]:
    """Return the earlier results that depend on failed steps."""
    file = results / STALE
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []


def make_manifest(
    config: Path, code: Mapping[str, str], inputs: Mapping[str, str | Path], outputs: Mapping[str, str]
) -> dict[str, Any]:
    """Return the manifest of a run, as in `write_manifest`; `outputs` are the digests of results."""
    settings = parse_json(read_text(config, "configuration"))
    return {
        VARIABLE_KEY: environment(),
        "config": settings,
        "config_sha256": _sha256_json(settings),
        "code": dict(code),
        "inputs": {name: _sha256_input(Path(path)) for name, path in inputs.items()},
        "outputs": dict(outputs),
    }


def result_files(results: Path) -> list[str]:
    """Return the sorted relative paths of a results folder, without logs, benchmarks and hidden files."""
    if not results.is_dir():
        raise InputError(f"{results}: no such folder; name a folder of results")
    paths = []
    for folder, subfolders, files in os.walk(results):
        subfolders[:] = [name for name in subfolders if name not in _NO_RESULTS and not name.startswith(".")]
        relative = Path(folder).relative_to(results)
        paths += [(relative / name).as_posix() for name in files if not name.startswith(".")]
    return sorted(paths)


def _sha256_json(value: object) -> str:
    """Return the sha256 of a value's JSON with sorted keys and no spaces."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _sha256_input(path: Path) -> str:
    """Return the sha256 of a file, or of the names and sha256 of the files in a folder."""
    if path.is_dir():
        return _sha256_json({name: sha256_file(path / name) for name in result_files(path)})
    return sha256_file(path)


def read_manifest(results: Path) -> dict[str, Any]:
    """Read and check the manifest of a results folder, which may be untrusted."""
    file = results / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{file}: {error.strerror}; run the workflow to its end, the last step writes this file"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: not readable JSON ({error}); run the workflow again") from error
    for key in (VARIABLE_KEY, "config", "code", "inputs", "outputs"):
        if not isinstance(manifest, dict) or not isinstance(manifest.get(key), dict):
            raise InputError(f"{file}: the mapping '{key}' is missing; name the results folder of a run")
    for name, digest in manifest["outputs"].items():
        if not is_inside(name):
            raise InputError(f"{file}: the output {name!r} is not a path inside the results folder; refused")
        if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
            raise InputError(f"{file}: the output '{name}' has no sha256; run the workflow again")
    return manifest


def is_inside(name: str) -> bool:
    """Return whether a relative path with slashes stays inside its base folder."""
    path = PurePosixPath(name)
    is_plain = path.as_posix() == name and not set(name) & {"\\", ":"} and name.isprintable()
    return is_plain and name != "." and not path.is_absolute() and ".." not in path.parts
