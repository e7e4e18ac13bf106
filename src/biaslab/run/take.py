"""A run that goes on from another one: which results it takes as done, and what is left to make.

A step is taken as done when its code, its settings and the contents of all its inputs are those that the
crate has noted. Tables, figures and the audit are made here all the same where that needs nothing else.
"""

import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from biaslab.core.files import atomic_path
from biaslab.run.crate.contents import is_shown
from biaslab.run.jobs import Job, note_done
from biaslab.run.provenance import sha256_file
from biaslab.run.records import RESULTS, StepRecord

NOTHING, OTHER_FILES, CODE, SETTINGS = (
    "not in it",
    "they read other files now",
    "their code has changed since",
    "their settings are other ones",
)
_MADE_AGAIN = "what they read is made again"


@dataclass
class Choice:
    """What is done, what is taken and what is to be made, of the jobs of a run, each after its inputs'.

    Parameters
    ----------
    has : callable
        Tells whether the crate holds a result, by its path.
    is_same_run : bool
        Whether the crate has the configuration of this run.
    takes_rewritten : bool
        Whether a step is taken, too, that is told something else in the same run. A step whose code has
        changed is taken in any case.
    drawn : collection of str
        First outputs of steps that are made again.
    """

    jobs: Sequence[Job]
    records: Iterable[StepRecord]
    has: Callable[[str], bool]
    is_same_run: bool = True
    takes_rewritten: bool = False
    drawn: Collection[str] = ()
    digests: dict[str, str] = field(default_factory=dict)  # of every file that is known, by path
    why: dict[Job, str] = field(default_factory=dict)  # why a job cannot be taken
    rewritten: list[Job] = field(default_factory=list)  # those that are taken all the same

    def __post_init__(self) -> None:
        self._records = {output: record for record in self.records for output in record.outputs}
        self.maker = {output: job for job in self.jobs for output in job.outputs}
        self.known: dict[Job, StepRecord | None] = {}  # jobs whose results are known, done here without one
        for job in self.jobs:
            self._look_at(job)

    def _look_at(self, job: Job) -> None:
        if job.sha256 and len(job.outputs) == 1:
            self.known[job] = None
            self.digests[job.outputs[0]] = job.sha256
        elif job.outputs and job.is_done and all(map(_is_here, job.outputs)):
            self.known[job] = None
            self.digests |= {output: sha256_file(output) for output in job.outputs}
        elif job.outputs:
            record = self._record_of(job)
            reason = self._why_not(job, record)
            is_rewritten = reason == CODE or (reason == SETTINGS and self.is_same_run)
            if is_rewritten and not self._why_not_inputs(job, record):
                self.rewritten.append(job)
                reason = "" if self.takes_rewritten or reason == CODE else reason
            if reason:
                self.why[job] = reason
            else:
                self.known[job] = record
                self.digests |= record.outputs

    def _record_of(self, job: Job) -> StepRecord | None:
        """Return the record of a step, which may have had more outputs than it has now.

        Where other steps did its work, or a part of it, in the same run, it is one record of all of them.
        """
        found = [r for file in job.outputs if (r := self._records.get(file))]
        if found and found[0].outputs.keys() >= set(job.outputs):
            return found[0]
        if not found or not self.is_same_run:
            return None
        outputs = {file: digest for record in found for file, digest in record.outputs.items()}
        read = {file: digest for record in found for file, digest in record.inputs.items()}
        inputs = {file: digest for file, digest in read.items() if file not in outputs}
        return StepRecord(job.rule, "", (), inputs, outputs)

    def _why_not(self, job: Job, record: StepRecord | None) -> str:
        if record is None:
            return NOTHING
        names, known = job.input_names().keys(), record.inputs.keys()
        reads_less = names < known and job.code != record.code and self.is_same_run
        if names != known and not reads_less:
            return OTHER_FILES
        if job.settings != record.settings and not self.is_same_run:
            return SETTINGS
        if job.code != record.code:
            return CODE
        if job.settings != record.settings:
            return SETTINGS
        return self._why_not_inputs(job, record)

    def _why_not_inputs(self, job: Job, record: StepRecord) -> str:
        for name, file in job.input_names().items():
            if file in self.maker and self.maker[file] not in self.known:
                return _MADE_AGAIN
            if not Path(file).is_dir() and self._digest(file) != record.inputs[name]:
                return f"{name} is another file now"
        return ""

    def agreeing(self) -> list[tuple[Job, StepRecord]]:
        """Return the jobs that the crate records as they are now, each with its record."""
        pairs = [(job, self._record_of(job)) for job in self.known]
        return [
            (job, record)
            for job, record in pairs
            if record is not None and (self.known[job] is not None or not self._why_not(job, record))
        ]

    def _digest(self, file: str) -> str:
        if file not in self.digests:
            self.digests[file] = sha256_file(file)
        return self.digests[file]

    def _is_drawn(self, job: Job) -> bool:
        return bool(job.outputs) and job.outputs[0] in self.drawn

    def is_there(self, file: str) -> bool:
        """Tell whether a file need not be made: it lies here, or is taken."""
        job = self.maker.get(file)
        if job is None or _lies_here(self.known, job, file):
            return True
        return self._can_take(job, file) and not self._is_made_anew(job)

    def _can_take(self, job: Job, file: str) -> bool:
        return self.known.get(job) is not None and self.has(file) and not self._is_drawn(job)

    def _is_made_anew(self, job: Job) -> bool:
        """Tell whether something that is shown is made here: where all that it is made of is there."""
        if job not in self._anew:
            self._anew[job] = all(map(is_shown_result, job.outputs)) and all(map(self._will_be, job.inputs))
        return self._anew[job]

    def _will_be(self, file: str) -> bool:
        """Tell whether a file is there, or made for another reason than that something shown needs it."""
        maker = self.maker.get(file)
        return self.is_there(file) or self._is_drawn(maker) or self._is_made_anew(maker)

    @cached_property
    def _anew(self) -> dict[Job, bool]:
        return {}

    @cached_property
    def made(self) -> list[Job]:
        """The jobs that run, in their order."""
        read = {file for job in self.jobs for file in job.inputs}
        wanted = [job for job in self.jobs if not read & set(job.outputs)]
        wanted += [job for job in self.jobs if self._is_drawn(job)]
        found = set()
        while wanted:
            job = wanted.pop()
            if job not in found and not (job.outputs and all(map(self.is_there, job.outputs))):
                found.add(job)
                wanted += [self.maker[file] for file in job.inputs if not self.is_there(file)]
        return [job for job in self.jobs if job in found]

    @cached_property
    def taken(self) -> dict[Job, list[str]]:
        """The jobs some of whose results are taken, with these."""
        makes = set(self.made)
        found = {
            job: [file for file in job.outputs if self._can_take(job, file)]
            for job in self.jobs
            if self.known.get(job) is not None and job not in makes
        }
        return {job: files for job, files in found.items() if files}

    @cached_property
    def first(self) -> list[list[Job]]:
        """Those that run before all others, in rounds: what they make is known, and read for what is done.

        Snakemake would run again what was made of a file that it makes in the same run; so each round has
        nothing in it that is done and made of something of the round.
        """
        makes, behind = set(self.made), set()
        for job in reversed(self.jobs):
            above = [self.maker[file] for file in job.inputs if file in self.maker]
            is_done = bool(job.outputs) and job not in makes
            behind |= {one for one in above if is_done or job in behind}
        waiting = [
            job
            for job in self.made
            if job.outputs and job in self.known and (job in behind or self._is_drawn(job))
        ]
        waiting = [job for job in self.made if job in self.with_makers(waiting)]
        rounds: list[list[Job]] = []
        while waiting:
            now: list[Job] = []
            for job in waiting:
                if not self._triggers([*now, job], makes):
                    now.append(job)
                elif not now:
                    now = [job]
                    break
            rounds.append(now)
            waiting = [job for job in waiting if job not in now]
        return rounds

    def with_makers(self, jobs: Iterable[Job]) -> set[Job]:
        """Return jobs, and those that run before them because what they make is not there."""
        found, waiting = set(), list(jobs)
        while waiting:
            job = waiting.pop()
            if job not in found:
                found.add(job)
                waiting += [self.maker[file] for file in job.inputs if not self.is_there(file)]
        return found

    def _triggers(self, jobs: Sequence[Job], makes: Collection[Job]) -> bool:
        """Tell whether something that is done would be made again on the way to some jobs."""
        fresh = set(jobs)
        above, waiting = set(), list(jobs)
        while waiting:
            job = waiting.pop()
            if job not in above:
                above.add(job)
                waiting += [self.maker[file] for file in job.inputs if file in self.maker]
        for job in self.jobs:
            if job in above and any(self.maker.get(file) in fresh for file in job.inputs):
                if job not in makes:
                    return True
                fresh.add(job)
        return False

    def reasons(self) -> list[str]:
        """Say what of the crate is not taken, and why, a line for each reason.

        What is shown would be made here in any case.
        """
        rules: dict[str, Counter] = {}
        for job in self.made:
            if job in self.why and not all(map(is_shown_result, job.outputs)):
                rules.setdefault(self.why[job], Counter())[job.rule] += 1
        return [f"{why}: {counted(steps)}" for why, steps in rules.items()]


def counted(rules: Counter) -> str:
    """Write rules with the number of their steps."""
    return ", ".join(f"{rule} ({n})" if n > 1 else rule for rule, n in rules.items())


def is_shown_result(file: str) -> bool:
    """Tell whether a file is a table, a figure or of the audit."""
    return is_shown(file.removeprefix(RESULTS))


def draw(jobs: Sequence[Job], count: int, seed: int) -> list[Job]:
    """Return some jobs at random."""
    return random.Random(seed).sample(sorted(jobs, key=lambda job: min(job.outputs)), min(count, len(jobs)))


def restore(choice: Choice, folder: Path) -> list[str]:
    """Copy what is taken from a folder with results, and return which files were copied.

    A file that lies here with the same bytes is left alone. Snakemake is told of all steps whose results are
    known, also where these are not there: it then sees when their code changes. What is made here because its
    code has changed is not known to it, so that it runs.
    """
    copied: list[str] = []
    for file in (file for files in choice.taken.values() for file in files):
        if not _is_here(file) or sha256_file(file) != choice.digests[file]:
            with atomic_path(file) as temporary:
                shutil.copyfile(folder / file.removeprefix(RESULTS), temporary)
            copied.append(file)
    settle_times(choice, copied)
    stale = {job for job in choice.made if job in choice.rewritten}
    for job in (job for job, record in choice.known.items() if record is not None and job not in stale):
        note_done(job, {file: choice.digests.get(file, "") for file in job.inputs}, _time_of(job.outputs))
    return copied


def settle_times(choice: Choice, fresh: Collection[str]) -> None:
    """Let files that were written now, with the expected bytes, be no reason to run another step.

    They become as old as the oldest result here. Then no result is older than what it was made of, where
    the crate says that it was made of just that; all other times stay.
    """
    results = {output for job in choice.jobs for output in job.outputs if _is_here(output)}
    oldest = min((os.stat(file).st_mtime_ns for file in results.difference(fresh)), default=time.time_ns())
    for file in fresh:
        os.utime(file, ns=(oldest, oldest))
    for job, record in choice.agreeing():
        if not all(sha256_file(file) == record.outputs.get(file) for file in filter(_is_here, job.outputs)):
            continue
        newest = max((os.stat(file).st_mtime_ns for file in job.inputs if _is_here(file)), default=0)
        for output in filter(_is_here, job.outputs):
            if os.stat(output).st_mtime_ns < newest:
                os.utime(output, ns=(newest, newest))


def compare(jobs: Iterable[Job], expected: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return which files that jobs have made have the expected digests, and which have others."""
    made = [output for job in jobs for output in job.outputs if output in expected and _is_here(output)]
    equal = [output for output in made if sha256_file(output) == expected[output]]
    return equal, [output for output in made if output not in equal]


def _time_of(files: Iterable[str]) -> float:
    return max((os.stat(file).st_mtime for file in files if _is_here(file)), default=time.time())


def _lies_here(known: Mapping[Job, StepRecord | None], job: Job, file: str) -> bool:
    return job in known and known[job] is None and _is_here(file)


def _is_here(file: str) -> bool:
    return Path(file).exists()
