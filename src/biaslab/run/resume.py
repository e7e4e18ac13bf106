"""Goes on from another run: says what is taken and what is made, takes it, and checks what is asked for."""

import base64
import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from biaslab.core.errors import InputError
from biaslab.run.area import load_area
from biaslab.run.areas import AREAS
from biaslab.run.config import read_written
from biaslab.run.crate.reading import Run
from biaslab.run.datasets import FOLDER, Dataset
from biaslab.run.extras import missing_extra, requirements
from biaslab.run.fetching import ABSENT, fetch_wanted, status
from biaslab.run.jobs import Job, planned_jobs
from biaslab.run.manifest import MANIFEST, VARIABLE_KEY
from biaslab.run.plan import make_plan
from biaslab.run.provenance import NOT_INSTALLED, sha256_file
from biaslab.run.records import FETCH, RESULTS, StepRecord
from biaslab.run.take import Choice, compare, counted, draw, is_shown_result, restore, settle_times
from biaslab.run.taken import Taken, note_taken, read_taken

HERE = Path(RESULTS)
_LISTED = 10


@dataclass(frozen=True)
class Source:
    """The run to go on from, and how far it is trusted."""

    name: str
    run: Run
    trusts: bool = True  # whether anything of it is taken
    recheck: int = 0  # how many steps are made again
    seed: int | None = None  # by which they are drawn


def announce(source: Source) -> Taken:
    """Note what another run had, so that this one can be planned although its data may be elsewhere."""
    manifest = source.run.manifest
    made_in = manifest[VARIABLE_KEY]
    versions = made_in.get("packages", {})
    had = {name for name, version in versions.items() if version != NOT_INSTALLED}
    extras = tuple(extra for extra in sorted(_extras()) if had.issuperset(requirements([extra])))
    has_ended = source.run.holds(MANIFEST)
    digest = sha256_file(source.run.folder / MANIFEST) if has_ended else ""
    taken = Taken(source.name, digest, 0, extras, _known_data(source.run), made_in)
    before = read_taken(HERE)
    if digest and before.manifest == digest:  # the same run again
        taken = replace(taken, steps=before.steps, rewritten=before.rewritten, recheck=before.recheck)
    note_taken(HERE, taken, source.run.steps)
    return taken


def _known_data(run: Run) -> dict[str, str]:
    """Return the sha256 of the data that another run had, or that its steps have read, by name."""
    files = {name: digest for step in run.steps for name, digest in step.inputs.items()}
    files |= {f"{RESULTS}{name}": digest for name, digest in run.manifest["outputs"].items()}
    paths = {PurePosixPath(name): digest for name, digest in files.items()}
    return {path.parts[2]: digest for path, digest in paths.items() if path.is_relative_to(FOLDER)}


def choose(
    source: Source,
    arguments: Sequence[str],
    config: Mapping[str, Any],
    root: Path,
    say: Callable[[str], None],
) -> tuple[Choice, int]:
    """Say and return what is taken of another run, and the seed by which steps to make again were drawn.

    `config` is as it was written, without defaults.
    """
    records = source.run.steps if source.trusts else ()
    more = {"is_same_run": _is_same(source.run, config, root), "takes_rewritten": source.recheck > 0}
    jobs = planned_jobs(arguments)

    def choice(drawn: Sequence[Job] = ()) -> Choice:
        names = {job.outputs[0] for job in drawn}
        return Choice(
            jobs, records, lambda file: source.run.holds(file.removeprefix(RESULTS)), drawn=names, **more
        )

    chosen, seed = choice(), source.seed if source.seed is not None else secrets.randbelow(2**31)
    if source.recheck:
        known = [job for job, record in chosen.known.items() if record is not None and not _is_shown(job)]
        changed = [job for job in known if job in chosen.rewritten]
        lacking = _lacking(jobs, root)
        here = [job for job in known if not lacking.keys() & {one.rule for one in chosen.with_makers([job])}]
        # Of rewritten code all results are taken or none, so that any of them may be drawn.
        chosen = choice(draw(changed or here, source.recheck, seed))
        if not changed and len(here) < len(known):
            line = f"{len(known) - len(here)} of {len(known)} steps cannot be made again here: "
            line += next(iter(lacking.values()))
            if not here:
                raise InputError(line)
            say(f"{line}; the others are drawn from")
    for line in describe(chosen, source.name):
        say(line)
    return chosen, seed


def _is_same(run: Run, config: Mapping[str, Any], root: Path) -> bool:
    """Tell whether another run has a configuration, both completed with the defaults of today."""
    try:
        plans = [make_plan(one, root) for one in (config, read_written(run.folder / "config.json"))]
    except InputError:
        return False
    mine, other = (json.dumps(plan.record(), sort_keys=True) for plan in plans)
    return mine == other


def describe(choice: Choice, name: str) -> list[str]:
    """Say what is taken, what is not and why, and what is made."""
    n_files = sum(map(len, choice.taken.values()))
    lines = [f"{name}: {n_files} results of {len(choice.taken)} steps are taken as done"]
    if rewritten := ", ".join(_rewritten(choice)):
        check = "if those that are drawn give the same bytes" if choice.takes_rewritten else "without a check"
        more = "" if choice.takes_rewritten else "; --recheck N makes N of their steps again"
        lines.append(f"made by code that has changed since, and taken {check}: {rewritten}{more}")
    lines += [f"not taken, {reason}" for reason in choice.reasons()]
    shown = [job for job in choice.made if _is_shown(job)]
    rules = Counter(job.rule for job in choice.made if job.outputs and job not in shown)
    parts = [counted(rules)] if rules else []
    parts += [f"{len(shown)} steps of tables, figures and the audit"] if shown else []
    return [*lines, f"to be made: {', '.join(parts) or 'nothing'}"]


def _rewritten(choice: Choice) -> list[str]:
    """Return the rules of the steps that are taken although their code has changed."""
    return sorted({job.rule for job in choice.rewritten if job in choice.known and not _is_shown(job)})


def _is_shown(job: Job) -> bool:
    return bool(job.outputs) and all(map(is_shown_result, job.outputs))


def left_out(
    choice: Choice,
    registry: Mapping[str, Dataset],
    config: Mapping[str, Any],
    root: Path,
    say: Callable[[str], None],
) -> dict[str, list[str]]:
    """Return the results that are not made, by which data or library is missing; download what can be had.

    Raises
    ------
    InputError
        When no table and no audit is asked for that could go without, or a step that was drawn needs it.
    """
    why = _missing(choice, registry, config, root, say)
    read = {file for job in choice.made if _is_shown(job) for file in job.inputs}
    found: dict[str, list[str]] = {}
    for job, reason in why.items():
        lost = [file for file in job.outputs if file in read and not choice.is_there(file)]
        found.setdefault(reason, []).extend(file.removeprefix(RESULTS) for file in lost if not _is_shown(job))
    found = {reason: sorted(files) for reason, files in found.items() if files}
    drawn = [job for job in why if job.outputs and job.outputs[0] in choice.drawn]
    if why and (drawn or not found):
        raise InputError(f"{next(iter(why.values()))}; without it this cannot go on from the other run")
    return found


def _missing(
    choice: Choice,
    registry: Mapping[str, Dataset],
    config: Mapping[str, Any],
    root: Path,
    say: Callable[[str], None],
) -> dict[Job, str]:
    """Return the steps that cannot be made, each with what is missing for it or for one before it."""
    lacking = _lacking(choice.made, root)
    fetched = {job: PurePosixPath(job.outputs[0]).parts[2] for job in choice.made if job.rule == FETCH}
    absent = fetch_wanted(list(fetched.values()), registry, config["datasets"], say)
    why: dict[Job, str] = {}
    for job in choice.made:
        makers = (choice.maker[file] for file in job.inputs if not choice.is_there(file))
        reason = next((why[maker] for maker in makers if maker in why), "")
        if job.rule in lacking:
            reason = f"{job.rule}: {lacking[job.rule]}"
        elif name := fetched.get(job):
            state = status(registry[name], registry, config["datasets"])
            reason = absent.get(name, state.reason) if state.state == ABSENT else ""
        if reason:
            why[job] = reason
    return why


def _lacking(jobs: Sequence[Job], root: Path) -> dict[str, str]:
    """Return what is not installed and some jobs need, by their rule."""
    extras = _extras_of_environments(root)
    needed = {job.rule: extras.get(job.note["conda_env"] or "", "") for job in jobs}
    return {rule: why for rule, extra in needed.items() if (why := missing_extra(extra))}


def _extras() -> set[str]:
    return {load_area(area).extra for area in AREAS} - {""}


def _extras_of_environments(root: Path) -> dict[str, str]:
    """Return the extra that an environment of steps is named after, by its content as Snakemake notes it."""
    files = ((root / "envs" / f"{extra}.yaml", extra) for extra in _extras())
    return {base64.b64encode(file.read_bytes()).decode(): extra for file, extra in files if file.is_file()}


def take(
    source: Source,
    taken: Taken,
    choice: Choice,
    seed: int,
    make: Callable[[Sequence[str]], int],
    say: Callable[[str], None],
) -> int:
    """Take what was chosen, and make what must be there before the run; return an exit code."""
    known = [_as_now(job, record) for job, record in choice.agreeing()]
    rewritten = tuple(sorted({*taken.rewritten, *_rewritten(choice)}))
    taken = replace(taken, steps=max(taken.steps, len(choice.taken)), rewritten=rewritten)
    note_taken(HERE, taken, known)
    here = {file for file in _outputs(choice) if Path(file).exists()}
    copied = restore(choice, source.run.folder)
    drawn = [job for job in choice.made if job.outputs and job.outputs[0] in choice.drawn]
    for number, jobs in enumerate(choice.first, 1):
        say(f"before the run, {number} of {len(choice.first)}: {', '.join(sorted({j.rule for j in jobs}))}")
        if code := make([output for job in jobs for output in job.outputs]):
            return code
        equal, other = compare(jobs, choice.digests)
        settle_times(choice, equal)
        for file in other:
            say(f"{file}: was made here with other bytes than {source.name} names")
    if not drawn:
        return 0
    _, other = compare(drawn, choice.digests)
    unequal = [job for job in drawn if set(job.outputs) & set(other)]
    found = f"{len(drawn) - len(unequal)} of {len(drawn)} steps drawn by the seed {seed} gave the same bytes"
    if unequal:
        _undo({*copied, *_outputs(choice).difference(here)})
        raise InputError(f"{source.name}: {found}; nothing of it is taken")
    say(f"{found}; at most {_bound(len(drawn)):.0%} of the steps give others (95 % confidence)")
    report = {"seed": seed, "drawn": [job.outputs[0] for job in drawn], "equal": len(drawn)}
    note_taken(HERE, replace(taken, recheck=report), known)
    return 0


def _as_now(job: Job, record: StepRecord) -> StepRecord:
    """Return what is recorded of a step with the code, the settings and the inputs that it has now."""
    inputs = {name: record.inputs[name] for name in job.input_names()}
    return replace(record, code=job.code, settings=job.settings, inputs=inputs)


def _bound(n: int) -> float:
    """Return the greatest share of steps with other bytes that n equal ones leave plausible."""
    return 1 - 0.05 ** (1 / n)


def _outputs(choice: Choice) -> set[str]:
    """Return what a run makes of the files that another run names."""
    return {output for job in choice.made for output in job.outputs if output in choice.digests}


def _undo(files: Iterable[str]) -> None:
    for file in files:
        Path(file).unlink(missing_ok=True)


def describe_made(choice: Choice, run: Run) -> list[str]:
    """Say which of the results that were made here have the bytes that the other run names."""
    named = run.manifest["outputs"]
    expected = {f"{RESULTS}{name}": digest for name, digest in named.items() if name != MANIFEST}
    equal, other = compare([job for job in choice.made if job.outputs], expected)
    if not equal and not other:
        return []
    lines = [f"{len(equal)} of {len(equal) + len(other)} results made here have the other run's bytes"]
    return lines + [f"other bytes: {', '.join(other[:_LISTED])}" for _ in other[:1]]
