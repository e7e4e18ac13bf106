"""Hyperparameters of embeddings. This module imports quickly, because planning a run needs it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from biaslab.core.errors import InputError
from biaslab.core.settings import Count, Positive, Share


class CorpusFormat(NamedTuple):
    """A corpus format: its content, and its file name suffixes."""

    about: str
    ends: tuple[str, ...] = ()


CORPUS_FORMATS = {
    "mediawiki": CorpusFormat("XML dump, .bz2", (".xml",)),
    "jsonl": CorpusFormat("one object a line with id, title, text", (".jsonl", ".json")),
    "text": CorpusFormat("one document a line", (".txt",)),
    "folder": CorpusFormat("text files"),
    "nitf": CorpusFormat("XML in .tgz", (".tgz",)),
}
"""The corpus formats; `biaslab.embeddings.readers` has a reader for each."""

_DESCRIPTIONS = [f"{name} ({format.about})" for name, format in CORPUS_FORMATS.items()]
FORMATS_SAID = f"{', '.join(_DESCRIPTIONS[:-1])} or {_DESCRIPTIONS[-1]}"
Format = Annotated[Literal[tuple(CORPUS_FORMATS)], FORMATS_SAID]
_PACKED = (".gz", ".bz2", ".zst")
_FOREIGN = (".csv", ".tsv", ".xlsx", ".xls", ".parquet", ".pdf", ".doc", ".docx", ".html", ".epub", ".zip")
"""Suffixes of files that no corpus reader supports."""

XMax = Annotated[Positive, "co-occurrence from which on the weight of a pair is 1"]
Alpha = Annotated[Share, "exponent of the weight below x_max"]
Passes = Annotated[Count, "passes over the corpus"]
FallingRate = Annotated[Positive, "step size at the beginning, which falls linearly to 0.0001"]


@dataclass(frozen=True, kw_only=True)
class Units:
    """Selection of the articles of a corpus, and their division into documents."""

    unit: Annotated[
        Literal["article", "part"],
        "what counts as one document, article (whole) or part (of part_length tokens)",
    ] = "article"
    part_length: Annotated[Count | None, "tokens in a part, for unit part only"] = None
    min_length: Annotated[Count, "tokens an article must have, or it is left out"] = 1
    max_length: Annotated[
        Count | None, "tokens an article may have, or it is left out; null for any number"
    ] = None
    max_tokens: Annotated[Count | None, "tokens after which reading stops; null for the whole source"] = None


@dataclass(frozen=True, kw_only=True)
class Words:
    """The words."""

    min_count: Annotated[Count, "occurrences a word must have to enter the vocabulary"] = 1


@dataclass(frozen=True, kw_only=True)
class Choice(Units, Words):
    """Selection of articles and words; by default all."""


@dataclass(frozen=True, kw_only=True)
class Checkpoints:
    """Checkpoints from which a killed job resumes."""

    checkpoint_minutes: Annotated[
        Positive, "minutes of training between two checkpoints, from which a killed job goes on"
    ] = 30.0


@dataclass(frozen=True)
class GloveParameters:
    """Hyperparameters of a training (Brunet et al. 2019, Table 3); f(x) = min((x / x_max)^alpha, 1)."""

    dimension: Annotated[Count, "length of a word vector"]
    epochs: Annotated[Count, "passes over the co-occurrences"]
    x_max: XMax = 100.0
    alpha: Alpha = 0.75
    learning_rate: Annotated[Positive, "step size of AdaGrad"] = 0.05


@dataclass(frozen=True)
class Word2VecParameters:
    """Hyperparameters of CBOW; others are gensim's defaults (5 negative samples, subsampling above 0.001)."""

    dimension: Annotated[Count, "length of a word vector"]
    window: Annotated[
        Count, "largest distance of a context word; gensim draws the window of each position from 1 to this"
    ]
    epochs: Passes
    learning_rate: FallingRate = 0.025


def format_of(corpus: Path) -> str:
    """Return the corpus format by the suffix of the file name."""
    if corpus.is_dir():
        return "folder"
    end = (corpus.with_suffix("") if corpus.suffix in _PACKED else corpus).suffix
    formats = {suffix: name for name, format in CORPUS_FORMATS.items() for suffix in format.ends}
    if end.lower() in _FOREIGN:
        raise InputError(
            f"{corpus}: no reader of a corpus reads {end} files; write the texts as .jsonl, an object with id"
            " and text a line, or as .txt, a document a line"
        )
    if end not in formats:
        raise InputError(
            f"{corpus}: the name does not tell the format, as {', '.join(formats)} do (also with"
            f" {', '.join(_PACKED)}); rename it, or name the format"
        )
    return formats[end]
