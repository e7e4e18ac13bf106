"""The examples of property-based tests: the same in each process, and others in each search."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
DRAW = """
import importlib, sys
import properties
from hypothesis import given, strategies as st
properties.load_profile()
for name in sys.argv[1:]:
    importlib.import_module(name)
examples = []

@given(st.integers(), st.text(max_size=3), st.floats(allow_nan=False), st.sets(st.integers(0, 9)))
def draw(number, text, real, choice):
    examples.append((number, text, real, sorted(choice)))

draw()
print(len(examples), examples)
"""


@pytest.fixture
def draw(tmp_path):
    """Return a function that draws the examples of a test in a new process, and prints them."""

    def run(*modules: str, **variables: str) -> str:
        environment = os.environ | {"PYTHONPATH": str(TESTS)} | variables
        command = [sys.executable, "-c", DRAW, *modules]
        return subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    return run


@pytest.mark.slow
def test_fixed_examples_depend_on_nothing_but_the_test(draw):
    fixed = [
        draw(BIASLAB_SEARCH="0", PYTHONHASHSEED="1"),
        draw("biaslab.core.errors", "biaslab.starter", BIASLAB_SEARCH="0", PYTHONHASHSEED="2"),
    ]
    assert fixed[0] == fixed[1]
    assert fixed[0].startswith("100 ")


@pytest.mark.slow
def test_a_search_draws_more_examples_and_others_each_time(draw):
    drawn = [draw(BIASLAB_SEARCH="2") for _ in range(2)]
    assert drawn[0] != drawn[1]
    assert all(text.startswith("200 ") for text in drawn)
