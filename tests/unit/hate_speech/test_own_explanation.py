"""Explanations of the user's own sentences."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
from safetensors.torch import load_file, save_file

from biaslab.core.errors import InputError
from biaslab.hate_speech.adapters import load_folder
from biaslab.hate_speech.contexts import OC, ContextSettings
from biaslab.hate_speech.explanations import explain_by_leaving_out, explain_sentences
from biaslab.text.language_model import LanguageModelSettings, train_language_model
from naive.text import score
from own_texts_data import WORDS, remarks
from text_data import tiny_classifier

SENTENCES = ["The sailors left the gate open.", "we met the children today"]
TEXTS = [text for text, *_ in remarks(30)]


@pytest.fixture
def folder(tmp_path):
    return tiny_classifier(tmp_path / "tiny", WORDS)


@pytest.fixture
def classifier(folder):
    return load_folder(folder, "cpu")


def test_occlusion_of_each_word_by_a_literal_loop(classifier):
    """φ of a word is s(x) less s of the sentence whose piece is [PAD] and not attended to (Eq. 1)."""
    found = explain_sentences(classifier, SENTENCES, OC, None, seed=1)
    assert [one.words for one in found] == [
        ["the", "sailors", "left", "the", "gate", "open", "."],
        ["we", "met", "the", "children", "today"],
    ]
    for sentence, one in zip(SENTENCES, found, strict=True):
        ids = torch.tensor([classifier.tokens([sentence]).ids.tolist()])
        seen = torch.ones_like(ids, dtype=torch.bool)
        with torch.no_grad():
            whole = float(score(classifier.model, ids, seen))
            assert one.score == pytest.approx(whole, abs=1e-5)
            for i, (_, _, phi) in enumerate(one.levels[0]):
                without, mask = ids.clone(), seen.clone()
                without[0, i + 1], mask[0, i + 1] = classifier.tokenizer.pad, False
                assert phi == pytest.approx(whole - float(score(classifier.model, without, mask)), abs=1e-5)


def test_a_classifier_with_its_labels_in_the_other_order_is_explained_alike(folder, classifier):
    plain = explain_sentences(classifier, SENTENCES, OC, None, seed=1)
    weights, config = folder / "model.safetensors", json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"id2label": {"0": "complaint", "1": "fine"}}))
    tensors = load_file(weights)
    turned = {k: v.flip(0).contiguous() if k.startswith("classifier.") else v for k, v in tensors.items()}
    save_file(turned, weights, {"format": "pt"})
    twin = explain_sentences(load_folder(folder, "cpu", "complaint"), SENTENCES, OC, None, seed=1)
    assert [one.score for one in twin] == [one.score for one in plain]
    assert [one.levels for one in twin] == [one.levels for one in plain]


def test_words_that_the_classifier_never_sees_are_not_explained(folder):
    (folder / "training.json").write_text(json.dumps({"removed": ["sailors"]}))
    classifier = load_folder(folder, "cpu")
    (one,) = explain_sentences(classifier, SENTENCES[:1], OC, None, seed=1)
    assert one.words == ["the", "left", "the", "gate", "open", "."]
    np.testing.assert_allclose(one.score, classifier.scores(SENTENCES[:1])[0], rtol=1e-5)
    with pytest.raises(InputError, match="sentence 1 has no word that the classifier sees"):
        explain_sentences(classifier, ["Sailors"], OC, None, seed=1)


def test_a_sentence_of_300_words_is_explained_in_part_and_says_so(folder):
    config = json.loads((folder / "config.json").read_text()) | {"max_position_embeddings": 256}
    (folder / "config.json").write_text(json.dumps(config))
    tensors = load_file(folder / "model.safetensors")
    places = tensors["bert.embeddings.position_embeddings.weight"]
    tensors["bert.embeddings.position_embeddings.weight"] = places.repeat(2, 1).contiguous()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    text, limits = "bread " * 300, "The first 200 of "
    (found,) = explain_sentences(load_folder(folder, "cpu"), [text], OC, None, seed=1)
    assert len(found.words) == 200
    unread = "The classifier reads 256 word pieces of the sentence: the last 46 are not read."
    assert found.limits == (unread, f"{limits}254 words are explained.")
    (found,) = explain_by_leaving_out(load_folder(folder, "cpu"), [text])
    assert found.limits == (unread, f"{limits}300 words are explained.")


def language_model_of(classifier):
    """Return a language model of a classifier's vocabulary, trained on the texts."""
    tokens, settings = classifier.tokens(TEXTS), LanguageModelSettings(epochs=1, width=8)
    return train_language_model(tokens, tokens, classifier.tokenizer, settings, 1)[0]


def test_contexts_are_sampled_from_texts_alike_for_equal_seeds(classifier):
    model = language_model_of(classifier)
    settings = ContextSettings(radius=3, samples=4)
    first, again = (explain_sentences(classifier, SENTENCES, settings, model, seed=1) for _ in range(2))
    other = explain_sentences(classifier, SENTENCES, settings, model, seed=2)
    plain = explain_sentences(classifier, SENTENCES, OC, None, seed=1)
    assert first == again
    assert first[0].levels != other[0].levels
    assert first[0].levels != plain[0].levels
    assert first[0].score == plain[0].score


def test_a_language_model_of_another_encoder(classifier, tmp_path):
    other = load_folder(tiny_classifier(tmp_path / "other", [*WORDS, "quince"]), "cpu")
    model = language_model_of(other)
    with pytest.raises(InputError, match=r"knows a vocabulary of \d+ tokens, the classifier"):
        explain_sentences(classifier, SENTENCES, ContextSettings(2, 2), model, seed=1)
