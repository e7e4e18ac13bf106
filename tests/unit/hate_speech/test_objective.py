"""What a step differentiates: losses, explanations and attention against loops; batches, their contexts."""

from dataclasses import asdict

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from biaslab.hate_speech import objective as objective_module
from biaslab.hate_speech.contexts import OC, ContextSettings
from biaslab.hate_speech.methods import parse_method
from biaslab.hate_speech.objective import (
    STEPS_AT_ONCE,
    Batches,
    ExplainedBatches,
    Objective,
    Regularization,
    logits_and_entropy,
)
from hate_speech_training_data import group_ids, sentences, tiny_language_model, tiny_model
from naive import hate_speech_explanations as naive_explanations
from naive import hate_speech_training as naive
from naive.text import score

WEIGHT = 0.125
STEP = 1


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Return a model in float64 without dropout, and what an objective needs."""
    model, tokenizer = tiny_model(tmp_path_factory.mktemp("encoder"), dropout=False)
    return make_world(model.double(), tokenizer)


@pytest.fixture(scope="module")
def world_with_dropout(tmp_path_factory):
    return make_world(*tiny_model(tmp_path_factory.mktemp("encoder")))


def make_world(model, tokenizer):
    texts, labels = sentences(40, 5)
    tokens = tokenizer.encode(texts)
    return model, tokenizer, tokens, np.array(labels, np.int8), tiny_language_model(tokenizer, tokens)


def make_objective(world, name, seed=1):
    model, tokenizer, tokens, labels, language_model = world
    method = parse_method(name)
    regularization = Regularization(method, group_ids(tokenizer), language_model=language_model)
    return Objective(model, Batches(tokens, 12, seed), labels, tokenizer, regularization, WEIGHT, seed)


def gradients(world, name, step=STEP):
    model = world[0]
    model.zero_grad()
    losses = make_objective(world, name).backward(step)
    found = {key: p.grad.clone() for key, p in model.named_parameters()}
    model.zero_grad()
    return losses, found


def literal_loss(world, name):
    """Eq. 2 of the step's batch by the loops of the oracles, as a tensor: the loss, its two parts."""
    model, tokenizer, tokens, labels, language_model = world
    method = parse_method(name)
    batches = Batches(tokens, 12, 1)
    rows = batches.rows(STEP)
    ids, mask = tokens.padded(rows, tokenizer.pad)
    logits = model(torch.from_numpy(ids), torch.from_numpy(mask))
    weights = torch.tensor([1.0 if label else WEIGHT for label in labels[rows]], dtype=torch.float64)
    picked = logits.log_softmax(1)[range(len(rows)), labels[rows].astype(int)]
    cross_entropy = -(weights * picked).sum() / weights.sum()
    ids = group_ids(tokenizer)
    identifiers = set(ids.values())
    regularization = Regularization(method, ids, language_model=language_model)
    explained = ExplainedBatches(batches, regularization, tokenizer, 1, torch.device("cpu")).at(STEP)
    filled = {
        (int(row), int(start)): contexts.tolist()
        for row, start, contexts in zip(
            explained.occurrences.row, explained.occurrences.start, explained.filled, strict=True
        )
    }
    penalty = naive_explanations.explanation_loss(
        lambda x, m: score(model, torch.tensor([x]), torch.tensor([m]).bool())[0],
        explained.ids.tolist(),
        explained.mask.tolist(),
        identifiers,
        1.0,
        lambda row, ids, mask, region: filled[row, region[0]],
        tokenizer.pad,
    )
    penalty = penalty if "sum" in method.quirks else penalty / len(rows)
    return cross_entropy + method.alpha * penalty, cross_entropy, penalty


@pytest.mark.parametrize("name", ["oc-0.1", "soc-3@sum", "soc-3@independent+pad"])
def test_loss_and_gradient_equal_those_of_the_loop_over_occurrences(world, name):
    model = world[0].eval()
    losses, found = gradients(world, name)
    model.eval()
    total, cross_entropy, penalty = literal_loss(world, name)
    assert losses == pytest.approx((cross_entropy.item(), penalty.item()), rel=1e-10)
    assert penalty > 1e-6
    expected = torch.autograd.grad(total, model.parameters())
    for (key, _), b in zip(model.named_parameters(), expected, strict=True):
        torch.testing.assert_close(found[key], b, rtol=0, atol=1e-10, msg=key)


@pytest.mark.parametrize("name", ["vanilla", "oc-30", "soc-30", "ear-0.5"])
def test_the_gradient_agrees_with_finite_differences(world, name):
    model = world[0]
    alpha = parse_method(name).alpha
    _, found = gradients(world, name)
    parameters = dict(model.named_parameters())
    rng = np.random.default_rng(1)
    direction = {key: torch.from_numpy(rng.normal(size=p.shape)) for key, p in parameters.items()}

    def total(shift):
        with torch.no_grad():
            for key, p in parameters.items():
                p += shift * direction[key]
        loss, regularizer = gradients(world, name)[0]
        assert (regularizer != 0) == (alpha > 0)
        with torch.no_grad():
            for key, p in parameters.items():
                p -= shift * direction[key]
        return loss + alpha * regularizer

    slope = sum(float((found[key] * direction[key]).sum()) for key in parameters)
    assert slope == pytest.approx((total(1e-6) - total(-1e-6)) / 2e-6, rel=1e-5)


def test_the_classification_loss_is_a_weighted_mean(world):
    model, tokenizer, tokens, labels, _ = world
    rows = Batches(tokens, 12, 1).rows(STEP)
    ids, mask = tokens.padded(rows, tokenizer.pad)
    with torch.no_grad():
        logits = model(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()
    expected = naive.weighted_cross_entropy(logits, labels[rows], WEIGHT)
    assert gradients(world, "vanilla")[0] == (pytest.approx(expected, rel=1e-12), 0.0)
    assert 0 < labels[rows].sum() < 12


@pytest.mark.parametrize("name", ["soc-0", "ear-0", "soc-0.1", "soc-0.1@published"])
def test_regularization_leaves_the_classification_loss_and_its_dropout_alone(world_with_dropout, name):
    losses, found = gradients(world_with_dropout, name)
    vanilla_losses, vanilla = gradients(world_with_dropout, "vanilla")
    has_strength = parse_method(name).alpha > 0
    assert losses[0] == vanilla_losses[0]
    assert (losses[1] > 0) == has_strength
    assert any(not torch.equal(found[key], gradient) for key, gradient in vanilla.items()) == has_strength


def test_quirks_change_the_regularizer(world_with_dropout):
    of = {
        quirk: gradients(world_with_dropout, f"soc-0.1{quirk}")[0][1]
        for quirk in ("", "@dropout", "@independent", "@sum", "@published")
    }
    assert of["@sum"] == pytest.approx(12 * of[""])
    assert len({round(value, 12) for value in of.values()}) == len(of)
    assert gradients(world_with_dropout, "soc-0.1@dropout")[0][1] == of["@dropout"]
    assert gradients(world_with_dropout, "soc-0.1@dropout", step=STEP + 7)[0][1] != of["@dropout"]


def test_many_occurrences_are_differentiated_part_by_part(world, monkeypatch):
    losses, found = gradients(world, "soc-1")
    calls = []
    importance = objective_module.importance
    monkeypatch.setattr(
        objective_module, "importance", lambda *a, **k: calls.append(len(a[3])) or importance(*a, **k)
    )
    monkeypatch.setattr(objective_module, "MAX_TOKENS", 300)
    parts, in_parts = gradients(world, "soc-1")
    assert len(calls) > 1
    assert parts == pytest.approx(losses, rel=1e-12)
    for key, gradient in found.items():
        torch.testing.assert_close(in_parts[key], gradient, rtol=0, atol=1e-12)


def test_without_the_quirk_there_is_no_dropout_in_the_passes_of_the_regularizer(world_with_dropout):
    """In single precision, within the tolerance that is stated for it."""
    losses, _ = gradients(world_with_dropout, "soc-1")
    world_with_dropout[0].eval()
    _, cross_entropy, penalty = literal_loss(world_with_dropout, "soc-1")
    assert losses[1] == pytest.approx(penalty.item(), abs=1e-6)
    assert losses[1] > 1e-4
    assert losses[0] != pytest.approx(cross_entropy.item(), abs=1e-5)


@pytest.fixture(scope="module")
def model_and_batch(tmp_path_factory):
    model, tokenizer = tiny_model(tmp_path_factory.mktemp("encoder"), layers=3)
    return model.double(), tokenizer.encode(sentences(9, 2)[0]).padded(range(9), tokenizer.pad)


def test_the_entropy_equals_the_dense_loop(model_and_batch):
    from transformers import BertConfig, BertForSequenceClassification

    model, (ids, mask) = model_and_batch
    config = BertConfig(**asdict(model.config), num_labels=2, attn_implementation="eager")
    literal = BertForSequenceClassification(config).double().eval()
    literal.load_state_dict(model.state_dict(), strict=True)
    with torch.no_grad():
        output = literal(
            input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask), output_attentions=True
        )
    expected = naive.attention_entropy([a.numpy() for a in output.attentions], mask.sum(axis=1))
    logits, entropy = logits_and_entropy(model, ids, mask)
    assert entropy.item() == pytest.approx(expected, rel=1e-12)
    torch.testing.assert_close(logits, output.logits, rtol=0, atol=1e-12)
    assert expected > 0


def test_in_training_the_weights_are_those_after_dropout(model_and_batch):
    model, (ids, mask) = model_and_batch
    model.train()
    torch.manual_seed(1)
    entropies = {logits_and_entropy(model, ids, mask)[1].item() for _ in range(3)}
    model.eval()
    assert len(entropies) == 3


SOC = ContextSettings(radius=2, samples=3, add_itself=True)
N, SIZE = 50, 8


@pytest.fixture(scope="module")
def tokenizer(world):
    return world[1]


@pytest.fixture(scope="module")
def tokens(tokenizer):
    return tokenizer.encode(sentences(N, 3)[0])


def explained_batches(tokenizer, tokens, settings=SOC, seed=1):
    model = tiny_language_model(tokenizer, tokens)
    batches = Batches(tokens, SIZE, seed)
    regularization = Regularization(parse_method("soc-1"), group_ids(tokenizer), settings, model)
    return batches, ExplainedBatches(batches, regularization, tokenizer, seed, torch.device("cpu"))


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
    seen = n_empty = 0
    for step in range(STEPS_AT_ONCE + 3):
        rows = [row for row in batches.rows(step) if identifiers & set(tokens.row(row).tolist())]
        found = explained.at(step)
        if found is None:
            assert rows == []
            n_empty += 1
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
    assert n_empty > 0


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
