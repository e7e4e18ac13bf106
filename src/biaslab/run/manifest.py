"""The manifest of a run: what went in, what ran, what came out, and on which machine."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from biaslab.core.errors import InputError
from biaslab.core.files import write_json
from biaslab.run.provenance import environment, sha256_file

MANIFEST = "audit/manifest.json"
"""Where the manifest lies in a results folder."""

VARIABLE_KEY = "environment"
"""The key of what may differ between two runs of the same input."""

_NO_RESULTS = frozenset({"logs", "benchmarks"})


def write_manifest(
    results: Path,
    out: Path,
    config: Mapping[str, object],
    code: Mapping[str, str],
    inputs: Mapping[str, Path],
) -> None:
    """Write the manifest of a finished run.

    Parameters
    ----------
    results : pathlib.Path
        The results folder; every file in it counts but logs, benchmarks, hidden files and the manifest.
    out : pathlib.Path
        The manifest.
    config : mapping
        The complete configuration.
    code : mapping of str to str
        Digest of the code of each rule.
    inputs : mapping of str to path
        Files or folders that the run read, by name.

    Raises
    ------
    InputError
        When a file cannot be read, or `results` is no folder.
    """
    outputs = [name for name in result_files(results) if (results / name).resolve() != out.resolve()]
    manifest = {
        VARIABLE_KEY: environment(),
        "config": dict(config),
        "config_sha256": _sha256_json(config),
        "code": dict(code),
        "inputs": {name: _sha256_input(path) for name, path in inputs.items()},
        "outputs": {name: sha256_file(results / name) for name in outputs},
    }
    write_json(out, manifest)


def result_files(results: Path) -> list[str]:
    """Return the files of a results folder, relative and sorted, but logs, benchmarks and hidden ones.

    Raises
    ------
    InputError
        When it is no folder.
    """
    if not results.is_dir():
        raise InputError(f"{results}: no such folder; name a folder of results")
    found = []
    for folder, subfolders, files in os.walk(results):
        subfolders[:] = [name for name in subfolders if name not in _NO_RESULTS and not name.startswith(".")]
        relative = Path(folder).relative_to(results)
        found += [(relative / name).as_posix() for name in files if not name.startswith(".")]
    return sorted(found)


def _sha256_json(value: object) -> str:
    """Return the sha256 of a value's JSON with sorted keys and no spaces."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _sha256_input(path: Path) -> str:
    """Return the sha256 of a file, or of the names and sha256 of a folder's files."""
    if path.is_dir():
        return _sha256_json({name: sha256_file(path / name) for name in result_files(path)})
    return sha256_file(path)
