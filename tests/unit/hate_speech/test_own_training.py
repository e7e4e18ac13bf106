"""Training on the user's own texts: how they are split, what is written, and a training that was killed."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")

import torch

from biaslab.hate_speech.adapters import load_folder
from biaslab.hate_speech.methods import parse_method
from biaslab.hate_speech.own_training import OwnSettings, split, train_own
from biaslab.hate_speech.training import TrainingSettings
from biaslab.text.identifiers import Identifiers
from biaslab.text.language_model import LanguageModelSettings
from own_texts_data import GROUPS, WORDS, remarks
from refusals import refused
from text_data import tiny_classifier

SETTINGS = OwnSettings(
    TrainingSettings(epochs=3, batch_size=16, learning_rate=5e-3, negative_weight=0.5),
    LanguageModelSettings(epochs=2, width=8),
    validation_share=0.25,
)
MODEL = ("config.json", "history.tsv", "model.safetensors", "training.json", "vocab.txt")
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def table():
    texts, kinds, posts = zip(*remarks(), strict=True)
    labels = np.array([kind == "complaint" for kind in kinds], np.int8)
    return pd.DataFrame({"text": texts, "label": labels, "group": posts, "row": range(len(texts))})


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny_classifier(tmp_path_factory.mktemp("encoder"), WORDS)


def fit(table, encoder, out, method="soc-0.1", settings=SETTINGS, progress=lambda what, done, n: None):
    table = table.drop(columns="group")
    return train_own(table, encoder, parse_method(method), Identifiers(GROUPS), settings, out, CPU, progress)


@pytest.fixture(scope="module")
def vanilla(table, encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("vanilla")
    assert not fit(table, encoder, folder, "vanilla").was_there
    return folder


# --- the texts


def test_a_split_keeps_the_share_of_positive_texts(table):
    first, second = split(table.drop(columns="group"), 0.25, 1)
    assert sorted([*first, *second]) == list(range(120))
    assert (len(second), table["label"].to_numpy()[second].sum()) == (30, 10)
    again = split(table.drop(columns="group"), 0.25, 2)
    assert not np.array_equal(second, again[1])


def test_no_post_is_in_both_parts(table):
    first, second = split(table, 0.25, 1)
    assert sorted([*first, *second]) == list(range(120))
    assert not set(table["group"][first]) & set(table["group"][second])
    assert 20 <= len(second) <= 40


# --- what is written


@pytest.mark.parametrize(
    ("share", "problem"),
    [
        (0.0, "for validation is not between 0 and 1"),
        (0.1, "for validation .4. include no positive text; supply more texts"),
    ],
)
def test_a_split_that_cannot_be_is_refused(table, share, problem):
    few = pd.concat([table[table["label"] == 1][:2], table[table["label"] == 0][:40]], ignore_index=True)
    with refused(problem):
        split(few.drop(columns="group"), share, 1)


def test_word_removal_holds_in_use_as_well(table, encoder, vanilla, tmp_path):
    fit(table, encoder, tmp_path, "wr")
    mine = load_folder(tmp_path, "cpu")
    first, *others = mine.scores([f"the {group} were late again ." for group in GROUPS])
    assert all(score == first for score in others)
    first, *others = load_folder(vanilla, "cpu").scores([f"the {group} were late ." for group in GROUPS])
    assert any(score != first for score in others)
    assert sorted(path.name for path in vanilla.iterdir()) == sorted(MODEL)


# --- again


def test_a_killed_training_goes_on_to_the_same_bytes(table, encoder, tmp_path):
    method = "soc-0.1"
    whole, killed = tmp_path / "whole", tmp_path / "killed"

    def kill(what, done, n):
        if what == method and done == 13:
            raise KeyboardInterrupt

    told = []
    fit(table, encoder, whole, method, progress=lambda *step: told.append(step))
    assert told[:2] == [("language model", 1, 2), ("language model", 2, 2)]
    assert told[2:] == [(method, step, 18) for step in range(1, 19)]
    with pytest.raises(KeyboardInterrupt):
        fit(table, encoder, killed, method, progress=kill)
    assert (killed / "checkpoint.safetensors").exists()
    assert not (killed / "model.safetensors").exists()
    told = []
    trained = fit(table, encoder, killed, method, progress=lambda *step: told.append(step))
    assert told[0] == (method, 13, 18)  # after the validation at step 12, and with the same language model
    assert not trained.was_there
    names = sorted((*MODEL, "language_model.safetensors", "language_model.tsv"))
    assert [sorted(path.name for path in folder.iterdir()) for folder in (whole, killed)] == [names, names]
    assert all((whole / name).read_bytes() == (killed / name).read_bytes() for name in names)
    texts = json.loads((whole / "training.json").read_text())["texts"]
    assert (texts["training"]["n"], texts["training"]["n_positive"], texts["validation"]["n"]) == (90, 30, 30)
    holds = table["text"].str.contains("|".join(GROUPS))
    assert sum(part["n_with_identifier"] for part in texts.values()) == holds.sum()


def test_a_finished_training_is_left_as_it_is(table, encoder, vanilla):
    before = {path: path.stat().st_mtime_ns for path in vanilla.iterdir()}

    def refuse(what, done, n):
        raise AssertionError("it trains again")

    again = fit(table, encoder, vanilla, "vanilla", progress=refuse)
    assert again.was_there
    assert again.history["step"].tolist() == [6, 12, 18]
    assert {path: path.stat().st_mtime_ns for path in vanilla.iterdir()} == before


def test_a_folder_of_another_training_is_refused(table, encoder, vanilla):
    slower = dataclasses.replace(SETTINGS.training, learning_rate=1e-3)
    for changed, message in (
        ({"method": "wr"}, "has a training with method = vanilla, not wr; choose another folder, or remove"),
        ({"settings": dataclasses.replace(SETTINGS, seed=2)}, "with (seed = 1, not 2|texts)"),
        (
            {"settings": dataclasses.replace(SETTINGS, training=slower)},
            "settings.learning_rate = 0.005, not 0.001",
        ),
        ({"table": table[::-1].reset_index(drop=True)}, r"with texts.training.sha256 = \w+, not \w+;"),
    ):
        arguments = {"table": table, "method": "vanilla", "settings": SETTINGS} | changed
        with refused(message):
            fit(arguments["table"], encoder, vanilla, arguments["method"], arguments["settings"])


def test_linear_models_are_refused_before_anything_is_written(table, encoder, tmp_path):
    with refused("method 'bow-wr' is a linear model, not an encoder that can be saved"):
        fit(table, encoder, tmp_path / "out", "bow-wr")
    assert not (tmp_path / "out").exists()
