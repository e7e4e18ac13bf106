"""Every family of computations has the reference's bytes on any x86-64-v3 machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import processors
from biaslab.core import processor

TESTS = Path(__file__).parents[1]
SCRIPT = TESTS / "processors.py"


@pytest.mark.slow
def test_every_family_has_the_bytes_of_the_reference():
    state = processor.state()
    if state["target"] != processor.TARGET or state["set_by_user"]:
        pytest.skip(f"not pinned to {processor.TARGET}: {state['target']}, {state['set_by_user']}")
    pytest.importorskip("torch")
    made_with, *expected = processors.REFERENCE.read_text(encoding="utf-8").splitlines()
    if made_with != f"# {processors.versions()}":
        pytest.skip(f"the reference is of other libraries: {made_with[2:]}")
    command = [sys.executable, SCRIPT]
    variables = os.environ | {"PYTHONPATH": str(TESTS), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    differing = sorted(set(expected) ^ set(done.stdout.splitlines()))
    names = sorted({line.partition("\t")[0] for line in differing})
    assert not names, f"{', '.join(names)}: where this is meant, regenerate the reference, see processors.py"
