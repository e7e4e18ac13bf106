"""Random subsets of the corpus, and embeddings retrained on each: the ground truth of attribution.

Data attribution is scored by the effect of removing random parts of the training data, not of removing data
that the attribution selected (Ilyas et al. 2022, Section 2; Park et al. 2023, Section 2). Digests bind each
measurement to the documents that the subset lacks.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.weat import effect_size, weat_words
from biaslab.bias.word_sets import WeatIndices, read_tests
from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import FLOAT_FORMAT, read_parquet, write_parquet, write_tsv
from biaslab.core.rng import stream
from biaslab.embeddings.cooccurrence import Cooccurrence, read_counted
from biaslab.embeddings.glove import GloveParameters
from biaslab.embeddings.retraining import discard_checkpoints, train_replicates, without_documents
from biaslab.origins.sets import RANDOM
from biaslab.origins.sets.selection import frame, members

_COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))["lds/retrained/batch-B"]

DOCUMENTS, OUTCOME = "documents_sha256", "outcome_sha256"
BOUND = ("weat", DOCUMENTS, "observed_mean")  # columns of ``lds/removals.tsv`` in the digest `OUTCOME`
PAIRED_BOUND = ("weat", DOCUMENTS, "seed", "effect_size")
"""Columns of ``lds/paired.tsv`` in the digest `OUTCOME`."""


def write_subsets(documents: Path, shares: list[float], subsets: int, seed: int, out: Path) -> None:
    """Write random subsets of the corpus, as the documents that each subset lacks."""
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
    """Train GloVe without each of `count` sets of the table, from number `first`; write only the bias."""
    words, x, tokens, offsets = read_counted(cooccurrence, corpus, vocabulary)
    documents = members(read_parquet(sets, ["set", "document"]))
    selected = {name: documents[name] for name in list(documents)[first : first + count]}
    tests, pause = read_tests(word_sets, words.ids), 60 * checkpoint_minutes
    table = retrain(x, tokens, offsets, selected, tests, model, trainings, seed, out, pause, threads)
    write_tsv(out, table)


def draw_subsets(n_documents: int, shares: Sequence[float], subsets: int, seed: int) -> pd.DataFrame:
    """Draw the documents that each of `subsets` subsets per share lacks: ``lds/subsets.parquet``."""
    sizes = [round(share * n_documents) for share in shares]
    for share, size in zip(shares, sizes, strict=True):
        if not 0 < size < n_documents or sizes.count(size) > 1:
            raise InputError(
                f"lds.shares: {share} of {n_documents} documents are {size}; choose shares that remove"
                " distinct numbers of documents, at least one and not all"
            )
    frames = [frame("", "", RANDOM, 0, 0, [])]
    for size in sizes:
        for replicate in range(subsets):
            documents = draw_documents(n_documents, size, replicate, seed)
            frames.append(frame(f"subset-{size}-{replicate}", "", RANDOM, size, replicate, documents))
    return pd.concat(frames, ignore_index=True)


def draw_documents(n_documents: int, size: int, replicate: int, seed: int) -> np.ndarray:
    """Return the documents that a random subset lacks, ascending."""
    return np.sort(stream(seed, "subset", size, replicate).choice(n_documents, size, replace=False))


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
    """Train embeddings without each set of documents; return their bias: ``lds/retrained/batch-B.tsv``."""
    rows = []
    for name, documents in sets.items():
        remaining = without_documents(x, tokens, offsets, documents, threads)
        unseen = {w.name: int((np.diff(remaining.indptr)[weat_words(w)] == 0).sum()) for w in weats}
        stem = f"{checkpoint_stem}.{name}"
        documents_digest = digest_documents(documents)
        for replicate in range(trainings):
            (embedding,) = train_replicates(
                remaining, parameters, name, [replicate], seed, stem, checkpoint_seconds, threads
            )
            digests = (documents_digest, _sha256(embedding.W.astype("<f4")))
            rows += [
                (name, w.name, replicate, effect_size(embedding.W, w), unseen[w.name], *digests)
                for w in weats
            ]
        discard_checkpoints(stem)
    return pd.DataFrame(rows, columns=_COLUMNS)


def digest_documents(documents: np.ndarray) -> str:
    """Return the SHA-256 of document numbers (ascending, 64-bit little-endian)."""
    return _sha256(documents.astype("<i8"))


def digest_outcomes(table: pd.DataFrame, bound: Sequence[str]) -> list[str]:
    """Return the SHA-256 of the columns `bound` of each row, as written in a table, separated by blanks."""
    columns = [
        [FLOAT_FORMAT % (value + 0.0) if isinstance(value, float) else str(value) for value in table[name]]
        for name in bound
    ]
    return [hashlib.sha256(" ".join(row).encode()).hexdigest() for row in zip(*columns, strict=True)]


def check_outcomes(path: Path, table: pd.DataFrame, subsets: pd.DataFrame, bound: Sequence[str]) -> None:
    """Raise InputError for a row whose outcome does not match its subset in ``lds/subsets.parquet``."""
    names = table["set"].astype(str)
    digests = {name: digest_documents(np.sort(d)) for name, d in members(subsets, names.unique()).items()}
    _refuse(path, table, names.map(digests) != table[DOCUMENTS], "was retrained without other documents")
    wrong = np.array(digest_outcomes(table, bound)) != table[OUTCOME].to_numpy()
    _refuse(path, table, wrong, "has a changed outcome or the outcome of another subset")


def _refuse(path: Path, table: pd.DataFrame, wrong: Sequence[bool], problem: str) -> None:
    rows = np.flatnonzero(wrong)
    if len(rows):
        raise InputError(
            f"{path}, line {rows[0] + 2}: '{table['set'].iloc[rows[0]]}' {problem}; {len(rows)} of"
            f" {len(table)} rows do not match lds/subsets.parquet; restore lds/, or rerun its steps"
        )


def _sha256(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array)).hexdigest()
