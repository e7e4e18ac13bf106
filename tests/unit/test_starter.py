import json
import os
import re
import signal
import subprocess
import sys
import uuid

import pytest

from biaslab import starter
from processes import MARK, alive, wait_for

BIASLAB = "import sys; from biaslab.__main__ import main; sys.exit(main())"


def under_starter(script, folder, **environment):
    """Run a Python script by the starter, in a folder, and return the finished process."""
    command = [sys.executable, "-m", "biaslab.starter", sys.executable, "-c", script]
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def calls(*commands, **environment):
    """Return a script that calls biaslab again and again, and prints what comes of it."""
    return f"""
import json, os, subprocess, sys
for command in {commands!r}:
    done = subprocess.run([sys.executable, "-c", {BIASLAB!r}, *command], capture_output=True, text=True,
        env=os.environ | {environment!r})
    print(json.dumps([done.returncode, done.stdout, done.stderr]))
"""


def results(finished):
    assert finished.returncode == 0, finished.stderr
    return [json.loads(line) for line in finished.stdout.splitlines()]


FILES = {name: f"{name}.tsv" for name in ("measures", "feasibility", "differences")}
SIZES = {"attribute_values": [2], "distributions": 1000000, "candidates": 100, "top": 50, "seed": 1}
LONG = ["step", "ranking.simulate-ranking", "--given", json.dumps(SIZES | FILES), "--threads", "1"]
FEW = SIZES | {"distributions": 3, "candidates": 10, "top": 5}
SHORT = ["step", "ranking.simulate-ranking", "--given", json.dumps(FEW | FILES), "--threads", "1"]
COMMANDS = (
    ["--version"],
    SHORT,
    ["step", "ranking.simulate-ranking", "--given", '{"attribute_values": [2]}'],
    ["no-such-command"],
)


@pytest.mark.slow
def test_a_forked_step_does_what_a_process_does(tmp_path):
    told = {}
    for kind, script in (
        ("forked", calls(*COMMANDS)),
        ("cold", calls(*COMMANDS, BIASLAB_STARTER="/nowhere")),
    ):
        (tmp_path / kind).mkdir()
        told[kind] = results(under_starter(script, tmp_path / kind))
    assert told["forked"] == told["cold"]
    assert [code for code, *_ in told["forked"]] == [0, 0, 2, 2]
    lists = [tmp_path / kind / "measures.tsv" for kind in ("forked", "cold")]
    assert lists[0].read_bytes() == lists[1].read_bytes()


@pytest.mark.slow
def test_libraries_are_imported_once_a_step_has_needed_them_and_the_package_never(tmp_path):
    script = calls(SHORT)
    finished = under_starter(script, tmp_path, PYTHONPROFILEIMPORTTIME="1")
    (_, _, said) = results(finished)[0]
    numpy = re.compile(r"\| +numpy\.")
    assert numpy.search(said), "the first step imports it"
    assert " biaslab.ranking" in said
    assert numpy.search(finished.stderr), "and then the starter does"
    assert " biaslab.ranking" not in finished.stderr
    assert " biaslab.cli" not in finished.stderr


def test_exit_codes_of_the_program_are_passed_on(tmp_path):
    assert under_starter("import sys; sys.exit(7)", tmp_path).returncode == 7
    assert under_starter("import os; os.kill(os.getpid(), 15)", tmp_path).returncode == 128 + 15


@pytest.mark.skipif(sys.platform != "linux", reason="looks through /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_step_ends_with_who_waits_for_it(tmp_path, number):
    mark = uuid.uuid4().hex
    script = f"""
import subprocess, sys
from processes import alive, wait_for
asks = subprocess.Popen([sys.executable, "-c", {BIASLAB!r}, *{LONG!r}])
starter_program_client_minder_and_step = 5
assert wait_for(lambda: len(alive({mark!r})) == starter_program_client_minder_and_step, 300)
asks.send_signal({int(number)})
sys.exit(128 + abs(asks.wait()) % 128)
"""
    ended = under_starter(script, tmp_path, **{MARK: mark, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert ended.returncode == 128 + number
    assert wait_for(lambda: not alive(mark), 60)


def test_without_a_starter_or_by_that_of_another_environment_nothing_is_started(tmp_path, monkeypatch):
    monkeypatch.delenv(starter.VARIABLE, raising=False)
    assert starter.start(["biaslab", "--version"]) is None
    monkeypatch.setenv(starter.VARIABLE, str(tmp_path / "gone"))
    assert starter.start(["biaslab", "--version"]) is None
    script = """
import sys
sys.prefix = "/elsewhere"
from biaslab import starter
print(starter.start(["biaslab", "--version"]))
"""
    assert under_starter(script, tmp_path).stdout == "None\n"


def test_nothing_of_it_is_left(tmp_path):
    under_starter(calls(["--version"]), tmp_path, TMPDIR=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_where_no_socket_can_be_made_steps_are_processes_of_their_own(tmp_path):
    (long := tmp_path / ("name" * 40)).mkdir()
    finished = under_starter(calls(["--version"]), tmp_path, TMPDIR=str(long))
    assert [code for code, *_ in results(finished)] == [0]
    assert list(long.iterdir()) == []
    assert under_starter("import sys; sys.exit(7)", tmp_path, TMPDIR=str(long)).returncode == 7
