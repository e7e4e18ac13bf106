"""What each result of a run was made by and of: its step, the digest of the step's code, settings, inputs.

Snakemake notes it when a step ends. Here it is read from its notes, with a digest of every file, so that it
can travel: in a crate as `RECORDS`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from biaslab.core.errors import InputError
from biaslab.core.files import parse_json
from biaslab.run.jobs import plain_command
from biaslab.run.manifest import MANIFEST, is_inside
from biaslab.run.notes import NOTES, RESULTS, portable, read_notes
from biaslab.run.provenance import sha256_file

RECORDS = "records.json"
"""The file of a crate that holds them."""
FETCH = "fetch_dataset"
"""The rule whose results are known by their registered checksum alone, wherever they come from."""

_CODE = re.compile("'([0-9a-f]{16})'")
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class StepRecord:
    """A step that was run: what went in and what came out, with the sha256 of each file."""

    rule: str
    code: str  # the digest of the step's code, as `biaslab.run.steps` makes it
    command: str  # as `biaslab.run.jobs.plain_command` returns it; "" in crates of older versions
    inputs: Mapping[str, str]  # by path, as `portable` writes it
    outputs: Mapping[str, str]


def code_of(parameters: Iterable[str]) -> str:
    """Return the digest of the code among the parameters of a step, as Snakemake has them; "" for none."""
    codes = [found[1] for one in parameters if (found := _CODE.fullmatch(one))]
    return codes[0] if len(codes) == 1 else ""


def read_records(
    results: Path, known: Mapping[str, str], older: Sequence[StepRecord] = ()
) -> list[StepRecord]:
    """Return the records of what lies in a results folder, in the order of their first outputs.

    A step one of whose inputs has changed since is left out: its results are not what they seem to be.

    Parameters
    ----------
    known : mapping
        The sha256 of results, by path within the folder, where they need not be computed.
    older : sequence of StepRecord
        Records of results that were taken from elsewhere, which stand where there is no newer one.
    """
    folder = results.parent
    digests = {f"{RESULTS}{name}": digest for name, digest in known.items()}
    gone = {name: digest for record in older for name, digest in record.outputs.items()}
    jobs: dict[tuple, dict[str, Any]] = {}
    for output, note in read_notes(folder / NOTES).items():
        if (folder / output).is_file() and _is_recorded(output, note["rule"]):
            job = jobs.setdefault((note["rule"], *note["log"]), {"note": note, "outputs": []})
            job["outputs"].append(output)
    found = [
        record
        for job in jobs.values()
        if (record := _record(job["note"], sorted(job["outputs"]), folder, digests, gone)) is not None
    ]
    found = [_whole(record, older) for record in found]
    made = {output for record in found for output in record.outputs}
    found += [record for record in older if not made & set(record.outputs)]
    return sorted(found, key=lambda record: min(record.outputs))


def _whole(record: StepRecord, older: Iterable[StepRecord]) -> StepRecord:
    """Return the record of a step that was taken with a part of its outputs as it was before."""
    return next((one for one in older if record.outputs.items() <= one.outputs.items()), record)


def _is_recorded(output: str, rule: str) -> bool:
    """Tell whether others can take a result: no copy of data, which has its checksum, and no manifest."""
    return output.startswith(RESULTS) and rule != FETCH and output != f"{RESULTS}{MANIFEST}"


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
        file, seen = folder / name, checksums.get(name, "")
        if file.is_file():
            now = _digest(name, folder, digests)
            if repr(now) in note["params"]:  # data that may have been copied again since
                seen = seen or now
            if now != seen and (seen or file.stat().st_mtime > oldest):
                return None
            seen = now
        seen = seen or gone.get(name, "")
        if not seen and not file.is_dir():
            return None
        inputs[portable(name)] = seen
    made = {output: _digest(output, folder, digests) for output in outputs}
    command = plain_command(note["shellcmd"] or "")
    return StepRecord(note["rule"], code_of(note["params"]), command, inputs, made)


def _digest(name: str, folder: Path, digests: dict[str, str]) -> str:
    if name not in digests:
        digests[name] = sha256_file(folder / name)
    return digests[name]


def records_text(records: Iterable[StepRecord]) -> str:
    """Return records as the text of their file."""
    return json.dumps([asdict(record) for record in records], indent=1, sort_keys=True) + "\n"


def parse_records(text: str, place: str) -> list[StepRecord]:
    """Read records, which may come from anywhere; refuse what is no record, or does not fit together."""
    try:
        values = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not readable JSON ({error}); get the crate again") from error
    if isinstance(values, list):
        values = [_of_today(value) for value in values]
    if not isinstance(values, list) or not all(map(_is_record, values)):
        raise InputError(f"{place}: no list of records of steps; get the crate again")
    records = [StepRecord(**value) for value in values]
    made: dict[str, str] = {}
    for record in records:
        for output, digest in record.outputs.items():
            if output in made:
                raise InputError(f"{place}: two steps made {output}; refused")
            made[output] = digest
    for record in records:
        for name, digest in record.inputs.items():
            if name in made and made[name] != digest:
                raise InputError(f"{place}: {min(record.outputs)} was made of another {name}; refused")
    return records


def _of_today(value: Any) -> Any:
    """Return a record of an older version, which has no command, as one of today."""
    if not isinstance(value, dict) or "settings" not in value:
        return value
    return {key: part for key, part in value.items() if key != "settings"} | {"command": ""}


def _is_record(value: Any) -> bool:
    """Tell whether a value has the shape of a record, and its outputs are results inside their folder."""
    if not isinstance(value, dict) or set(value) != set(StepRecord.__dataclass_fields__):
        return False
    texts = [value["rule"], value["code"], value["command"]]
    mappings = [value["inputs"], value["outputs"]]
    if not all(isinstance(text, str) for text in texts):
        return False
    if not all(isinstance(mapping, dict) for mapping in mappings) or not value["outputs"]:
        return False
    is_sound = all(name.startswith(RESULTS) and is_inside(name) for name in value["outputs"])
    digests = [*value["outputs"].values(), *filter(None, value["inputs"].values())]
    return is_sound and all(isinstance(one, str) and _SHA256.fullmatch(one) for one in digests)
