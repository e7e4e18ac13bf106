"""Continue from another run: select the results to take, and run the remaining steps.

A result is taken if the current code would compute it from the same files by the same command, for the
configuration of this run and for that of the other run. Changed code is reported. Snakemake then finds the
taken files and runs the missing steps. Shown results (tables, figures, the audit) are always recomputed here
if all their inputs are available.
"""

import os
import random
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from biaslab.run.record.manifest import MANIFEST, VARIABLE_KEY
from biaslab.run.record.notes import NOTES, read_notes
from biaslab.run.record.provenance import NOT_INSTALLED, sha256_file
from biaslab.run.record.records import RESULTS, StepRecord
from biaslab.run.record.taken import Taken, config_digest, forget_taken, note_taken, read_taken, taken_records
from biaslab.run.travel.crate.contents import is_shown
from biaslab.run.travel.crate.reading import Run

HERE = Path(RESULTS)
_LISTED = 10
_TICK = 1000  # nanoseconds, the shortest time that Snakemake tells apart


@dataclass(frozen=True)
class Source:
    """The run to continue from, and the level of trust in it."""

    name: str
    run: Run
    trusts: bool = True  # whether any result of it is taken
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
        copies = {f for job in jobs for f in job.outputs if PurePosixPath(f).is_relative_to(FOLDER)}
        self.registered = {file: registry[PurePosixPath(file).parts[2]].sha256 for file in copies}
        self._commands = {output: job.command for job in source_jobs for output in job.outputs}
        self.maker = {output: job for job in jobs for output in job.outputs}
        steps = source.run.steps if source.trusts else ()
        self._records = {output: record for record in steps for output in record.outputs}
        self.digests = {f"{RESULTS}{name}": d for name, d in source.run.manifest["outputs"].items()}
        self.digests |= {name: d for record in steps for name, d in record.outputs.items()}
        self._read = {name: digest for record in steps for name, digest in record.inputs.items()}
        self.results = self.maker.keys() - copies
        self.noted = read_notes(Path(NOTES), ()).keys()  # outputs of Snakemake in this folder
        self._before = {name: d for record in taken_records(HERE) for name, d in record.outputs.items()}
        self.outdated: set[str] = set()  # results to remove, or that other bytes replace
        self._recomputed: dict[Job, bool] = {}
        self.differs = False  # whether a file that was computed since has other bytes than in the crate
        self.why: dict[Job, str] = {}  # reason not to take the results of a job; "" if they agree
        for job in jobs:
            self.why[job] = self._reason(job)
            self.outdated.update(file for file in job.outputs if self._is_outdated(job, file))
        self.seed = secrets.randbelow(2**31) if source.seed is None else source.seed
        self.drawn: set[str] = set()  # first outputs of steps that are recomputed for the spot check
        if source.recheck:
            # All results of changed code are taken or none of them, so any of them may be drawn.
            candidates = self.rewritten or [job for job in self.agreeing if not is_shown_job(job)]
            self.drawn = {job.outputs[0] for job in draw(candidates, source.recheck, self.seed)}

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
        others = (file for file in job.outputs if self.is_unequal(file))
        own = (file for file in others if file in self.noted or not self._is_in_crate(file))
        return next((f"{file} was computed here with other bytes" for file in own), "")

    def _input_reason(self, name: str, file: str) -> str:
        maker = self.maker.get(file)
        if maker is not None and file not in self.registered:
            is_as_recorded = file in self.digests and self.is_here(file) and not self.is_unequal(file)
            return "their inputs are rerun" if self.why[maker] and not is_as_recorded else ""
        if name not in self._read:
            return "their inputs differ"
        now = self.registered.get(file) or ("" if Path(file).is_dir() else _sha256(file))
        return "" if now in ("", self._read[name]) else f"{name} has changed"

    def is_unequal(self, file: str) -> bool:
        """Return whether a local file has other bytes than the file in the crate."""
        return file in self.digests and Path(file).exists() and _sha256(file) != self.digests[file]

    def _is_in_crate(self, file: str) -> bool:
        return self.source.run.holds(file.removeprefix(RESULTS))

    def _is_outdated(self, job: Job, file: str) -> bool:
        """Return whether a result was taken earlier and no longer agrees, or is computed from replaced files.

        A missing file is replaced if another digest was recorded, or if the crate has it and none was.
        """
        if file not in self.results:
            return False
        if self.why[job]:
            was_taken = file in self._before and file not in self.noted
            return was_taken or not self.outdated.isdisjoint(job.inputs)
        if Path(file).exists():
            return self.is_unequal(file)
        before = self._before.get(file)
        return before != self.digests.get(file) and (before is not None or self._is_in_crate(file))

    def is_here(self, file: str) -> bool:
        """Return whether a file exists here and is kept."""
        job = self.maker.get(file)
        agrees = job is not None and not self.why[job]
        return Path(file).exists() and not (self.is_unequal(file) if agrees else file in self.outdated)

    def is_kept(self, job: Job) -> bool:
        """Return whether all results of a planned job are here and agree, and none is a table or figure."""
        makers = {self.maker[file] for file in job.outputs}
        agrees = not any(self.why[maker] or is_shown_job(maker) for maker in makers)
        return agrees and all(map(self.is_here, job.outputs))

    def record(self, job: Job) -> StepRecord:
        """Return the record of an agreeing job, with its current inputs."""
        digests = self.digests | self.registered
        inputs = {
            name: digests.get(file) or self._read.get(name, "") for name, file in job.input_names().items()
        }
        code = self._codes(job)
        outputs = {file: self.digests[file] for file in job.outputs if file in self.digests}
        return StepRecord(job.rule, code.pop() if len(code) == 1 else "", inputs, outputs)

    @cached_property
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
        return job is None or (not self.is_drawn(job) and (self.is_here(file) or self._is_taken(job, file)))

    def _is_taken(self, job: Job, file: str) -> bool:
        return (
            not self.why[job]
            and self._is_in_crate(file)
            and not self.is_drawn(job)
            and not self._is_recomputed(job)
        )

    def is_drawn(self, job: Job) -> bool:
        """Return whether a job is recomputed for the spot check."""
        return bool(job.outputs) and job.outputs[0] in self.drawn

    def _is_recomputed(self, job: Job) -> bool:
        """Return whether a shown job is recomputed here, because all its inputs will be available."""
        if job not in self._recomputed:
            inputs = ((file, self.maker.get(file)) for file in job.inputs)
            self._recomputed[job] = is_shown_job(job) and all(
                self.is_there(file) or self.is_drawn(maker) or self._is_recomputed(maker)
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
        wanted = [job for job in self.jobs if not read & set(job.outputs) or self.is_drawn(job)]
        needed = set()
        while wanted:
            job = wanted.pop()
            if job not in needed and not (job.outputs and all(map(self.is_there, job.outputs))):
                needed.add(job)
                wanted += [self.maker[file] for file in job.inputs if not self.is_there(file)]
        return [job for job in self.jobs if job in needed]


def is_shown_job(job: Job) -> bool:
    """Return whether a job writes only tables, figures or the audit."""
    return bool(job.outputs) and all(is_shown(file.removeprefix(RESULTS)) for file in job.outputs)


def announce(source: Source) -> Taken:
    """Record extras and data of another run, so that this run can be planned without these data."""
    made_in = source.run.manifest[VARIABLE_KEY]
    versions = made_in.get("packages", {})
    installed = {name for name, version in versions.items() if version != NOT_INSTALLED}
    known = sorted({load_area(area).extra for area in AREAS} - {""})
    extras = tuple(extra for extra in known if installed.issuperset(requirements([extra])))
    digest = sha256_file(source.run.folder / MANIFEST) if source.run.holds(MANIFEST) else ""
    taken = Taken(source.name, digest, 0, extras, known_data(source.run), made_in)
    before = read_taken(HERE)
    if digest and before.manifest == digest:  # the same run again
        taken = replace(taken, steps=before.steps, rewritten=before.rewritten, recheck=before.recheck)
    note_taken(HERE, taken, taken_records(HERE))
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
    if choice.source.trusts and not choice.source.run.steps:
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
    plan: Callable[[Sequence[str]], list[Job]],
    make: Callable[[Sequence[str]], int],
    unmark: Callable[[Sequence[str]], None],
    say: Callable[[str], None],
) -> int:
    """Copy the taken results, and compute results that are needed before the run; return an exit code.

    `plan` returns the jobs that Snakemake would run for given targets, and `make` runs them. `unmark` lets
    Snakemake forget how files were made here: by a killed step, say, or from a checkout in another place.
    """
    name, records = choice.source.name, [choice.record(job) for job in choice.agreeing]
    drawn = [job for job in choice.jobs if choice.is_drawn(job)]
    targets = [file for job in drawn for file in job.outputs]
    _remove([*targets, *choice.outdated])
    here = {file for file in choice.digests if choice.is_here(file)}
    rewritten = tuple(sorted({*taken.rewritten, *(job.rule for job in choice.rewritten)}))
    n_steps = max(taken.steps, len(choice.taken))
    taken = replace(taken, steps=n_steps, rewritten=rewritten, config=choice.config)
    note_taken(HERE, taken, records)
    moment = _time_of_agreeing(choice)
    for file in [file for files in choice.taken.values() for file in files if not choice.is_here(file)]:
        with atomic_path(file) as temporary:
            shutil.copyfile(choice.source.run.folder / file.removeprefix(RESULTS), temporary)
    _arrange_times(choice, moment)
    forgotten: set[str] = set()

    def make_ahead(targets: Sequence[str]) -> int:
        """Compute targets in rounds; without targets, compute missing files that would cause reruns.

        Snakemake reruns all steps that depend on a file computed in the same run. Files computed in advance,
        with the bytes of the other run, get the age of the taken files.
        """
        needed = {file for job in choice.made for file in job.outputs}
        while True:
            jobs = [job for job in plan(targets) if job.outputs]
            kept = {file for job in jobs if not job.follows and choice.is_kept(job) for file in job.outputs}
            if not kept <= forgotten:
                unmark(sorted(kept - forgotten))
                forgotten.update(kept)
                continue
            waiting = {file for job in jobs for file in job.outputs}
            ready = [job for job in jobs if waiting.isdisjoint(job.inputs) and job.outputs[0] in needed]
            if not ready or not (targets or any(job.follows for job in jobs)):
                return 0
            say(f"before the run: {', '.join(sorted({job.rule for job in ready}))}")
            files = [file for job in ready for file in job.outputs]
            if code := make(files):
                return code
            for file in filter(choice.is_unequal, files):
                say(f"{file}: was computed here with other bytes than in {name}")
                choice.differs = True
            for file in filter(os.path.exists, files):
                if not choice.is_unequal(file):
                    os.utime(file, ns=(moment, moment))
            if choice.differs and not targets:
                return 0

    if not drawn:
        return make_ahead([])
    if code := make_ahead(targets):
        return code
    n_drawn, unequal = len(drawn), [job for job in drawn if any(map(choice.is_unequal, job.outputs))]
    share = f"{n_drawn - len(unequal)} of {n_drawn} steps drawn by the seed {choice.seed} gave the same bytes"
    if unequal:
        _remove(choice.digests.keys() - here)
        forget_taken(HERE)
        raise InputError(f"{name}: {share}; no result is taken")
    say(f"{share}; at most {1 - 0.05 ** (1 / n_drawn):.0%} of the steps give other bytes (95% confidence)")
    report = {"seed": choice.seed, "drawn": [min(job.outputs) for job in drawn], "equal": n_drawn}
    note_taken(HERE, replace(taken, recheck=report), records)
    return make_ahead([])


def _time_of_agreeing(choice: Choice) -> int:
    """Return the time of the oldest result here, but not before that of any input.

    Files that no step makes have their recorded bytes, so their later times are no reason to rerun anything.
    """
    oldest = min(map(_read_time, filter(choice.is_here, choice.results)), default=time.time_ns())
    inputs = {file for job in choice.agreeing for file in job.inputs if file not in choice.maker}
    return max([oldest, *map(_read_time, filter(os.path.isfile, inputs))])


def _arrange_times(choice: Choice, moment: int) -> None:
    """Set the times of results, so that Snakemake reruns none that agrees and all others that it would rerun.

    None is older than `moment`, and none that agrees is older than its inputs. Results that were computed
    here keep their order.
    """
    before = {file: _read_time(file) for file in choice.results if choice.is_here(file)}
    agreeing = {file for job in choice.agreeing for file in job.outputs}
    before |= dict.fromkeys(before.keys() & agreeing - choice.noted, moment)
    older = sorted({then for then in before.values() if then < moment})
    moved = {then: moment + place * _TICK for place, then in enumerate(older, 1)}
    times: dict[str, int] = {}
    for job in choice.jobs:
        inputs = [] if choice.why[job] else [times[file] for file in job.inputs if file in times]
        for file in before.keys() & job.outputs:
            times[file] = max([moved.get(before[file], before[file]), *inputs])
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
