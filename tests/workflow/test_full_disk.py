"""A disk that fills up during a run: one line tells it, nothing half is left, and the next run goes on.

Neither waits, when it has ended, for the timers by which Snakemake would start further jobs.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SMALL_DISK = """
set -e
mkdir -p results
mount -t tmpfs -o size=8m tmpfs results
"""
RUNS = """
echo 'areas: [ranking]' > mine.yaml
run="biaslab run --preset smoke --configfile mine.yaml --cores 2 --max-jobs-per-timespan 500/1h"
head -c 8M /dev/zero > results/filler
truncate --size=-16K results/filler
set +e
timeout 1200 "$PYTHON" -m $run; echo "full: $?"
find results -type f -name '.*'
find results -type f -empty ! -path '*/logs/*'
rm results/filler
timeout 1200 "$PYTHON" -m $run > /dev/null 2>&1; echo "with space: $?"
"""
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c"]

pytestmark = pytest.mark.slow


def on_a_small_disk(folder: Path, script: str) -> subprocess.CompletedProcess:
    """Run a script whose results lie on a disk of their own, of 8 MB, that no other process sees.

    Snakemake's own notes lie elsewhere: where they find no room, it says so in its own words.
    """
    return subprocess.run(
        [*UNSHARE, SMALL_DISK + script],
        cwd=folder,
        env=os.environ | {"PYTHON": sys.executable},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def test_a_full_disk_is_told_and_the_next_run_goes_on(tmp_path):
    try:
        allowed = on_a_small_disk(tmp_path, "true").returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("a disk of its own needs user namespaces")
    finished = on_a_small_disk(tmp_path, RUNS)
    said, _, after = finished.stdout.partition("full: 1\n")
    assert "biaslab: the disk is full; free space, and the same command resumes from here\n" in said, said
    assert "Traceback" not in said, said
    assert after == "with space: 0\n"
