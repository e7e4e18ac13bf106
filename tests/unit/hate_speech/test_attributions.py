"""Importance of identifiers: the same as one occurrence at a time, whatever is read together."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")
pytest.importorskip("tokenizers")
pytest.importorskip("safetensors")

import torch

from biaslab.hate_speech.attributions import identifier_importance, summarize
from biaslab.hate_speech.contexts import OC, ContextSettings, Occurrences, fill_contexts
from biaslab.hate_speech.explanations import find_occurrences, importance
from biaslab.text.devices import generator
from biaslab.text.encoder import score
from biaslab.text.language_model import LanguageModelSettings, train_language_model
from hate_speech_training_data import GROUPS, sentences, tiny_model

SOC = ContextSettings(radius=2, samples=3, add_itself=True)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A model, its tokenizer, texts (two have several identifiers, most have none) and the identifiers."""
    model, tokenizer = tiny_model(tmp_path_factory.mktemp("encoder"))
    texts, _ = sentences(12, seed=5)
    texts += ["bakers met bakers near the park", "the sailors saw cyclists and heard bakers slowly", "a rose"]
    ids = {name: tokenizer.vocabulary.index(name) for name in GROUPS}
    return model, tokenizer, tokenizer.encode(texts), ids


@pytest.fixture(scope="module")
def language_model(tiny):
    _, tokenizer, tokens, _ = tiny
    settings = LanguageModelSettings(epochs=1, width=6)
    return train_language_model(tokens, tokens, tokenizer, settings, seed=1)[0]


def one_by_one(tiny):
    """OC as it is defined: the score of a text, less that without a token."""
    model, tokenizer, tokens, ids = tiny
    names = {token: name for name, token in ids.items()}
    rows = []
    for row in range(len(tokens)):
        text = torch.from_numpy(tokens.row(row).astype(np.int64))[None]
        for place, token in enumerate(tokens.row(row).tolist()):
            if token in names:
                whole = torch.ones_like(text, dtype=torch.bool)
                hidden, attended = text.clone(), whole.clone()
                hidden[0, place], attended[0, place] = tokenizer.pad, False
                with torch.no_grad():
                    phi = score(model, text, whole) - score(model, hidden, attended)
                rows.append((row, names[token], phi.item()))
    return pd.DataFrame(rows, columns=["row", "identifier", "phi"])


def assert_equal(found, expected):
    assert found["row"].tolist() == expected["row"].tolist()
    assert found["identifier"].tolist() == expected["identifier"].tolist()
    np.testing.assert_allclose(found["phi"], expected["phi"], rtol=0, atol=2e-6)


@pytest.mark.parametrize("max_tokens", [1, 60, 16_384])
def test_occlusion_is_that_of_a_loop_over_occurrences(tiny, max_tokens):
    model, tokenizer, tokens, ids = tiny
    expected = one_by_one(tiny)
    assert expected.groupby("row").size().max() == 3
    assert expected["phi"].abs().min() > 1e-4
    found = identifier_importance(model, tokens, ids, OC, tokenizer, None, 1, max_tokens)
    assert_equal(found, expected)
    assert found["phi"].dtype == np.float64


def test_sampled_contexts_give_what_a_loop_over_occurrences_gives(tiny, language_model):
    model, tokenizer, tokens, ids = tiny
    found = identifier_importance(model, tokens, ids, SOC, tokenizer, language_model, 7)
    # All texts with an identifier are one batch, the longest first.
    holding = [row for row in range(len(tokens)) if set(tokens.row(row)) & set(ids.values())]
    rows = np.array(sorted(holding, key=lambda row: -tokens.lengths[row]))
    batch, mask = map(torch.from_numpy, tokens.padded(rows, tokenizer.pad))
    occurrences = find_occurrences(batch.numpy(), list(ids.values()))
    random = generator(7, "identifiers", 0)
    filled = fill_contexts(batch, mask, occurrences, SOC, language_model, tokenizer, random)
    phi = []
    for i in range(len(occurrences)):
        row, start, end = (getattr(occurrences, part)[i] for part in ("row", "start", "end"))
        one = Occurrences(np.array([0]), np.array([start]), np.array([end]))
        with torch.no_grad():
            values = importance(
                lambda i, m: score(model, i, m),
                batch[[row]],
                mask[[row]],
                one,
                filled[[i]],
                tokenizer.pad,
            )
        phi.append((rows[row], start, values.item()))
    expected = [value for _, _, value in sorted(phi)]
    np.testing.assert_allclose(found["phi"], expected, rtol=0, atol=2e-6)


def test_equal_seeds_draw_equal_contexts_and_dropout_is_off(tiny, language_model):
    model, tokenizer, tokens, ids = tiny

    def phi(seed):
        return identifier_importance(model, tokens, ids, SOC, tokenizer, language_model, seed)["phi"]

    first = phi(1)
    model.train()
    try:
        assert phi(1).tolist() == first.tolist()
        assert model.training
    finally:
        model.eval()
    assert phi(2).tolist() != first.tolist()


def test_no_radius_is_occlusion(tiny):
    model, tokenizer, tokens, ids = tiny
    settings = ContextSettings(radius=0, samples=4)
    found = identifier_importance(model, tokens, ids, settings, tokenizer, None, 1)
    assert_equal(found, one_by_one(tiny))


@pytest.mark.parametrize("max_tokens", [40, 200])
def test_no_pass_reads_more_tokens_than_it_may(tiny, language_model, monkeypatch, max_tokens):
    model, tokenizer, tokens, ids = tiny
    read = []

    def counting(model, ids, mask):
        read.append(ids.numel())
        return score(model, ids, mask)

    monkeypatch.setattr("biaslab.hate_speech.attributions.score", counting)
    settings = ContextSettings(radius=3, samples=2)
    identifier_importance(model, tokens, ids, settings, tokenizer, language_model, 1, max_tokens)
    alone = 2 * settings.n_contexts * int(tokens.lengths.max())  # one occurrence in the longest text
    assert max(read) <= max(max_tokens, alone)
    assert len(read) > 1


def test_texts_without_identifiers_have_none(tiny):
    model, tokenizer, _, ids = tiny
    found = identifier_importance(
        model, tokenizer.encode(["a rose", "the park"]), ids, OC, tokenizer, None, 1
    )
    assert found.empty
    assert list(found) == ["row", "identifier", "phi"]
    table = summarize(found, ids)
    assert table["identifier"].tolist() == list(GROUPS)
    assert table["n"].tolist() == [0, 0, 0, 0]
    assert table[["mean_phi", "mean_abs_phi"]].isna().all(axis=None)


def test_means_are_over_occurrences_in_the_order_of_the_identifiers():
    occurrences = pd.DataFrame(
        {"row": [0, 1, 1, 4], "identifier": ["b", "a", "b", "b"], "phi": [0.5, -2.0, -1.5, 0.25]}
    )
    table = summarize(occurrences, {"a": 9, "c": 8, "b": 7}).set_index("identifier")
    assert table.index.tolist() == ["a", "c", "b"]
    assert table["n"].tolist() == [1, 0, 3]
    assert table.loc["a", ["mean_phi", "mean_abs_phi"]].tolist() == [-2.0, 2.0]
    assert table.loc["b", "mean_phi"] == pytest.approx(-0.25)
    assert table.loc["b", "mean_abs_phi"] == pytest.approx(0.75)
    assert table.loc["c"].isna().sum() == 2
