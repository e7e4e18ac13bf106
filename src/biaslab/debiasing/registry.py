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


class Method(NamedTuple):
    """A method of debiasing; its function is in `biaslab.debiasing.methods`."""

    title: str  # what tables and figures call it
    source: str  # where it comes from


NONE = "none"
METHODS = {
    NONE: Method("Before", "the embedding as it is"),
    "hard": Method("Hard", "Bolukbasi et al. 2016"),
    "soft": Method("Soft", "Bolukbasi et al. 2016"),
    "double_hard": Method("Double-Hard", "Wang et al. 2020"),
    "inlp": Method("INLP", "Ravfogel et al. 2020"),
}
"""Every method by its name in configurations and commands; the first is the embedding as it is."""

COMPARED = tuple(name for name in METHODS if name != NONE)


def check_method(name: str) -> None:
    """Refuse a name that no method has."""
    if name not in METHODS:
        raise InputError(
            f"there is no method of debiasing '{name}' (known: {', '.join(METHODS)})"
            f"{suggest(name, list(METHODS))}"
        )
