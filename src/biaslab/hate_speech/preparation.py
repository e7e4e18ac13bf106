"""The first step of the experiment: the texts of a corpus and of its further test sets, as tokens."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.io import write_tsv
from biaslab.hate_speech import corpus
from biaslab.hate_speech.folder import PROBE_TEXT, Folder
from biaslab.hate_speech.identity_metrics import holding
from biaslab.hate_speech.probes import read_probes
from biaslab.hate_speech.settings import Limits
from biaslab.text import corpora

MAX_LENGTH = 128
"""Word pieces of a text, [CLS] and [SEP] among them (published code)."""


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
    splits = {name: corpus.tokenize(table, folder.tokenizer, MAX_LENGTH) for name, table in tables.items()}
    sizes = {name: len(texts) for name, texts in splits.items()}
    used = corpus.cut(splits[corpora.TRAIN], limits.train, seed, corpora.TRAIN)
    for name, limit in ((corpora.VALIDATION, limits.validation), (corpora.TEST, limits.test)):
        splits[name] = splits[name].take(corpus.cut(splits[name], limit, seed, name))
    corpus.save_sets(folder.path / "texts.npz", splits, train_used=used)
    trained = splits | {corpora.TRAIN: splits[corpora.TRAIN].take(used)}
    write_tsv(folder.path / "corpus.tsv", _counts(trained, sizes, folder.ids))

    further = read_probes(probes, others, folder.ids, limits.probes, seed)
    tested = {name: corpus.tokenize(table, folder.tokenizer, MAX_LENGTH) for name, table in further.items()}
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
