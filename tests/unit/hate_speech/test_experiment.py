"""Training, testing and explaining on a corpus: streams that methods share, removal in test, orders."""

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")

import torch

from biaslab.core.io import read_parquet, read_tsv
from biaslab.hate_speech import experiment
from biaslab.hate_speech.contexts import OC, ContextSettings
from biaslab.hate_speech.experiment import (
    drawn_rows,
    evaluate_encoders,
    explain_methods,
    fit_language_model,
    train_method,
    word_importance,
)
from biaslab.hate_speech.explanations import Explainer, summarize
from biaslab.hate_speech.methods import parse_method
from biaslab.hate_speech.training import TrainingSettings
from biaslab.text.encoder import load_classifier, predict
from biaslab.text.language_model import BiGRU, LanguageModelSettings
from hate_speech_experiment_data import RESOURCES, TERMS, WORDS, example_encoder, example_folder
from naive.text import score
from text_data import tiny_vocabulary

CONTEXTS = ContextSettings(radius=2, samples=2, add_itself=True)
SETTINGS = TrainingSettings(
    schedule="modern", epochs=2, batch_size=16, validate_every=2, learning_rate=1e-3, negative_weight=0.5
)
LANGUAGE_MODEL = LanguageModelSettings(epochs=2, width=4)
FILES = ("config.json", "vocab.txt", "model.safetensors", "history.tsv")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    path = tmp_path_factory.mktemp("experiment")
    encoder = example_encoder(path / "encoder")
    folder = example_folder(path, encoder, probes=("news",), limits=(40, 16, 24, 12))
    said = []
    fit_language_model(folder, LANGUAGE_MODEL, seed=3, say=said.append)
    return folder, said


@pytest.fixture(scope="module")
def folder(prepared):
    return prepared[0]


def train(folder, name, number=0, progress=lambda done, n: None):
    train_method(folder, parse_method(name), SETTINGS, CONTEXTS, number, 3, progress)
    return folder.path / "models" / name / str(number)


def test_the_language_model_learns_from_the_texts_that_encoders_are_trained_on(prepared):
    folder, said = prepared
    assert said == ["language model: 1 of 2 epochs", "language model: 2 of 2 epochs"]
    history = read_tsv(folder.path / "language_model.tsv")
    assert history["epoch"].tolist() == [1, 2]
    model = BiGRU.load(folder.path / "language_model.safetensors")
    known = {token for i in range(len(folder.train)) for token in folder.train.tokens.row(i).tolist()}
    special = {folder.tokenizer.vocabulary.index(f"[{name}]") for name in ("PAD", "UNK", "MASK")}
    assert set(model.token_ids.tolist()) == known | special
    everything = set(folder.splits["train"].tokens.ids.tolist())
    assert everything - known  # the limit left texts out


def test_methods_share_their_random_streams_at_equal_numbers(folder):
    plain, same, other = (
        train(folder, name, number) for name, number in (("vanilla", 0), ("soc-0", 0), ("vanilla", 1))
    )
    assert sorted(file.name for file in plain.iterdir()) == sorted(FILES)  # no checkpoint is left
    weights = [(path / "model.safetensors").read_bytes() for path in (plain, same, other)]
    assert weights[0] == weights[1]  # no regularization is no other method
    assert weights[0] != weights[2]
    assert weights[0] != (folder.encoder / "model.safetensors").read_bytes()
    history = read_tsv(plain / "history.tsv")
    assert history["step"].tolist() == [2, 4, 6]
    assert (plain / "vocab.txt").read_bytes() == (folder.encoder / "vocab.txt").read_bytes()


def test_a_training_that_was_killed_ends_as_if_it_had_not_been(folder):
    whole = train(folder, "oc-0.1")
    expected = [(whole / name).read_bytes() for name in FILES]
    shutil.rmtree(whole)

    def kill(step, _):
        if step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(folder, "oc-0.1", progress=kill)
    assert not (whole / "model.safetensors").exists()
    steps = []
    train(folder, "oc-0.1", progress=lambda step, _: steps.append(step))
    assert steps == [3, 4, 5, 6]  # from the validation after step 2
    assert [(whole / name).read_bytes() for name in FILES] == expected


@pytest.mark.parametrize(
    ("name", "contexts"),
    [
        ("soc-0.1", CONTEXTS),
        ("soc-0.1@published", ContextSettings(2, 2, True, chained=False, exclude_specials=False)),
        ("oc-0.1", OC),
        ("wr", None),
    ],
)
def test_a_method_is_trained_with_what_it_needs(folder, monkeypatch, name, contexts):
    taken = []
    monkeypatch.setattr(experiment, "train", lambda *given: taken.extend(given) or pd.DataFrame())
    method, meta = parse_method(name), torch.device("meta")
    monkeypatch.setattr(experiment, "choose_device", lambda _: meta)
    train_method(folder, method, SETTINGS, CONTEXTS, 0, 3)
    shutil.rmtree(folder.path / "models" / name)
    _, data, settings, regularization, _, device, *_ = taken
    assert (regularization.method, settings, device) == (method, SETTINGS, meta)
    assert regularization.identifier_ids == folder.ids
    if contexts is not None:
        assert regularization.contexts == contexts
    language_model = regularization.language_model
    if method.kind == "soc":
        assert language_model.device.type == "meta"  # where the classifier will be
    else:
        assert language_model is None
    assert data.train.ids.tolist() == folder.train.tokens.ids.tolist()
    assert data.train_labels.tolist() == folder.train.labels.tolist()
    assert data.validation.ids.tolist() == folder.splits["validation"].tokens.ids.tolist()


@pytest.fixture(scope="module")
def evaluated(folder):
    """Three classifiers that were not trained, tested: two by one method, one that removes words."""
    numbers, said = {"vanilla": [4, 7], "wr": [4]}, []
    for method, number in (("vanilla", 4), ("vanilla", 7), ("wr", 4)):
        example_encoder(folder.path / f"models/{method}/{number}", seed=number)
    evaluate_encoders(folder, list(numbers), numbers, CONTEXTS, CONTEXTS, 16, 3, said.append)
    return folder, said


@pytest.mark.parametrize(("method", "number"), [("vanilla", 7), ("wr", 4)])
def test_predictions_are_in_the_order_of_the_texts_and_removal_holds_in_test(evaluated, method, number):
    folder, _ = evaluated
    table = read_parquet(folder.path / f"predictions/{method}.parquet")
    model = load_classifier(folder.path / f"models/{method}/{number}")
    removed = set(folder.ids.values()) if method == "wr" else set()
    for name, texts in folder.tested.items():
        found = table[(table["seed"] == number) & (table["set"] == name)]
        assert found["row"].tolist() == list(range(len(texts)))
        expected = []
        for i in range(len(texts)):
            ids = torch.tensor([[t for t in texts.tokens.row(i).tolist() if t not in removed]])
            with torch.no_grad():
                expected.append(score(model, ids, torch.ones_like(ids, dtype=torch.bool)).item())
        np.testing.assert_allclose(found["score"], expected, rtol=0, atol=2e-6)
        assert np.ptp(expected) > 1e-3
    assert len(table) == sum(map(len, folder.tested.values())) * table["seed"].nunique()


def test_attributions_are_those_of_the_test_set_by_occlusion_and_sampling(evaluated):
    folder, said = evaluated
    assert said == ["vanilla: tested 1 of 2", "vanilla: tested 2 of 2", "wr: tested 1 of 1"]
    table = read_tsv(folder.path / "attributions/vanilla.tsv")
    keys = table[["seed", "explanation", "identifier"]].itertuples(index=False, name=None)
    assert list(keys) == [(seed, kind, term) for seed in (4, 7) for kind in ("oc", "soc") for term in TERMS]
    language_model = BiGRU.load(folder.path / "language_model.safetensors")
    tokens = folder.splits["test"].tokens
    for seed in (4, 7):
        model = load_classifier(folder.path / f"models/vanilla/{seed}")
        for kind, settings in (("oc", OC), ("soc", CONTEXTS)):
            explainer = Explainer(model, folder.tokenizer, settings, language_model, 3)
            found = explainer.identifier_importance(tokens, folder.ids)
            expected = summarize(found, folder.ids)
            written = table[(table["seed"] == seed) & (table["explanation"] == kind)]
            assert written["n"].tolist() == expected["n"].tolist()
            np.testing.assert_allclose(written["mean_abs_phi"], expected["mean_abs_phi"], rtol=1e-8)
    assert table["n"].max() > 0
    removed = read_tsv(folder.path / "attributions/wr.tsv")
    assert removed.empty
    assert list(removed) == list(table)


def test_sentences_that_are_explained_have_two_words_or_more(tmp_path):
    from biaslab.text.tokens import Tokenizer

    words = [*WORDS, "##s", "lamp"]
    tokenizer = Tokenizer.load(tiny_vocabulary(tmp_path, words))
    texts = ["the", "the lamp", "lamps", "", "the cake was broken", "the lamps"]
    tokens = tokenizer.encode(texts * 3)
    assert tokenizer.pieces("lamps") == ["lamp", "##s"]  # one word in two pieces
    folder = SimpleNamespace(splits={"test": SimpleNamespace(tokens=tokens)})
    long = [6 * k + i for k in range(3) for i in (1, 4, 5)]
    assert drawn_rows(folder, 50, 1).tolist() == long
    some = drawn_rows(folder, 4, 1)
    assert len(set(some) & set(long)) == len(some) == 4
    assert (np.diff(some) > 0).all()
    assert some.tolist() == drawn_rows(folder, 4, 1).tolist()
    assert any(drawn_rows(folder, 4, seed).tolist() != some.tolist() for seed in (2, 3, 4))


FILE = RESOURCES / "sentences_example.txt"
SENTENCES = FILE.read_text(encoding="utf-8").splitlines()
SAMPLED = ContextSettings(radius=2, samples=2)
EXPLAINED = ["oc-1", "soc-1"]


@pytest.fixture(scope="module")
def explained(folder):
    for seed, method in enumerate(EXPLAINED):
        example_encoder(folder.path / f"models/{method}/0", seed=seed)
    said = []
    explain_methods(folder, EXPLAINED, FILE, SAMPLED, 6, 3, said.append)
    table = read_tsv(folder.path / "importance.tsv")
    return table, json.loads((folder.path / "hierarchies.json").read_text(encoding="utf-8")), said


def test_words_are_ranked_by_their_mean():
    rows = [("lamp", 1.0), ("bakers", 0.5), ("cake", -1.0), ("lamp", 3.0), ("axe", 0.5), ("null", 0.25)]
    words = pd.DataFrame(rows, columns=["word", "phi"])
    table = word_importance(words, ["bakers", "cyclists"])
    assert table["word"].tolist() == ["lamp", "axe", "bakers", "null", "cake"]
    assert table["rank"].tolist() == [1, 2, 3, 4, 5]
    assert table["n"].tolist() == [2, 1, 1, 1, 1]
    assert table["mean_phi"].tolist() == [2.0, 0.5, 0.5, 0.25, -1.0]
    assert table["is_identifier"].tolist() == [False, False, True, False, False]


def test_importance_is_that_of_the_same_sentences_for_every_method(folder, explained):
    table, _, said = explained
    assert list(table) == ["method", "word", "is_identifier", "n", "mean_phi", "rank"]
    assert said == [f"explained {method}" for method in EXPLAINED]
    one, other = (table[table["method"] == method].set_index("word") for method in EXPLAINED)
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
    assert names == [(method, text) for method in EXPLAINED for text in written]
    tokens = folder.tokenizer.encode(SENTENCES)
    for method, some in zip(EXPLAINED, (hierarchies[:5], hierarchies[5:]), strict=True):
        model = load_classifier(folder.path / f"models/{method}/0")
        scores = predict(model, tokens, folder.tokenizer.pad)
        np.testing.assert_allclose([found["score"] for found in some], scores, rtol=0, atol=1e-6)
