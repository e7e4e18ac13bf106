"""Files of trained embeddings: several trainings of one perturbation set in one ``.npz`` file.

A file ``<set>/batch-<b>.npz`` holds ``replicates`` int64 (n,), ``W`` float32 (n, V, D), ``loss`` float64
(n, epochs), the digest of its ``words``, and for the set ``baseline`` the other GloVe parameters. The folder
names the set; the set ``baseline`` removes nothing.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, read_parquet, write_tsv
from biaslab.embeddings.vocabulary import Vocabulary, check_words


class Training(NamedTuple):
    """The word vectors of one training of a set, the documents that were removed from the corpus."""

    set: str
    replicate: int  # number of the training within the set; the baselines' is their seed
    W: np.ndarray  # (V, D) float32


def set_name(path: str | os.PathLike) -> str:
    """Return the perturbation set of a batch file: the name of its folder."""
    return Path(path).absolute().parent.name


def read_trainings(paths: Iterable[str | os.PathLike], vocabulary: Vocabulary) -> Iterator[Training]:
    """Yield the word vectors of every training in batch files, one file in memory at a time."""
    seen: set[tuple[str, int]] = set()
    for path in paths:
        batch = _read_batch(path, "W", ndim=3)
        if batch["W"].shape[1] != len(vocabulary):
            raise InputError(
                f"{path}: W has {batch['W'].shape[1]} words, {vocabulary.source} {len(vocabulary)};"
                " give the vocabulary that the embedding was trained with"
            )
        check_words(path, vocabulary)
        for replicate, W in zip(batch["replicates"].tolist(), batch["W"], strict=True):
            key = (set_name(path), replicate)
            if key in seen:
                raise InputError(
                    f"{path}: replicate {replicate} of set '{key[0]}' is there twice; give a file once"
                )
            seen.add(key)
            yield Training(*key, W)


def read_training(path: str | os.PathLike, replicate: int, vocabulary: Vocabulary) -> Training:
    """Return one training of a batch file."""
    trainings = list(read_trainings([path], vocabulary))
    for training in trainings:
        if training.replicate == replicate:
            return training
    known = ", ".join(str(training.replicate) for training in trainings)
    raise InputError(f"{path}: no replicate {replicate}; it has {known}")


def documents_of(sets: Path | None, name: str) -> np.ndarray:
    """Return the documents of a set, (n,) int64, of which there must be some."""
    if sets is None:
        raise InputError(f"{name}: to leave documents out give the table of sets, too")
    table = read_parquet(sets, ["set", "document"])
    documents = table.loc[table["set"] == name, "document"].to_numpy()
    if not len(documents):
        raise InputError(f"{sets}: there is no set '{name}'; select the sets again")
    return documents


def write_losses(embeddings: list[Path], out: Path) -> None:
    """Collect the loss after every epoch of every training in one table."""
    write_tsv(out, collect_losses(embeddings))


def collect_losses(paths: Iterable[str | os.PathLike]) -> pd.DataFrame:
    """Return the loss after every epoch (from 1) of every training, sorted; seed is the replicate."""
    tables = []
    for path in paths:
        batch = _read_batch(path, "loss", ndim=2)
        n, epochs = batch["loss"].shape
        columns = {
            "set": set_name(path),
            "seed": np.repeat(batch["replicates"], epochs),
            "epoch": np.tile(np.arange(1, epochs + 1), n),
            "loss": batch["loss"].ravel(),
        }
        tables.append(pd.DataFrame(columns))
    table = pd.concat(tables, ignore_index=True).sort_values(["set", "seed", "epoch"], ignore_index=True)
    repeated = table[table.duplicated(["set", "seed", "epoch"])]
    if len(repeated):
        first = repeated.iloc[0]
        raise InputError(
            f"replicate {first['seed']} of set '{first['set']}' is there twice; give a file once"
        )
    return table


def _read_batch(path: str | os.PathLike, key: str, ndim: int) -> dict[str, np.ndarray]:
    """Read the replicates and the array `key`, which must have a row for each of them."""
    batch = read_npz(path, keys=("replicates", key))
    replicates, values = batch["replicates"], batch[key]
    if replicates.ndim != 1 or values.ndim != ndim or len(values) != len(replicates):
        raise InputError(
            f"{path}: replicates {replicates.shape} and {key} {values.shape} do not fit; train the set again"
        )
    return batch
