"""Files of the steps, what they are given, and that their functions take it."""

import importlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import get_type_hints

import pytest

from biaslab.core.settings import build_all
from biaslab.hate_speech.area import AREA
from biaslab.hate_speech.inputs import Inputs
from biaslab.hate_speech.methods import parse_method
from hate_speech_experiment_data import RESOURCES, plan_of

pytest.importorskip("torch")

from biaslab.hate_speech.contexts import ContextSettings
from biaslab.hate_speech.corpus import Folder

STORMFRONT = SimpleNamespace(corpus="stormfront")
EXAMPLE = SimpleNamespace(corpus="example")


@pytest.fixture
def inputs(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return lambda *what: Inputs(plan_of(monkeypatch, *what))


def given_to(name, found, arguments, wildcards=EXAMPLE):
    """Return what the function of a step is given, by name, and the names of all that it takes."""
    module, _, function = AREA.steps[name].partition(":")
    function = getattr(importlib.import_module(module), function)
    kinds = {k: v for k, v in get_type_hints(function, include_extras=True).items() if k != "return"}
    own = arguments(wildcards) if callable(arguments) else arguments
    told = json.loads(json.dumps({**found.folder(wildcards), **own}))
    return SimpleNamespace(**build_all(kinds, told))


def test_methods_are_those_compared_and_ablations(inputs):
    found = inputs("{methods: [bow, vanilla, soc-0.1], ablation: [sum, published]}")
    assert found.methods == ["bow", "vanilla", "soc-0.1", "soc-0.1@sum", "soc-0.1@published"]
    assert found.encoders == found.methods[1:]
    assert [parse_method(name).name for name in found.methods] == found.methods
    assert found.explained == ["vanilla", "soc-0.1"]
    untrained = inputs("{methods: [vanilla, soc-0.1], ablation: [sum, published], ablation_seeds: 0}")
    assert untrained.methods == ["vanilla", "soc-0.1"]


def test_a_corpus_may_have_linear_models_alone(inputs):
    found = inputs("{run: [stormfront, example], linear_only: [example], methods: [bow, vanilla, soc-0.1]}")
    assert found.encoder_corpora == ["stormfront"]
    assert found.measurement(EXAMPLE)["methods"] == ["bow", "bow-wr"]
    assert found.measurement(STORMFRONT)["methods"] == found.methods
    assert [Path(file).stem for file in found.predictions(EXAMPLE)] == ["bow", "bow-wr"]


def test_every_kind_of_method_has_its_number_of_trainings(inputs):
    found = inputs("{seeds: 4, ablation_seeds: 2}")
    assert [found.numbers[name] for name in ("soc-0.1", "soc-0.1@sum")] == [[0, 1, 2, 3], [0, 1]]
    folder = "results/hate_speech/example/models"
    assert [file for file in found.models(EXAMPLE) if "@sum" in file] == [
        f"{folder}/soc-0.1@sum/{n}/model.safetensors" for n in range(2)
    ]
    assert found.evaluation["numbers"]["soc-0.1@sum"] == [0, 1]


def test_an_encoder_of_drawn_weights_has_no_file_with_weights(inputs):
    drawn = inputs("encoder: {weights: random, layers: null}")
    assert len(drawn.encoder_files) == 2
    found = drawn.encoder
    assert (found["files"]["weights"], found["weights"], found["layers"]) == (None, "random", None)
    three = inputs("encoder: {layers: 3}").encoder
    assert (three["weights"], three["layers"]) == ("pretrained", 3)


def test_further_test_sets_that_are_absent_are_left_out(inputs):
    whole = inputs("")
    assert list(whole.probes(STORMFRONT)["probes"]) == ["hatecheck", "news"]
    assert list(whole.probes(STORMFRONT)["others"]) == ["ghc"]
    assert len(whole.probe_files(STORMFRONT)) == 2 + 3  # the three files of the other corpus
    assert sorted(inputs("run: [example]").probes(EXAMPLE)["others"]) == ["ghc", "stormfront"]
    rest = inputs("", dict.fromkeys(("hatecheck", "news-identity", "ghc-dev"), "gone"))
    assert rest.probe_files(STORMFRONT) == []
    assert rest.probes(STORMFRONT)["probes"] == rest.probes(STORMFRONT)["others"] == {}


def test_the_step_of_texts_gets_corpus_probes_and_limits(inputs):
    found = inputs(
        "{run: [stormfront, example], limits: {train: 50, validation: 30, test: 40, probes: null}}"
    )
    source = given_to("prepare-texts", found, found.source).source
    assert (source.format, source.train) == ("table", RESOURCES / "example.csv")
    given = given_to("prepare-texts", found, found.probes)
    assert given.folder == Folder(
        Path("results/hate_speech/example"),
        Path("results/hate_speech/encoder"),
        RESOURCES / "identifiers_example.yaml",
    )
    assert set(given.probes) == {"hatecheck", "news"}
    assert given.probes["news"] == RESOURCES / "example_news.jsonl"
    formats = {name: other.format for name, other in given.others.items()}
    assert formats == {"stormfront": "stormfront", "ghc": "ghc"}
    assert given.others["ghc"].is_released_split
    assert not given.others["stormfront"].is_released_split
    limits = given.limits
    assert (limits.train, limits.validation, limits.test, limits.probes) == (50, 30, 40, None)


def test_the_step_of_linear_models_gets_its_numbers(inputs):
    found = inputs("{linear_splits: 4, removal_subsets: 3}")
    source = given_to("train-linear", found, found.source, STORMFRONT).source
    assert (source.format, source.positive) == ("stormfront", None)
    effort = given_to("train-linear", found, found.linear, STORMFRONT).effort
    assert (effort.n_splits, effort.n_subsets, effort.negative_weight, effort.seed) == (4, 3, 0.125, 1)


def test_the_steps_of_training_get_settings_and_contexts(inputs):
    training = "schedule: published, learning_rate: 0.00002, epochs: 7"
    more = "batch_size: 16, validate_every: 19, halvings: 4"
    found = inputs(f"{{training: {{{training}, {more}}}, regularization: {{radius: 3, samples: 4}}}}")
    given = given_to("train-classifier", found, found.training)
    keys = "schedule", "epochs", "batch_size", "learning_rate", "validate_every", "halvings"
    chosen = [getattr(given.settings, key) for key in (*keys, "negative_weight")]
    assert chosen == ["published", 7, 16, 2e-5, 19, 4, 0.5]
    assert given.contexts == ContextSettings(3, 4, True)
    found = inputs("language_model: {epochs: 4, learning_rate: 0.5, width: 6}")
    model = given_to("train-language-model", found, {"settings": found.section["language_model"]}).settings
    assert (model.epochs, model.learning_rate, model.width) == (4, 0.5, 6)


def test_the_step_of_testing_gets_trainings_and_contexts(inputs):
    found = inputs("{seeds: 3, analysis: {radius: 6, samples: 4, sentences: 8}, training: {batch_size: 16}}")
    given = given_to("evaluate-encoders", found, found.evaluation)
    assert (given.methods, given.numbers["vanilla"], given.batch_size) == (found.encoders, [0, 1, 2], 16)
    assert given.contexts == ContextSettings(6, 4)
    assert given.regularization.add_itself
    given = given_to("explain-classifiers", found, found.explanation)
    assert (given.methods, given.n, given.contexts) == (["vanilla", "soc-0.1"], 8, ContextSettings(6, 4))


def test_the_step_of_measuring_gets_the_settings_as_numbers(inputs):
    training = "{schedule: published, learning_rate: 0.00002, batch_size: 16, epochs: 3}"
    found = inputs(f"{{seeds: 4, training: {training}, analysis: {{radius: 6, samples: 4, sentences: 9}}}}")
    given = given_to("measure-classifiers", found, found.measurement)
    assert given.methods == found.methods
    assert given.settings["batch_size"] == 16
    names = ("seeds", "positive_weight", "published_schedule", "learning_rate", "epochs")
    assert [given.settings[name] for name in names] == [4, 2, 1, 2e-5, 3]
    names = ("analysis_radius", "analysis_samples", "analysis_sentences", "encoder_pretrained")
    assert [given.settings[name] for name in names] == [6, 4, 9, 1]
