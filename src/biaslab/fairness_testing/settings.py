"""The section of the area in the configuration, and the names that writers and readers of results share."""

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge
from pydantic import Field
from pydantic.dataclasses import dataclass

from biaslab.core.columns import columns_of
from biaslab.core.settings import (
    DISTINCT,
    ONE_OR_MORE,
    PYDANTIC,
    SEED,
    Comments,
    Count,
    Integer,
    Natural,
    Seed,
    Several,
    Share,
)
from biaslab.text.settings import EncoderSource, Masking, NegativeWeight, RecurrentTraining

PUBLISHED, PAPER = "published", "paper"  # a tester as in the authors' code, and as printed in the paper

TRAIN = "train"  # value in place of a network file: train a network on the data

FULL, SHARED = "full", "shared"
"""Budgets of compared local phases: the configured hops, or the samples that a costly tester has per seed
from its seeds."""

TABULAR, TEXT, NEURAL = "tabular", "text", "neural"
"""Marks of units: a classifier of tables; a corpus of texts; a corpus with torch available."""
TEXT_PREFIX = "text-"  # prefix of the names of corpus units

CONTROL, NO_RULE = "none", ""
"""Source and label rule of the control of retraining, which trains equally long without added samples."""

SETTING = ["classifier", "protected"]
"""A benchmark of the paper: a classifier and its varied protected attribute."""
TEXT_SETTING = ["model", "feature"]
"""A benchmark of the paper: a classifier of texts and its varied sensitive feature."""

PROPOSED = "adf_asc"
"""The strategy with the finds from which ADF's local phase starts (Section 5.2, footnote 9)."""
CERTIFIED = "certified"  # a training in retraining.tsv without added finds, like `CONTROL`
OWN, SAME = "own", "same"
"""The start of a local phase: the tester's own finds, as in Table VIII, or the finds of ADF."""

EXAMPLE = "example.json"  # sentences before and after the search: a list of objects with `EXAMPLE_KEYS`
EXAMPLE_KEYS = ("corpus", "model", "feature", "sentence", "global", "partner", "local", "labels")

COLUMNS, TEXT_COLUMNS = (columns_of(Path(__file__).parent / f) for f in ("columns.tsv", "text/columns.tsv"))
"""The columns of the tables on classifiers of tables, and of those on classifiers of texts."""

_Names = tuple[Annotated[str, "the name of a classifier"], ...]
_Hundred = Annotated[Integer, Ge(100)]
_RESOURCES = "workflow/resources/classifiers"
_Corpora = tuple[Annotated[str, "the name of a corpus"], ...]
_TEXT_RESOURCES = "workflow/resources/fairness_testing"


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Vectors:
    """The word vectors."""

    file: Annotated[
        str | None,
        "vectors in the format of GloVe or word2vec, glove.6B.50d.txt for instance, in place of those trained"
        " here; null for these",
    ] = None
    setup: Annotated[str, "a setup (key setups) with whose corpus and hyperparameters GloVe is trained"] = (
        "sample"
    )
    dimension: Annotated[Several, "length of a word vector, in place of the setup's"] = 50
    min_count: Annotated[Count, "occurrences a word must have, in place of the setup's"] = 3
    epochs: Annotated[Count, "passes over the co-occurrences, in place of the setup's"] = 30


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Encoder(EncoderSource):
    """The sentence encoder that measures likeness."""


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Corpus:
    """What may be exchanged in the texts of a corpus, and how much they weigh."""

    negative_weight: NegativeWeight = 0.2
    terms: Annotated[
        str, "the features and their values (.csv as published, .yaml, or .txt for a single feature)"
    ] = "dataset:adf-text-terms"
    features: Annotated[
        tuple[Annotated[str, "the name of a feature"], ...],
        "list of the features that are tested",
        *ONE_OR_MORE,
    ] = ("race", "country")
    sentences: Annotated[str, "neutral sentences, one a line, on which the search is shown"] = (
        f"{_TEXT_RESOURCES}/sentences.txt"
    )


_EXAMPLE = Corpus(
    terms=f"{_TEXT_RESOURCES}/terms_example.yaml",
    features=("trade", "relation"),
    sentences=f"{_TEXT_RESOURCES}/sentences_example.txt",
    negative_weight=0.5,
)


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class TextSection(Masking):
    """Recurrent networks that read texts, and the texts on which they are tested (Zhang et al. 2021)."""

    run: Annotated[
        _Corpora,
        "list of the corpora to train and test on, by their names under corpora; what is not there is left"
        " out",
        DISTINCT,
    ] = ("stormfront",)
    otherwise: Annotated[_Corpora, "list of the corpora when none of run is there", DISTINCT] = ("example",)
    corpora: Annotated[
        dict[Annotated[str, "the name of a corpus"], Corpus],
        "what is needed of corpora besides their texts, by their names under the key corpora",
    ] = field(default_factory=lambda: {"example": _EXAMPLE})
    vectors: Vectors = Vectors()
    models: Annotated[
        tuple[Annotated[Literal["lstm", "gru"], "lstm or gru"], ...],
        "list of the networks, of 3 layers with 10 hidden units",
        *ONE_OR_MORE,
    ] = ("lstm", "gru")
    repetitions: Annotated[
        Several, "trainings of each network, each searched with random numbers of its own"
    ] = 3
    training: RecurrentTraining = RecurrentTraining(epochs=10)
    seeds: Annotated[
        Count,
        "test texts with a term of the feature that a search starts from, or as many as there are (the paper:"
        " 1,000)",
    ] = 1000
    hops: Annotated[Count, "steps of the local phase from each discriminatory text (the paper: 1,000)"] = 25
    retrainings: Annotated[Several, "retrainings with other shares of the found texts (the paper: 5)"] = 3
    retraining_share: Annotated[
        Share, "share of the texts found on the training texts that is added to them"
    ] = 0.05
    independent: Annotated[
        Count | None,
        "of the texts found on the test texts, how many are drawn to measure what retraining improves; null"
        " for all, as in the paper",
    ] = 400
    certified_epochs: Annotated[Natural, "passes of certified training; 0 for none"] = 8
    pairs: Annotated[
        Count, "found texts of each network, feature, tester and phase whose likeness to the seed is measured"
    ] = 60
    encoder: Encoder = Encoder()


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Classifier:
    """A classifier and its data."""

    schema: Annotated[str, "schema of the columns of the data (.yaml)"] = ""
    data: Annotated[str, "a table (.csv), or dataset:NAME for a registered one"] = ""
    network: Annotated[
        str, "the weights (.npz), dataset:NAME for registered ones, or train to train a network on the data"
    ] = "train"
    clusters: Annotated[
        str | None,
        "the cluster of each row (.csv), or dataset:NAME for registered ones; null to cluster the rows",
    ] = None
    published_bounds: Annotated[
        str | None,
        "schema file whose bounds, column by column, the mode published takes for those of the protected"
        " attributes, as the authors' code takes those of census for every data set; null for the"
        " classifier's own",
    ] = None


CLASSIFIERS = {
    **{
        name: Classifier(
            schema=f"{_RESOURCES}/{name}.yaml",
            data=f"dataset:adf-{name}",
            network=f"dataset:adf-{name}-network",
            clusters=f"dataset:adf-{name}-clusters",
            published_bounds=f"{_RESOURCES}/census.yaml",
        )
        for name in ("census", "bank", "credit")
    },
    "adult": Classifier(schema=f"{_RESOURCES}/adult.yaml", data="dataset:uci-adult-train"),
    "german": Classifier(schema=f"{_RESOURCES}/german.yaml", data="dataset:uci-german"),
}


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Section:
    """Which classifiers are tested, and how long (Zhang et al. 2021)."""

    run: Annotated[
        _Names,
        "list of the classifiers to test, by their names under classifiers; what is not there is left out",
        *ONE_OR_MORE,
    ] = ("census", "bank", "credit")
    otherwise: Annotated[_Names, "list of the classifiers to test when none of run is there", DISTINCT] = (
        "adult",
        "german",
    )
    classifiers: Annotated[
        dict[
            Annotated[
                str,
                "lower-case letters, digits, _ and - (not tables, figures, text, nor text- at the beginning)",
                Field(pattern="^(?!tables$|figures$|text$|text-)[a-z][a-z0-9_-]*$"),
            ],
            Classifier,
        ],
        "classifiers, as name and the files it takes",
        Comments(
            census="the authors' data and network: downloaded or made where the mirror has none",
            adult="public data, and a network that is trained here",
        ),
    ] = field(default_factory=lambda: CLASSIFIERS)
    seeds: Annotated[Count, "samples that the global phase starts from, or as many as the data have"] = 1000
    hops: Annotated[
        Count, "steps of the local phase from each discriminatory sample that the global phase found"
    ] = 1000
    ablation_hops: Annotated[
        Count, "the same, where the quirks of the published code are repaired one by one"
    ] = 50
    repetitions: Annotated[Several, "searches with other random numbers, for the intervals"] = 3
    explanations: Annotated[Count, "samples that symbolic generation explains, in each search"] = 200
    uniform_samples: Annotated[
        _Hundred, "samples of the whole domain, of which the share that is discriminatory estimates fairness"
    ] = 100_000
    local_seeds: Annotated[
        Count, "discriminatory rows of the data from which all testers start to compare their local phases"
    ] = 50
    query_budgets: Annotated[
        tuple[Annotated[_Hundred, "model queries"], ...],
        "list of the budgets of model queries at which testers are compared; one and two protected attributes"
        " vary",
        *ONE_OR_MORE,
    ] = (10_000, 100_000)
    budget_hops: Annotated[Count, "steps of a walk where testers are compared at budgets"] = 100
    training_epochs: Annotated[Count, "passes over the data for a network that is trained here"] = 100
    retrainings: Annotated[Several, "retrainings with other shares of the found samples"] = 3
    retraining_share: Annotated[
        Share, "share of the found samples that is added to the data for retraining"
    ] = 0.05
    text: TextSection = TextSection()


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Campaign:
    """How much a tester searches."""

    seeds: Annotated[
        Count, "samples, or texts with a sensitive word, to search from; as many as symbolic explores"
    ]
    hops: Annotated[Natural, "steps of the walk around each find"]
    seed: Seed = SEED
