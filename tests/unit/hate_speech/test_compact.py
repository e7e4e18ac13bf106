import copy

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from biaslab.hate_speech.optimizers import adamw, bert_adam
from biaslab.text import packing
from biaslab.text.compact import compact_embeddings
from hate_speech_training_data import UNUSED, sentences, tiny_model

TABLE = "bert.embeddings.word_embeddings.weight"


@pytest.fixture
def model_and_tokenizer(tmp_path):
    return tiny_model(tmp_path)


def steps(model, ids, mask, optimizer, n=6):
    """Train; return the gradients of all steps."""
    gradients = []
    for _ in range(n):
        packing.score(model, ids, mask).square().mean().backward()
        gradients.append({name: p.grad.clone() for name, p in model.named_parameters()})
        optimizer.step(0.01)
    return gradients


@pytest.mark.parametrize("make", [bert_adam, adamw])
def test_training_equals_that_of_the_whole_table_bit_for_bit(model_and_tokenizer, make):
    model, tokenizer = model_and_tokenizer
    ids, mask = map(torch.from_numpy, tokenizer.encode(sentences(12, 1)[0]).padded(range(12), tokenizer.pad))
    used = np.unique(ids)
    dense = copy.deepcopy(model)
    expected = steps(dense, ids, mask, make(dense.named_parameters(), weight_decay=0.0))
    before = model.bert.embeddings.word_embeddings.weight.detach().clone()
    with compact_embeddings(model, used):
        found = steps(model, ids, mask, make(model.named_parameters(), weight_decay=0.0))
    for a, b in zip(found, expected, strict=True):
        assert a.keys() == b.keys()
        assert torch.equal(a.pop(TABLE), b[TABLE][used])
        assert not b.pop(TABLE)[np.setdiff1d(np.arange(len(before)), used)].any()
        for name in a:
            assert torch.equal(a[name], b[name]), name
    for name, p in model.named_parameters():
        assert torch.equal(p, dict(dense.named_parameters())[name]), name
    assert not torch.equal(model.bert.embeddings.word_embeddings.weight[used], before[used])


def test_other_rows_stay_as_they_were(model_and_tokenizer):
    model, tokenizer = model_and_tokenizer
    ids, mask = map(torch.from_numpy, tokenizer.encode(sentences(12, 1)[0]).padded(range(12), tokenizer.pad))
    table = model.bert.embeddings.word_embeddings
    before = table.weight.detach().clone()
    with compact_embeddings(model, np.unique(ids)):
        steps(model, ids, mask, bert_adam(model.named_parameters()))
    unused = [tokenizer.vocabulary.index(word) for word in UNUSED]
    assert model.bert.embeddings.word_embeddings is table
    assert torch.equal(table.weight[unused], before[unused])


def test_decay_of_the_whole_table_stays_within_the_stated_bound(model_and_tokenizer):
    model, tokenizer = model_and_tokenizer
    ids, mask = map(torch.from_numpy, tokenizer.encode(sentences(12, 1)[0]).padded(range(12), tokenizer.pad))
    before = model.bert.embeddings.word_embeddings.weight.detach().clone()
    steps(model, ids, mask, bert_adam(model.named_parameters()), n=6)
    row = tokenizer.vocabulary.index(UNUSED[0])
    change = 1 - model.bert.embeddings.word_embeddings.weight[row] / before[row]
    assert change.abs().max().item() == pytest.approx(6 * 0.01 * 0.01, rel=1e-2)


def test_the_whole_table_is_back_after_an_error(model_and_tokenizer):
    model, _ = model_and_tokenizer
    table = model.bert.embeddings.word_embeddings
    with pytest.raises(KeyError), compact_embeddings(model, np.arange(4)):
        raise KeyError
    assert model.bert.embeddings.word_embeddings is table


def test_a_token_without_a_row_is_not_looked_up(model_and_tokenizer):
    model, _ = model_and_tokenizer
    with compact_embeddings(model, np.array([0, 2, 3, 4])):
        model.bert.embeddings.word_embeddings(torch.tensor([2, 3]))
        with pytest.raises(IndexError):
            model.bert.embeddings.word_embeddings(torch.tensor([2, 5]))


def test_padding_has_no_gradient(model_and_tokenizer):
    model, tokenizer = model_and_tokenizer
    with compact_embeddings(model, np.array([0, 2, 3, 4])):
        compact = model.bert.embeddings.word_embeddings
        compact(torch.tensor([tokenizer.pad, 3])).sum().backward()
        assert compact.weight.grad.sum(1).tolist() == [0, 0, 16, 0]
