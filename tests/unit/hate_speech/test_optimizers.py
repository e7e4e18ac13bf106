import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from biaslab.core.rng import stream
from biaslab.hate_speech import optimizers
from biaslab.hate_speech.schedules import warmup_linear
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


def draw(dtype=torch.float64, scale=1.0):
    """Parameters and gradients; some of the gradients are longer than they may be."""
    rng = stream(3, "optimizer")
    parameters = {name: rng.normal(size=shape) for name, shape in SHAPES.items()}
    gradients = [
        {name: scale * rng.normal(size=s) * rng.choice([0.05, 3]) for name, s in SHAPES.items()}
        for _ in range(STEPS)
    ]
    return {name: torch.tensor(a, dtype=dtype) for name, a in parameters.items()}, gradients


def arrays(parameters):
    return {name: p.numpy() for name, p in parameters.items()}


def run(make, parameters, gradients, rates, **options):
    """Parameters after as many steps as there are rates."""
    named = {name: torch.nn.Parameter(p.clone()) for name, p in parameters.items()}
    optimizer = make(named.items(), **options)
    take(optimizer, named, gradients, rates)
    return named, optimizer


def take(optimizer, named, gradients, rates):
    for rate, step in zip(rates, gradients, strict=True):
        for name, p in named.items():
            p.grad = torch.tensor(step[name], dtype=p.dtype)
        optimizer.step(rate)


@pytest.mark.parametrize("name", ["bert_adam", "adamw"])
@pytest.mark.parametrize("decay", [0.01, 0.0])
def test_steps_equal_those_of_the_oracle(name, decay):
    parameters, gradients = draw()
    trained, _ = run(getattr(optimizers, name), parameters, gradients, RATES, weight_decay=decay)
    expected = getattr(naive, name)(arrays(parameters), gradients, RATES, decay)
    for key, p in trained.items():
        np.testing.assert_allclose(p.detach().numpy(), expected[key], rtol=1e-12, atol=1e-14)


def test_bert_adam_corrects_no_bias_and_clips_every_tensor_apart():
    parameters, gradients = draw()
    trained = {
        name: run(getattr(optimizers, name), parameters, gradients, RATES)[0]
        for name in ("bert_adam", "adamw")
    }
    assert any((trained["bert_adam"][name] - trained["adamw"][name]).abs().max() > 1e-3 for name in SHAPES)


def test_float32_stays_near_float64():
    parameters, gradients = draw(torch.float32)
    trained, _ = run(optimizers.bert_adam, parameters, gradients, RATES)
    expected = naive.bert_adam(arrays(parameters), gradients, RATES)
    for key, p in trained.items():
        np.testing.assert_allclose(p.detach().numpy(), expected[key], rtol=1e-4, atol=1e-5)


def test_norms_of_gradients_are_at_most_one():
    long = [torch.full((3, 4), 2.0), torch.tensor([0.1, 0.2]), torch.full((2, 2, 2), 5.0)]
    each, together = [g.clone() for g in long], [g.clone() for g in long]
    optimizers.clip_per_tensor(each)
    assert [float(g.norm()) for g in each] == pytest.approx([1, 0.05**0.5, 1], abs=1e-5)
    optimizers.clip_together(together)
    assert sum(float(g.norm()) ** 2 for g in together) == pytest.approx(1, abs=1e-5)
    assert float(together[1].norm()) < 0.05


def test_what_has_no_gradient_is_left_alone():
    p = torch.nn.Parameter(torch.ones(2, 2))
    q = torch.nn.Parameter(torch.ones(2, 2))
    optimizer = optimizers.bert_adam([("p", p), ("q", q)])
    p.grad = torch.ones(2, 2)
    optimizer.step(0.1)
    assert torch.equal(q, torch.ones(2, 2))
    assert not torch.equal(p, torch.ones(2, 2))
    assert p.grad is None


@pytest.mark.parametrize("name", ["bert_adam", "adamw"])
def test_training_goes_on_from_a_state_to_the_same_bytes(name):
    parameters, gradients = draw(torch.float32)
    make = getattr(optimizers, name)
    whole, _ = run(make, parameters, gradients, RATES)
    half, optimizer = run(make, parameters, gradients[:15], RATES[:15])
    state = {key: tensor.clone() for key, tensor in optimizer.state().items()}
    resumed = {key: torch.nn.Parameter(p.detach().clone()) for key, p in half.items()}
    other = make(resumed.items())
    other.load(state)
    take(other, resumed, gradients[15:], RATES[15:])
    for key, p in whole.items():
        assert torch.equal(p, resumed[key])
