import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from biaslab.hate_speech.batches import STEPS_AT_ONCE, Batches, ExplainedBatches
from biaslab.hate_speech.contexts import OC, ContextSettings
from hate_speech_training_data import group_ids, sentences, tiny_language_model, tiny_model

SOC = ContextSettings(radius=2, samples=3, add_itself=True)
N, SIZE = 50, 8


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return tiny_model(tmp_path_factory.mktemp("encoder"))[1]


@pytest.fixture(scope="module")
def tokens(tokenizer):
    return tokenizer.encode(sentences(N, 3)[0])


def explained_batches(tokenizer, tokens, settings=SOC, seed=1, groups=None):
    ids = group_ids(tokenizer)
    chosen = {ids[group] for group in (groups or ids)}
    model = tiny_language_model(tokenizer, tokens)
    batches = Batches(tokens, SIZE, seed)
    return batches, ExplainedBatches(batches, chosen, settings, model, tokenizer, seed, torch.device("cpu"))


def test_an_epoch_has_every_sentence_once_and_an_order_of_its_own(tokens):
    batches = Batches(tokens, SIZE, seed=1)
    epochs = [[batches.rows(7 * epoch + number) for number in range(7)] for epoch in range(3)]
    assert [len(rows) for rows in epochs[0]] == [8] * 6 + [2]
    orders = [np.concatenate(epoch).tolist() for epoch in epochs]
    assert all(sorted(order) == list(range(N)) for order in orders)
    assert orders[0] != orders[1] != orders[2]
    assert Batches(tokens, SIZE, seed=1).rows(9).tolist() == epochs[1][2].tolist()
    assert Batches(tokens, SIZE, seed=2).rows(9).tolist() != epochs[1][2].tolist()


@pytest.mark.parametrize("settings", [OC, SOC])
def test_every_identifier_of_a_batch_is_explained_in_its_sentence(tokenizer, tokens, settings):
    batches, explained = explained_batches(tokenizer, tokens, settings)
    identifiers = set(group_ids(tokenizer).values())
    seen = 0
    for step in range(STEPS_AT_ONCE + 3):
        rows = [row for row in batches.rows(step) if identifiers & set(tokens.row(row).tolist())]
        found = explained.at(step)
        if found is None:
            assert rows == []
            continue
        ids, mask = tokens.padded(rows, tokenizer.pad)
        np.testing.assert_array_equal(found.ids, ids)
        np.testing.assert_array_equal(found.mask, mask)
        places = [(i, j) for i, row in enumerate(ids) for j, token in enumerate(row) if token in identifiers]
        assert list(zip(found.occurrences.row, found.occurrences.start, strict=True)) == places
        assert found.filled.shape == (len(places), settings.n_contexts, ids.shape[1])
        for (i, j), filled in zip(places, found.filled.numpy(), strict=True):
            outside = np.abs(np.arange(ids.shape[1]) - j) > settings.radius
            outside |= ~mask[i]
            outside[j] = True
            assert (filled[:, outside] == ids[i, outside]).all()
        seen += len(places)
    assert seen > 50


def test_contexts_follow_from_the_seed_and_the_step_alone(tokenizer, tokens):
    steps = [40, 1, 33, 2]
    _, one = explained_batches(tokenizer, tokens)
    _, other = explained_batches(tokenizer, tokens)
    drawn = {step: one.at(step).filled for step in steps}
    for step in sorted(steps):
        assert torch.equal(other.at(step).filled, drawn[step])
    _, third = explained_batches(tokenizer, tokens, seed=2)
    assert not any(
        torch.equal(third.at(step).filled, drawn[step])
        for step in steps
        if third.at(step).filled.shape == drawn[step].shape
    )


def test_no_step_has_the_contexts_of_another(tokenizer):
    tokens = tokenizer.encode(["the park near some bakers then met the oven"])
    _, explained = explained_batches(tokenizer, tokens)
    drawn = [tuple(explained.at(step).filled.flatten().tolist()) for step in range(2 * STEPS_AT_ONCE + 1)]
    assert len(set(drawn)) == len(drawn)


def test_batches_without_identifiers_have_nothing_to_explain(tokenizer):
    tokens = tokenizer.encode(["the park here", "then some rose", "here near the oven"])
    _, explained = explained_batches(tokenizer, tokens)
    assert [explained.at(step) for step in (0, 1, 35)] == [None] * 3
