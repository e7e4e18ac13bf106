"""What a run tests of networks that read texts: corpora, refusals, and what the steps are given."""

import importlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import get_type_hints

import pytest
import yaml

from biaslab.core.errors import InputError
from biaslab.core.settings import build_all
from biaslab.fairness_testing.area import STEPS, wanted_texts
from biaslab.fairness_testing.inputs import TextInputs
from biaslab.run.data.fetching import ABSENT, THERE, Status
from biaslab.run.plan import config as configuration
from biaslab.run.plan import plan as planning
from biaslab.run.plan.plan import make_plan
from biaslab.text.recurrent_training import TrainingSettings
from text_data import texts_of

ROOT = Path(__file__).parents[3]
TEXTS = "workflow/resources/hate_speech/example.csv"
TERMS = "workflow/resources/fairness_testing/terms_example.yaml"
ENCODER = {"minilm-l6-config", "minilm-l6-vocabulary", "minilm-l6-weights"}
OF_TEXTS = tuple(f"corpora.mine.{key}" for key in ("source", "test", "validation"))
GHC = {"ghc-train", "ghc-dev", "ghc-test"}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def plan(monkeypatch):
    """Return a function that plans a section where some datasets are absent, and perhaps the extra."""

    def make(text="{}", absent=None, extra=""):
        def status(dataset, *_):
            reason = (absent or {}).get(dataset.name)
            return Status(ABSENT, reason) if reason else Status(THERE, "here")

        monkeypatch.setattr(planning, "status", status)
        monkeypatch.setattr("biaslab.fairness_testing.area.missing_extra", lambda *_: extra)
        return make_plan(config_of(text), ROOT)

    return make


def config_of(text):
    section = yaml.safe_load(text)
    return {"corpora": texts_of(section), "fairness_testing": {"text": section}}


def own(**keys):
    """Return a section with one corpus of the user."""
    corpus = {"source": TEXTS, "terms": TERMS, "features": ["trade"]} | keys
    return yaml.safe_dump({"run": ["mine"], "otherwise": [], "corpora": {"mine": corpus}})


def names_of(plan):
    names = plan.units["fairness_testing"].names
    return [name for name in names if name.startswith("text-")]


def test_a_corpus_is_left_out_with_its_reason_and_replaced(plan):
    found = plan("run: [stormfront, ghc]", {"ghc-dev": "it is gone"})
    assert names_of(found) == ["text-stormfront"]
    assert found.units["fairness_testing"].left_out["text-ghc"] == "it is gone"
    assert found.record()["fairness_testing"]["text"]["run"] == ["stormfront"]
    found = plan("{run: [stormfront], otherwise: [ghc, example]}", {"stormfront": "1", "ghc-test": "2"})
    assert names_of(found) == ["text-example"]
    assert found.units["fairness_testing"].files["text-example-source"] == str(ROOT / TEXTS)
    assert found.units["fairness_testing"].files["text-example-terms"] == str(ROOT / TERMS)


def test_without_the_corpus_of_word_vectors_no_text_is_tested(plan):
    found = plan("{}", {"enwiki-sample": "gone"})
    assert names_of(found) == []
    left_out = found.units["fairness_testing"].left_out
    assert (left_out["text-stormfront"], left_out["text-example"]) == ("gone", "gone")
    Path("vectors.txt").write_text("the 1 2\n")
    assert names_of(plan("vectors: {file: vectors.txt}", {"enwiki-sample": "gone"})) == ["text-stormfront"]


@pytest.mark.parametrize(
    ("absent", "extra", "reason"),
    [
        ({}, "torch is not installed; install it", "torch is not installed; install it"),
        ({"minilm-l6-weights": "no network"}, "", "its encoder: no network"),
    ],
)
def test_without_torch_or_encoder_a_part_is_left_out(plan, absent, extra, reason):
    found = plan("{}", absent, extra)
    units = found.units["fairness_testing"]
    assert units.left_out["likeness of sentences, perplexity and certified training"] == reason
    assert [unit.marks for unit in units.chosen if "text" in unit.marks] == [("text",)]
    inputs = TextInputs(found)
    assert not inputs.is_certified
    assert inputs.encoder == {}
    assert TextInputs(plan()).is_certified
    assert not TextInputs(plan("certified_epochs: 0")).is_certified


@pytest.mark.parametrize(
    ("section", "datasets"),
    [
        ("{}", {"stormfront", "adf-text-terms", "enwiki-sample"} | ENCODER),
        ("{run: [ghc], otherwise: []}", GHC | {"adf-text-terms", "enwiki-sample"} | ENCODER),
        ("{run: [], otherwise: []}", set()),
        (
            "{encoder: {weights: random}, vectors: {file: v.txt}, run: [example], otherwise: []}",
            {"minilm-l6-config", "minilm-l6-vocabulary"},
        ),
    ],
)
def test_wanted_data_are_those_of_the_corpora_and_what_measures_them(section, datasets):
    Path("v.txt").touch()
    assert wanted_texts(configuration.load(config_of(section), ROOT)) == datasets


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("run: [stormfrnt]", "run: there is no corpus 'stormfrnt' (defined under corpora: stormfront, ghc, "),
        ("otherwise: [mine]", "otherwise: there is no corpus 'mine'"),
        (own(source=""), "corpora.mine.source: is missing; name the file"),
        (own(source="no.csv"), "corpora.mine.source: no such file"),
        (own(source="dataset:stormfrnt"), "corpora.mine.source: unknown dataset 'stormfrnt'"),
        (own(terms="no.yaml"), "corpora.mine.terms: no such file"),
        (own(sentences=""), "corpora.mine.sentences: is missing; name the file"),
        (
            own(test=TEXTS),
            "corpora.mine.test: names only one of validation and test; name both, or write null",
        ),
        ("encoder: {config: no.json}", "encoder.config: no such file"),
        ("encoder: {weights: no.safetensors}", "encoder.weights: no such file"),
        ("masked_words: no.txt", "masked_words: no such file"),
        ("vectors: {file: no.txt}", "vectors.file: no such file"),
        ("vectors: {setup: sampl}", "vectors.setup: the setup 'sampl' is not defined (defined: sample)"),
    ],
)
def test_wrong_keys_are_refused_in_one_line(section, message):
    with pytest.raises(InputError) as caught:
        configuration.load(config_of(section), ROOT)
    assert "\n" not in str(caught.value)
    place = "" if message.startswith(OF_TEXTS) else "fairness_testing.text."
    assert f"config: {place}{message}" in str(caught.value)


GHC_TEXTS, EXAMPLE_TEXTS = SimpleNamespace(texts="ghc"), SimpleNamespace(texts="example")


def taken_by(step, **given):
    """Return what the function of a step takes of what its rule gives it."""
    module, _, function = STEPS[step].partition(":")
    function = getattr(importlib.import_module(module), function)
    types = get_type_hints(function, include_extras=True)
    return SimpleNamespace(**build_all(types, json.loads(json.dumps(given))))


def test_preparing_gets_texts_and_terms(plan):
    inputs = TextInputs(plan("run: [ghc]"))
    taken = taken_by("prepare-tested-texts", **inputs.preparation(GHC_TEXTS))
    source = taken.source
    assert (source.format, source.positive, taken.features) == ("ghc", None, ["race", "country"])
    given = [source.train, source.validation, source.test, Path(inputs.file("terms")(GHC_TEXTS))]
    assert [path.parts[2] for path in given] == ["ghc-train", "ghc-dev", "ghc-test", "adf-text-terms"]
    sentences = ROOT / "workflow/resources/fairness_testing/sentences.txt"
    assert inputs.file("sentences")(GHC_TEXTS) == str(sentences)
    assert list(inputs.texts(GHC_TEXTS).values()) == [str(path) for path in given[:3]]


def test_steps_get_their_settings(plan):
    inputs = TextInputs(plan("{run: [example]}"))
    expected = TrainingSettings(epochs=10, batch_size=64, learning_rate=0.01, negative_weight=0.5)
    given = inputs.training(EXAMPLE_TEXTS)
    assert taken_by("train-text-networks", **given).training == expected
    assert taken_by("retrain-text-networks", **given).training == expected
    assert taken_by("certify-text-networks", **inputs.weight(EXAMPLE_TEXTS)).negative_weight == 0.5
    encoder = taken_by("measure-found-texts", encoder=inputs.encoder).encoder
    assert {name: str(file) for name, file in encoder.items()} == inputs.encoder
    assert set(inputs.encoder) == {"config", "vocabulary", "weights"}


def test_word_vectors_are_trained_as_a_setup_says_or_read(plan):
    inputs = TextInputs(plan("vectors: {dimension: 9}"))
    training = taken_by("train-text-vectors", **inputs.vectors(None)).training
    assert (training.glove.dimension, training.choice.min_count, training.glove.epochs) == (9, 3, 30)
    assert (training.window, training.format) == (8, "mediawiki")
    assert inputs.vectors_checksum()
    assert "enwiki-sample" in inputs.vectors_source()
    Path("vectors.txt").write_text("the 1 2\n")
    inputs = TextInputs(plan("vectors: {file: vectors.txt}"))
    assert taken_by("train-text-vectors", **inputs.vectors(None)).training is None
    assert inputs.vectors_checksum() == ""
    assert inputs.vectors_source() == "vectors.txt"


def test_the_last_step_reads_what_the_others_write(plan):
    inputs = TextInputs(plan("{models: [gru], repetitions: 2}"))
    folder = "results/fairness_testing/text-ghc"
    files = {file.removeprefix(f"{folder}/") for file in inputs.measured(GHC_TEXTS)}
    names = ("network-0.npz", "network-1.npz", "certified.tsv", "retraining.tsv", *inputs.searched)
    assert {"lexicon.npz", "texts.npz", *(f"gru/{name}" for name in names)} <= files
    assert not [file for file in files if "lstm" in file]
    alone = TextInputs(plan("certified_epochs: 0")).measured(GHC_TEXTS)
    assert not [file for file in alone if "certified" in file]
