"""Settings of the area: its section of the configuration."""

from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Lt
from pydantic import Field
from pydantic.dataclasses import dataclass

from biaslab.bias.settings import ExactTest
from biaslab.core.settings import (
    FILLED,
    ONE_OR_MORE,
    PYDANTIC,
    Comments,
    Count,
    Integer,
    Natural,
    Number,
    Positive,
    Several,
)
from biaslab.embeddings.settings import (
    Checkpoints,
    FallingRate,
    Format,
    GloveParameters,
    Passes,
    Units,
    Words,
)
from biaslab.origins.attribution.registry import ESTIMATORS
from biaslab.origins.attribution.settings import Damping

_Sizes = tuple[Annotated[Count, "documents in a set"], ...]
_SIZES = (10, 30, 100, 200)
_WORD_SETS = "workflow/resources/word_sets"


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Corpus(Units):
    """The text."""

    source: Annotated[str, "file or folder, or dataset:NAME for a registered dataset", FILLED] = (
        "dataset:enwiki-sample"
    )
    format: Format = "mediawiki"


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Glove(GloveParameters, Checkpoints):
    """The embedding."""

    window: Annotated[Integer, "context words on each side", Ge(1), Le(20)] = 8


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Bias(Damping, ExactTest):
    """The measure of bias and of a document's part in it."""

    weats: Annotated[
        tuple[Annotated[str, "name of a test"], ...],
        "tests to measure, by their names under weats",
        *ONE_OR_MORE,
    ] = ("weat1", "weat2")


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Perturbations:
    """The sets of documents that are removed."""

    estimator: Annotated[
        Literal[ESTIMATORS], "estimator of differential bias that chooses the targeted sets"
    ] = ESTIMATORS[0]
    sizes: Annotated[
        _Sizes,
        "sizes of the targeted sets, in increasing order; for each size and test, one set of documents that"
        " raise the bias and one set of documents that lower the bias",
        FILLED,
    ] = _SIZES
    random_sizes: Annotated[_Sizes, "sizes of the random sets, in increasing order; [] for none"] = _SIZES
    random_sets: Annotated[Count, "random sets of each size"] = 1
    retrainings: Annotated[
        Count,
        "embeddings trained without each set, each with its own seed; 1 gives no standard deviation and no"
        " test",
    ] = 5
    random_retrainings: Annotated[
        Natural | None,
        "embeddings trained without each random set; null for the value of retrainings; 0 for predictions"
        " only",
    ] = None


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class PpmiComparison:
    """The bias in PPMI and word2vec compared with GloVe (Section 5.3 and Figure 9 of the paper)."""

    random_tests: Annotated[Several, "tests of random words for the comparison"] = 2000


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class PpmiSets:
    """The sets that the PPMI baseline chooses for the first of bias.weats (Table 5 of the paper)."""

    sizes: Annotated[_Sizes, "sizes from perturbations.sizes, in increasing order; [] for none"] = (100,)
    retrainings: Annotated[
        Count,
        "embeddings trained without each set of PPMI; also the minimum for each set of the estimator with the"
        " same test, kind and size",
    ] = 6


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Lds:
    """Retraining on random subsets to score attributions (linear datamodeling score, Park et al. 2023)."""

    subsets: Annotated[Natural, "subsets for each share; 0 for none"] = 0
    shares: Annotated[
        tuple[Annotated[Number, "share of the documents", Gt(0), Lt(1)], ...],
        "shares of the documents that are removed for a subset",
        FILLED,
    ] = (0.5,)
    retrainings: Annotated[
        Count, "embeddings trained on each subset, each with its own seed; 1 gives no reliability"
    ] = 2


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Brittleness:
    """Fewest documents predicted to flip the sign of a test (Ilyas et al. 2022, Broderick et al. 2020)."""

    multiples: Annotated[
        tuple[Annotated[Positive, "multiple of the predicted number"], ...],
        "multiples of the predicted number of documents that are removed, at most half of the corpus",
        *ONE_OR_MORE,
    ] = (0.5, 1, 2, 4)
    retrainings: Annotated[
        Natural, "embeddings trained without each set, each with its own seed; 0 for none"
    ] = 0


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Planted:
    """Biased documents planted in copies of the corpus, to test whether attributions find them."""

    documents: Annotated[
        Natural,
        "documents for each test that raise the bias, as many that lower it, and as many neutral controls; 0"
        " for none",
    ] = 0
    doses: Annotated[
        tuple[Annotated[Number, "share of the tokens", Ge(0), Le(1)], ...],
        "shares of a document's tokens that words of the test replace, in increasing order, one corpus for"
        " each; 0 plants unchanged copies, which no attribution can find",
        FILLED,
    ] = (0, 0.01, 0.03, 0.1, 0.3)
    baselines: Annotated[Several, "embeddings of each corpus, each with its own seed"] = 5


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Word2Vec:
    """CBOW embeddings with the vocabulary, dimension and window of glove, retrained without the same sets."""

    epochs: Passes = 4
    learning_rate: FallingRate = 0.1
    trainings: Annotated[
        Natural,
        "embeddings of the entire corpus and without each set (random sets: at most random_retrainings), each"
        " with its own seed; 0 for none",
    ] = 3


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Setup:
    """A corpus and its hyperparameters."""

    corpus: Corpus = Corpus(unit="part", part_length=200, min_length=50, max_length=50_000)
    vocabulary: Words = Words(min_count=11)
    glove: Glove = Glove(dimension=24, epochs=75)
    bias: Bias = Bias()
    baselines: Annotated[Several, "embeddings of the entire corpus, each with its own seed"] = 10
    perturbations: Perturbations = Perturbations()
    ppmi_comparison: PpmiComparison = PpmiComparison()
    ppmi_sets: PpmiSets = PpmiSets()
    lds: Lds = Lds()
    brittleness: Brittleness = Brittleness()
    planted: Planted = Planted()
    word2vec: Word2Vec = Word2Vec()
    trainings_per_job: Annotated[
        Count,
        "trainings in sequence in one job; 1 if a training runs for minutes, more if it runs for seconds",
    ] = 5


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Section:
    """Origins of the bias of embeddings, by corpus (Brunet et al. 2019)."""

    run: Annotated[
        tuple[Annotated[str, "name of a setup"], ...],
        "setups to run, by their names under setups",
        *ONE_OR_MORE,
    ] = ("sample",)
    weats: Annotated[
        dict[
            Annotated[
                str,
                "lower-case letters, digits and _ (not random, baseline, ppmi or perturbation_sets)",
                Field(pattern="^(?!random$|baseline$|ppmi$|perturbation_sets$)[a-z][a-z0-9_]*$"),
            ],
            Annotated[str, "word set file, relative to the working directory or else to the repository"],
        ],
        "word association tests, as name and file of the word sets; the folder of the default files also has"
        " the ten tests of Caliskan et al. 2017, caliskan1.yaml to caliskan10.yaml",
        Comments(
            weat1="science and arts x male and female terms",
            weat2="instruments and weapons x pleasant and unpleasant terms",
        ),
    ] = field(default_factory=lambda: {name: f"{_WORD_SETS}/{name}.yaml" for name in ("weat1", "weat2")})
    setups: Annotated[
        dict[
            Annotated[
                str,
                "lower-case letters, digits, _ and - (not tables, not figures)",
                Field(pattern="^(?!tables$|figures$)[a-z][a-z0-9_-]*$"),
            ],
            Setup,
        ],
        "experiments, as name and a corpus with its hyperparameters (Table 3 of Brunet et al. 2019)",
        Comments(sample="106 articles of the English Wikipedia from gensim"),
    ] = field(default_factory=lambda: {"sample": Setup()})
