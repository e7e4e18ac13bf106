import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from biaslab.hate_speech.attention_entropy import logits_and_entropy, token_entropies  # noqa: E402
from biaslab.text import packing  # noqa: E402
from hate_speech_training_data import sentences, tiny_model  # noqa: E402
from naive import hate_speech_training as naive  # noqa: E402


@pytest.fixture(scope="module")
def model_and_batch(tmp_path_factory):
    model, tokenizer = tiny_model(tmp_path_factory.mktemp("encoder"), layers=3)
    return model.double(), tokenizer.encode(sentences(9, 2)[0]).padded(range(9), tokenizer.pad)


def test_the_entropy_equals_the_dense_loop(model_and_batch):
    model, (ids, mask) = model_and_batch
    model.set_attn_implementation("eager")
    with torch.no_grad():
        output = model(
            input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask), output_attentions=True
        )
    model.set_attn_implementation("sdpa")
    expected = naive.attention_entropy([a.numpy() for a in output.attentions], mask.sum(axis=1))
    logits, entropy = logits_and_entropy(model, ids, mask)
    assert entropy.item() == pytest.approx(expected, rel=1e-12)
    torch.testing.assert_close(logits, output.logits, rtol=0, atol=1e-12)
    assert 0 < expected < 3 * math.log(mask.sum(axis=1).max())


def test_the_gradient_agrees_with_finite_differences(model_and_batch):
    model, (ids, mask) = model_and_batch
    weight = model.bert.encoder.layer[1].attention.self.query.weight
    (gradient,) = torch.autograd.grad(logits_and_entropy(model, ids, mask)[1], weight)
    direction = torch.from_numpy(np.random.default_rng(1).normal(size=weight.shape))
    ends = []
    for sign in (1, -1):
        with torch.no_grad():
            weight += sign * 1e-5 * direction
            ends.append(float(logits_and_entropy(model, ids, mask)[1]))
            weight -= sign * 1e-5 * direction
    assert float((gradient * direction).sum()) == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)


def test_attention_to_all_alike_has_the_largest_entropy():
    same = torch.zeros(1, 5, 5, dtype=torch.bool)
    same[0, :3, :3] = same[0, 3:, 3:] = True
    alike = same / same.sum(-1, keepdim=True)
    entropies = token_entropies(alike[:, None], same)
    assert entropies[0].tolist() == pytest.approx([math.log(3)] * 3 + [math.log(2)] * 2)
    one = torch.eye(5).expand(1, 1, 5, 5)
    assert (token_entropies(one, same) < entropies - 0.01).all()


def test_the_model_attends_as_before_afterwards(model_and_batch):
    model, (ids, mask) = model_and_batch
    logits_and_entropy(model, ids, mask)
    assert model.config._attn_implementation == "sdpa"
    torch.testing.assert_close(
        packing.logits(model, torch.from_numpy(ids), torch.from_numpy(mask)),
        logits_and_entropy(model, ids, mask)[0],
        rtol=0,
        atol=1e-12,
    )
