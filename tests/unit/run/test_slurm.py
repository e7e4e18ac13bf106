"""What is refused before anything is submitted, with commands of Slurm that are scripts."""

import math
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from biaslab.core.errors import InputError
from biaslab.run.plan.slurm import check_slurm, refuse_impossible, refuse_leftovers, time_limits
from refusals import refusal

RUN = "02b2e278-aa91-42a9-85c0-779b0188f7e2"


def command(folder: Path, monkeypatch, name: str, script: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def job(threads=1, rule="train", **resources):
    given = {"mem_mb": 100, "runtime": 5} | resources
    return SimpleNamespace(rule=SimpleNamespace(name=rule), threads=threads, resources=given)


@pytest.mark.parametrize(
    ("limit", "minutes"),
    [("1:00:00", 60), ("30:00", 30), ("1-00:00:00", 1440), ("2-12:30:30", 3630.5), ("infinite", math.inf)],
)
def test_time_limits_are_read(limit, minutes):
    assert time_limits(f"main*|{limit}\nlong|2:00:00\n") == {"main": minutes, "": minutes, "long": 120}


def test_a_job_above_the_limit_of_its_partition_is_refusal(tmp_path, monkeypatch):
    command(tmp_path, monkeypatch, "sbatch", "exit 0")
    limits = {"": 60, "main": 60, "long": math.inf}
    refuse_impossible([job(runtime=60), job(runtime=480, slurm_partition="long")], limits)
    assert refusal(refuse_impossible, [job(runtime=480)], limits) == (
        "Slurm would never start train (480 minutes, 100 MB, threads: 1): its partition allows 60 minutes;"
        " name another (default-resources: slurm_partition), or set cluster.max_runtime to 60"
    )


def test_each_request_is_put_to_sbatch_once_and_its_refusal_is_passed_on(tmp_path, monkeypatch):
    refuse = "case $* in *task=8*) echo sbatch: error: invalid >&2; exit 1;; esac"
    command(tmp_path, monkeypatch, "sbatch", f"echo $* >> {tmp_path}/asked; {refuse}")
    large = job(8, "count", mem_mb=4000, runtime=60, slurm_partition="main", slurm_account="mine")
    message = refusal(refuse_impossible, [job(), job(rule="other"), large], {"main": 60})
    assert (
        "never start count (60 minutes, 4000 MB, threads: 8): sbatch: error: invalid; set cluster" in message
    )
    first, second = (tmp_path / "asked").read_text().splitlines()
    assert first.split() == ["--test-only", "--cpus-per-task=1", "--mem=100", "--time=5", "--wrap=true"]
    assert {"--cpus-per-task=8", "--partition=main", "--account=mine"} <= set(second.split())


def test_jobs_of_earlier_runs_in_this_folder_alone_are_left_over(tmp_path):
    others = f"19|{RUN}|/elsewhere\n20|shell|{tmp_path}\n"
    refuse_leftovers(others, tmp_path)
    message = refusal(refuse_leftovers, f"17|{RUN}|{tmp_path}\n18|mine_{RUN}|{tmp_path}\n{others}", tmp_path)
    assert message.startswith("2 jobs of an earlier run")
    assert f"wait for them (squeue --name {RUN},mine_{RUN})" in message


def slurms_workflow() -> SimpleNamespace:
    """Return what Snakemake has when the plugin is to submit nothing."""
    settings = type("ExecutorSettings", (), {"__module__": "snakemake_executor_plugin_slurm"})()
    return SimpleNamespace(executor_settings=settings, dag=SimpleNamespace(needrun_jobs=list))


def test_a_run_beside_jobs_that_are_left_over_is_refusal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{number}|{RUN}|{tmp_path}\\n" for number in range(11, 17))
    command(tmp_path, monkeypatch, "squeue", f"printf '{lines}'")
    assert refusal(check_slurm, slurms_workflow()) == (
        "6 jobs of an earlier run in this folder are still in the queue; wait for them (squeue"
        f" --name {RUN}) or end them (scancel --name {RUN}), then run this command again"
    )


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("", "squeue: no such command; start the run on a machine that reaches Slurm"),
        ("echo no answer >&2; exit 1", "squeue: no answer; start the run on a machine that reaches Slurm"),
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
