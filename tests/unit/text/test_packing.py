import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from biaslab.core.rng import stream
from biaslab.text import packing
from hate_speech_training_data import sentences, tiny_model
from naive.text import score


@pytest.fixture(scope="module", params=[1, 3], ids=["1 layer", "3 layers"])
def model_and_tokenizer(request, tmp_path_factory):
    return tiny_model(tmp_path_factory.mktemp("encoder"), layers=request.param)


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


def test_scores_in_single_precision_do_not_depend_on_the_batch(model_and_tokenizer):
    model, tokenizer = model_and_tokenizer
    model.float()
    ids, mask = batch(tokenizer)
    alone = torch.cat([packing.score(model, ids[[i]], mask[[i]]) for i in range(len(ids))])
    torch.testing.assert_close(packing.score(model, ids, mask), alone, rtol=0, atol=1e-5)


def test_dropout_falls_on_every_sentence_apart(model_and_tokenizer):
    model, tokenizer = model_and_tokenizer
    model.float().train()
    ids, mask = batch(tokenizer, n=1)
    with torch.no_grad():
        torch.manual_seed(1)
        scores = packing.score(model, ids.expand(3000, -1), mask.expand(3000, -1))
        padded = score(model, ids.expand(3000, -1), mask.expand(3000, -1))
    model.eval()
    assert len(scores.unique()) > 2900
    error = (scores.var() / 3000 + padded.var() / 3000) ** 0.5
    assert abs(scores.mean() - padded.mean()) < 4 * error
    assert float(scores.std() / padded.std()) == pytest.approx(1, abs=0.1)


def test_every_token_that_is_not_masked_is_packed_once():
    rng = stream(4, "packing")
    ids = rng.integers(5, 1000, size=(40, 30))
    mask = rng.random((40, 30)) < rng.random((40, 1))
    mask[:, 0] = True
    packed = packing.pack(ids, mask)
    assert len(packed.ids) == mask.sum()
    for i, begin in enumerate(packed.first[packed.place]):
        tokens = slice(begin, begin + mask[i].sum())
        np.testing.assert_array_equal(packed.ids[tokens], ids[i, mask[i]])
        np.testing.assert_array_equal(packed.positions[tokens], np.flatnonzero(mask[i]))
    lengths = [length for count, length in packed.groups for _ in range(count)]
    assert lengths == sorted(mask.sum(axis=1), reverse=True)
    np.testing.assert_array_equal(packed.first, np.cumsum([0, *lengths[:-1]]))


@pytest.mark.parametrize("is_training", [False, True])
def test_tokens_in_common_are_embedded_once_unless_dropout_tells_them_apart(model_and_tokenizer, is_training):
    model, tokenizer = model_and_tokenizer
    ids, mask = batch(tokenizer, n=3, holes=False)
    ids, mask = ids.repeat(4, 1), mask.repeat(4, 1)
    embedded = []
    hook = model.bert.embeddings.register_forward_hook(lambda *call: embedded.append(call[-1].shape[1]))
    model.train(is_training)
    packing.score(model, ids, mask)
    model.eval()
    hook.remove()
    tokens = {(int(i), p) for row, seen in zip(ids, mask, strict=True) for p, i in enumerate(row[seen])}
    assert embedded == [int(mask.sum()) if is_training else len(tokens)]
