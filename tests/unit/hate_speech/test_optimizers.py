"""Optimizers and learning rates against literal loops, and training on some rows of an embedding."""

import copy

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from biaslab.core.rng import stream
from biaslab.hate_speech import optimizers
from biaslab.hate_speech.optimizers import Patience, adamw, bert_adam, warmup_linear
from biaslab.text import packing
from biaslab.text.bert import compact_embeddings
from hate_speech_training_data import UNUSED, sentences, tiny_model
from naive import hate_speech_training as naive

SHAPES = {
    "embeddings.weight": (7, 5),
    "dense.bias": (5,),
    "LayerNorm.weight": (5,),
    "LayerNorm.bias": (5,),
    "out": (3, 2, 2),
}
STEPS = 40
RATES = [0.05 * warmup_linear(step, STEPS) for step in range(STEPS)]


def draw():
    """Return parameters and gradients; some of the gradients are longer than they may be."""
    rng = stream(3, "optimizer")
    parameters = {name: rng.normal(size=shape) for name, shape in SHAPES.items()}
    gradients = [
        {name: rng.normal(size=s) * rng.choice([0.05, 3]) for name, s in SHAPES.items()} for _ in RATES
    ]
    return {name: torch.tensor(a) for name, a in parameters.items()}, gradients


@pytest.mark.parametrize("name", ["bert_adam", "adamw"])
def test_steps_equal_those_of_the_oracle(name):
    parameters, gradients = draw()
    trained = {key: torch.nn.Parameter(p.clone()) for key, p in parameters.items()}
    optimizer = getattr(optimizers, name)(trained.items())
    for rate, step in zip(RATES, gradients, strict=True):
        for key, p in trained.items():
            p.grad = torch.tensor(step[key])
        optimizer.step(rate)
    arrays = {key: p.numpy() for key, p in parameters.items()}
    expected = getattr(naive, name)(arrays, gradients, RATES)
    for key, p in trained.items():
        np.testing.assert_allclose(p.detach().numpy(), expected[key], rtol=1e-12, atol=1e-14)


def test_what_has_no_gradient_is_left_alone():
    p = torch.nn.Parameter(torch.ones(2, 2))
    q = torch.nn.Parameter(torch.ones(2, 2))
    optimizer = optimizers.bert_adam([("p", p), ("q", q)])
    p.grad = torch.ones(2, 2)
    optimizer.step(0.1)
    assert torch.equal(q, torch.ones(2, 2))
    assert not torch.equal(p, torch.ones(2, 2))
    assert p.grad is None


@pytest.mark.parametrize("budget", [1, 7, 100, 4940])
def test_the_rate_rises_over_a_tenth_of_the_budget_and_falls_to_its_end(budget):
    factors = [warmup_linear(step, budget) for step in range(budget + 5)]
    assert factors == pytest.approx([naive.warmup_linear(step, budget) for step in range(budget + 5)])
    assert factors[0] == 0
    assert factors[budget:] == [0] * 5
    assert max(factors) <= 1


def validations(scores, halvings):
    """Rates relative to the first after each validation, the last one made, the best one."""
    patience, rates, best = Patience(), [], None
    for i, f1 in enumerate(scores):
        best = i if f1 > patience.best else best
        patience = patience.after(f1)
        rates.append(patience.factor)
        if patience.halvings >= halvings:
            break
    return rates, i, best


@pytest.mark.parametrize("seed", range(8))
def test_halvings_equal_the_literal_loop(seed):
    rng = stream(seed, "scores")
    scores = rng.integers(0, 6, size=30) / 10
    halvings = int(rng.integers(1, 7))
    assert validations(scores, halvings) == naive.early_stop(scores, halvings)


TABLE = "bert.embeddings.word_embeddings.weight"


@pytest.fixture
def model_and_tokenizer(tmp_path):
    return tiny_model(tmp_path)


def steps(model, ids, mask, optimizer, n=3):
    gradients = []
    for _ in range(n):
        packing.score(model, ids, mask).square().mean().backward()
        gradients.append({name: p.grad.clone() for name, p in model.named_parameters()})
        optimizer.step(0.01)
    return gradients


@pytest.mark.parametrize("make", [bert_adam, adamw])
def test_training_equals_that_of_the_whole_table_bit_for_bit(model_and_tokenizer, make, monkeypatch):
    monkeypatch.setattr(optimizers, "DECAY", 0.0)
    model, tokenizer = model_and_tokenizer
    ids, mask = map(torch.from_numpy, tokenizer.encode(sentences(12, 1)[0]).padded(range(12), tokenizer.pad))
    used = np.unique(ids)
    dense = copy.deepcopy(model)
    expected = steps(dense, ids, mask, make(dense.named_parameters()))
    before = model.bert.embeddings.word_embeddings.weight.detach().clone()
    with compact_embeddings(model, used):
        found = steps(model, ids, mask, make(model.named_parameters()))
    for a, b in zip(found, expected, strict=True):
        assert a.keys() == b.keys()
        assert torch.equal(a.pop(TABLE), b[TABLE][used])
        assert not b.pop(TABLE)[np.setdiff1d(np.arange(len(before)), used)].any()
        for name in a:
            assert torch.equal(a[name], b[name]), name
    for name, p in model.named_parameters():
        assert torch.equal(p, dict(dense.named_parameters())[name]), name
    assert not torch.equal(model.bert.embeddings.word_embeddings.weight[used], before[used])


def test_decay_of_the_whole_table_stays_within_the_stated_bound(model_and_tokenizer):
    model, tokenizer = model_and_tokenizer
    ids, mask = map(torch.from_numpy, tokenizer.encode(sentences(12, 1)[0]).padded(range(12), tokenizer.pad))
    before = model.bert.embeddings.word_embeddings.weight.detach().clone()
    steps(model, ids, mask, bert_adam(model.named_parameters()), n=6)
    row = tokenizer.vocabulary.index(UNUSED[0])
    change = 1 - model.bert.embeddings.word_embeddings.weight[row] / before[row]
    assert change.abs().max().item() == pytest.approx(6 * 0.01 * 0.01, rel=1e-2)


def test_a_token_without_a_row_is_not_looked_up_and_the_whole_table_is_back(model_and_tokenizer):
    model, _ = model_and_tokenizer
    table = model.bert.embeddings.word_embeddings
    with pytest.raises(IndexError), compact_embeddings(model, np.array([0, 2, 3, 4])):
        model.bert.embeddings.word_embeddings(torch.tensor([2, 5]))
    assert model.bert.embeddings.word_embeddings is table
