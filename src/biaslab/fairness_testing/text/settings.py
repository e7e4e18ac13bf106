"""The section of tests on texts in the configuration."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from biaslab.core.settings import Count, Field, Natural, Share
from biaslab.text.settings import EncoderSource, Masking, NegativeWeight, RecurrentTraining

_Names = tuple[Annotated[str, "the name of a corpus"], ...]
_Several = Annotated[int, Field(ge=2)]
_OneOrMore = Field(is_filled=True, is_unique=True)
_RESOURCES = "workflow/resources/fairness_testing"


@dataclass(frozen=True, kw_only=True)
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
    dimension: Annotated[_Several, "length of a word vector, in place of the setup's"] = 50
    min_count: Annotated[Count, "occurrences a word must have, in place of the setup's"] = 3
    epochs: Annotated[Count, "passes over the co-occurrences, in place of the setup's"] = 30


@dataclass(frozen=True, kw_only=True)
class Encoder(EncoderSource):
    """The sentence encoder that measures likeness."""


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """What may be exchanged in the texts of a corpus, and how much they weigh."""

    negative_weight: NegativeWeight = 0.2
    terms: Annotated[
        str, "the features and their values (.csv as published, .yaml, or .txt for a single feature)"
    ] = "dataset:adf-text-terms"
    features: Annotated[
        tuple[Annotated[str, "the name of a feature"], ...],
        "list of the features that are tested",
        _OneOrMore,
    ] = ("race", "country")
    sentences: Annotated[str, "neutral sentences, one a line, on which the search is shown"] = (
        f"{_RESOURCES}/sentences.txt"
    )


EXAMPLE = Corpus(
    terms=f"{_RESOURCES}/terms_example.yaml",
    features=("trade", "relation"),
    sentences=f"{_RESOURCES}/sentences_example.txt",
    negative_weight=0.5,
)


@dataclass(frozen=True, kw_only=True)
class Section(Masking):
    """Recurrent networks that read texts, and the texts on which they are tested (Zhang et al. 2021)."""

    run: Annotated[
        _Names,
        "list of the corpora to train and test on, by their names under corpora; what is not there is left"
        " out",
        Field(is_unique=True),
    ] = ("stormfront",)
    otherwise: Annotated[_Names, "list of the corpora when none of run is there", Field(is_unique=True)] = (
        "example",
    )
    corpora: Annotated[
        dict[Annotated[str, "the name of a corpus"], Corpus],
        "what is needed of corpora besides their texts, by their names under the key corpora",
    ] = field(default_factory=lambda: {"example": EXAMPLE})
    vectors: Vectors = Vectors()
    models: Annotated[
        tuple[Annotated[Literal["lstm", "gru"], "lstm or gru"], ...],
        "list of the networks, of 3 layers with 10 hidden units",
        _OneOrMore,
    ] = ("lstm", "gru")
    repetitions: Annotated[
        _Several, "trainings of each network, each searched with random numbers of its own"
    ] = 3
    training: RecurrentTraining = RecurrentTraining(epochs=10)
    seeds: Annotated[
        Count,
        "test texts with a term of the feature that a search starts from, or as many as there are (the paper:"
        " 1,000)",
    ] = 1000
    hops: Annotated[Count, "steps of the local phase from each discriminatory text (the paper: 1,000)"] = 25
    retrainings: Annotated[_Several, "retrainings with other shares of the found texts (the paper: 5)"] = 3
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
        Count,
        "found texts of each network, feature, tester and phase whose likeness to the seed is measured",
    ] = 60
    encoder: Encoder = Encoder()
