"""Read Snakemake's metadata of finished steps: rule, inputs, outputs, times."""

import base64
import contextlib
import json
import re
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

RESULTS = "results/"
NOTES = ".snakemake/metadata"  # folder of Snakemake's metadata, next to the results

_LOGS = f"{RESULTS}logs/"
_NOTED = ("rule", "input", "log", "params", "input_checksums")
_OURS = re.compile(r"(?:^|.*/)(workflow/resources/.+|workflow/schemas/.+)")


def portable(path: str) -> str:
    """Return a path that is equal in a checkout and in an installed package with the workflow."""
    match = _OURS.fullmatch(path)
    return match[1] if match else path


def read_notes(folder: Path, keys: Collection[str] = _NOTED) -> dict[str, dict[str, Any]]:
    """Return Snakemake's metadata of finished steps, by the path of each output."""
    notes = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        coded = "".join(part.removeprefix("@") for part in file.relative_to(folder).parts)
        with contextlib.suppress(ValueError, KeyError):  # a file of no output, or that is being written
            note = json.loads(file.read_text(encoding="utf-8"))
            if not note.get("incomplete"):
                output = base64.urlsafe_b64decode(coded).decode()
                notes[output] = {key: note[key] for key in keys}
    return notes


def noted_times(results: Path) -> tuple[str, str] | tuple[()]:
    """Return the start of the first and the end of the last job of a run; () without metadata."""
    notes = _job_notes(results, "starttime", "endtime")
    if not notes:
        return ()
    return in_utc(min(note["starttime"] for note in notes)), in_utc(max(note["endtime"] for note in notes))


def made_jobs(results: Path) -> dict[str, str]:
    """Return the rules of the jobs that were run here, by the paths of their logs.

    The paths omit ``results/logs/`` and the suffix.
    """
    return {
        PurePosixPath(note["log"][0].removeprefix(_LOGS)).with_suffix("").as_posix(): note["rule"]
        for note in _job_notes(results, "rule")
    }


def _job_notes(results: Path, *keys: str) -> list[dict[str, Any]]:
    notes = read_notes(results.parent / NOTES, ("log", *keys)).items()
    logged = [note for output, note in notes if output.startswith(RESULTS) and note["log"]]
    return [note for note in logged if note["log"][0].startswith(_LOGS)]


def in_utc(seconds: float) -> str:
    """Format a POSIX time in UTC, to the second."""
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()
