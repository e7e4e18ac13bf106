"""Parts of one run, made in several places, as one crate to go on from."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from biaslab.core.errors import InputError
from biaslab.run.crate import RESULTS
from biaslab.run.crate.contents import CONFIG, Packed, Record, end_of, is_packed, is_shown
from biaslab.run.crate.reading import Run
from biaslab.run.manifest import JOBS, VARIABLE_KEY
from biaslab.run.records import StepRecord, parse_records, records_text

_AGREE = ("config", "code", "inputs")
"""Parts of manifests that must agree."""


def merge_runs(runs: Mapping[str, Run], more: Collection[str] = (RESULTS,)) -> Record:
    """Return several parts of a run, by their names, as one; refuse two that do not agree.

    Tables, figures and the audit are left out: who goes on from the whole makes them of all parts. `more` are
    the kinds of results that are copied, see `biaslab.run.crate.contents.is_packed`.
    """
    manifest = _merged_manifest(runs)
    steps: dict[frozenset, tuple[str, StepRecord]] = {}
    packed: dict[str, Packed] = {}
    for name, run in runs.items():
        for step in run.steps:
            if any(_is_part(output.removeprefix(f"{RESULTS}/")) for output in step.outputs):
                _agree(*steps.setdefault(frozenset(step.outputs), (name, step)), name, step)
        for path in filter(run.holds, run.files()):
            if _is_part(path) and is_packed(path, more):
                place = f"{RESULTS}/{path}"
                packed.setdefault(path, Packed(place, run.folder / path, manifest["outputs"][path]))
    whole = [step for _, step in sorted(steps.values(), key=lambda one: min(one[1].outputs))]
    parse_records(records_text(whole), " + ".join(runs))
    elsewhere = {path: digest for path, digest in manifest["outputs"].items() if path not in packed}
    ended = max(end_of(run.manifest, run.folder) for run in runs.values())
    files = tuple(packed[path] for path in sorted(packed))
    return Record(manifest, files, elsewhere, (), ended, tuple(whole), is_whole=False)


def _merged_manifest(runs: Mapping[str, Run]) -> dict[str, Any]:
    """Return one manifest of what several name."""
    merged: dict[str, Any] = {key: {} for key in _AGREE}
    outputs: dict[str, str] = {}
    for name, run in runs.items():
        for key in _AGREE:
            for part, value in run.manifest[key].items():
                if merged[key].setdefault(part, value) != value:
                    raise InputError(f"{name}: {key}: {part} is another than in {next(iter(runs))}; refused")
        digests = {path: run.manifest["outputs"].get(path) or run.sha256(path) for path in run.files()}
        for path, digest in digests.items():
            if _is_part(path) and outputs.setdefault(path, digest) != digest:
                first = next(one for one, other in runs.items() if path in other.files())
                raise InputError(f"{path}: has other bytes in {name} than in {first}; refused")
    environment = dict(next(iter(runs.values())).manifest[VARIABLE_KEY])
    environment.pop(JOBS, None)  # of the first part alone
    return merged | {VARIABLE_KEY: environment | {"merged": list(runs)}, "outputs": outputs}


def _is_part(path: str) -> bool:
    return path == CONFIG or not is_shown(path)


def _agree(first: str, one: StepRecord, second: str, other: StepRecord) -> None:
    """Refuse two different records of a step."""
    found = {
        "made by other code": one.code != other.code,
        "told other settings": one.settings != other.settings,
        "made of other files": one.inputs != other.inputs,
        "other bytes": one.outputs != other.outputs,
    }
    for what, is_so in found.items():
        if is_so:
            raise InputError(f"{min(other.outputs)}: {what} in {second} than in {first}; refused")


def named_runs(paths: Sequence[Path]) -> list[str]:
    """Return what parts are called: their paths, of which none may be there twice."""
    names = [str(path) for path in paths]
    if len(set(names)) < len(names):
        raise InputError(f"{max(names, key=names.count)}: is named twice; name the parts once each")
    return names
