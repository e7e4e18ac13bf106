"""Prepare the experiment: tokenise the texts of a corpus and its further test sets."""

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

    Linear models are trained on all texts, regardless of the limit for training.
    """
    tables = corpus.read_splits(source, seed, say=say)
    splits = {name: corpus.tokenize(table, folder.tokenizer) for name, table in tables.items()}
    sizes = {name: len(texts) for name, texts in splits.items()}
    training_rows = corpus.cut(splits[corpora.TRAIN], limits.train, seed, corpora.TRAIN)
    for name, limit in ((corpora.VALIDATION, limits.validation), (corpora.TEST, limits.test)):
        splits[name] = splits[name].take(corpus.cut(splits[name], limit, seed, name))
    corpus.save_sets(folder.path / "texts.npz", splits, train_used=training_rows)
    used_texts = splits | {corpora.TRAIN: splits[corpora.TRAIN].take(training_rows)}
    write_tsv(folder.path / "corpus.tsv", _counts(used_texts, sizes, folder.ids))

    further = read_probes(probes, others, folder.ids, limits.probes, seed)
    probe_texts = {name: corpus.tokenize(table, folder.tokenizer) for name, table in further.items()}
    corpus.save_sets(folder.path / "probes.npz", probe_texts)
    columns = [table.assign(set=name)[list(PROBE_TEXT)] for name, table in further.items()]
    write_tsv(folder.path / "probes.tsv", pd.concat(columns) if columns else pd.DataFrame(columns=PROBE_TEXT))


def _counts(
    splits: Mapping[str, corpus.Texts], sizes: Mapping[str, int], ids: Mapping[str, int]
) -> pd.DataFrame:
    """Return the table of the corpus: the number of texts used of each split."""
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
    """Read the further sets of texts: columns `COLUMNS`, "" for columns that a set lacks.

    News with an identifier that is not in `terms` are left out, as in the paper (Section 6.1). If a set has
    more than `limit` texts, `limit` texts are drawn. The draw keeps the share of each functionality and
    label, or of each identifier in news.
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
        raise InputError(f"{file}: no text contains an identifier; name other news, or null for none")
    return table


def _cut(table: pd.DataFrame, name: str, limit: int | None, seed: int) -> pd.DataFrame:
    if limit is None or limit >= len(table):
        return table
    strata = table["identifier"] if name == NEWS else table["functionality"] + table["label"].astype(str)
    rows = draw_evenly(strata.to_numpy(), limit, stream(seed, "cut", name))
    return table.iloc[rows].reset_index(drop=True)


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
