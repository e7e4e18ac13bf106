from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from pydantic import ValidationError

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence, glove
from biaslab.embeddings.glove import GloveParameters, train
from biaslab.embeddings.retraining import (
    discard_checkpoints,
    on_entries_of,
    train_replicates,
    without_documents,
)
from naive import embeddings as naive

PARAMETERS = GloveParameters(dimension=5, epochs=4)
FIELDS = ("W", "U", "b", "c", "loss")
FLOAT32_RTOL = 2e-4  # float32 steps against the oracle's float64, over a few hundred updates


def small_x(n_words=40, n_tokens=3000, seed=0):
    rng = np.random.default_rng(seed)
    tokens = np.minimum(rng.zipf(1.4, n_tokens) - 1, n_words - 1).astype(np.int32)
    return cooccurrence.count(tokens, np.arange(0, n_tokens + 1, 100), n_words, 8)


def equal(a, b):
    return all(np.array_equal(getattr(a, k), getattr(b, k)) for k in FIELDS)


def literal_start(x, parameters, seed):
    """Return the entries (i, j, X_ij) in the order of a training, and the w, u, b, c that it begins with."""
    D = parameters.dimension
    records, _, (rows, columns) = glove.begin(x, parameters, stream(seed))
    word_at_row, word_at_column = np.argsort(records.row_place), np.argsort(records.column_place)
    dense = {
        (i, int(x.indices[k])): x.counts[k] / x.unit
        for i in range(x.n_words)
        for k in range(x.indptr[i], x.indptr[i + 1])
    }
    order = []
    for block in records.schedule.ravel():
        for k in range(records.starts[block], records.starts[block + 1]):
            i, j = int(word_at_row[records.rows[k]]), int(word_at_column[records.columns[k]])
            order.append((i, j, dense[i, j]))
    assert sorted(order) == sorted((i, j, value) for (i, j), value in dense.items())

    rows, columns = rows[records.row_place].astype(float), columns[records.column_place].astype(float)
    return order, (rows[:, :D], columns[:, :D], rows[:, D], columns[:, D + 1])


@pytest.mark.parametrize("zeros", [0, 0.3])
def test_training_equals_the_oracle(zeros):
    x = small_x(n_words=20)
    x = replace(x, counts=np.where(np.random.default_rng(1).random(len(x.counts)) < zeros, 0, x.counts))
    trained = train(x, PARAMETERS, stream(3))
    order, (w, u, b, c) = literal_start(x, PARAMETERS, 3)
    sums = {"w": np.ones_like(w), "u": np.ones_like(u), "b": np.ones_like(b), "c": np.ones_like(c)}
    order = [(i, j, value) for i, j, value in order if value > 0]
    share = len(order) / len(x.counts)  # a loss is the mean over the entries, zero or not
    losses = [naive.glove_epoch(order, w, u, b, c, sums, 100.0, 0.75, 0.05) for _ in range(PARAMETERS.epochs)]
    np.testing.assert_allclose(trained.loss, share * np.array(losses), rtol=FLOAT32_RTOL)
    for name, expected in (("W", w), ("U", u), ("b", b), ("c", c)):
        np.testing.assert_allclose(getattr(trained, name), expected, rtol=FLOAT32_RTOL, atol=1e-5)


def test_no_block_of_a_round_shares_a_row_or_a_column():
    x = small_x()
    records = glove.sort_records(x, PARAMETERS, 16, stream(0))
    for round_ in records.schedule:
        for places in (records.rows, records.columns):
            seen = [set(places[records.starts[b] : records.starts[b + 1]].tolist()) for b in round_]
            assert sum(map(len, seen)) == len(set().union(*seen))
    assert sorted(records.schedule.ravel()) == list(range(16 * 16))


class KilledError(Exception):
    pass


def killer(epochs):
    """Count epochs and raise in the middle of a training, as a kill would stop it."""
    seen = []

    def progress():
        seen.append(1)
        if len(seen) == epochs:
            raise KilledError

    return progress


def test_a_killed_training_continues_bit_for_bit_and_no_other_from_its_checkpoint(tmp_path):
    x = small_x()
    checkpoint = tmp_path / "x.checkpoint.npz"
    undisturbed = train(x, PARAMETERS, stream(1))
    with pytest.raises(KilledError):
        train(x, PARAMETERS, stream(1), 1, checkpoint, 0, killer(3))
    for parameters, seed in ((replace(PARAMETERS, learning_rate=0.01), 1), (PARAMETERS, 2)):
        found = train(x, parameters, stream(seed), 1, checkpoint, 1e9)
        assert equal(train(x, parameters, stream(seed)), found)
    epochs = []
    resumed = train(x, PARAMETERS, stream(1), 2, checkpoint, 1e9, lambda: epochs.append(1))
    assert equal(undisturbed, resumed)
    assert np.isfinite(np.load(checkpoint)["loss"]).sum() == 2


def test_replicates_do_not_depend_on_their_batch(tmp_path):
    x = small_x()
    together = train_replicates(x, PARAMETERS, "random-5-0", [0, 1], 7, tmp_path / "a.npz", 0)
    alone = train_replicates(x, PARAMETERS, "random-5-0", [1], 7, tmp_path / "b.npz", 1e9)
    assert equal(together[1], alone[0])
    assert not equal(together[0], together[1])
    assert len(list(tmp_path.iterdir())) == 2
    discard_checkpoints(tmp_path / "a.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("learning_rate", [1e3, 1e30])
def test_divergence_is_told(learning_rate):
    with pytest.raises(InputError, match=r"diverged in epoch .*learning_rate"):
        train(small_x(), replace(PARAMETERS, learning_rate=learning_rate), stream(1))


@pytest.mark.parametrize("wrong", [{"dimension": 0}, {"epochs": 0}, {"x_max": 0.0}, {"alpha": float("nan")}])
def test_impossible_hyperparameters_and_an_empty_matrix_are_refused(wrong):
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        replace(PARAMETERS, **wrong)
    empty = cooccurrence.count(np.empty(0, np.int32), np.zeros(1, np.int64), 4, 8)
    with pytest.raises(InputError, match="the co-occurrence matrix is empty"):
        train(empty, PARAMETERS, stream(1))


def test_paired_training_differs_from_the_baseline_by_the_removal_alone(tmp_path):
    tokens = np.random.default_rng(0).integers(0, 60, 600).astype(np.int32)
    offsets = np.arange(0, 601, 20)
    x = cooccurrence.count(tokens, offsets, 60, 8)

    def trained(counts, name, **paired):
        (embedding,) = train_replicates(counts, PARAMETERS, name, [2], 1, tmp_path / "x", 1e9, **paired)
        return embedding

    baseline = trained(x, "baseline")
    nothing = without_documents(x, tokens, offsets, np.array([], np.int64))
    assert equal(trained(on_entries_of(x, nothing), "one", paired_with="baseline"), baseline)

    pruned = without_documents(x, tokens, offsets, np.array([3]))
    entries = on_entries_of(x, pruned)
    np.testing.assert_array_equal(entries.indices, x.indices)
    assert entries.counts.sum() == pruned.counts.sum()
    assert (entries.counts == 0).sum() == len(x.counts) - len(pruned.counts) > 0
    paired = trained(entries, "one", paired_with="baseline")
    near = np.abs(paired.W - baseline.W).mean()
    assert 0 < near < np.abs(trained(pruned, "one").W - baseline.W).mean() / 5


def test_a_sparse_matrix_is_trained_on_to_the_same_bytes_at_any_number_of_threads():
    x = small_x(n_words=100, n_tokens=5000)
    matrix = scipy.sparse.csr_array((x.counts / x.unit, x.indices, x.indptr), shape=(100, 100))
    one, two = (
        train(cooccurrence.from_sparse(matrix), PARAMETERS, stream(3), threads=threads) for threads in (1, 2)
    )
    assert equal(one, two)
    assert equal(one, train(x, PARAMETERS, stream(3)))  # the same numbers as those of exact counts
