"""The benchmarks that embeddings are scored on, and the methods of debiasing: a row adds one of either."""

from typing import NamedTuple

from biaslab.core.errors import InputError, suggest


class Benchmark(NamedTuple):
    """What is said of a benchmark once."""

    title: str
    dataset: str = ""  # the registered one; empty where the repository has its file
    is_of_questions: bool = False  # analogies to answer; otherwise pairs of words that people rated


BENCHMARKS = {
    "rg65": Benchmark("RG-65"),
    "wordsim353": Benchmark("WordSim-353", "wordsim353"),
    "msr": Benchmark("MSR analogies", "msr-syntax", is_of_questions=True),
}


NONE = "none"
METHODS = {NONE: "Before", "hard": "Hard", "soft": "Soft", "double_hard": "Double-Hard", "inlp": "INLP"}
"""The title of every method by its name; the first is the embedding as it is. `methods` has the functions."""

COMPARED = tuple(name for name in METHODS if name != NONE)


def check_method(name: str) -> None:
    """Refuse a name that no method has."""
    if name not in METHODS:
        raise InputError(
            f"there is no method of debiasing '{name}' (known: {', '.join(METHODS)})"
            f"{suggest(name, list(METHODS))}"
        )
