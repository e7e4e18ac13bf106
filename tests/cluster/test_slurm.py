"""The workflow on a real Slurm: what it asks for and refuses, and the same bytes after every fault."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from biaslab.audit.compare import compare_runs
from cluster.slurm import Cluster, Job
from processes import heed_signals

ROOT = Path(__file__).parents[2]
PROFILE = "workflow/profiles/slurm"
RUN = [sys.executable, "-m", "biaslab", "run", "--preset", "smoke", "--configfile", "mine.yaml"]
SLURM = ["--workflow-profile", PROFILE, "--latency-wait", 10, "--slurm-init-seconds-before-status-checks", 3]
AREA = "areas: [ranking]\nranking: {distributions: 100}\n"
FIRST = {"simulate_ranking", "compare_rankings"}
STEPS = {*FIRST, "audit"}
"""The steps of the area that a cluster runs, and those of them that wait for none."""

SUBMITTED = re.compile(r"Job \d+ has been submitted with SLURM jobid (\d+) \(log: .*/rule_(\w+)/")
DEADLINE = 240  # seconds
PYTHON = Path(__file__).parent / "python"  # what changes in the Python of a run
PATHS = os.pathsep.join([str(PYTHON), *filter(None, [os.environ.get("PYTHONPATH")])])

pytestmark = pytest.mark.slow


def make_folder(folder: Path) -> Path:
    """Return a folder to run the workflow in, as one that has cloned it."""
    folder.mkdir()
    for name in ("config.yaml", "Snakefile", "workflow"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "mine.yaml").write_text(AREA)
    return folder


def start(folder: Path, *arguments: object, clock: str = "") -> subprocess.Popen:
    """Start a run of the area, with another clock on a node; what it says goes into a file of its own."""
    changes = {"PYTHONPATH": PATHS, "LONGEST_SLEEP": "1", "NODE_CLOCK": clock}
    with open(folder / f"said-{time.monotonic_ns()}.txt", "wb") as said:
        return subprocess.Popen(
            [*RUN, *map(str, arguments)],
            cwd=folder,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=os.environ | {"PIP_NO_INDEX": "1"} | changes,
            preexec_fn=heed_signals,
        )


def said(folder: Path) -> str:
    return max(folder.glob("said-*.txt")).read_text(encoding="utf-8")


def finish(run: subprocess.Popen, folder: Path) -> str:
    """Wait for a run to end well, and return what it said."""
    assert run.wait(DEADLINE) == 0, said(folder)
    return said(folder)


def wait_for(found: Callable[[], object], seconds: float = DEADLINE) -> object:
    """Wait until there is something, and return it."""
    end = time.monotonic() + seconds
    while not (what := found()):
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.05)
    return what


def running(cluster: Cluster) -> list[str]:
    return cluster.ask("squeue", "-h", "-t", "RUNNING", "-o", "%i").split()


def kill(run: subprocess.Popen) -> None:
    """End a run and all that it started on this machine, as a crash would."""
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in psutil.Process(run.pid).children(recursive=True):
            process.kill()
    run.kill()
    run.wait()


def states(cluster: Cluster, since: int) -> list[str]:
    """Return how the jobs after the first `since` ended."""
    return [job.state for job in cluster.jobs()[since:]]


@pytest.fixture(scope="module")
def local(cluster, tmp_path_factory) -> Iterator[Callable[[], Path]]:
    """Return how to get the folder of a run without any cluster, which goes on beside the first test."""
    folder = make_folder(tmp_path_factory.mktemp("local") / "run")
    run = start(folder, "--cores", 2)

    def get() -> Path:
        finish(run, folder)
        return folder

    yield get
    kill(run)


def assert_same(local: Callable[[], Path], folder: Path) -> None:
    comparison = compare_runs(local() / "results", folder / "results")
    assert comparison.is_equal, comparison.table()
    assert len(comparison.files) > 20


def test_a_cluster_gets_the_jobs_and_gives_the_same_bytes(cluster, local, tmp_path):
    folder, before = make_folder(tmp_path / "run"), len(cluster.jobs())
    text = finish(start(folder, *SLURM), folder)
    submitted = {int(number): rule for number, rule in SUBMITTED.findall(text)}
    ended: dict[int, Job] = {job.id: job for job in cluster.jobs()[before:]}
    assert set(submitted.values()) == STEPS
    assert set(ended) == set(submitted)
    assert {job.state for job in ended.values()} == {"COMPLETED"}
    run = re.search(r"SLURM run ID: (\S+)", text)[1]
    assert {job.name for job in ended.values()} == {run}
    assert {(job.cpus, job.partition) for job in ended.values()} == {(1, "main")}
    assert {job.minutes for job in ended.values()} == {10}, "the preset says how many"
    assert_same(local, folder)


def test_a_run_that_is_itself_a_job_submits_its_jobs_and_ends(cluster, local, tmp_path):
    """The variables of its allocation are inherited; they neither hang the run nor shape its jobs."""
    folder, before = make_folder(tmp_path / "run"), len(cluster.jobs())
    script = f"export PYTHONPATH={PATHS} LONGEST_SLEEP=1; exec {' '.join(map(str, [*RUN, *SLURM]))}"
    places = [f"--chdir={folder}", f"--output={folder}/said-1.txt"]
    number = int(cluster.ask("sbatch", "--parsable", "--mem=1500", "--time=30", *places, "--wrap", script))
    wait_for(lambda: number not in cluster.queue(), 2 * DEADLINE)
    ended = {job.id: job for job in cluster.jobs()[before:]}
    assert ended.pop(number).state == "COMPLETED", said(folder)
    assert {job.state for job in ended.values()} == {"COMPLETED"}
    assert len(ended) == len(STEPS)
    assert_same(local, folder)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--default-resources", "slurm_partition=short", "mem_mb=100", "runtime=5"],
            r"Slurm would never start \w+ \(.*\): its partition short allows 1 minutes; .*",
        ),
        (
            ["--set-threads", "simulate_ranking=8"],
            r"Slurm would never start simulate_ranking \(.* threads: 8\): .* is not available; .*",
        ),
    ],
)
def test_what_could_never_end_is_refused_at_once(cluster, tmp_path, arguments, message):
    folder, before = make_folder(tmp_path / "run"), len(cluster.jobs())
    run = start(folder, *SLURM, *arguments)
    assert run.wait(60) == 2, said(folder)
    assert re.fullmatch(f"biaslab: {message}", said(folder).strip().splitlines()[-1])
    assert "Traceback" not in said(folder)
    assert (cluster.queue(), len(cluster.jobs())) == ([], before)


def test_jobs_that_are_cancelled_or_killed_are_tried_again(cluster, local, tmp_path):
    folder, before = make_folder(tmp_path / "run"), len(cluster.jobs())
    run = start(folder, *SLURM)
    cancelled, *_ = wait_for(lambda: running(cluster))
    cluster.ask("scancel", cancelled)
    shot, *_ = wait_for(lambda: [job for job in running(cluster) if job != cancelled])
    cluster.ask("scancel", "--batch", "--signal=KILL", shot)
    finish(run, folder)
    assert sorted(set(states(cluster, before))) == ["CANCELLED", "COMPLETED", "FAILED"]
    assert len(cluster.jobs()) - before == len(STEPS) + 2
    assert_same(local, folder)


def test_jobs_outlive_the_controller_and_the_daemon_of_their_node(cluster, local, tmp_path):
    folder, before = make_folder(tmp_path / "run"), len(cluster.jobs())
    run = start(folder, *SLURM)
    wait_for(lambda: len(running(cluster)) == len(FIRST))
    cluster.note()
    cluster.kill("slurmctld")
    cluster.kill("slurmd.n2")
    time.sleep(5)
    cluster.start_controller()
    cluster.start_node("n2")
    finish(run, folder)
    assert states(cluster, before) == ["COMPLETED"] * len(STEPS), "each was run once"
    assert_same(local, folder)


def test_a_run_that_is_killed_alone_cancels_its_jobs(cluster, tmp_path):
    folder, before = make_folder(tmp_path / "run"), len(cluster.jobs())
    run = start(folder, *SLURM)
    wait_for(lambda: len(running(cluster)) == len(FIRST))
    cluster.ask("scontrol", "suspend", ",".join(running(cluster)))  # they would end by themselves
    time.sleep(5)  # Snakemake cancels no job while it asks for their states: after 3 s and 13 s later
    run.kill()
    wait_for(lambda: not cluster.queue())
    assert states(cluster, before) == ["CANCELLED"] * len(FIRST)


def test_after_a_crash_the_jobs_that_are_left_are_named_and_twice_at_work_they_spoil_nothing(
    cluster, local, tmp_path
):
    folder = make_folder(tmp_path / "run")
    run = start(folder, *SLURM)
    wait_for(lambda: len(running(cluster)) == len(FIRST))
    name = re.search(r"SLURM run ID: (\S+)", said(folder))[1]
    kill(run)
    left = running(cluster)
    cluster.ask("scontrol", "suspend", ",".join(left))  # they would end before a slow machine looks for them
    refused = start(folder, *SLURM)
    assert refused.wait(60) == 2, said(folder)
    last = said(folder).strip().splitlines()[-1]
    assert re.match(r"biaslab: \d jobs of an earlier run in this folder are still in the queue; wait", last)
    assert f"scancel --name {name}" in last
    cluster.ask("scontrol", "resume", ",".join(left))
    finish(start(folder, "--cores", 1), folder)  # beside them
    wait_for(lambda: not cluster.queue())
    assert_same(local, folder)


@pytest.mark.parametrize(("hours", "ended"), [(-2, ["FAILED", "COMPLETED"]), (2, ["COMPLETED"])])
def test_a_node_with_another_clock_spoils_nothing(cluster, local, tmp_path, hours, ended):
    folder, before = tmp_path / "run", len(cluster.jobs())
    shutil.copytree(local(), folder, symlinks=True)
    (folder / "results/audit/manifest.json").unlink()  # of a submitted step that has inputs
    run = start(folder, *SLURM, clock=f"n1 {hours * 3600}")
    wait_for(lambda: len(cluster.jobs()) > before)
    cluster.update("n1", "DRAIN")
    finish(run, folder)
    cluster.update("n1", "RESUME")
    jobs = cluster.jobs()[before:]
    assert [job.state for job in jobs] == ended
    assert [job.node for job in jobs] == ["n1", "n2"][: len(ended)]
    logs = [path.read_text(encoding="utf-8") for path in folder.glob(".snakemake/slurm_logs/*/*.log")]
    assert any("has older modification time" in log for log in logs) == (hours < 0)
    assert_same(local, folder)
    assert max(path.stat().st_mtime for path in folder.glob("results/audit/*")) <= time.time()
    assert "Nothing to be done" in finish(start(folder, *SLURM), folder)
