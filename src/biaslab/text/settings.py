"""Shared settings for reading texts; imports little, because planning a run loads this module."""

from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge
from pydantic import Field, StrictBool
from pydantic.dataclasses import dataclass

from biaslab.core.settings import PYDANTIC, Comments, Count, Integer, Positive

FORMATS = {  # name: type of its files, and valid values of the key positive ("": the format does not use it)
    "stormfront": ("archive", "not-nohate (the default) or hate"),
    "ghc": ("JSON lines", ""),
    "wikipedia": ("folder with the talk page labels", ""),
    "jigsaw": ("train.csv or its folder, or test.csv next to test_labels.csv", "toxic (the default) or any"),
    "table": (
        ".csv, .tsv or .jsonl with columns text, label and perhaps group",
        "the positive label, null if labels are 0 and 1",
    ),
}
"""The formats of labelled corpora in the order of the documentation; `corpora.READERS` has their readers."""

NegativeWeight = Annotated[Positive, "weight of a negative text in the loss, relative to a positive one"]


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class EncoderSource:
    """The files of an encoder."""

    config: Annotated[str, "its config.json"] = "dataset:minilm-l6-config"
    vocabulary: Annotated[str, "its vocab.txt"] = "dataset:minilm-l6-vocabulary"
    weights: Annotated[str, "its model.safetensors, or random for random weights"] = (
        "dataset:minilm-l6-weights"
    )


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class LanguageModel:
    """The language model that samples contexts for SOC."""

    epochs: Annotated[Count, "passes over the training sentences"] = 20
    learning_rate: Annotated[Positive, "step size"] = 2e-4
    width: Annotated[Integer, "length of embeddings and hidden states", Ge(2)] = 300


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Masking:
    """Which words tables and figures mask."""

    masked_words: Annotated[str, "file with the SHA-256 digests of words that tables and figures mask"] = (
        "workflow/resources/masked_words.txt"
    )
    unmask: Annotated[StrictBool, "whether tables and figures show these words as they are"] = False


@dataclass(frozen=True, config=PYDANTIC)
class RecurrentTraining:
    """How networks are trained."""

    epochs: Annotated[
        Count,
        "passes over the training texts; the weights with the least loss on the validation texts are kept",
    ]
    batch_size: Annotated[Count, "texts per step"] = 64
    learning_rate: Annotated[Positive, "Adam's step size"] = 0.01


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Corpus:
    """A labelled corpus."""

    format: Annotated[
        Literal[tuple(FORMATS)], ", ".join(f"{name} ({about})" for name, (about, _) in FORMATS.items())
    ] = "table"
    source: Annotated[
        str, "its texts, or its training texts if the next two keys are set; dataset:NAME for registered ones"
    ] = ""
    validation: Annotated[
        str | None, "texts to choose the best weights on; null to draw them from source"
    ] = None
    test: Annotated[str | None, "texts to test on; null to draw them from source"] = None
    positive: Annotated[
        str | None,
        "the positive labels: "
        + "; ".join(f"of {name} {positive}" for name, (_, positive) in FORMATS.items() if positive),
    ] = None


CORPORA = {
    "stormfront": Corpus(format="stormfront", source="dataset:stormfront"),
    "ghc": Corpus(
        format="ghc", source="dataset:ghc-train", validation="dataset:ghc-dev", test="dataset:ghc-test"
    ),
    "example": Corpus(source="workflow/resources/hate_speech/example.csv"),
}


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Corpora:
    """Keys that all areas share which read labelled texts."""

    corpora: Annotated[
        dict[
            Annotated[str, "lower-case letters, digits, _ and -", Field(pattern="^[a-z][a-z0-9_-]*$")], Corpus
        ],
        "labelled corpora by name; an area uses the corpora that it names",
        Comments(
            stormfront="sentences from a forum, with their posts: downloaded or made where the mirror"
            " has none",
            ghc="posts, in the split of their release: downloaded or made where the mirror has none",
            example="invented: complaints, most of them about four groups",
        ),
    ] = field(default_factory=lambda: CORPORA)
