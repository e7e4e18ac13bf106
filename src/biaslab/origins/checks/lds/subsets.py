"""Random subsets of the corpus, and embeddings trained on what each leaves: the ground truth of attribution.

Data attribution is scored by what happens when random parts of the training data are left out, not by what
happens to the data that it chose itself (Ilyas et al. 2022, Section 2; Park et al. 2023, Section 2).
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.weat import effect_size, weat_words
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, write_parquet, write_tsv
from biaslab.core.rng import stream
from biaslab.embeddings.cooccurrence import Cooccurrence
from biaslab.embeddings.glove import GloveParameters
from biaslab.embeddings.retraining import discard_checkpoints, train_replicates, without_documents
from biaslab.origins.attribution.counted import read_counted, read_tests
from biaslab.origins.sets.names import RANDOM, subset
from biaslab.origins.sets.selection import frame, members

_COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))["lds/retrained/batch-B"]


def write_subsets(documents: Path, shares: list[float], subsets: int, seed: int, out: Path) -> None:
    """Draw random subsets of the corpus: the documents that each of them lacks."""
    write_parquet(out, draw_subsets(len(read_parquet(documents, ["document"])), shares, subsets, seed))


def write_retrained(
    cooccurrence: Path,
    corpus: Path,
    vocabulary: Path,
    sets: Path,
    word_sets: list[Path],
    model: GloveParameters,
    checkpoint_minutes: float,
    first: int,
    count: int,
    trainings: int,
    seed: int,
    out: Path,
    threads: int = 1,
) -> None:
    """Train GloVe without each of some sets, and keep the bias of the embeddings, not them.

    Of the sets of the table those from number `first` on, `count` of them.
    """
    words, x, tokens, offsets = read_counted(cooccurrence, corpus, vocabulary)
    documents = members(read_parquet(sets, ["set", "document"]))
    chosen = {name: documents[name] for name in list(documents)[first : first + count]}
    tests, pause = read_tests(word_sets, words), 60 * checkpoint_minutes
    table = retrain(x, tokens, offsets, chosen, tests, model, trainings, seed, out, pause, threads)
    write_tsv(out, table)


def draw_subsets(n_documents: int, shares: Sequence[float], subsets: int, seed: int) -> pd.DataFrame:
    """Draw the documents that each subset of the corpus lacks: ``lds/subsets.parquet``.

    `shares` of the documents to leave out, between 0 and 1; `subsets` for each.
    """
    sizes = [round(share * n_documents) for share in shares]
    for share, size in zip(shares, sizes, strict=True):
        if not 0 < size < n_documents or sizes.count(size) > 1:
            raise InputError(
                f"lds.shares: {share} of {n_documents} documents are {size}; choose shares that leave out"
                " some documents but not all, and different numbers of them"
            )
    frames = [frame("", "", RANDOM, 0, 0, [])]
    for size in sizes:
        for replicate in range(subsets):
            chosen = stream(seed, "subset", size, replicate).choice(n_documents, size, replace=False)
            frames.append(frame(subset(size, replicate), "", RANDOM, size, replicate, chosen))
    return pd.concat(frames, ignore_index=True)


def retrain(
    x: Cooccurrence,
    tokens: np.ndarray,
    offsets: np.ndarray,
    sets: Mapping[str, np.ndarray],
    weats: Sequence[WeatIndices],
    parameters: GloveParameters,
    trainings: int,
    seed: int,
    checkpoint_stem: str | os.PathLike,
    checkpoint_seconds: float,
    threads: int = 1,
) -> pd.DataFrame:
    """Train embeddings without each of some sets of documents, and keep what bias they have.

    As ``lds/retrained/batch-B.tsv``. Each of the `trainings` has its own random stream, the result does
    not depend on `threads`; other arguments as for `biaslab.embeddings.retraining`.
    """
    rows = []
    for name, documents in sets.items():
        left = without_documents(x, tokens, offsets, documents, threads)
        unseen = {w.name: int((np.diff(left.indptr)[weat_words(w)] == 0).sum()) for w in weats}
        stem = f"{checkpoint_stem}.{name}"
        of_documents = _sha256(documents.astype("<i8"))
        for replicate in range(trainings):
            (trained,) = train_replicates(
                left, parameters, name, [replicate], seed, stem, checkpoint_seconds, threads
            )
            digests = (of_documents, _sha256(trained.W.astype("<f4")))
            rows += [
                (name, w.name, replicate, effect_size(trained.W, w), unseen[w.name], *digests) for w in weats
            ]
        discard_checkpoints(stem)
    return pd.DataFrame(rows, columns=_COLUMNS)


def _sha256(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array)).hexdigest()
