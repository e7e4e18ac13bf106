"""A supervised program: what it says is passed on; it ends with its supervisor, with all that it started."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import uuid
from pathlib import Path

import pytest

from processes import MARK, alive, heed_signals, is_free, kill_all, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks through /proc")

WITHIN = 60  # seconds, on a busy machine
SUPERVISOR = """
import pathlib, sys
from biaslab.run.life.lock import hold
from biaslab.run.life.supervise import supervise
hold(pathlib.Path(sys.argv[1]))
sys.exit(supervise(sys.argv[3:], patience=float(sys.argv[2])))
"""
SAID = {
    signal.SIGINT: "biaslab: interrupted; the same command resumes from here\n",
    signal.SIGTERM: "biaslab: terminated; the same command resumes from here\n",
    signal.SIGHUP: "biaslab: hung up; the same command resumes from here\n",
}
WITH_CHILD = "sh -c 'sleep 300; true' & echo started >&2; "
NOISY = f"trap 'echo much noise >&2; exit 1' INT; {WITH_CHILD} while true; do sleep 0.1; done"
STUBBORN = f"trap '' INT TERM HUP; {WITH_CHILD} while true; do sleep 0.1; done"
OWN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(2, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture
def mark():
    """Return what marks the processes of a test; none is left after it."""
    name = uuid.uuid4().hex
    yield name
    kill_all(name)


@pytest.fixture
def start(tmp_path, mark):
    def run(
        script: str, before: tuple[str, ...] = (), patience: float = 0.5, **options: object
    ) -> subprocess.Popen:
        supervisor = [sys.executable, "-c", SUPERVISOR, tmp_path / "lock", str(patience)]
        process = subprocess.Popen(
            [*before, *supervisor, "bash", "-c", script],
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options},
            start_new_session=True,
            env=os.environ | {MARK: mark},
            preexec_fn=heed_signals,
        )
        assert "echo started" not in script or not process.stderr or process.stderr.readline() == "started\n"
        return process

    return run


@pytest.fixture
def assert_ends(mark):
    """Return a function that waits for the end of a process, after which nothing of it lives."""

    def check(process: subprocess.Popen, number: int, said: str | None = None) -> None:
        assert process.communicate(timeout=WITHIN)[1] == (SAID[number] if said is None else said)
        assert process.returncode == 128 + number
        assert alive(mark) == {}

    return check


def state(process: int) -> str:
    """Return the letter of a process's state: T when it is stopped."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def read_line(terminal: int) -> str:
    """Return a line of a terminal, whose system hands it over in parts."""
    text = b""
    while not text.endswith(b"\n") and select.select([terminal], [], [], WITHIN)[0]:
        text += os.read(terminal, 1000)
    return text.decode().replace("\r\n", "\n")


def test_output_and_exit_code_are_passed_on(start):
    process = start("echo out; echo error >&2; exit 3")
    assert process.communicate(timeout=WITHIN) == ("out\n", "error\n")
    assert process.returncode == 3


@pytest.mark.parametrize(
    ("number", "script"),
    [(signal.SIGINT, NOISY), (signal.SIGTERM, NOISY), (signal.SIGHUP, STUBBORN)],
    ids=["SIGINT", "SIGTERM", "SIGHUP"],
)
def test_a_signal_to_the_supervisor_alone_ends_all_in_one_line(
    start, assert_ends, mark, tmp_path, number, script
):
    process = start(script)
    assert wait_for(lambda: len(alive(mark)) >= 4, WITHIN)
    process.send_signal(number)
    assert_ends(process, number)
    assert is_free(tmp_path / "lock")


def test_a_program_whose_messages_nobody_reads_any_more_ends_its_own_way(start, tmp_path):
    """Snakemake says that it was interrupted, and then cancels its jobs on a cluster."""
    script = f"trap 'echo noise >&2; touch {tmp_path}/ended; exit 1' INT; echo started >&2;"
    process = start(f"{script} while true; do sleep 0.1; done", patience=WITHIN)
    process.kill()
    process.stderr.close()
    assert wait_for((tmp_path / "ended").exists, WITHIN)


def test_a_second_interrupt_changes_nothing(start, assert_ends):
    process = start(STUBBORN)
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == SAID[signal.SIGINT]
    process.send_signal(signal.SIGINT)
    assert_ends(process, signal.SIGINT, "")


def test_a_termination_of_all_at_once(start, assert_ends, mark):
    process = start(NOISY)
    for number in alive(mark):  # as the manager of a service does it
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGTERM)
    assert_ends(process, signal.SIGTERM)


def test_the_lock_of_a_killed_supervisor_is_held_until_all_are_gone(start, mark, tmp_path):
    process = start(STUBBORN)
    process.kill()
    process.wait()
    assert wait_for(lambda: is_free(tmp_path / "lock"), WITHIN)
    assert not [command for command in alive(mark).values() if "run.supervise" not in command]
    assert wait_for(lambda: not alive(mark), WITHIN)


def test_what_a_program_leaves_behind_ends_with_it(start, mark):
    assert start(f"{WITH_CHILD} exit 0").wait(timeout=WITHIN) == 0
    assert alive(mark) == {}


def test_a_killed_program_is_told(start):
    process = start("kill -KILL $$")
    said = "biaslab: Snakemake was killed by signal 9; the same command resumes from here\n"
    assert process.communicate(timeout=WITHIN) == ("", said)
    assert process.returncode == 137


def test_a_reader_that_is_gone_ends_all(start, mark):
    process = start("while true; do echo more >&2; sleep 0.1; done")
    assert process.stderr.readline() == "more\n"
    process.stderr.close()
    assert process.wait(timeout=WITHIN) != 0
    assert alive(mark) == {}


def test_nohup_survives_the_terminal_but_no_termination(start, assert_ends):
    process = start(NOISY, before=("nohup",), stdin=subprocess.DEVNULL)
    process.send_signal(signal.SIGHUP)
    assert not wait_for(lambda: process.poll() is not None, 1)
    process.terminate()
    assert_ends(process, signal.SIGTERM)


def test_interrupts_are_heeded_in_the_background_of_a_script(start, assert_ends, mark):
    process = start(NOISY, before=("bash", "-c", '"$@" & wait $!', "bash"))  # which ignores SIGINT in it
    supervisor = next(number for number, command in alive(mark).items() if command.startswith(sys.executable))
    os.kill(supervisor, signal.SIGINT)
    assert_ends(process, signal.SIGINT)


def test_all_stop_and_go_on_together_and_end_their_own_way(start, mark, tmp_path):
    ends = f"trap 'touch {tmp_path}/ended; exit 1' INT"
    process = start(f"{ends}; echo $$; echo started >&2; while true; do sleep 0.1; done", patience=WITHIN)
    program = int(process.stdout.readline())
    process.send_signal(signal.SIGTSTP)
    assert wait_for(lambda: state(process.pid) == state(program) == "T", WITHIN)
    process.send_signal(signal.SIGCONT)
    assert wait_for(lambda: "T" not in (state(process.pid), state(program)), WITHIN)
    process.send_signal(signal.SIGTSTP)
    assert wait_for(lambda: state(process.pid) == state(program) == "T", WITHIN)
    process.kill()
    assert wait_for(lambda: not alive(mark), WITHIN)
    assert (tmp_path / "ended").exists()


def test_ctrl_c_once_in_a_terminal(start, mark):
    terminal, side = pty.openpty()
    before = termios.tcgetattr(side)
    streams = dict.fromkeys(["stdin", "stdout", "stderr"], side)
    process = start(NOISY, before=(sys.executable, "-c", OWN_TERMINAL), **streams)
    assert read_line(terminal) == "started\n"
    os.write(terminal, b"\x03")
    assert process.wait(timeout=WITHIN) == 130
    assert read_line(terminal).replace("^C", "") == SAID[signal.SIGINT]
    assert termios.tcgetattr(side) == before
    assert alive(mark) == {}
    os.close(side)
    os.close(terminal)
