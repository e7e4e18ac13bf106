"""Retrain GloVe without a set of documents: subtract their counts from X, and train."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from tqdm import tqdm

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz
from biaslab.core.rng import stream
from biaslab.embeddings import BASELINE
from biaslab.embeddings import cooccurrence as counting
from biaslab.embeddings.batches import documents_of
from biaslab.embeddings.cooccurrence import Cooccurrence
from biaslab.embeddings.glove import GloveEmbedding, GloveParameters, train, write_trainings
from biaslab.embeddings.settings import Checkpoints
from biaslab.embeddings.vocabulary import check_words, read_digest


def train_glove(
    cooccurrence: Path,
    set: str,
    model: GloveParameters,
    seed: int,
    out: Path,
    first: int = 0,
    count: int = 1,
    corpus: Path | None = None,
    sets: Path | None = None,
    paired: bool = False,
    checkpoint_minutes: float = Checkpoints.checkpoint_minutes,
    threads: int = 1,
) -> None:
    """Train GloVe on the corpus, or on the corpus without a set of documents of `sets`.

    The replicates are `first` to ``first + count - 1``. If `paired`, replicates differ from the baselines of
    the same seed only by the removal.
    """
    replicates = list(range(first, first + count))
    x, digest = counting.read(cooccurrence), read_digest(cooccurrence)
    if set != BASELINE:
        if corpus is None:
            raise InputError(f"{set}: removing documents requires the corpus; name the corpus")
        check_words(corpus, cooccurrence)
        documents = documents_of(sets, set)
        arrays = read_npz(corpus, ("tokens", "offsets"))
        pruned = without_documents(x, arrays["tokens"], arrays["offsets"], documents, threads)
        x = on_entries_of(x, pruned) if paired else pruned
    partner = BASELINE if paired else None
    embeddings = train_replicates(
        x, model, set, replicates, seed, out, 60 * checkpoint_minutes, threads, partner
    )
    write_trainings(out, replicates, embeddings, set == BASELINE, digest)
    discard_checkpoints(out)


def without_documents(
    x: Cooccurrence, tokens: np.ndarray, offsets: np.ndarray, documents: np.ndarray, threads: int = 1
) -> Cooccurrence:
    """Return X~, the counts of the corpus without `documents`, from X and these documents.

    X~ equals, bit for bit, the counts of the pruned corpus with the same vocabulary.
    """
    removed = counting.select_documents(tokens, offsets, documents)
    return counting.subtract(x, counting.count(*removed, x.n_words, x.window, threads), threads)


def on_entries_of(x: Cooccurrence, pruned: Cooccurrence) -> Cooccurrence:
    """Return the counts X~ on the entries of X, with zeros where X~ has no entry.

    GloVe then visits the entries of X~ and of X in the same order. Therefore two trainings with the same
    random stream differ only by the removal.
    """
    keys, pruned_keys = (y.rows().astype(np.int64) * x.n_words + y.indices for y in (x, pruned))
    counts = np.zeros_like(x.counts)
    counts[np.searchsorted(keys, pruned_keys)] = pruned.counts
    return replace(x, counts=counts)


def train_replicates(
    x: Cooccurrence,
    parameters: GloveParameters,
    set_name: str,
    replicates: Sequence[int],
    seed: int,
    checkpoint_stem: str | os.PathLike,
    checkpoint_seconds: float,
    threads: int = 1,
    paired_with: str | None = None,
) -> list[GloveEmbedding]:
    """Train replicates of a set. Replicate number and set name, or `paired_with`, select the random stream.

    `x` are the counts without the documents of the set. Checkpoints are at least `checkpoint_seconds` apart.
    A killed run resumes from them: ``<stem>.replicate-<n>.checkpoint.npz``.
    """
    embeddings = []
    with tqdm(total=len(replicates) * parameters.epochs, desc=set_name, unit="epoch", disable=None) as bar:
        for replicate in replicates:
            checkpoint = Path(f"{checkpoint_stem}.replicate-{replicate}.checkpoint.npz")
            rng = stream(seed, "train", paired_with or set_name, replicate)
            embeddings.append(
                train(x, parameters, rng, threads, checkpoint, checkpoint_seconds, lambda: bar.update(1))
            )
    return embeddings


def discard_checkpoints(checkpoint_stem: str | os.PathLike) -> None:
    """Delete the checkpoints of completed trainings."""
    stem = Path(checkpoint_stem)
    for checkpoint in stem.parent.glob(f"{stem.name}.replicate-*.checkpoint.npz"):
        checkpoint.unlink(missing_ok=True)
