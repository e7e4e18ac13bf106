"""The benchmarks that embeddings are scored on; a row here adds one."""

from typing import NamedTuple


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
