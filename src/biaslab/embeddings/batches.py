"""Files of trained embeddings: several trainings without one set of documents in one ``.npz`` file.

A file ``<set>/batch-<b>.npz`` contains ``replicates`` int64 (n,), ``W`` float32 (n, V, D), ``loss`` float64
(n, epochs) and the digest of its ``words``. Files of the set ``baseline`` also contain the other GloVe
parameters. The folder has the name of the set. The set ``baseline`` removes no document.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, read_parquet, read_tsv, write_tsv
from biaslab.embeddings.vocabulary import Vocabulary, check_words


class Training(NamedTuple):
    """The word vectors of one training without a set of documents."""

    set: str
    replicate: int  # number of the training within the set; for baselines, the seed
    W: np.ndarray  # (V, D) float32


def set_name(path: str | os.PathLike) -> str:
    """Return the set of a batch file: the name of its folder."""
    return Path(path).absolute().parent.name


def read_trainings(
    paths: Iterable[str | os.PathLike], vocabulary: Vocabulary, task: str = ""
) -> Iterator[Training]:
    """Yield the word vectors of every training in batch files; a `task` names a progress bar."""
    bar = tqdm(desc=task, unit=" embeddings", disable=None if task else True)
    seen: set[tuple[str, int]] = set()
    for path in paths:
        batch = read_npz(path, keys=("replicates", "W"))
        replicates, W = batch["replicates"], batch["W"]
        if replicates.ndim != 1 or W.ndim != 3 or len(W) != len(replicates):
            raise InputError(
                f"{path}: the shapes of replicates {replicates.shape} and W {W.shape} do not match; retrain"
                " the set"
            )
        if batch["W"].shape[1] != len(vocabulary):
            raise InputError(
                f"{path}: W has {batch['W'].shape[1]} words and {vocabulary.source} has {len(vocabulary)};"
                " name the vocabulary of the training"
            )
        check_words(path, vocabulary)
        for replicate, W in zip(batch["replicates"].tolist(), batch["W"], strict=True):
            key = (set_name(path), replicate)
            if key in seen:
                raise InputError(
                    f"{path}: replicate {replicate} of set '{key[0]}' is repeated; name each file once"
                )
            seen.add(key)
            yield Training(*key, W)
            bar.update()
    bar.close()


def read_training(path: str | os.PathLike, replicate: int, vocabulary: Vocabulary) -> Training:
    """Return one training of a batch file."""
    trainings = list(read_trainings([path], vocabulary))
    for training in trainings:
        if training.replicate == replicate:
            return training
    replicates = ", ".join(str(training.replicate) for training in trainings)
    raise InputError(f"{path}: the file has no replicate {replicate}; choose one of {replicates}")


def documents_of(sets: Path | None, name: str) -> np.ndarray:
    """Return the documents of a set, (n,) int64; raise InputError if the set is missing or empty."""
    if sets is None:
        raise InputError(f"{name}: removing documents requires the table of sets; name the table")
    table = read_parquet(sets, ["set", "document"])
    documents = table.loc[table["set"] == name, "document"].to_numpy()
    if not len(documents):
        raise InputError(f"{sets}: the table has no set '{name}'; rerun the selection of sets")
    return documents


def join_tables(
    out: Path, tables: Sequence[Path], columns: Sequence[str], keys: Sequence[str], text: tuple[str, ...]
) -> None:
    """Join tables with the same columns, and sort their rows. Without tables, the result has no rows."""
    parts = [read_tsv(table, tuple(columns), text) for table in tables]
    joined = pd.concat(parts) if parts else pd.DataFrame(columns=list(columns))
    write_tsv(out, joined[list(columns)].sort_values(list(keys), ignore_index=True))
