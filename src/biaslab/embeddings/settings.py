"""Hyperparameters of embeddings. This module imports quickly, because planning a run needs it."""

from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic.dataclasses import dataclass

from biaslab.core.errors import InputError
from biaslab.core.settings import PYDANTIC, Count, Positive, Share


class CorpusFormat(NamedTuple):
    """A corpus format: its content, and its file name suffixes."""

    about: str
    ends: tuple[str, ...] = ()


CORPUS_FORMATS = {
    "mediawiki": CorpusFormat("XML dump, .xml or .bz2", (".xml",)),
    "jsonl": CorpusFormat("one object per line with id, title, text", (".jsonl", ".json")),
    "text": CorpusFormat("one document per line", (".txt",)),
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

XMax = Annotated[Positive, "co-occurrence at and above which the weight of a pair is 1"]
Alpha = Annotated[Share, "exponent of the weight below x_max"]
Passes = Annotated[Count, "passes over the corpus"]
FallingRate = Annotated[Positive, "initial step size; falls linearly to 0.0001"]


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Units:
    """Selection of the articles of a corpus, and their division into documents."""

    unit: Annotated[
        Literal["article", "part"],
        "article (an entire document) or part (part_length tokens of an article) as the unit of removal",
    ] = "article"
    part_length: Annotated[Count | None, "tokens in a part; only for unit part"] = None
    min_length: Annotated[Count, "smallest number of tokens of an article; shorter articles are omitted"] = 1
    max_length: Annotated[
        Count | None, "largest number of tokens of an article; longer articles are omitted; null for no limit"
    ] = None
    max_tokens: Annotated[Count | None, "tokens after which reading stops; null for the entire source"] = None


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Words:
    """The words."""

    min_count: Annotated[Count, "smallest number of occurrences of a word in the vocabulary"] = 1


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Choice(Units, Words):
    """Selection of articles and words; by default all."""


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Checkpoints:
    """Checkpoints from which a killed job resumes."""

    checkpoint_minutes: Annotated[
        Positive, "minutes of training between checkpoints; a killed job resumes from the last"
    ] = 30.0


@dataclass(frozen=True, config=PYDANTIC)
class GloveParameters:
    """Hyperparameters of a training (Brunet et al. 2019, Table 3); f(x) = min((x / x_max)^alpha, 1)."""

    dimension: Annotated[Count, "length of a word vector"]
    epochs: Annotated[Count, "passes over the co-occurrences"]
    x_max: XMax = 100.0
    alpha: Alpha = 0.75
    learning_rate: Annotated[Positive, "step size of AdaGrad"] = 0.05


@dataclass(frozen=True, config=PYDANTIC)
class Word2VecParameters:
    """Hyperparameters of CBOW; others are gensim's defaults (5 negative samples, subsampling above 0.001)."""

    dimension: Annotated[Count, "length of a word vector"]
    window: Annotated[
        Count,
        "largest distance of a context word; gensim draws the window of each position from 1 to this"
        " distance",
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
            f"{corpus}: {end} files are not a corpus format; write the texts as .jsonl (one object with id"
            " and"
            " text per line) or as .txt (one document per line)"
        )
    if end not in formats:
        raise InputError(
            f"{corpus}: the format does not follow from the name; use the suffix {', '.join(formats)} (also"
            f" with {', '.join(_PACKED)}), or name the format"
        )
    return formats[end]
