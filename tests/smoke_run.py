"""The finished run of the smoke preset that tests look at: made once, by the first test that asks for it."""

import contextlib
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import yaml

from biaslab.run.plan.plan import Plan, make_plan

ROOT = Path(__file__).parents[1]
SMOKE = ROOT / "workflow/presets/smoke.yaml"
OPTIONS = ["--configfile", SMOKE, "--cores", 2, "--quiet", "all", "--show-failed-logs"]
OPTIONS += ["--max-jobs-per-timespan", "6000/60s"]  # as `biaslab run`: each job leaves a timer behind


def run_once(folder: Path) -> Path:
    """Run the preset in a folder, unless a process of these tests has done so; return the folder."""
    folder.mkdir(exist_ok=True)
    done = folder / "done"
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            command = ["-m", "biaslab.starter", sys.executable, "-m", "snakemake"]
            command += ["--snakefile", ROOT / "Snakefile", "--directory", folder, *OPTIONS]
            finished = subprocess.run(
                [sys.executable, *map(str, command)],
                capture_output=True,
                text=True,
                check=False,
                cwd=folder,
                env=os.environ | {"PIP_NO_INDEX": "1", "PYTHONPROFILEIMPORTTIME": "1"},  # logs name imports
            )
            assert finished.returncode == 0, finished.stdout + finished.stderr
            done.touch()
    return folder


def plan_of(folder: Path) -> Plan:
    """Return what a run of the preset does in a folder."""
    with contextlib.chdir(folder):
        return make_plan(yaml.safe_load(SMOKE.read_text(encoding="utf-8")), ROOT)
