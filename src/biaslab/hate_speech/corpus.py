"""Read, split, cut and tokenise the labelled corpus of an experiment; write and open its folder."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, read_tsv, write_npz, write_tsv
from biaslab.core.rng import stream
from biaslab.hate_speech.metrics import COLUMNS, holding
from biaslab.hate_speech.settings import Limits
from biaslab.text import splits
from biaslab.text.corpora import TEST, TRAIN, VALIDATION, Source, read_hatecheck, read_news
from biaslab.text.identifiers import identifier_ids, read_identifiers
from biaslab.text.tokens import Tokenizer, Tokens

HATECHECK, NEWS = "hatecheck", "news"
NOT_NOHATE = "not-nohate"
"""Positive labels of Stormfront by default: all except noHate, most probably as in the paper."""

STORMFRONT = "stormfront"
STORMFRONT_SIZES = ((7896, 1059), (979, 122), (1998, 246))
"""Number of sentences and of positive sentences in each split (Section 3)."""
SHARES = (0.726, 0.09, 0.184)  # shares of the splits, for corpora of other sizes
ENCODER_VOCABULARY = "vocab.txt"
_PROBES = COLUMNS["probes"]


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


@dataclass(frozen=True)
class Folder:
    """A corpus as prepared by the step ``texts``."""

    path: Path
    encoder: Path
    identifiers_file: Path  # the identity terms

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the encoder."""
        return Tokenizer.load(self.encoder / ENCODER_VOCABULARY)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The word piece of each identity term."""
        return identifier_ids(read_identifiers(self.identifiers_file), self.tokenizer)

    @cached_property
    def splits(self) -> dict[str, Texts]:
        """The sets train (all texts), validation and test."""
        return load_sets(self.path / "texts.npz")

    @cached_property
    def train(self) -> Texts:
        """The texts that encoders are trained on."""
        used = read_npz(self.path / "texts.npz", ("train_used",))["train_used"]
        return self.splits[TRAIN].take(used)

    @cached_property
    def tested(self) -> dict[str, Texts]:
        """The sets that classifiers are tested on: the test set first, then the probes."""
        return {TEST: self.splits[TEST]} | load_sets(self.path / "probes.npz")

    @cached_property
    def probes(self) -> pd.DataFrame:
        """The metadata of the texts of each probe, in order; "" if unknown."""
        return read_tsv(self.path / "probes.tsv", _PROBES, text=_PROBES).fillna("")

    def column(self, name: str, probe: str) -> np.ndarray:
        """Return a column of the texts of a probe, (n,) object."""
        return self.probes.loc[self.probes["set"] == probe, name].to_numpy()


def prediction_table(seed: int, name: str, scores: np.ndarray) -> pd.DataFrame:
    """Return the scores of one classifier on one set: columns seed, set, row, score (float32)."""
    rows = np.arange(len(scores))
    return pd.DataFrame({"seed": seed, "set": name, "row": rows, "score": scores.astype(np.float32)})


def read_splits(
    source: Source, seed: int, say: Callable[[str], None] = lambda _: None
) -> dict[str, pd.DataFrame]:
    """Return train, validation and test (text, label, row); all classifiers of a run share random split 0."""
    return source.parts(lambda table: split(table, source, seed, 0), say=say)


def split(table: pd.DataFrame, source: Source, seed: int, number: int) -> list[np.ndarray]:
    """Draw the rows of train, validation and test of a corpus, in a random split."""
    labels, rng = table["label"].to_numpy(), stream(seed, "split", "random", number)
    if source.format == STORMFRONT and (source.positive or NOT_NOHATE) == NOT_NOHATE:
        return splits.split_random(labels, STORMFRONT_SIZES, rng)
    return splits.split_shares(labels, SHARES, rng)


def tokenize(table: pd.DataFrame, tokenizer: Tokenizer) -> Texts:
    """Return the texts of a table as tokens, each cut to the length of the published code."""
    tokens = tokenizer.encode(list(table["text"]))
    rows = table["row"] if "row" in table else np.arange(len(table))
    return Texts(tokens, table["label"].to_numpy(np.int8), np.asarray(rows, np.int64))


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


def prepare(
    folder: Folder,
    source: Source,
    probes: Mapping[str, Path],
    others: Mapping[str, Source],
    limits: Limits,
    seed: int,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Write the texts of a corpus, its probes, and the test sets of other corpora as tokens."""
    tables = read_splits(source, seed, say=say)
    sets = {name: tokenize(table, folder.tokenizer) for name, table in tables.items()}
    used = {
        name: splits.cut(sets[name].labels, limit, stream(seed, "cut", name))
        for name, limit in ((TRAIN, limits.train), (VALIDATION, limits.validation), (TEST, limits.test))
    }
    used_sets = {name: sets[name].take(rows) for name, rows in used.items()}
    save_sets(folder.path / "texts.npz", used_sets | {TRAIN: sets[TRAIN]}, train_used=used[TRAIN])
    pieces = list(folder.ids.values())
    counts = [
        {
            "split": name,
            "n": len(texts),
            "n_positive": int(texts.labels.sum()),
            "n_with_identifier": int(holding(texts.tokens, pieces).any(axis=1).sum()),
            "n_occurrences": int(np.isin(texts.tokens.ids, pieces).sum()),
            "n_before_cut": len(sets[name]),
        }
        for name, texts in used_sets.items()
    ]
    write_tsv(folder.path / "corpus.tsv", pd.DataFrame(counts))

    further = read_probes(probes, others, folder.ids, limits.probes, seed)
    probe_texts = {name: tokenize(table, folder.tokenizer) for name, table in further.items()}
    save_sets(folder.path / "probes.npz", probe_texts)
    rows = [table.assign(set=name)[list(_PROBES)] for name, table in further.items()]
    write_tsv(folder.path / "probes.tsv", pd.concat(rows) if rows else pd.DataFrame(columns=_PROBES))


def read_probes(
    files: Mapping[str, Path],
    others: Mapping[str, Source],
    terms: Collection[str],
    limit: int | None,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Read the further sets of texts: text, label, row and their metadata, "" for columns that a set lacks.

    News with an identifier that is not in `terms` are left out, as in the paper (Section 6.1). A draw of
    `limit` texts keeps the share of each functionality and label, or of each identifier in news.
    """
    tables = {name: read_news(file) if name == NEWS else read_hatecheck(file) for name, file in files.items()}
    if NEWS in tables:
        tables[NEWS] = tables[NEWS][tables[NEWS]["identifier"].isin(list(terms))]
        if tables[NEWS].empty:
            file = files[NEWS]
            raise InputError(f"{file}: no text contains an identifier; name other news, or null for none")
    tables |= {name: read_splits(source, seed)[TEST] for name, source in others.items()}
    for name, table in tables.items():
        columns = ["text", "label", "row", *_PROBES[1:]]
        table = table.reindex(columns=columns, fill_value="").reset_index(drop=True)
        if limit is not None and limit < len(table):
            strata = table["identifier"]
            if name != NEWS:
                strata = table["functionality"] + table["label"].astype(str)
            rows = draw_evenly(strata.to_numpy(), limit, stream(seed, "cut", name))
            table = table.iloc[rows].reset_index(drop=True)
        tables[name] = table
    return tables


def draw_evenly(strata: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n rows, (n,) int64, sorted, so that every stratum keeps its share, rounded to one row."""
    _, codes, sizes = np.unique(np.asarray(strata, str), return_inverse=True, return_counts=True)
    counts, rest = np.divmod(n * sizes, len(strata))  # rows of each stratum, rounded down; remainders
    neediest = np.lexsort((rng.permutation(len(sizes)), -rest))
    counts[neediest[: n - counts.sum()]] += 1
    order = rng.permutation(len(strata))
    order = order[np.argsort(codes[order], kind="stable")]  # by stratum, in random order within each
    place = np.arange(len(strata)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[place < np.repeat(counts, sizes)])
