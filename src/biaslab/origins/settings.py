"""Settings of the area: its section of the configuration."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from biaslab.bias.settings import ExactTest
from biaslab.core.settings import Count, Field, Natural, Positive
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

_OneOrMore = Field(is_filled=True, is_unique=True)
_Several = Annotated[int, Field(ge=2)]
_Sizes = tuple[Annotated[Count, "documents in a set"], ...]
_SIZES = (10, 30, 100, 200)
_WORD_SETS = "workflow/resources/word_sets"


@dataclass(frozen=True, kw_only=True)
class Corpus(Units):
    """The text."""

    source: Annotated[
        str, "a file or a folder, or dataset:NAME for a registered one", Field(is_filled=True)
    ] = "dataset:enwiki-sample"
    format: Format = "mediawiki"


@dataclass(frozen=True, kw_only=True)
class Glove(GloveParameters, Checkpoints):
    """The embedding."""

    window: Annotated[int, "words on each side that count as context", Field(ge=1, le=20)] = 8


@dataclass(frozen=True, kw_only=True)
class Bias(Damping, ExactTest):
    """The measure of bias and of a document's part in it."""

    weats: Annotated[
        tuple[Annotated[str, "the name of a test"], ...],
        "list of tests to measure, by their names under weats",
        _OneOrMore,
    ] = ("weat1", "weat2")


@dataclass(frozen=True, kw_only=True)
class Perturbations:
    """The sets of documents that are removed."""

    estimator: Annotated[
        Literal[ESTIMATORS],
        "estimate of a document's differential bias by which the targeted sets are chosen",
    ] = ESTIMATORS[0]
    sizes: Annotated[
        _Sizes,
        "sizes of the targeted sets, rising; each gives a set of documents that raise the bias and one of"
        " documents that lower it per test",
        Field(is_filled=True),
    ] = _SIZES
    random_sizes: Annotated[_Sizes, "sizes of the random sets, rising; an empty list for none"] = _SIZES
    random_sets: Annotated[Count, "random sets of each size"] = 1
    retrainings: Annotated[
        Count, "embeddings trained without each set, each with its own seed; one gives no spread and no test"
    ] = 5
    random_retrainings: Annotated[
        Natural | None,
        "the same of each random set; null for as many; 0 to predict the bias without them, and remove none",
    ] = None


@dataclass(frozen=True, kw_only=True)
class PpmiComparison:
    """The bias by PPMI, and in word2vec, beside that in GloVe (Section 5.3 and Figure 9 of the paper)."""

    random_tests: Annotated[_Several, "tests of random words on which they are compared"] = 2000


@dataclass(frozen=True, kw_only=True)
class PpmiSets:
    """The sets that the PPMI baseline finds instead, for the first of bias.weats (Table 5 of the paper)."""

    sizes: Annotated[
        _Sizes, "their sizes, rising, of those in perturbations.sizes; an empty list for none"
    ] = (100,)
    retrainings: Annotated[
        Count,
        "embeddings trained without each of them, and at least as many without each set of the same test,"
        " kind and size that the estimator finds",
    ] = 6


@dataclass(frozen=True, kw_only=True)
class Lds:
    """Random subsets to retrain on, to score attributions (linear datamodeling score, Park et al. 2023)."""

    subsets: Annotated[Natural, "subsets for each share; 0 for none"] = 0
    shares: Annotated[
        tuple[Annotated[float, "share of the documents", Field(gt=0, lt=1)], ...],
        "shares of the documents that a subset lacks",
        Field(is_filled=True),
    ] = (0.5,)
    retrainings: Annotated[
        Count, "embeddings trained on each subset, each with its own seed; one gives no reliability"
    ] = 2


@dataclass(frozen=True, kw_only=True)
class Brittleness:
    """The fewest documents predicted to flip a test's sign (Ilyas et al. 2022, Broderick et al. 2020)."""

    multiples: Annotated[
        tuple[Annotated[Positive, "times the predicted number"], ...],
        "multiples of the predicted number of documents to leave out, at most half of the corpus",
        _OneOrMore,
    ] = (0.5, 1, 2, 4)
    retrainings: Annotated[
        Natural, "embeddings trained without each of these sets, each with its own seed; 0 for none"
    ] = 0


@dataclass(frozen=True, kw_only=True)
class Planted:
    """Documents written to carry a bias, planted in copies of the corpus, to see what finds them."""

    documents: Annotated[
        Natural, "documents of each test that raise its bias, that lower it, and that do neither; 0 for none"
    ] = 0
    doses: Annotated[
        tuple[Annotated[float, "share of the tokens", Field(ge=0, le=1)], ...],
        "shares of a document's tokens that give way to words of the test, rising; a corpus for each, of"
        " which 0 is of plain copies, where nothing can be found",
        Field(is_filled=True),
    ] = (0, 0.01, 0.03, 0.1, 0.3)
    baselines: Annotated[_Several, "embeddings of each of these corpora, each with its own seed"] = 5


@dataclass(frozen=True, kw_only=True)
class Word2Vec:
    """CBOW embeddings with the vocabulary, dimension and window of glove, without the same sets."""

    epochs: Passes = 4
    learning_rate: FallingRate = 0.1
    trainings: Annotated[
        Natural, "embeddings of the whole corpus and without each set, each with its own seed; 0 for none"
    ] = 3


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A corpus and its hyperparameters."""

    corpus: Corpus = Corpus(unit="part", part_length=200, min_length=50, max_length=50_000)
    vocabulary: Words = Words(min_count=11)
    glove: Glove = Glove(dimension=24, epochs=75)
    bias: Bias = Bias()
    baselines: Annotated[_Several, "embeddings of the whole corpus, each with its own seed"] = 10
    perturbations: Perturbations = Perturbations()
    ppmi_comparison: PpmiComparison = PpmiComparison()
    ppmi_sets: PpmiSets = PpmiSets()
    lds: Lds = Lds()
    brittleness: Brittleness = Brittleness()
    planted: Planted = Planted()
    word2vec: Word2Vec = Word2Vec()
    trainings_per_job: Annotated[
        Count,
        "trainings one job runs in a row; 1 where a training takes minutes, more where it takes seconds",
    ] = 5


@dataclass(frozen=True, kw_only=True)
class Section:
    """Where the bias of embeddings comes from, corpus by corpus (Brunet et al. 2019)."""

    run: Annotated[
        tuple[Annotated[str, "the name of a setup"], ...],
        "list of the setups to run, by their names under setups",
        _OneOrMore,
    ] = ("sample",)
    weats: Annotated[
        dict[
            Annotated[
                str,
                "lower-case letters, digits and _ (not random, baseline, ppmi or perturbation_sets)",
                Field(pattern="^(?!random$|baseline$|ppmi$|perturbation_sets$)[a-z][a-z0-9_]*$"),
            ],
            Annotated[str, "a word set file, relative to the working directory or else to the repository"],
        ],
        "word association tests, as name and the file that holds the test's words; the ten of Caliskan et al."
        " 2017 are caliskan1.yaml to caliskan10.yaml, beside those of the default",
        Field(
            comments={
                "weat1": "science and arts x male and female terms",
                "weat2": "instruments and weapons x pleasant and unpleasant terms",
            }
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
        Field(comments={"sample": "106 articles of the English Wikipedia, which come with gensim"}),
    ] = field(default_factory=lambda: {"sample": Setup()})
