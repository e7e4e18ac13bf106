"""What is refused before anything is submitted, with commands of Slurm that are scripts."""

import math
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from biaslab.core.errors import InputError
from biaslab.run.slurm import (
    Request,
    check_slurm,
    leftovers,
    minutes_of,
    refuse_blind_status,
    refuse_impossible,
    requests_of,
    time_limits,
)

RUN = "02b2e278-aa91-42a9-85c0-779b0188f7e2"
KEEPS_NO_ACCOUNTS = {"AccountingStorageType": "accounting_storage/none", "MinJobAge": "300 sec"}


def command(folder: Path, monkeypatch, name: str, script: str) -> None:
    """Put a command first in the path."""
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def refused(function, *arguments) -> str:
    with pytest.raises(InputError) as caught:
        function(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("limit", "minutes"),
    [("1:00:00", 60), ("30:00", 30), ("1-00:00:00", 1440), ("2-12:30:30", 3630.5), ("infinite", math.inf)],
)
def test_time_limits_are_read(limit, minutes):
    assert minutes_of(limit) == minutes


def test_the_default_partition_has_a_limit_too():
    assert time_limits("main*|1:00:00\nlong|infinite\n") == {"main": 60, "": 60, "long": math.inf}


def test_a_job_above_the_limit_of_its_partition_is_refused(tmp_path, monkeypatch):
    command(tmp_path, monkeypatch, "sbatch", "exit 0")
    limits = {"": 60, "main": 60, "long": math.inf}
    refuse_impossible({Request(1, 100, 60): "a", Request(1, 100, 480, "long"): "b"}, limits)
    assert refused(refuse_impossible, {Request(1, 100, 480): "train"}, limits) == (
        "Slurm would never start train: it asks for 480 minutes, and the default partition allows 60; name "
        "another (default-resources: slurm_partition), or set cluster.max_runtime to 60"
    )


def test_what_sbatch_refuses_is_said_in_its_words(tmp_path, monkeypatch):
    command(
        tmp_path,
        monkeypatch,
        "sbatch",
        f'echo "$@" > {tmp_path}/asked; echo sbatch: error: invalid >&2; exit 1',
    )
    message = refused(refuse_impossible, {Request(8, 4000, 60, "main", "mine"): "count"}, {"main": 60})
    assert (
        "never start count: it asks for 8 threads, 4000 MB and 60 minutes, and sbatch says 'invalid'"
        in message
    )
    asked = (tmp_path / "asked").read_text().split()
    assert "--test-only" in asked
    assert {"--cpus-per-task=8", "--mem=4000", "--time=60", "--partition=main", "--account=mine"} <= set(
        asked
    )


def job(rule, threads, **resources):
    given = {"mem_mb": 100, "runtime": 5} | resources
    named = SimpleNamespace(name=rule)
    return SimpleNamespace(rule=named, threads=threads, resources=given)


def test_requests_are_asked_once_each():
    jobs = [job("a", 1), job("b", 1), job("c", 2), job("d", 1, slurm_partition="long", slurm_account="x")]
    found = requests_of(jobs)
    assert found == {Request(1, 100, 5): "a", Request(2, 100, 5): "c", Request(1, 100, 5, "long", "x"): "d"}


def test_a_status_command_that_never_sees_an_end_is_refused():
    refuse_blind_status("squeue", 10, KEEPS_NO_ACCOUNTS)
    refuse_blind_status("sacct", 10, {"AccountingStorageType": "accounting_storage/slurmdbd"})
    message = refused(refuse_blind_status, "sacct", 10, KEEPS_NO_ACCOUNTS)
    assert message.endswith("write slurm-status-command: squeue")
    message = refused(refuse_blind_status, "squeue", 101, KEEPS_NO_ACCOUNTS)
    assert message.endswith("write slurm-init-seconds-before-status-checks: 100")


def test_jobs_of_earlier_runs_in_this_folder_are_left_over(tmp_path):
    lines = [
        f"17|{RUN}|{tmp_path}",
        f"18|mine_{RUN}|{tmp_path}",
        f"19|{RUN}|/elsewhere",
        f"20|shell|{tmp_path}",
    ]
    assert list(leftovers("\n".join(lines), tmp_path)) == [("17", RUN), ("18", f"mine_{RUN}")]


def slurms_workflow() -> SimpleNamespace:
    """Return what Snakemake has when the plugin is to submit nothing."""
    settings = type("ExecutorSettings", (), {"__module__": "snakemake_executor_plugin_slurm"})()
    settings.status_command, settings.init_seconds_before_status_checks = "squeue", 10
    return SimpleNamespace(executor_settings=settings, dag=SimpleNamespace(needrun_jobs=list))


def test_a_run_beside_jobs_that_are_left_over_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{number}|{RUN}|{tmp_path}\\n" for number in range(11, 17))
    command(tmp_path, monkeypatch, "squeue", f"printf '{lines}'")
    assert refused(check_slurm, slurms_workflow()) == (
        "6 jobs of an earlier run in this folder are still in the queue (11, 12, 13, 14, 15 ...); wait for "
        f"them (squeue --name {RUN}) or end them (scancel --name {RUN}), then run this command again"
    )


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("", "there is no command squeue; start the run where Slurm's commands are"),
        ("echo no answer >&2; exit 1", r"squeue .*: no answer; start the run where Slurm answers"),
    ],
)
def test_where_slurm_is_missing_or_silent_this_is_said(tmp_path, monkeypatch, script, message):
    monkeypatch.setenv("PATH", str(tmp_path))
    if script:
        command(tmp_path, monkeypatch, "squeue", script)
        (tmp_path / "sh").symlink_to("/bin/sh")
    with pytest.raises(InputError, match=message):
        check_slurm(slurms_workflow())


def test_other_executors_are_not_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    check_slurm(SimpleNamespace(executor_settings=None))


def test_inside_a_job_nothing_of_its_allocation_is_left_before_anything_is_submitted(monkeypatch):
    """The thread that asks for states would die of them, and the run hang: the plugin sees to it first."""
    plugin = pytest.importorskip("snakemake_executor_plugin_slurm")
    for name in ("SLURM_JOB_ID", "SLURM_MEM_PER_NODE", "SLURM_CPUS_PER_TASK"):
        monkeypatch.setenv(name, "7")
    left = []

    def begin(*_):  # which starts the thread
        left.append([name for name in os.environ if name.startswith("SLURM_")])

    monkeypatch.setattr(plugin.RemoteExecutor, "__init__", begin)
    plugin.Executor(None, SimpleNamespace(warning=lambda line: None))
    assert left == [[]]
