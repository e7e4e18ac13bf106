import functools

import numpy as np
import pytest
from sklearn.metrics import f1_score

from biaslab.core.errors import InputError
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.core.settings import validate
from biaslab.text._recurrent_kernels import BLOCK
from biaslab.text._recurrent_training_kernels import batch_gradients
from biaslab.text.recurrent import gate_shift, initial_recurrent, pack, unpack
from biaslab.text.recurrent_training import BETA1, BETA2, COLUMNS, EPSILON, TrainingSettings, train_recurrent
from biaslab.text.words import Texts
from naive import recurrent as naive
from recurrent_data import N_WORDS, random_recurrent, random_texts, torch_twin, weights_of

KINDS = "lstm", "gru"


def flat(layers, W_out, b_out):
    return np.concatenate([a.ravel() for a in (*sum(layers, ()), W_out, b_out)])


def gradients_of(network, texts, labels, weights, order):
    """Loss and flat gradients, in the order of `flat`, of one batch."""
    (parameters, _), (gradients, flat_gradients) = pack(network), pack(network)
    numbers, shift = np.full(len(network.vectors), -1), gate_shift(network.kind, parameters)
    loss = batch_gradients(
        network.vectors,
        texts.ids,
        texts.offsets,
        labels,
        weights,
        order,
        numbers,
        shift,
        parameters,
        flat_gradients,
        gradients,
    )
    assert (numbers == -1).all()
    unpacked = flat(*unpack(network, gradients))
    assert np.count_nonzero(flat_gradients) <= len(unpacked)  # what pads the weights stays as it is
    return loss, unpacked


def expected_loss(network, weights_, texts, labels, weights, order):
    rows = [network.vectors[texts.row(i)] for i in order]
    return naive.mean_cross_entropy(network.kind, *weights_, rows, labels[order], weights[order])


@pytest.mark.parametrize("kind", KINDS)
def test_weight_gradients_equal_finite_differences(kind):
    network, texts = random_recurrent(kind, 1, 3, 2, 4), random_texts(2, 8, longest=4)
    rng = np.random.default_rng(3)
    labels, weights = np.arange(8) % 2, rng.uniform(0.5, 2, 8)
    order = np.array([7, 0, 3, 4, 5, 1])
    loss, found = gradients_of(network, texts, labels, weights, order)
    exact = weights_of(network)
    assert loss == pytest.approx(expected_loss(network, exact, texts, labels, weights, order), abs=1e-5)
    expected = [
        naive.slopes(lambda: expected_loss(network, exact, texts, labels, weights, order), array, step=1e-5)
        for array in (*sum(exact[0], ()), *exact[1:])
    ]
    np.testing.assert_allclose(found, np.concatenate(expected), rtol=1e-3, atol=3e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_weight_gradients_of_many_texts_equal_torch(kind):
    network, n = random_recurrent(kind, 4, d=50), 2 * BLOCK + 3
    torch, twin, W_out, b_out = torch_twin(network)
    texts, labels = random_texts(5, n, longest=20), np.arange(n) % 2
    weights = np.where(labels == 1, 1.0, 0.25)
    _, found = gradients_of(network, texts, labels, weights, np.arange(n))
    last = [
        twin(torch.tensor(network.vectors[row]).double())[0][-1] if len(row) else torch.zeros(10).double()
        for row in texts
    ]
    criterion = torch.nn.CrossEntropyLoss(torch.tensor([0.25, 1.0]).double())
    criterion(torch.stack(last) @ W_out.T + b_out, torch.tensor(labels)).backward()
    expected = [p.grad.numpy().ravel() for p in (*twin.parameters(), W_out, b_out)]
    np.testing.assert_allclose(found, np.concatenate(expected), rtol=1e-3, atol=3e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_an_epoch_equals_steps_by_hand(kind):
    """Three steps, the last of one text, against finite differences and Adam in double precision."""
    start, texts = random_recurrent(kind, 6, 2, 1, 2), random_texts(7, 5, longest=3)
    labels, seed = np.array([0, 1, 1, 0, 1]), 8
    settings = TrainingSettings(1, batch_size=2, learning_rate=0.01, negative_weight=0.5)
    trained, table = train_recurrent(start, texts, labels, settings, seed)
    weights, order = np.where(labels == 1, 1.0, 0.5), stream(seed, "recurrent training", 1).permutation(5)
    exact, gradients, losses = weights_of(start), [], []
    arrays = (*sum(exact[0], ()), *exact[1:])
    begin = flat(*exact)
    for batch in (order[:2], order[2:4], order[4:]):
        loss = functools.partial(expected_loss, start, exact, texts, labels, weights, batch)
        losses.append(weights[batch].sum() * loss())
        gradients.append(np.concatenate([naive.slopes(loss, array, step=1e-6) for array in arrays]))
        moved = naive.adam(begin, gradients, 0.01, BETA1, BETA2, EPSILON)
        for array, values in zip(
            arrays, np.split(np.array(moved), np.cumsum([a.size for a in arrays])[:-1]), strict=True
        ):
            array.flat = values
    np.testing.assert_allclose(flat(*weights_of(trained)), moved, atol=2e-5)
    assert np.abs(begin - moved).max() > 0.02
    assert table["loss"][0] == pytest.approx(sum(losses) / weights.sum(), abs=1e-5)


def presence_of_a_word(seed, n):
    """Texts of neutral words, positive where word 3 is among them."""
    texts = random_texts(seed, n, longest=12)
    return texts, np.array([int(3 in row) for row in texts])


@pytest.mark.parametrize("kind", KINDS)
def test_training_learns_a_rule_and_repeats_byte_for_byte(kind):
    texts, labels = presence_of_a_word(9, 600)
    assert 0.1 < labels.mean() < 0.4
    start = initial_recurrent(kind, random_recurrent(kind, 10, d=20).vectors, 11)
    before, results = flat(*weights_of(start)), []
    validation = presence_of_a_word(12, 300)
    for threads in (1, 2):
        set_threads(threads)
        settings = TrainingSettings(15, negative_weight=0.5)
        results.append(train_recurrent(start, texts, labels, settings, 13, validation))
    (network, table), (again, _) = results
    assert flat(*weights_of(network)).tobytes() == flat(*weights_of(again)).tobytes()
    assert np.array_equal(before, flat(*weights_of(start)))
    assert table["loss"].iloc[-1] < 0.2 < 0.5 < table["loss"].iloc[0]
    assert table["validation_f1"].max() > 0.95
    other, _ = train_recurrent(start, texts, labels, TrainingSettings(1), 14)
    once, _ = train_recurrent(start, texts, labels, TrainingSettings(1), 13)
    assert not np.array_equal(flat(*weights_of(other)), flat(*weights_of(once)))


def test_the_epoch_of_the_least_validation_loss_is_kept():
    """The rule is learnt from few texts, so that later epochs fit them rather than the rule."""
    texts, labels = presence_of_a_word(15, 60)
    checked, truth = presence_of_a_word(16, 100)
    start = initial_recurrent("gru", random_recurrent("gru", 17, d=20).vectors, 18)
    settings = TrainingSettings(25, batch_size=10, learning_rate=0.03, negative_weight=0.3)
    network, table = train_recurrent(start, texts, labels, settings, 19, (checked, truth))
    assert tuple(table.columns) == COLUMNS
    assert table["epoch"].tolist() == list(range(1, 26))
    kept = table["is_kept"].to_numpy().nonzero()[0]
    assert kept.tolist() == [table["validation_loss"].argmin()]
    assert kept[0] < 24
    weights = np.where(truth == 1, 1.0, 0.3)
    p = network.probabilities(checked).astype(float)[np.arange(100), truth]
    assert table["validation_loss"][kept[0]] == pytest.approx(np.average(-np.log(p), weights=weights), 1e-4)
    labels_found = network.probabilities(checked).argmax(axis=1)
    assert table["validation_f1"][kept[0]] == pytest.approx(f1_score(truth, labels_found))
    shorter = TrainingSettings(int(kept[0]) + 1, 10, 0.03, 0.3)
    last, history = train_recurrent(start, texts, labels, shorter, 19)
    assert flat(*weights_of(last)).tobytes() == flat(*weights_of(network)).tobytes()
    assert history["is_kept"].tolist() == [False] * int(kept[0]) + [True]
    assert history["validation_loss"].isna().all()


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"epochs": 0}, "epochs: 0 is less than 1"),
        ({"learning_rate": -0.1}, "learning_rate: -0.1 is not more than 0"),
        ({"negative_weight": float("nan")}, "negative_weight: NaN"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, problem):
    with pytest.raises(InputError, match=f"^{problem}"):
        validate(TrainingSettings, {"epochs": 1} | settings)


FOUR = random_texts(29, 4)
BOTH = np.array([0, 1, 0, 1])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"labels": BOTH[:3]}, "pass one label per text"),
        ({"labels": BOTH * 3}, "a label is 3; write 0 or 1"),
        ({"labels": BOTH * 0}, "do not have both labels; supply texts of label 0 and 1"),
        ({"texts": Texts.of([[N_WORDS], [1], [2], [3]])}, "encode texts with the lexicon"),
        ({"settings": TrainingSettings(1, learning_rate=1e300)}, "diverged in epoch 1; lower learning_rate"),
    ],
)
def test_data_that_do_not_fit_are_refused(change, problem):
    given = {"texts": FOUR, "labels": BOTH, "settings": TrainingSettings(1), "seed": 1} | change
    with pytest.raises(InputError, match=problem):
        train_recurrent(random_recurrent("lstm", 28), **given)
