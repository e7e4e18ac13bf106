"""Record the origin of each result of a run: step, digest of the step's code, and inputs.

Snakemake stores the origin as metadata when a step ends. This module reads the metadata and adds a digest of
every file, so that the records can be archived in a crate as `RECORDS`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import MinLen
from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from biaslab.core.errors import InputError
from biaslab.core.files import parse_json
from biaslab.run.record.manifest import MANIFEST, is_inside
from biaslab.run.record.notes import NOTES, RESULTS, portable, read_notes
from biaslab.run.record.provenance import sha256_file

RECORDS = "records.json"  # the file of the records in a crate
FETCH = "fetch_dataset"  # the rule with results that are identified by their registered checksum alone

_CODE = re.compile("'([0-9a-f]{16})'")


def _check_output(name: str) -> str:
    if not (name.startswith(RESULTS) and is_inside(name)):
        raise ValueError("outside the results folder")
    return name


Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Output = Annotated[str, AfterValidator(_check_output)]


@dataclass(frozen=True)
class StepRecord:
    """A step that ran: its inputs and outputs, with the sha256 of each file."""

    rule: str
    code: str  # the digest of the step's code, from `biaslab.run.plan.steps`
    inputs: Mapping[str, Digest | Literal[""]]  # by path, as `portable` writes it
    outputs: Annotated[Mapping[Output, Digest], MinLen(1)]


_RECORDS = TypeAdapter(list[StepRecord])


def code_of(parameters: Iterable[str]) -> str:
    """Return the code digest among Snakemake's parameters of a step; "" for none."""
    codes = [match[1] for parameter in parameters if (match := _CODE.fullmatch(parameter))]
    return codes[0] if len(codes) == 1 else ""


def read_records(
    results: Path, known: Mapping[str, str], older: Sequence[StepRecord] = ()
) -> list[StepRecord]:
    """Return the records of the files in a results folder, in the order of their first outputs.

    A step with an input that changed afterwards is left out, because its results are outdated. `known` are
    sha256 of results, and `older` records of results that were taken from another run and not made again.
    """
    folder = results.parent
    digests = {f"{RESULTS}{name}": digest for name, digest in known.items()}
    taken = {name: digest for record in older for name, digest in record.outputs.items()}
    jobs: dict[tuple, dict[str, Any]] = {}
    for output, note in read_notes(folder / NOTES).items():
        # Other runs take neither copies of data, which are registered, nor the manifest.
        is_taken = output.startswith(RESULTS) and note["rule"] != FETCH and output != f"{RESULTS}{MANIFEST}"
        if is_taken and (folder / output).is_file():
            job = jobs.setdefault((note["rule"], *note["log"]), {"note": note, "outputs": []})
            job["outputs"].append(output)
    made = [_record(job["note"], sorted(job["outputs"]), folder, digests, taken) for job in jobs.values()]
    records = [record for record in made if record is not None]
    outputs = {output for record in records for output in record.outputs}
    records += [old for old in older if outputs.isdisjoint(old.outputs) and _is_current(old, folder, digests)]
    return sorted(records, key=lambda record: min(record.outputs))


def _is_current(record: StepRecord, folder: Path, digests: dict[str, str]) -> bool:
    """Return whether the results in a record, as far as they are here, have its digests."""
    files = {**record.inputs, **record.outputs}
    here = (name for name in files if name.startswith(RESULTS) and (folder / name).is_file())
    return all(files[name] in ("", _digest(name, folder, digests)) for name in here)


def _record(
    note: Mapping[str, Any],
    outputs: list[str],
    folder: Path,
    digests: dict[str, str],
    gone: Mapping[str, str],
) -> StepRecord | None:
    checksums = {name: text.rpartition(":")[2] for name, text in (note["input_checksums"] or {}).items()}
    oldest = min((folder / output).stat().st_mtime for output in outputs)
    inputs = {}
    for name in note["input"]:
        file, digest = folder / name, checksums.get(name, "")
        if file.is_file():
            current = _digest(name, folder, digests)
            if repr(current) in note["params"]:  # data that may have been copied again
                digest = digest or current
            if current != digest and (digest or file.stat().st_mtime > oldest):
                return None
            digest = current
        digest = digest or gone.get(name, "")
        if not digest and not file.is_dir():
            return None
        inputs[portable(name)] = digest
    made = {output: _digest(output, folder, digests) for output in outputs}
    return StepRecord(note["rule"], code_of(note["params"]), inputs, made)


def _digest(name: str, folder: Path, digests: dict[str, str]) -> str:
    if name not in digests:
        digests[name] = sha256_file(folder / name)
    return digests[name]


def records_text(records: Iterable[StepRecord]) -> str:
    """Format records as the text of their file."""
    return json.dumps([asdict(record) for record in records], indent=1, sort_keys=True) + "\n"


def parse_records(text: str, place: str) -> list[StepRecord]:
    """Parse untrusted records; refuse invalid and inconsistent records."""
    try:
        records = _RECORDS.validate_python(parse_json(text))
    except ValidationError as error:
        raise InputError(f"{place}: not a list of step records; download the crate again") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not readable JSON ({error}); download the crate again") from error
    digests: dict[str, str] = {}
    for record in records:
        for output, digest in record.outputs.items():
            if output in digests:
                raise InputError(f"{place}: two steps made {output}; refused")
            digests[output] = digest
    for record in records:
        for name, digest in record.inputs.items():
            if name in digests and digests[name] != digest:
                raise InputError(f"{place}: {min(record.outputs)} was computed from another {name}; refused")
    return records
