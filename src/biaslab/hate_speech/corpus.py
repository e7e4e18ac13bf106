"""Read, split, cut and tokenise the labelled corpus of an experiment and its further test sets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.io import read_npz, write_npz
from biaslab.core.rng import stream
from biaslab.text import splits
from biaslab.text.corpora import Source
from biaslab.text.tokens import MAX_LENGTH, Tokenizer, Tokens

NEWS = "news"
NOT_NOHATE = "not-nohate"
"""Positive labels of Stormfront by default: all except noHate, most probably as in the paper."""

STORMFRONT = "stormfront"
STORMFRONT_SIZES = ((7896, 1059), (979, 122), (1998, 246))
"""Number of sentences and of positive sentences in each split (Section 3)."""
SHARES = (0.726, 0.09, 0.184)
"""Shares of the splits, for corpora of other sizes."""


@dataclass(frozen=True)
class Texts:
    """Tokenised texts with labels."""

    tokens: Tokens
    labels: np.ndarray  # (n,) int8
    rows: np.ndarray  # (n,) int64: row of each text in its source

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: np.ndarray) -> "Texts":
        """Return the texts of `rows`."""
        return Texts(self.tokens.take(rows), self.labels[rows], self.rows[rows])


def read_splits(
    source: Source, seed: int, number: int = 0, say: Callable[[str], None] = lambda _: None
) -> dict[str, pd.DataFrame]:
    """Return the tables train, validation and test of a corpus: columns text, label, row.

    All classifiers of a run share random split number 0. `say` receives a sentence on omitted texts.
    """
    return source.parts(lambda table: _split(table, source, seed, number), say=say)


def split_rows(table: pd.DataFrame, source: Source, seed: int, number: int) -> dict[str, np.ndarray]:
    """Return the rows of train, validation and test of a corpus; see `read_splits`."""
    return source.drawn(table, lambda table: _split(table, source, seed, number))


def tokenize(table: pd.DataFrame, tokenizer: Tokenizer, max_length: int = MAX_LENGTH) -> Texts:
    """Return the texts of a table as tokens, at most `max_length` a text, including [CLS] and [SEP]."""
    tokens = tokenizer.encode(list(table["text"]), max_length)
    rows = table["row"] if "row" in table else np.arange(len(table))
    return Texts(tokens, table["label"].to_numpy(np.int8), np.asarray(rows, np.int64))


def cut(texts: Texts, limit: int | None, seed: int, name: str) -> np.ndarray:
    """Return the sorted rows of at most `limit` texts, drawn with the share of positive texts kept."""
    if limit is None or limit >= len(texts):
        return np.arange(len(texts))
    return splits.cut(texts.labels, limit, stream(seed, "cut", name))


def save_sets(path: Path, sets: Mapping[str, Texts], **more: np.ndarray) -> None:
    """Write named sets of texts, and further arrays, to one file (.npz)."""
    arrays: dict[str, np.ndarray] = {}
    for name, texts in sets.items():
        arrays |= texts.tokens.arrays(name)
        arrays |= {f"{name}_labels": texts.labels, f"{name}_rows": texts.rows}
    write_npz(path, **arrays, **more)


def load_sets(path: Path) -> dict[str, Texts]:
    """Read the sets of texts that `save_sets` wrote, in their order."""
    arrays = read_npz(path)
    names = [key.removesuffix("_labels") for key in arrays if key.endswith("_labels")]
    return {
        name: Texts(Tokens.of_arrays(arrays, name), arrays[f"{name}_labels"], arrays[f"{name}_rows"])
        for name in names
    }


def _split(table: pd.DataFrame, source: Source, seed: int, number: int) -> list[np.ndarray]:
    """Return the rows of train, validation and test."""
    labels, rng = table["label"].to_numpy(), stream(seed, "split", "random", number)
    if source.format == STORMFRONT and (source.positive or NOT_NOHATE) == NOT_NOHATE:
        return splits.split_random(labels, STORMFRONT_SIZES, rng)
    return splits.split_shares(labels, SHARES, rng)
