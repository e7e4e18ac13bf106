"""Continue from another run: select the results to take, and run the remaining steps.

A result is taken if the current code would compute it from the same files by the same command, for the
configuration of this run and for that of the other run. Changed code is reported. No result that is here is
replaced, and results computed from one with other bytes are not taken. Snakemake then finds the taken files
and runs the missing steps. Shown results (tables, figures, the audit) are always recomputed here if all their
inputs are available.
"""

import os
import random
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from biaslab.core.errors import InputError
from biaslab.core.files import atomic_path
from biaslab.run.area import load_area
from biaslab.run.areas import AREAS
from biaslab.run.data.datasets import FOLDER, Dataset
from biaslab.run.extras import requirements
from biaslab.run.plan.jobs import Job
from biaslab.run.plan.steps import digests
from biaslab.run.record.manifest import AUDIT, MANIFEST, VARIABLE_KEY
from biaslab.run.record.provenance import NOT_INSTALLED, sha256_file
from biaslab.run.record.records import RESULTS, StepRecord
from biaslab.run.record.taken import Taken, config_digest, note_taken, read_taken
from biaslab.run.travel.crate.contents import is_shown
from biaslab.run.travel.crate.reading import Run

HERE = Path(RESULTS)
_LISTED = 10
_TICK = 1000  # nanoseconds, the shortest time that Snakemake tells apart


@dataclass(frozen=True)
class Source:
    """The run to continue from, and the spot check of it."""

    name: str
    run: Run
    recheck: int = 0  # number of steps to recompute
    seed: int | None = None  # seed of the draw of these steps


class Choice:
    """The taken and the remaining results of a run; each job follows its prerequisites in `jobs`.

    `source_jobs` are the jobs that the current code plans for the configuration of the crate, and `config` is
    the complete configuration of this run.
    """

    def __init__(
        self,
        source: Source,
        jobs: Sequence[Job],
        source_jobs: Sequence[Job],
        config: Mapping[str, Any],
        registry: Mapping[str, Dataset],
    ) -> None:
        self.source, self.jobs, self.config = source, jobs, config_digest(config)
        self.maker = {output: job for job in jobs for output in job.outputs}
        copies = [file for file in self.maker if PurePosixPath(file).is_relative_to(FOLDER)]
        self.results = self.maker.keys() - copies
        self.registered = {file: registry[PurePosixPath(file).parts[2]].sha256 for file in copies}
        self._commands = {output: job.command for job in source_jobs for output in job.outputs}
        steps = source.run.steps
        outputs = {output: record for record in steps for output in record.outputs}
        audit = f"{RESULTS}{AUDIT}"  # always made here
        self._records = {output: record for output, record in outputs.items() if not output.startswith(audit)}
        self.digests = {f"{RESULTS}{name}": d for name, d in source.run.manifest["outputs"].items()}
        self.digests |= {name: d for record in steps for name, d in record.outputs.items()}
        self._read = {name: digest for record in steps for name, digest in record.inputs.items()}
        self._recomputed: dict[Job, bool] = {}
        self.why: dict[Job, str] = {}  # reason not to take the results of a job; "" if they agree
        self.compare()
        self.seed = secrets.randbelow(2**31) if source.seed is None else source.seed
        self.drawn: set[Job] = set()  # steps that are recomputed for the spot check
        if source.recheck:
            # All results of changed code are taken or none of them, so any of them may be drawn.
            candidates = self.rewritten or [job for job in self.agreeing if not is_shown_job(job)]
            self.drawn = set(draw(candidates, source.recheck, self.seed))

    def compare(self) -> None:
        """Compare the results of all jobs with those of the crate."""
        for job in self.jobs:
            self.why[job] = self._reason(job)

    def _codes(self, job: Job) -> set[str]:
        """Return the code of a job in the crate; in older versions, a job may be several steps."""
        return {self._records[file].code for file in job.outputs if file in self._records}

    def _reason(self, job: Job) -> str:
        if not self._codes(job):
            return "not in it"
        if {self._commands.get(file) for file in job.outputs} != {job.command}:
            return "their settings differ"
        for name, file in job.input_names().items():
            if why := self._input_reason(name, file):
                return why
        return next((f"{file} has other bytes here" for file in job.outputs if self.is_unequal(file)), "")

    def _input_reason(self, name: str, file: str) -> str:
        maker = self.maker.get(file)
        if maker is not None and file not in self.registered:
            is_as_recorded = file in self.digests and Path(file).exists() and not self.is_unequal(file)
            return "their inputs are rerun" if self.why[maker] and not is_as_recorded else ""
        if name not in self._read:
            return "their inputs differ"
        now = self.registered.get(file) or ("" if Path(file).is_dir() else _sha256(file))
        return "" if now in ("", self._read[name]) else f"{name} has changed"

    def is_unequal(self, file: str) -> bool:
        """Return whether a local file has other bytes than the file in the crate."""
        return file in self.digests and Path(file).exists() and _sha256(file) != self.digests[file]

    def is_kept(self, job: Job) -> bool:
        """Return whether all results of a planned job are here and agree, and none is a table or figure."""
        makers = {self.maker[file] for file in job.outputs}
        agrees = not any(self.why[maker] or is_shown_job(maker) for maker in makers)
        return agrees and all(map(os.path.exists, job.outputs))

    def record(self, job: Job) -> StepRecord:
        """Return the record of an agreeing job, with its current inputs."""
        digests = self.digests | self.registered
        inputs = {
            name: digests.get(file) or self._read.get(name, "") for name, file in job.input_names().items()
        }
        code = self._codes(job)
        outputs = {file: self.digests[file] for file in job.outputs if file in self.digests}
        return StepRecord(job.rule, code.pop() if len(code) == 1 else "", inputs, outputs)

    @property
    def agreeing(self) -> list[Job]:
        """The jobs with results in the crate that agree with this run."""
        return [job for job in self.jobs if not self.why[job]]

    @cached_property
    def rewritten(self) -> list[Job]:
        """The agreeing jobs with code that has changed."""
        codes = digests(sorted({job.step for job in self.agreeing if job.step}))
        return [
            job
            for job in self.agreeing
            if not is_shown_job(job) and self._codes(job) != {codes.get(job.step, "")}
        ]

    def is_there(self, file: str) -> bool:
        """Return whether a file need not be computed, because it exists here or is taken."""
        job = self.maker.get(file)
        return job is None or (job not in self.drawn and (Path(file).exists() or self._is_taken(job, file)))

    def _is_taken(self, job: Job, file: str) -> bool:
        agrees = not self.why[job] and self.source.run.holds(file.removeprefix(RESULTS))
        return agrees and job not in self.drawn and not self._is_recomputed(job)

    def _is_recomputed(self, job: Job) -> bool:
        """Return whether a shown job is recomputed here, because all its inputs will be available."""
        if job not in self._recomputed:
            inputs = ((file, self.maker.get(file)) for file in job.inputs)
            self._recomputed[job] = is_shown_job(job) and all(
                self.is_there(file) or maker in self.drawn or self._is_recomputed(maker)
                for file, maker in inputs
            )
        return self._recomputed[job]

    @cached_property
    def taken(self) -> dict[Job, list[str]]:
        """The jobs with taken results, and these results."""
        outputs = {job: [f for f in job.outputs if self._is_taken(job, f)] for job in self.agreeing}
        return {job: files for job, files in outputs.items() if files}

    @cached_property
    def made(self) -> list[Job]:
        """The jobs that run, judging by missing files only."""
        read = {file for job in self.jobs for file in job.inputs}
        wanted = [job for job in self.jobs if not read & set(job.outputs) or job in self.drawn]
        needed = self._with_prerequisites(wanted)
        return [job for job in self.jobs if job in needed]

    @cached_property
    def first(self) -> list[Job]:
        """The jobs that run before the others: drawn ones, those read by present results, and what they need.

        Snakemake reruns all steps that depend on a file computed in the same run.
        """
        made = set(self.made)
        present = (job for job in self.jobs if job not in made and all(map(self.is_there, job.outputs)))
        read = {file for job in present for file in job.inputs}
        wanted = [job for job in self.made if job in self.drawn or not read.isdisjoint(job.outputs)]
        needed = self._with_prerequisites(wanted)
        return [job for job in self.made if job in needed]

    def _with_prerequisites(self, jobs: Sequence[Job]) -> set[Job]:
        """Return the jobs with missing results among jobs and those that they need."""
        wanted, needed = list(jobs), set()
        while wanted:
            job = wanted.pop()
            if job not in needed and not (job.outputs and all(map(self.is_there, job.outputs))):
                needed.add(job)
                wanted += [self.maker[file] for file in job.inputs if not self.is_there(file)]
        return needed


def is_shown_job(job: Job) -> bool:
    """Return whether a job writes only tables, figures or the audit."""
    return bool(job.outputs) and all(is_shown(file.removeprefix(RESULTS)) for file in job.outputs)


def origin(source: Source) -> Taken:
    """Return the note of another run: its extras and data, without which this run can be planned."""
    made_in = source.run.manifest[VARIABLE_KEY]
    versions = made_in.get("packages", {})
    installed = {name for name, version in versions.items() if version != NOT_INSTALLED}
    known = sorted({load_area(area).extra for area in AREAS} - {""})
    extras = tuple(extra for extra in known if installed.issuperset(requirements([extra])))
    digest = sha256_file(source.run.folder / MANIFEST) if source.run.holds(MANIFEST) else ""
    before = read_taken(HERE)
    taken = Taken(source.name, digest, 0, extras, known_data(source.run), made_in, config=before.config)
    if digest and before.manifest == digest:  # the same run again
        taken = replace(taken, steps=before.steps, rewritten=before.rewritten, recheck=before.recheck)
    return taken


def known_data(run: Run) -> dict[str, str]:
    """Return the sha256 of the data that another run had or read, by name."""
    files = {name: digest for step in run.steps for name, digest in step.inputs.items()}
    files |= {f"{RESULTS}{name}": digest for name, digest in run.manifest["outputs"].items()}
    paths = {PurePosixPath(name): digest for name, digest in files.items()}
    return {path.parts[2]: digest for path, digest in paths.items() if path.is_relative_to(FOLDER)}


def draw(jobs: Sequence[Job], count: int, seed: int) -> list[Job]:
    """Draw jobs at random without replacement."""
    return random.Random(seed).sample(sorted(jobs, key=lambda job: min(job.outputs)), min(count, len(jobs)))


def describe(choice: Choice) -> list[str]:
    """Describe taken results, results not taken with reasons, and remaining steps."""
    n_files, recheck = sum(map(len, choice.taken.values())), choice.source.recheck
    lines = [f"{choice.source.name}: {n_files} results of {len(choice.taken)} steps are taken"]
    if not choice.source.run.steps:
        lines.append("it has no records of its steps; pack it with: audit crate results --with results")
    if rewritten := ", ".join(sorted({job.rule for job in choice.rewritten})):
        check = "if the drawn steps give the same bytes" if recheck else "without a check"
        more = "" if recheck else "; --recheck N reruns N of their steps"
        lines.append(f"computed by code that has changed since, and taken {check}: {rewritten}{more}")
    shown = [job for job in choice.made if is_shown_job(job)]
    others = [job for job in choice.made if job.outputs and job not in shown]
    reasons: dict[str, Counter] = {}
    for job in others:
        if choice.why[job] and job.outputs[0] not in choice.registered:
            reasons.setdefault(choice.why[job], Counter())[job.rule] += 1
    lines += [f"not taken, {why}: {_list_counts(rules)}" for why, rules in reasons.items()]
    rules = Counter(job.rule for job in others)
    parts = [_list_counts(rules)] if rules else []
    parts += [f"{len(shown)} steps of tables, figures and the audit"] if shown else []
    return [*lines, f"to run: {', '.join(parts) or 'nothing'}"]


def _list_counts(rules: Counter) -> str:
    return ", ".join(f"{rule} ({n})" if n > 1 else rule for rule, n in rules.items())


def take(
    choice: Choice,
    taken: Taken,
    plan: Callable[[], list[Job]],
    make: Callable[[Sequence[str]], int],
    unmark: Callable[[Sequence[str]], None],
    say: Callable[[str], None],
) -> int:
    """Copy the taken results, and compute results that are needed before the run; return an exit code.

    `plan` returns the jobs that Snakemake would run, and `make` runs those of given files. `unmark` lets
    Snakemake forget how files were made here: by a killed step, say, or from a checkout in another place.
    """
    _remove(file for job in choice.drawn for file in job.outputs)
    here = set(filter(os.path.exists, choice.results))
    n_steps = max(taken.steps, len(choice.taken))
    rewritten = tuple(sorted({*taken.rewritten, *(job.rule for job in choice.rewritten)}))
    note = replace(taken, steps=n_steps, rewritten=rewritten, config=choice.config)
    note_taken(HERE, note, map(choice.record, choice.agreeing))
    copied = [file for files in choice.taken.values() for file in files if not Path(file).exists()]
    for file in copied:
        with atomic_path(file) as temporary:
            shutil.copyfile(choice.source.run.folder / file.removeprefix(RESULTS), temporary)
    _arrange_times(choice, copied)
    if here and (kept := {f for job in plan() if choice.is_kept(job) for f in job.outputs}):
        unmark(sorted(kept))
    code = _run_first(choice, make, say)
    note_taken(HERE, note, map(choice.record, choice.agreeing))
    if code or not choice.drawn:
        return code
    equal = [job for job in choice.drawn if not any(map(choice.is_unequal, job.outputs))]
    n = len(choice.drawn)
    share = f"{len(equal)} of {n} steps drawn by the seed {choice.seed} gave the same bytes"
    if len(equal) < n:
        _remove(choice.results - here)
        note_taken(HERE, taken, [])
        raise InputError(f"{choice.source.name}: {share}; no result is taken")
    say(f"{share}; at most {1 - 0.05 ** (1 / n):.0%} of the steps give other bytes (95% confidence)")
    drawn = sorted(min(job.outputs) for job in choice.drawn)
    note = replace(note, recheck={"seed": choice.seed, "drawn": drawn, "equal": n})
    note_taken(HERE, note, map(choice.record, choice.agreeing))
    return 0


def _run_first(choice: Choice, make: Callable[[Sequence[str]], int], say: Callable[[str], None]) -> int:
    """Run the first jobs, each after its prerequisites; Snakemake then reruns what depends on other bytes."""
    waiting = choice.first
    while waiting:
        missing = {file for job in waiting for file in job.outputs}
        ready = [job for job in waiting if missing.isdisjoint(job.inputs)]
        waiting = [job for job in waiting if job not in ready]
        say(f"before the run: {', '.join(sorted({job.rule for job in ready}))}")
        files = [file for job in ready for file in job.outputs]
        if code := make(files):
            return code
        unequal = set(filter(choice.is_unequal, files))
        for file in sorted(unequal):
            say(f"{file}: was computed here with other bytes than in {choice.source.name}")
        choice.compare()
        _arrange_times(choice, set(files) - unequal)
    return 0


def _arrange_times(choice: Choice, new: Collection[str]) -> None:
    """Set the times of results, so that Snakemake reruns none that agrees and all others that it would rerun.

    Results that were here keep their order, after the files that no step makes. `new` results are as old as
    the oldest, unless a result that does not agree was computed from an earlier file of this name. None that
    agrees is older than its inputs.
    """
    inputs = {file for job in choice.agreeing for file in job.inputs if file not in choice.results}
    start = max(map(_read_time, filter(os.path.isfile, inputs)), default=0)
    before = {file: _read_time(file) for file in choice.results - {*new} if Path(file).exists()}
    older = sorted({then for then in before.values() if then < start})
    moved = {then: start + place * _TICK for place, then in enumerate(older)}
    before = {file: moved.get(then, then) for file, then in before.items()}
    now = time.time_ns()
    oldest = min(before.values(), default=now)
    others = [job for job in choice.jobs if choice.why[job] and any(map(os.path.exists, job.outputs))]
    replaced = {file for job in others for file in job.inputs}
    before |= {file: now if file in replaced else oldest for file in new}
    times: dict[str, int] = {}
    for job in choice.jobs:
        read = [] if choice.why[job] else [times[file] for file in job.inputs if file in times]
        for file in before.keys() & job.outputs:
            times[file] = max([before[file], *read])
            os.utime(file, ns=(times[file], times[file]))


def _read_time(file: str) -> int:
    return os.stat(file).st_mtime_ns


def describe_made(choice: Choice) -> list[str]:
    """Describe how many results computed here have the bytes of the other run."""
    files = [file for job in choice.made for file in job.outputs if file in choice.digests]
    files = [file for file in files if Path(file).exists() and file != f"{RESULTS}{MANIFEST}"]
    other = [file for file in files if choice.is_unequal(file)]
    if not files:
        return []
    lines = [f"{len(files) - len(other)} of {len(files)} results made here have the other run's bytes"]
    return lines + [f"other bytes: {', '.join(other[:_LISTED])}" for _ in other[:1]]


def _remove(files: Iterable[str]) -> None:
    for file in files:
        Path(file).unlink(missing_ok=True)


def _sha256(file: str) -> str:
    """Return the sha256 of a file, cached by modification time and size."""
    state = os.stat(file)
    return _sha256_at(file, state.st_mtime_ns, state.st_size)


@cache
def _sha256_at(file: str, *state: int) -> str:
    return sha256_file(file)
