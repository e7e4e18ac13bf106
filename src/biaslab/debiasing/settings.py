"""The section of the area in the configuration, settings of its functions, its methods, and names in results.

To add a benchmark or a method, add a row.
"""

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field
from pydantic.dataclasses import dataclass

from biaslab.bias.settings import ExactTest
from biaslab.core.columns import columns_of
from biaslab.core.settings import (
    DISTINCT,
    FILLED,
    ONE_OR_MORE,
    PYDANTIC,
    SEED,
    Comments,
    Count,
    Natural,
    NotNegative,
    Seed,
    Several,
)

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))  # the columns of the tables of the area
PAIRS, UNITS = CHANCE = ("random_pairs", "random_units")
"""Hard debiasing along directions that are unrelated to the bias, as values of the column of methods."""


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
"""The titles of the methods; the first is the unchanged embedding. `methods.METHODS` has the functions."""

COMPARED = tuple(name for name in METHODS if name != NONE)

_LISTS = "workflow/resources/word_lists"
WORD_SETS = {n: f"workflow/resources/word_sets/{n}.yaml" for n in ("caliskan6", "caliskan7", "caliskan8")}
"""The default tests and their files."""
_Benchmark = Annotated[Literal[tuple(BENCHMARKS)], "a benchmark"]


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Subspace:
    """Settings of the measures of bias."""

    components: Annotated[Count, "dimensions of the bias subspace"] = 1
    strictness: Annotated[NotNegative, "the exponent c of DirectBias"] = 1.0


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Settings(Subspace, ExactTest):
    """Settings of the measures; `seed` draws partitions if there are more than `permutations`."""

    seed: Seed = SEED


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class WordLists:
    """Files with word lists."""

    defining: Annotated[str, "file with the sets of words that define the bias (.yaml, .json)"] = (
        f"{_LISTS}/defining.yaml"
    )
    equalize: Annotated[str, "file with the sets of words that differ only in the bias"] = (
        f"{_LISTS}/equalize.yaml"
    )
    occupations: Annotated[str, "file with the words whose bias is measured"] = f"{_LISTS}/occupations.yaml"
    gender_specific: Annotated[
        str, "file with the words that are specific by definition, and never neutral"
    ] = f"{_LISTS}/gender_specific.yaml"


@dataclass(frozen=True, config=PYDANTIC)
class Sizes:
    """Numbers of words for the measures of remaining bias (Gonen and Goldberg 2019)."""

    clustered: Annotated[
        Several, "most biased words of each end that are clustered, at most a quarter of the neutral words"
    ] = 500
    classified: Annotated[
        Several, "most biased words of each end that are classified, at most a quarter of the neutral words"
    ] = 2500
    neighbours: Annotated[Count, "neighbours of an occupation that are counted"] = 100
    random_directions: Annotated[
        Natural, "random directions of each type to remove, as a reference for the remaining bias"
    ] = 10


@dataclass(frozen=True, config=PYDANTIC)
class Comparison(Sizes):
    """Comparison of debiasing methods and of the bias that remains after each (Gonen and Goldberg 2019)."""

    methods: Annotated[
        tuple[Annotated[Literal[COMPARED], "a method"], ...],
        "list of the methods to compare with the unchanged embedding",
        DISTINCT,
    ] = COMPARED


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Penalty:
    """Weight of soft debiasing."""

    lambda_: Annotated[
        NotNegative, "weight of the bias against similarities in soft debiasing, one of lambdas"
    ] = 0.2


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Section(Penalty, Subspace, ExactTest, WordLists):
    """Debiasing of word embeddings, and its measures (Bolukbasi et al. 2016)."""

    embeddings: Annotated[
        tuple[Annotated[str, "the name of a registered dataset or of a setup"], ...],
        "list of embeddings: names of registered datasets, or of setups for their first baseline; missing"
        " datasets and setups that are not run are omitted",
        *ONE_OR_MORE,
    ] = ("w2vnews", "sample")
    weats: Annotated[
        tuple[Annotated[str, "the name of a test"], ...],
        "list of tests to measure before and after, by their names under word_sets",
        DISTINCT,
    ] = tuple(WORD_SETS)
    word_sets: Annotated[
        dict[
            Annotated[str, "lower-case letters, digits and _", Field(pattern="^[a-z][a-z0-9_]*$")],
            Annotated[
                str,
                "a word set file, relative to the working directory or, if missing there, to the repository",
            ],
        ],
        "word association tests: name and file of the test's words",
        Comments(
            caliskan6="male and female names x career and family",
            caliskan7="mathematics and arts x male and female terms",
            caliskan8="science and arts x male and female terms",
        ),
    ] = field(default_factory=lambda: WORD_SETS)
    lambdas: Annotated[
        tuple[Annotated[NotNegative, "a weight"], ...],
        "rising list of the weights of soft debiasing to measure",
        FILLED,
    ] = (0, 0.2, 2, 20, 200, 2000, 20_000)
    benchmarks: Annotated[
        tuple[_Benchmark, ...],
        "list of the benchmarks to score, rg65 and wordsim353 (rated word pairs) and msr (analogies);"
        " unavailable benchmarks are omitted",
        DISTINCT,
    ] = tuple(BENCHMARKS)
    comparison: Comparison = Comparison()
    random_draws: Annotated[
        Count,
        "draws of random unit vectors and of random word pairs, whose principal components are compared with"
        " those of the bias",
    ] = 1000
    analogies: Annotated[Count, "analogies to generate before and after"] = 150
