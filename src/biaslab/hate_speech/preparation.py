"""The first step of the experiment: the texts of a corpus and of its further test sets, as tokens."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.hate_speech import corpus
from biaslab.hate_speech.corpus import NEWS, Source, read_splits
from biaslab.hate_speech.folder import PROBE_TEXT, Folder
from biaslab.hate_speech.metrics import holding
from biaslab.hate_speech.settings import Limits
from biaslab.text import corpora
from biaslab.text.corpora import TEST


def prepare(
    folder: Folder,
    source: corpora.Source,
    probes: Mapping[str, Path],
    others: Mapping[str, corpora.Source],
    limits: Limits,
    seed: int,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Write the texts of a corpus, its probes, and the test sets of other corpora as tokens.

    Linear models are trained on all texts whatever the limit for training.
    """
    tables = corpus.read_splits(source, seed, say=say)
    splits = {name: corpus.tokenize(table, folder.tokenizer) for name, table in tables.items()}
    sizes = {name: len(texts) for name, texts in splits.items()}
    used = corpus.cut(splits[corpora.TRAIN], limits.train, seed, corpora.TRAIN)
    for name, limit in ((corpora.VALIDATION, limits.validation), (corpora.TEST, limits.test)):
        splits[name] = splits[name].take(corpus.cut(splits[name], limit, seed, name))
    corpus.save_sets(folder.path / "texts.npz", splits, train_used=used)
    trained = splits | {corpora.TRAIN: splits[corpora.TRAIN].take(used)}
    write_tsv(folder.path / "corpus.tsv", _counts(trained, sizes, folder.ids))

    further = read_probes(probes, others, folder.ids, limits.probes, seed)
    tested = {name: corpus.tokenize(table, folder.tokenizer) for name, table in further.items()}
    corpus.save_sets(folder.path / "probes.npz", tested)
    known = [table.assign(set=name)[list(PROBE_TEXT)] for name, table in further.items()]
    write_tsv(folder.path / "probes.tsv", pd.concat(known) if known else pd.DataFrame(columns=PROBE_TEXT))


def _counts(
    splits: Mapping[str, corpus.Texts], sizes: Mapping[str, int], ids: Mapping[str, int]
) -> pd.DataFrame:
    """Return the table of the corpus: what is used of each split."""
    rows = []
    for name in corpora.PARTS:
        texts = splits[name]
        rows.append(
            {
                "split": name,
                "n": len(texts),
                "n_positive": int(texts.labels.sum()),
                "n_with_identifier": int(holding(texts.tokens, list(ids.values())).any(axis=1).sum()),
                "n_occurrences": int(np.isin(texts.tokens.ids, list(ids.values())).sum()),
                "n_before_cut": sizes[name],
            }
        )
    return pd.DataFrame(rows)


HATECHECK = "hatecheck"
COLUMNS = ("text", "label", "row", "identifier", "functionality", "target")


def read_probes(
    files: Mapping[str, Path],
    others: Mapping[str, Source],
    terms: Collection[str],
    limit: int | None,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Read the further sets of texts: columns `COLUMNS`, "" where a set has no such text.

    News that hold another identifier than `terms` are left out, as the paper does (Section 6.1). Of more
    texts than `limit` some are drawn, with the share of positive ones, in news of every identifier, kept.
    """
    tables = {
        name: _read_news(file, terms) if name == NEWS else corpora.read_hatecheck(file)
        for name, file in files.items()
    }
    tables |= {name: read_splits(source, seed)[TEST] for name, source in others.items()}
    return {
        name: _cut(table.reindex(columns=COLUMNS, fill_value="").reset_index(drop=True), name, limit, seed)
        for name, table in tables.items()
    }


def _read_news(file: Path, terms: Collection[str]) -> pd.DataFrame:
    table = corpora.read_news(file)
    table = table[table["identifier"].isin(list(terms))]
    if table.empty:
        raise InputError(
            f"{file}: no text is about one of the identifiers; name other news, or null for none"
        )
    return table


def _cut(table: pd.DataFrame, name: str, limit: int | None, seed: int) -> pd.DataFrame:
    if limit is None or limit >= len(table):
        return table
    strata = table["identifier"] if name == NEWS else table["functionality"] + table["label"].astype(str)
    rows = draw_evenly(strata.to_numpy(), limit, stream(seed, "cut", name))
    return table.iloc[rows].reset_index(drop=True)


def draw_evenly(strata: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n rows, (n,) int64, sorted, so that every stratum keeps its share, to one row."""
    _, codes, sizes = np.unique(np.asarray(strata, str), return_inverse=True, return_counts=True)
    wanted, rest = np.divmod(n * sizes, len(strata))  # the shares in whole rows, and what they fall short by
    shortest = np.lexsort((rng.permutation(len(sizes)), -rest))
    wanted[shortest[: n - wanted.sum()]] += 1
    order = rng.permutation(len(strata))
    order = order[np.argsort(codes[order], kind="stable")]  # stratum by stratum, at random inside
    place = np.arange(len(strata)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[place < np.repeat(wanted, sizes)])
