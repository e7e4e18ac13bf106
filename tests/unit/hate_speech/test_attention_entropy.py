import math
from dataclasses import asdict

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from biaslab.hate_speech.attention_entropy import logits_and_entropy, token_entropies
from hate_speech_training_data import sentences, tiny_model
from naive import hate_speech_training as naive


@pytest.fixture(scope="module")
def model_and_batch(tmp_path_factory):
    model, tokenizer = tiny_model(tmp_path_factory.mktemp("encoder"), layers=3)
    return model.double(), tokenizer.encode(sentences(9, 2)[0]).padded(range(9), tokenizer.pad)


@pytest.fixture(scope="module")
def literal(model_and_batch):
    """Return the same model as transformers has it, with weights of attention that can be looked at."""
    from transformers import BertConfig, BertForSequenceClassification

    model = model_and_batch[0]
    config = BertConfig(**asdict(model.config), num_labels=2, attn_implementation="eager")
    other = BertForSequenceClassification(config).double().eval()
    other.load_state_dict(model.state_dict(), strict=True)
    return other


def test_the_entropy_equals_the_dense_loop(model_and_batch, literal):
    model, (ids, mask) = model_and_batch
    with torch.no_grad():
        output = literal(
            input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask), output_attentions=True
        )
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
    alike = torch.full((1, 4, 5, 5), 1 / 5)
    one = torch.eye(5).expand(1, 4, 5, 5)
    assert token_entropies(alike)[0].tolist() == pytest.approx([math.log(5)] * 5)
    assert (token_entropies(one) < token_entropies(alike) - 0.01).all()


def test_heads_are_averaged_before_the_entropy_is_taken():
    heads = torch.stack([torch.eye(2), 1 - torch.eye(2)])[None]
    assert token_entropies(heads)[0].tolist() == pytest.approx([math.log(2)] * 2)


def test_in_training_the_weights_are_those_after_dropout(model_and_batch):
    model, (ids, mask) = model_and_batch
    model.train()
    torch.manual_seed(1)
    entropies = {logits_and_entropy(model, ids, mask)[1].item() for _ in range(3)}
    model.eval()
    assert len(entropies) == 3
