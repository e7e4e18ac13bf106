import pytest

pytest.importorskip("torch")

import torch

from biaslab.core.rng import stream
from biaslab.text import packing
from hate_speech_training_data import sentences, tiny_model
from naive.text import score


@pytest.fixture(scope="module")
def model_and_tokenizer(tmp_path_factory):
    return tiny_model(tmp_path_factory.mktemp("encoder"))


def batch(tokenizer, n=13, holes=True):
    """Sentences, padded; some tokens other than the first are masked."""
    ids, mask = tokenizer.encode(sentences(n, 5)[0]).padded(range(n), tokenizer.pad)
    if holes:
        masked = stream(1, "holes").random(mask.shape) < 0.2
        masked[:, 0] = False
        mask = mask & ~masked
    return torch.from_numpy(ids), torch.from_numpy(mask)


@pytest.mark.parametrize("holes", [False, True])
def test_packed_scores_equal_those_of_padded_sentences(model_and_tokenizer, holes):
    model, tokenizer = model_and_tokenizer
    model.double()
    ids, mask = batch(tokenizer, holes=holes)
    expected = score(model, ids, mask)
    packed = packing.score(model, ids, mask)
    assert expected.detach().std() > 0.01
    torch.testing.assert_close(packed, expected, rtol=0, atol=1e-12)
    names = [name for name, _ in model.named_parameters()]
    for name, a, b in zip(
        names,
        torch.autograd.grad(packed.square().sum(), model.parameters()),
        torch.autograd.grad(expected.square().sum(), model.parameters()),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-10, msg=name)


def test_dropout_falls_on_every_sentence_apart(model_and_tokenizer):
    model, tokenizer = model_and_tokenizer
    model.float().train()
    ids, mask = batch(tokenizer, n=1)
    with torch.no_grad():
        torch.manual_seed(1)
        scores = packing.score(model, ids.expand(1000, -1), mask.expand(1000, -1))
        padded = score(model, ids.expand(1000, -1), mask.expand(1000, -1))
    model.eval()
    assert len(scores.unique()) > 950
    error = (scores.var() / 1000 + padded.var() / 1000) ** 0.5
    assert abs(scores.mean() - padded.mean()) < 4 * error
    assert float(scores.std() / padded.std()) == pytest.approx(1, abs=0.1)
