"""A supervised program: what it says is passed on, its interruption is told in one line."""

import os
import signal
import subprocess
import sys

SUPERVISOR = "import sys; from biaslab.run.supervise import supervise; sys.exit(supervise(sys.argv[1:]))"
PROGRAM = """
import sys, time
print("started", file=sys.stderr, flush=True)
try:
    time.sleep(60)
except KeyboardInterrupt:
    print("much noise", file=sys.stderr)
    sys.exit(1)
"""


def start(program):
    return subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_output_and_exit_code_are_passed_on():
    process = start("import sys; print('out'); print('error', file=sys.stderr); sys.exit(3)")
    assert process.communicate(timeout=60) == ("out\n", "error\n")
    assert process.returncode == 3


def test_interruption_is_one_line():
    process = start(PROGRAM)
    assert process.stderr.readline() == "started\n"
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does at Ctrl-C
    out, error = process.communicate(timeout=60)
    assert (out, error) == ("", "biaslab: interrupted; the same command goes on from here\n")
    assert process.returncode == 130


def test_termination_is_handed_on():
    process = start(PROGRAM)
    assert process.stderr.readline() == "started\n"
    process.terminate()
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode != 0
