"""The benchmarks of embeddings and the methods of debiasing; to add a benchmark or method, add a row."""

from typing import NamedTuple

from biaslab.core.errors import InputError, suggest


class Benchmark(NamedTuple):
    """The description of a benchmark."""

    title: str
    dataset: str = ""  # the registered dataset; empty if the repository contains the file
    is_of_questions: bool = False  # analogy questions; otherwise rated pairs of words


BENCHMARKS = {
    "rg65": Benchmark("RG-65"),
    "wordsim353": Benchmark("WordSim-353", "wordsim353"),
    "msr": Benchmark("MSR analogies", "msr-syntax", is_of_questions=True),
}


NONE = "none"
METHODS = {NONE: "Before", "hard": "Hard", "soft": "Soft", "double_hard": "Double-Hard", "inlp": "INLP"}
"""The title of every method by name; the first is the unchanged embedding. `methods` has the functions."""

COMPARED = tuple(name for name in METHODS if name != NONE)


def check_method(name: str) -> None:
    """Refuse an unknown method."""
    if name not in METHODS:
        raise InputError(
            f"unknown method of debiasing '{name}' (known: {', '.join(METHODS)})"
            f"{suggest(name, list(METHODS))}"
        )
