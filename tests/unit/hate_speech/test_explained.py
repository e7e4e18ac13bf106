"""What a classifier finds important: words by their mean, sentences by their phrases."""

import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")
pytest.importorskip("tokenizers")
pytest.importorskip("safetensors")

import torch

from biaslab.core.io import read_tsv
from biaslab.hate_speech.contexts import OC, ContextSettings
from biaslab.hate_speech.explained import explain_methods, sentence_hierarchies, word_importance
from biaslab.hate_speech.explanations import explain_words
from biaslab.text.encoder import load_classifier, predict, score
from biaslab.text.language_model import LanguageModelSettings, train_language_model
from hate_speech_experiment_data import RESOURCES, TERMS, example_encoder, example_folder

FILE = RESOURCES / "sentences_example.txt"
SENTENCES = FILE.read_text(encoding="utf-8").splitlines()
SOC = ContextSettings(radius=2, samples=2)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A prepared corpus with a language model and two classifiers that were not trained."""
    path = tmp_path_factory.mktemp("explained")
    folder = example_folder(path, example_encoder(path / "encoder"), limits=(40, 12, 30))
    for seed, method in enumerate(("vanilla", "soc-0.1")):
        example_encoder(folder.path / f"models/{method}/0", seed=seed)
    settings = LanguageModelSettings(epochs=1, width=4)
    tokens = folder.train.tokens
    train_language_model(tokens, tokens, folder.tokenizer, settings, seed=1)[0].save(
        folder.path / "language_model.safetensors"
    )
    return folder


@pytest.fixture(scope="module")
def explained(folder):
    said = []
    methods = ["vanilla", "soc-0.1"]
    explain_methods(folder, methods, FILE, SOC, 6, 3, CPU, said.append)
    table = read_tsv(folder.path / "importance.tsv")
    return table, json.loads((folder.path / "hierarchies.json").read_text(encoding="utf-8")), said


def test_words_are_ranked_by_their_mean():
    words = pd.DataFrame(
        {
            "word": ["lamp", "bakers", "cake", "lamp", "axe", "null"],
            "phi": [1.0, 0.5, -1.0, 3.0, 0.5, 0.25],
        }
    )
    table = word_importance(words, ["bakers", "cyclists"])
    assert table["word"].tolist() == ["lamp", "axe", "bakers", "null", "cake"]
    assert table["rank"].tolist() == [1, 2, 3, 4, 5]
    assert table["n"].tolist() == [2, 1, 1, 1, 1]
    assert table["mean_phi"].tolist() == [2.0, 0.5, 0.5, 0.25, -1.0]
    assert table["is_identifier"].tolist() == [False, False, True, False, False]


def test_importance_is_that_of_the_same_sentences_for_every_method(folder, explained):
    table, _, said = explained
    assert list(table) == ["method", "word", "is_identifier", "n", "mean_phi", "rank"]
    assert said == ["explained vanilla", "explained soc-0.1"]
    one, other = (table[table["method"] == method].set_index("word") for method in ("vanilla", "soc-0.1"))
    assert one["n"].to_dict() == other["n"].to_dict()
    assert one["mean_phi"].to_dict() != other["mean_phi"].to_dict()
    assert set(table.loc[table["is_identifier"], "word"]) <= set(TERMS)
    for part in (one, other):
        assert part["rank"].tolist() == list(range(1, len(part) + 1))
        assert part["mean_phi"].is_monotonic_decreasing


def test_hierarchies_are_of_every_sentence_by_every_method(folder, explained):
    _, hierarchies, _ = explained
    names = [(found["method"], " ".join(found["sentence"])) for found in hierarchies]
    written = [" ".join(folder.tokenizer.words(sentence)) for sentence in SENTENCES]
    assert names == [(method, text) for method in ("vanilla", "soc-0.1") for text in written]
    tokens = folder.tokenizer.encode(SENTENCES)
    for method, some in (("vanilla", hierarchies[:5]), ("soc-0.1", hierarchies[5:])):
        model = load_classifier(folder.path / f"models/{method}/0")
        scores = predict(model, tokens, folder.tokenizer.pad)
        np.testing.assert_allclose([found["score"] for found in some], scores, rtol=0, atol=1e-6)


def test_the_lowest_level_has_every_word_and_its_importance(folder):
    model = load_classifier(folder.path / "models/vanilla/0")
    tokenizer = folder.tokenizer
    found = sentence_hierarchies(model, SENTENCES, OC, tokenizer, None, 3)
    words = explain_words(model, tokenizer.encode(SENTENCES), range(len(SENTENCES)), OC, tokenizer)
    for row, hierarchy in enumerate(found):
        expected = words[words["row"] == row]
        assert hierarchy["sentence"] == expected["word"].tolist()
        starts, ends, phi = zip(*hierarchy["levels"][0], strict=True)
        assert list(starts) == list(range(len(expected)))
        assert [end - start for start, end in zip(starts, ends, strict=True)] == [1] * len(expected)
        np.testing.assert_allclose(phi, expected["phi"], rtol=0, atol=2e-6)
        assert len(hierarchy["levels"]) > 1
        # a phrase of words has the importance of the phrase, not the sum of those of its words
        start, end, value = max(hierarchy["levels"][-1], key=lambda phrase: phrase[1] - phrase[0])
        assert value == pytest.approx(occluded(model, tokenizer, SENTENCES[row], start, end), abs=2e-6)


def occluded(model, tokenizer, sentence, start, end):
    """The score of a sentence, less that without some words, each of which is one piece."""
    ids = torch.from_numpy(tokenizer.encode([sentence]).row(0).astype(np.int64))[None]
    attended = torch.ones_like(ids, dtype=torch.bool)
    hidden, rest = ids.clone(), attended.clone()
    hidden[0, start + 1 : end + 1], rest[0, start + 1 : end + 1] = tokenizer.pad, False
    with torch.no_grad():
        return (score(model, ids, attended) - score(model, hidden, rest)).item()


def test_explanations_repeat_to_the_byte(folder, explained):
    files = ("importance.tsv", "hierarchies.json")
    before = [(folder.path / name).read_bytes() for name in files]
    explain_methods(folder, ["vanilla", "soc-0.1"], FILE, SOC, 6, 3, CPU)
    assert [(folder.path / name).read_bytes() for name in files] == before
