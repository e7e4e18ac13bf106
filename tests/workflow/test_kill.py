"""A run that is interrupted, terminated, hung up or killed: nothing of it goes on, and the next run does."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid
from functools import partial
from pathlib import Path

import pytest

from biaslab.audit.compare import BYTE_EQUAL, compare_runs
from biaslab.run.record.manifest import MANIFEST
from processes import MARK, alive, heed_signals, is_free, kill_all, wait_for

LOCK = ".snakemake/biaslab.lock"
WITHIN = 60  # seconds, on a busy machine
DEADLINE = 600  # seconds, until a step runs on a busy machine
QUICK = "areas: [ranking]\n"
LONG = "areas: [ranking]\nranking: {distributions: 1000000}\n"  # half an hour
STEP = "step ranking.simulate-ranking"
KILLS = 8
LINES, PAUSE = 16, 0.4
"""A run is killed after up to so many lines of its output, and up to so many seconds later."""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="looks through /proc")]


class Run:
    """A run of the cheapest area of the preset smoke."""

    def __init__(self, folder: Path, config: str = QUICK):
        self.folder, self.mark = folder, uuid.uuid4().hex
        (folder / "mine.yaml").write_text(config)
        command = [sys.executable, "-m", "biaslab", "run", "--preset", "smoke", "--configfile", "mine.yaml"]
        self.process = subprocess.Popen(
            [*command, "--cores", "2"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=os.environ | {MARK: self.mark, "PIP_NO_INDEX": "1"},
            preexec_fn=heed_signals,
        )

    def commands(self) -> list[str]:
        return list(alive(self.mark).values())

    def reach(self, step: str) -> None:
        at_work = wait_for(lambda: any(step in command for command in self.commands()), DEADLINE)
        assert at_work, self.process.poll()

    def end(self) -> str:
        """Wait for the end of an undisturbed run, and return what it said."""
        said = self.process.communicate(timeout=DEADLINE)[1]
        assert self.process.returncode == 0, said
        return said


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a run in the folder; none is left after the test."""
    with contextlib.ExitStack() as stack:

        def run(config: str = QUICK) -> Run:
            started = Run(tmp_path, config)
            stack.enter_context(started.process)
            stack.callback(kill_all, started.mark)
            return started

        yield run


def left_half(folder: Path) -> list[Path]:
    return list(folder.rglob(".*.partial*"))


def begin_anew(folder: Path, results: Path) -> None:
    """Move the results away, and let Snakemake forget them."""
    (folder / "results").rename(results)
    shutil.rmtree(folder / ".snakemake")


def assert_same(undisturbed: Path, results: Path) -> None:
    """Refuse results that are not those of an undisturbed run, and half of a file."""
    assert left_half(results) == []
    comparison = compare_runs(undisturbed, results)
    assert comparison.is_equal
    others = [file.path for file in comparison.files if file.status != BYTE_EQUAL]
    assert others == [MANIFEST], "which holds the times of the jobs"
    assert len(comparison.files) > 30


def test_whatever_ends_a_run_ends_its_steps_and_the_next_goes_on(start, tmp_path):
    for numbers in ([signal.SIGINT, signal.SIGINT], [signal.SIGTERM], [signal.SIGKILL]):
        run = start(LONG)
        run.reach(STEP)
        for number in numbers:
            run.process.send_signal(number)
        if numbers == [signal.SIGKILL]:
            continue  # the next run begins at once
        said = run.process.communicate(timeout=WITHIN)[1]
        assert run.process.returncode == 128 + numbers[0]
        assert said.count("biaslab: ") == 1
        assert said.endswith("; the same command resumes from here\n"), "nothing is said after that"
        assert run.commands() == []
        assert is_free(tmp_path / LOCK)
    following = start()
    assert wait_for(lambda: not run.commands(), WITHIN)
    following.end()
    assert left_half(tmp_path) == []


def test_killed_at_random_moments_the_results_are_the_same_to_the_byte(start, tmp_path, tmp_path_factory):
    start().end()
    undisturbed = tmp_path_factory.mktemp("undisturbed") / "results"
    begin_anew(tmp_path, undisturbed)
    moments = random.Random(15)
    kills = 0
    while kills < KILLS:
        run = start()
        for _ in range(moments.randrange(LINES)):
            run.process.stderr.readline()
        time.sleep(PAUSE * moments.random())
        kill_run_or_all = [run.process.kill, partial(kill_all, run.mark)][moments.randrange(2)]
        if run.process.poll() is None:
            kill_run_or_all()
            kills += 1
        run.process.communicate()
        if run.process.returncode == 0:
            assert_same(undisturbed, tmp_path / "results")
            begin_anew(tmp_path, tmp_path_factory.mktemp("killed") / "results")
    start().end()
    assert_same(undisturbed, tmp_path / "results")
