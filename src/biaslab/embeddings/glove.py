"""GloVe (Pennington et al. 2014; Brunet et al. 2019, Eq. 1), trained in a block schedule.

Words are dealt into B row groups and B column groups, which divide the entries of X into B x B blocks. An
epoch has B rounds. The B blocks of one round share neither a row nor a column. Therefore threads never update
the same parameters, and the result does not depend on the number of threads, bit for bit.
"""

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, write_npz
from biaslab.embeddings.cooccurrence import Cooccurrence
from biaslab.embeddings.settings import GloveParameters
from biaslab.embeddings.vocabulary import WORDS

__all__ = ["GloveEmbedding", "GloveParameters", "train", "weighting"]

_GROUP_BYTES = 320 * 1024  # the parameters of a row group: two groups and the records between them fit in L2
_MIN_GROUPS, _MAX_GROUPS = 16, 255  # block numbers fit in 16 bits, which NumPy sorts in linear time


@dataclass(frozen=True)
class GloveEmbedding:
    """A trained embedding.

    Attributes
    ----------
    W, U : numpy.ndarray
        (V, D) float32, word vectors w and context vectors u.
    b, c : numpy.ndarray
        (V,) float32, the bias terms of words and contexts.
    loss : numpy.ndarray
        (epochs,) float64, mean over the entries of X of f(X_ij) (w_i.u_j + b_i + c_j - log X_ij)^2 / 2. As in
        the reference code, each term is computed just before the update of its entry.
    """

    W: np.ndarray
    U: np.ndarray
    b: np.ndarray
    c: np.ndarray
    loss: np.ndarray


@dataclass
class Records:
    """The entries of X, sorted by block and shuffled inside, and the place of each word's parameters."""

    row_place: np.ndarray  # (V,) int32, places ordered by row group
    column_place: np.ndarray  # (V,) int32, places ordered by column group
    rows: np.ndarray  # (nnz,) int32, places
    columns: np.ndarray  # (nnz,) int32, places
    log_x: np.ndarray  # (nnz,) float32
    f_x: np.ndarray  # (nnz,) float32
    starts: np.ndarray  # (B * B + 1,) int64
    schedule: np.ndarray  # (B, B) int64, the blocks of each round


def weighting(x: np.ndarray, x_max: float, alpha: float) -> np.ndarray:
    """Return f(x) = min((x / x_max)^alpha, 1) (below Eq. 1).

    Parameters
    ----------
    x : numpy.ndarray
        Counts of 0 or more, of any shape.
    x_max, alpha : float
        Smallest count with weight 1, and exponent below it.

    Returns
    -------
    numpy.ndarray
        Weights from 0 to 1, of the same shape. As for `x`, but always float64.
    """
    return np.minimum((x / x_max) ** alpha, 1.0)


def train(
    x: Cooccurrence,
    parameters: GloveParameters,
    rng: np.random.Generator,
    threads: int = 1,
    checkpoint: Path | None = None,
    checkpoint_seconds: float = float("inf"),
    progress: Callable[[], None] = lambda: None,
) -> GloveEmbedding:
    """Train one embedding.

    Parameters
    ----------
    x : Cooccurrence
        The counts X, from `cooccurrence.count_texts` or, for a sparse matrix, `cooccurrence.from_sparse`.
    parameters : GloveParameters
        Hyperparameters.
    rng : numpy.random.Generator
        Draws the initial values, the groups of words and the order of the records.
    threads : int
        Threads to use, at most as many as the machine has; the result does not depend on them, bit for bit.
    checkpoint : pathlib.Path, optional
        File for the state of a long training. Training resumes from a state of the same training in this
        file, and gives the same result, bit for bit. The caller deletes the file.
    checkpoint_seconds : float
        Minimum time between two checkpoints.
    progress : callable
        Called after each epoch.

    Returns
    -------
    GloveEmbedding
        Vectors, biases and the loss of each epoch.

    Raises
    ------
    InputError
        When X is empty, or the training diverges.

    Notes
    -----
    AdaGrad as in the reference implementation. Vectors and biases start uniform in (-0.5, 0.5)/D, and sums of
    squared gradients at 1. Gradient components are clipped at +-100. Steps of biases do not use the learning
    rate. Unlike in the reference, bias gradients are also clipped: a bias gradient of 100 occurs only if the
    training diverges. The order of the records is the same in all epochs. An entry with a zero count keeps
    its place in that order and changes no parameter, because f(0) = 0.
    """
    from biaslab.core.jit import set_threads

    set_threads(threads)
    records, rates, (rows, columns) = begin(x, parameters, rng)
    state = _State(rows, columns, np.full(parameters.epochs, np.nan))
    identity = ""
    if checkpoint:
        identity = _identity(x, parameters, state)
        arrays = read_npz(checkpoint, ("identity", *vars(state))) if checkpoint.exists() else {}
        if str(arrays.pop("identity", "")) == identity:
            state = _State(**arrays)
    saved = time.monotonic()
    for _ in range(state.done):
        progress()
    while state.done < parameters.epochs:
        _train_epoch(state, records, rates)
        progress()
        if checkpoint and time.monotonic() - saved >= checkpoint_seconds:
            write_npz(checkpoint, identity=np.array(identity), **vars(state))
            saved = time.monotonic()
    w, u = state.rows[records.row_place], state.columns[records.column_place]
    if not (np.isfinite(w).all() and np.isfinite(u).all()):  # after the last update, which has no loss
        raise InputError("GloVe training diverged in the last epoch; choose a lower learning_rate")
    return embedding_of(w, u, parameters.dimension, state.loss)


@dataclass
class _State:
    """The state of a training, which a checkpoint stores."""

    rows: np.ndarray  # (V, 2 * width) float32, in the order of the places
    columns: np.ndarray  # (V, 2 * width) float32
    loss: np.ndarray  # (epochs,) float64, NaN for future epochs

    @property
    def done(self) -> int:
        """Number of completed epochs."""
        return int(np.isfinite(self.loss).sum())


def _train_epoch(state: _State, records: Records, rates: np.ndarray) -> None:
    from biaslab.embeddings._kernels import train_epoch

    losses = np.zeros(len(records.starts) - 1)
    train_epoch(
        state.rows, state.columns, records.rows, records.columns, records.log_x, records.f_x, records.starts,
        records.schedule, rates[0], rates[1], losses,
    )  # fmt: skip
    loss = losses.sum() / len(records.rows)
    zero_loss = 0.5 * float(np.mean(records.f_x * records.log_x**2, dtype=np.float64))
    if not loss <= 10 * zero_loss + 1:  # far worse than an embedding of zeros
        raise InputError(f"GloVe training diverged in epoch {state.done + 1}; choose a lower learning_rate")
    state.loss[state.done] = loss


def embedding_of(w: np.ndarray, u: np.ndarray, dimension: int, loss: np.ndarray) -> GloveEmbedding:
    """Extract an embedding from both arrays of parameters, in word order."""
    return GloveEmbedding(
        W=w[:, :dimension].copy(),
        U=u[:, :dimension].copy(),
        b=w[:, dimension].copy(),
        c=u[:, dimension + 1].copy(),
        loss=loss,
    )


def begin(
    x: Cooccurrence, parameters: GloveParameters, rng: np.random.Generator
) -> tuple[Records, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return the records, the learning rates (2, width), and the initial parameters ordered by place."""
    from biaslab.embeddings._kernels import CACHE_LINE

    if not len(x.indices):
        raise InputError("the co-occurrence matrix is empty; use a larger corpus or a smaller min_count")
    dimension = parameters.dimension
    width = -(-(dimension + 2) // CACHE_LINE) * CACHE_LINE
    initial = initial_parameters(x.n_words, dimension, width, rng)
    n_groups = -(-x.n_words * 2 * width * 4 // _GROUP_BYTES)
    n_groups = max(1, min(x.n_words, max(_MIN_GROUPS, min(n_groups, _MAX_GROUPS))))
    records = sort_records(x, parameters, n_groups, rng)
    rates = np.zeros((2, width), np.float32)
    rates[:, :dimension] = parameters.learning_rate
    rates[0, dimension] = rates[1, dimension + 1] = 1
    places = records.row_place, records.column_place
    rows, columns = (values[np.argsort(place)] for values, place in zip(initial, places, strict=True))
    return records, rates, (rows, columns)


def initial_parameters(
    n_words: int, dimension: int, width: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the initial parameters of a training, in word order, in rows padded to `width`.

    Both arrays are (V, 2 * width) float32: ``[w, b, 1 | sums]`` and ``[u, 1, c | sums]``.
    """
    values = ((rng.random((2, n_words, dimension + 1)) - 0.5) / dimension).astype(np.float32)
    rows_of, columns_of = np.zeros((2, n_words, 2 * width), np.float32)
    rows_of[:, :dimension], columns_of[:, :dimension] = values[:, :, :dimension]
    rows_of[:, dimension], columns_of[:, dimension + 1] = values[:, :, dimension]
    rows_of[:, dimension + 1] = columns_of[:, dimension] = 1
    rows_of[:, width:] = columns_of[:, width:] = 1
    return rows_of, columns_of


def _deal(n_words: int, n_groups: int, rng: np.random.Generator) -> np.ndarray:
    """Deal the words, most frequent first, into groups; each round deals one word to every group."""
    rounds = -(-n_words // n_groups)
    return rng.permuted(np.tile(np.arange(n_groups), (rounds, 1)), axis=1).ravel()[:n_words]


def _places(groups: np.ndarray) -> np.ndarray:
    """Return the place of every word if words are ordered by group, (V,) int32."""
    place = np.empty(len(groups), np.int32)
    place[np.argsort(groups, kind="stable")] = np.arange(len(groups))
    return place


def sort_records(
    x: Cooccurrence, parameters: GloveParameters, n_groups: int, rng: np.random.Generator
) -> "Records":
    """Deal words into groups at random, and sort the shuffled co-occurrences by their block of two groups."""
    row_group, column_group = _deal(x.n_words, n_groups, rng), _deal(x.n_words, n_groups, rng)
    row_place, column_place = _places(row_group), _places(column_group)
    shuffle = rng.permutation(len(x.indices))
    rows, columns = x.rows()[shuffle], x.indices[shuffle]
    block = (row_group[rows] * n_groups + column_group[columns]).astype(np.uint16)
    order = np.argsort(block, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(block, minlength=n_groups**2))])
    values = x.counts[shuffle[order]] / x.unit
    groups = np.arange(n_groups)
    return Records(
        row_place, column_place, row_place[rows[order]], column_place[columns[order]],
        np.log(np.where(values > 0, values, 1)).astype(np.float32), weighting(values, parameters.x_max,
        parameters.alpha).astype(np.float32), starts, groups * n_groups + (groups + groups[:, None]) %
        n_groups,
    )  # fmt: skip


def _identity(x: Cooccurrence, parameters: GloveParameters, start: _State) -> str:
    """Return the digest of all inputs of a training; the initial values represent the random stream."""
    digest = hashlib.sha256(repr(sorted(asdict(parameters).items())).encode())
    for array in (x.indptr, x.indices, x.counts, start.rows, start.columns):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def write_trainings(
    path: str | os.PathLike,
    replicates: list[int],
    embeddings: list[GloveEmbedding],
    every_parameter: bool,
    words: str = "",
) -> None:
    """Write the trainings of one set to an ``.npz`` file, each with its number within the set.

    The influence functions need `every_parameter`, that is also U, b and c. Other analyses need only W.
    `words` is the digest of the vocabulary, "" if unknown.
    """
    arrays = {"W": np.stack([e.W for e in embeddings]), "loss": np.stack([e.loss for e in embeddings])}
    if every_parameter:
        arrays |= {name: np.stack([getattr(e, name) for e in embeddings]) for name in ("U", "b", "c")}
    write_npz(path, replicates=np.array(replicates, np.int64), **arrays, **{WORDS: np.array(words)})
