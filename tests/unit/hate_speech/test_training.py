"""Training of encoders: equal bytes, schedules, the best weights, and a training that was killed."""

import copy
import dataclasses
import functools
import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from biaslab.core.settings import validate
from biaslab.hate_speech.contexts import OC, fill_contexts
from biaslab.hate_speech.explanations import find_occurrences, importance
from biaslab.hate_speech.methods import parse_method
from biaslab.hate_speech.optimizers import warmup_linear
from biaslab.hate_speech.training import (
    HISTORY,
    Regularization,
    TrainingData,
    TrainingSettings,
    train,
    validation_steps,
)
from biaslab.text.encoder import predict
from hate_speech_training_data import UNUSED, group_ids, sentences, tiny_language_model, tiny_model
from lanes import first_quick
from naive import hate_speech_training as naive
from naive.text import score
from refusals import refused

SHORT = TrainingSettings(
    schedule="published", epochs=3, batch_size=8, learning_rate=3e-3, negative_weight=0.5, validate_every=5
)
METHODS = ("vanilla", "wr", "oc-0.1", "soc-0.1", "soc-0.1@published", "ear-0.1")


class KilledError(Exception):
    """Stands for the end of a process."""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """An untrained model, data and a language model; copy the model before use."""
    model, tokenizer = tiny_model(tmp_path_factory.mktemp("encoder"))
    parts = []
    for n, seed in ((72, 1), (30, 2)):
        texts, labels = sentences(n, seed)
        parts += [tokenizer.encode(texts), np.array(labels, np.int8)]
    return model, TrainingData(*parts, tokenizer)


def run(world, name="vanilla", settings=SHORT, seed=1, data=None, **options):
    model, given = copy.deepcopy(world[0]), data or world[1]
    method = parse_method(name)
    language_model = tiny_language_model(given.tokenizer, given.train)
    regularization = Regularization(method, group_ids(given.tokenizer), language_model=language_model)
    history = train(model, given, settings, regularization, seed, "cpu", **options)
    return model, history


def assert_equal(a, b):
    for (name, p), (other, q) in zip(a.state_dict().items(), b.state_dict().items(), strict=True):
        assert name == other
        assert torch.equal(p, q), name


def differ(a, b):
    return any(not torch.equal(p, q) for p, q in zip(a.parameters(), b.parameters(), strict=True))


def f1_of(model, data):
    predicted = predict(model, data.validation, data.tokenizer.pad) > 0
    hits = int((predicted & (data.validation_labels == 1)).sum())
    return 2 * hits / (predicted.sum() + data.validation_labels.sum()) if hits else 0.0


def broken_off(world, settings, step):
    model = copy.deepcopy(world[0])

    def kill(done, _):
        if done == step:
            raise KilledError

    with pytest.raises(KilledError):
        train(model, world[1], settings, Regularization(parse_method("vanilla")), 1, "cpu", progress=kill)
    return model


def test_equal_seeds_give_equal_bytes_and_other_seeds_do_not(world):
    name = "soc-0.1@published"
    one, history = run(world, name)
    other, again = run(world, name)
    assert_equal(one, other)
    pd.testing.assert_frame_equal(history, again, check_exact=True)
    assert differ(one, run(world, name, seed=2)[0])
    assert not one.training
    unused = [world[1].tokenizer.vocabulary.index(word) for word in UNUSED]
    before, after = (m.bert.embeddings.word_embeddings.weight for m in (world[0], one))
    assert torch.equal(before[unused], after[unused])  # words that no sentence has


def test_a_strength_that_underflows_is_vanilla_training_bit_for_bit(world):
    """The regularizer is computed, and neither orders nor dropout depend on it."""
    vanilla, history = run(world)
    model, other = run(world, "soc-1e-30@published")
    assert_equal(model, vanilla)
    assert (other.regularizer > 0).all()
    pd.testing.assert_frame_equal(
        other.drop(columns="regularizer"), history.drop(columns="regularizer"), check_exact=True
    )
    assert (history.regularizer == 0).all()


def test_word_removal_is_vanilla_training_on_sentences_without_identifiers(world):
    ids = list(group_ids(world[1].tokenizer).values())
    kept = {name: getattr(world[1], name).without(ids) for name in ("train", "validation")}
    data = dataclasses.replace(world[1], **kept)
    assert len(data.train.ids) < len(world[1].train.ids)
    removed, history = run(world, "wr")
    model, other = run(world, data=data)
    assert_equal(removed, model)
    pd.testing.assert_frame_equal(history, other, check_exact=True)


@pytest.mark.parametrize("schedule", ["published", "modern"])
def test_the_history_follows_the_schedule(world, schedule):
    settings = dataclasses.replace(SHORT, schedule=schedule, epochs=10, halvings=3)
    _, history = run(world, settings=settings)
    assert tuple(history) == HISTORY
    rates, last, best = naive.early_stop(history.f1, 3)
    budget = 10 * 9
    if schedule == "modern":
        rates, last, best = [1.0] * 18, 17, int(history.f1.argmax())
    factors = [1.0, *rates[:-1]]
    expected = [
        3e-3 * factor * warmup_linear(step - 1, budget)
        for factor, step in zip(factors, history.step, strict=True)
    ]
    assert history.learning_rate.tolist() == pytest.approx(expected, rel=1e-12)
    assert len(history) == last + 1
    assert history.step.tolist() == list(range(5, 5 * (last + 1) + 1, 5))
    assert history.epoch.tolist() == [-(-step // 9) for step in history.step]
    halvings = [round(-np.log2(rate)) for rate in rates]
    assert history.halvings.tolist() == halvings
    assert np.flatnonzero(history.is_best).tolist() == [best]
    assert schedule == "modern" or history.halvings.iloc[-1] == 3


def test_the_model_has_the_weights_of_its_best_validation(world):
    settings = dataclasses.replace(SHORT, epochs=6, halvings=4)
    model, history = run(world, settings=settings)
    best = history[history.is_best]
    assert best.f1.item() == history.f1.max() > 0
    assert best.index[0] < len(history) - 1
    assert f1_of(model, world[1]) == pytest.approx(best.f1.item())
    assert_equal(model, broken_off(world, settings, best.step.item()))


def test_where_no_validation_beats_zero_the_last_weights_stay(world):
    data = dataclasses.replace(world[1], validation_labels=np.zeros(30, np.int8))
    settings = dataclasses.replace(SHORT, halvings=2)
    model, history = run(world, data=data, settings=settings)
    assert (history.f1 == 0).all()
    assert not history.is_best.any()
    assert history.halvings.tolist() == [0, 1, 2]
    first = broken_off((world[0], data), settings, 5)
    assert differ(model, first)
    assert differ(first, world[0])


@pytest.mark.parametrize(
    ("settings", "every", "last"),
    [
        ({"epochs": 4, "batch_size": 10, "validate_every": 7}, 7, 40),
        ({"epochs": 1, "batch_size": 10, "validate_every": 11}, 10, 10),
        ({"epochs": 2, "batch_size": 10, "validate_every": 20}, 20, 20),
    ],
)
def test_validations_come_every_so_many_steps_every_epoch_of_a_short_training_and_at_the_end(
    settings, every, last
):
    steps = validation_steps(95, TrainingSettings(**settings, negative_weight=1.0))
    assert steps == sorted({*range(every, last + 1, every), last})


@pytest.mark.parametrize("name", first_quick(METHODS, 2))
@pytest.mark.parametrize("killed_after", first_quick([13, 4]))
def test_a_killed_training_goes_on_to_the_same_bytes(world, tmp_path, name, killed_after):
    whole, history = run(world, name)

    def kill(step, n_steps):
        assert n_steps == 27
        if step == killed_after:
            raise KilledError

    checkpoint = tmp_path / "checkpoint.safetensors"
    with pytest.raises(KilledError):
        run(world, name, checkpoint=checkpoint, progress=kill)
    assert [file.name for file in tmp_path.iterdir()] == [checkpoint.name] * (killed_after >= 5)
    taken = []
    resumed, again = run(world, name, checkpoint=checkpoint, progress=lambda step, n: taken.append(step))
    assert taken[0] == killed_after // 5 * 5 + 1
    assert_equal(resumed, whole)
    pd.testing.assert_frame_equal(history, again, check_exact=True)


def test_a_training_that_is_over_takes_no_step_more(world, tmp_path):
    checkpoint = tmp_path / "checkpoint.safetensors"
    settings = dataclasses.replace(SHORT, halvings=2)
    whole, history = run(world, settings=settings, checkpoint=checkpoint)
    taken = []
    again, other = run(
        world, settings=settings, checkpoint=checkpoint, progress=lambda *step: taken.append(step)
    )
    assert taken == []
    assert_equal(whole, again)
    pd.testing.assert_frame_equal(history, other, check_exact=True)


def test_the_checkpoint_of_another_training_is_refused(world, tmp_path):
    checkpoint = tmp_path / "checkpoint.safetensors"
    run(world, checkpoint=checkpoint)
    other_model = (copy.deepcopy(world[0]), world[1])
    with torch.no_grad():
        next(other_model[0].parameters()).add_(1)
    other_labels = dataclasses.replace(world[1], train_labels=1 - world[1].train_labels)
    for start, changed, problem in (
        (world, {"name": "ear-0.1"}, "method = vanilla, not ear-0.1"),
        (world, {"seed": 2}, "seed = 1, not 2"),
        (world, {"settings": dataclasses.replace(SHORT, halvings=4)}, "halvings = 5, not 4"),
        (other_model, {}, "encoder ="),
        (world, {"data": other_labels}, "train ="),
    ):
        with refused(problem):
            run(start, checkpoint=checkpoint, **changed)
    with safe_open(checkpoint, "pt") as file:
        header = json.loads(file.metadata()["training"])
    header["identity"]["extra"] = 1
    for content, problem in ((header, "extra = 1, not None"), ({}, "not a readable checkpoint; remove it")):
        save_file({"a": torch.zeros(1)}, checkpoint, {"training": json.dumps(content)})
        with refused(problem):
            run(world, checkpoint=checkpoint)


def mean_absolute_importance(model, data, texts):
    tokenizer = data.tokenizer
    ids, mask = map(torch.from_numpy, tokenizer.encode(texts).padded(range(len(texts)), tokenizer.pad))
    occurrences = find_occurrences(ids.numpy(), set(group_ids(tokenizer).values()))
    filled = fill_contexts(ids, mask, occurrences, OC, None, tokenizer, None)
    with torch.no_grad():
        phi = importance(functools.partial(score, model), ids, mask, occurrences, filled, tokenizer.pad)
    return float(phi.abs().mean())


@pytest.mark.slow
def test_regularized_models_attribute_less_to_identifiers_on_sentences_they_have_not_seen(world):
    data, names = world[1], ("vanilla", "oc-1", "soc-1")
    texts, _ = sentences(90, 1, about=2)
    labels = np.array([int("bakers" in text or "sailors" in text) for text in texts], np.int8)
    biased = dataclasses.replace(data, train=data.tokenizer.encode(texts), train_labels=labels)
    settings = TrainingSettings(epochs=8, batch_size=8, learning_rate=0.01, negative_weight=1)
    unseen = sentences(30, 7, about=1)[0]
    for seed in (1, 2, 3):
        models = (run(world, name, settings, seed, biased)[0] for name in names)
        before, *after = (mean_absolute_importance(model, data, unseen) for model in models)
        assert max(after) < 0.5 * before


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"schedule": "publish"}, "schedule: \"publish\" is not known; did you mean 'published'"),
        ({"negative_weight": -1}, "negative_weight: -1 is not more than 0"),
    ],
)
def test_impossible_settings_are_refused(change, problem):
    with refused(problem):
        validate(TrainingSettings, {"negative_weight": 1.0} | change)


@pytest.mark.parametrize(
    ("name", "settings", "has_words", "problem"),
    [
        ("bow", SHORT, False, "is a linear model"),
        ("wr", SHORT, False, "needs identifiers"),
        ("soc-0.1", SHORT, False, "needs identifiers"),
        ("soc-0.1", SHORT, True, "language model"),
        ("vanilla", dataclasses.replace(SHORT, learning_rate=1e38), True, "not finite before step"),
    ],
)
def test_a_training_that_cannot_be_is_refused_in_one_line(world, name, settings, has_words, problem):
    model, data = world
    method = parse_method(name)
    regularization = Regularization(method, group_ids(data.tokenizer) if has_words else {})
    with refused(problem):
        train(copy.deepcopy(model), data, settings, regularization, 1, "cpu")
