"""Files and options of the steps, and that the commands of the steps understand them."""

import json
import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from biaslab.core.errors import InputError
from biaslab.hate_speech import cli_experiment
from biaslab.hate_speech.inputs import Inputs
from biaslab.hate_speech.methods import parse_method
from hate_speech_experiment_data import RESOURCES, plan_of

STORMFRONT = SimpleNamespace(corpus="stormfront")
EXAMPLE = SimpleNamespace(corpus="example")


@pytest.fixture
def inputs(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return lambda *what: Inputs(plan_of(monkeypatch, *what))


def run_step(monkeypatch, step, module, function, arguments):
    """Call a command as a rule does; return what it hands to the function that does the work."""
    taken = {}

    def take(*values, **named):
        taken.update(values=values, **named)

    monkeypatch.setattr(f"biaslab.hate_speech.{module}.{function}", take)
    words = shlex.split(" ".join(arguments))
    common = ["results/x", "--encoder", "e", "--identifiers", "i.yaml"]
    result = CliRunner().invoke(cli_experiment.app, [step, *common, *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return taken["values"]


def test_methods_are_those_compared_ablations_and_held_out_parts(inputs):
    found = inputs("{methods: [bow, vanilla, soc-0.1], ablation: [sum, published], held_out_folds: 3}")
    ablations = ["soc-0.1@sum", "soc-0.1@published"]
    folds = ["soc-0.1@fold0.3", "soc-0.1@fold1.3", "soc-0.1@fold2.3"]
    assert found.methods == ["bow", "vanilla", "soc-0.1", *ablations, *folds]
    assert found.encoders == found.methods[1:]
    assert [parse_method(name).name for name in found.methods] == found.methods
    assert found.explained == ["vanilla", "soc-0.1"]


@pytest.mark.parametrize(
    ("section", "last"),
    [
        ("ablation_seeds: 0", "soc-0.1@fold1.2"),
        ("held_out_seeds: 0", "soc-0.1@published"),
        ("held_out_folds: 0", "soc-0.1@published"),
        ("held_out_folds: 0, ablation: []", "soc-0.1"),
    ],
)
def test_what_has_no_training_is_no_method(inputs, section, last):
    common = "methods: [vanilla, soc-0.1], ablation: [sum, published], held_out_folds: 2"
    found = inputs(f"{{{common}, {section}}}")
    assert found.methods[-1] == last
    assert all(len(found.numbers(name)) for name in found.methods)


def test_the_pattern_matches_the_encoders_alone(inputs):
    found = inputs("")
    others = ("bow", "bow-wr", "soc-0x1", "soc-0.1@fold0.20", "vanilla2")
    matched = [name for name in [*found.methods, *others] if re.fullmatch(found.encoder_pattern, name)]
    assert matched == found.encoders


def test_every_kind_of_method_has_its_number_of_trainings(inputs):
    found = inputs("{seeds: 4, ablation_seeds: 2, held_out_seeds: 3}")
    names = ("soc-0.1", "soc-0.1@sum", "soc-0.1@fold1.2")
    assert [list(found.numbers(name)) for name in names] == [[0, 1, 2, 3], [0, 1], [0, 1, 2]]
    fold = SimpleNamespace(corpus="example", method="soc-0.1@fold1.2")
    folder = "results/hate_speech/example/models"
    assert found.models(fold) == [f"{folder}/soc-0.1@fold1.2/{n}/model.safetensors" for n in range(3)]
    assert found.numbers_options(fold) == ["--numbers 0,1,2"]
    first = [f"{folder}/vanilla/0/model.safetensors", f"{folder}/soc-0.1/0/model.safetensors"]
    assert found.first_models(fold) == first


def test_files_of_a_corpus(inputs):
    found = inputs("run: [stormfront, example]")
    copy = "results/datasets/stormfront"
    assert found.corpora == ["stormfront", "example"]
    assert [Path(file).parent.as_posix() for file in found.source_files(STORMFRONT)] == [copy]
    assert found.source_files(EXAMPLE) == [str(RESOURCES / "example.csv")]
    assert found.file("identifiers")(EXAMPLE) == str(RESOURCES / "identifiers_example.yaml")
    assert found.file("validation")(EXAMPLE) == []
    lost = inputs("", {"news-identity": "gone"})
    assert lost.file("news")(STORMFRONT) == []
    assert found.file("news")(STORMFRONT).startswith("results/datasets/news-identity/")


def test_an_encoder_of_drawn_weights_has_no_file_with_weights(inputs):
    drawn = inputs("encoder: {weights: random, layers: null}")
    assert set(drawn.encoder_files()) == {"config", "vocabulary"}
    assert [option.split()[0] for option in drawn.encoder_options()] == ["--config", "--vocabulary"]
    three = inputs("encoder: {layers: 3}")
    assert set(three.encoder_files()) == {"config", "vocabulary", "weights"}
    assert three.encoder_options()[-1] == "--layers 3"


def test_further_test_sets_that_are_absent_are_left_out(inputs):
    whole = inputs("")
    names = {option.split()[0] for option in whole.probe_options(STORMFRONT)}
    assert names >= {"--hatecheck", "--fuzzed", "--nonfuzzed", "--news", "--others"}
    assert len(whole.probe_files(STORMFRONT)) == 4 + 3  # the three files of the other corpus
    absent = dict.fromkeys(("hatecheck", "toxicity-fuzzed", "news-identity", "ghc-dev"), "gone")
    rest = inputs("", absent)
    assert [Path(file).parent.name for file in rest.probe_files(STORMFRONT)] == ["toxicity-nonfuzzed"]
    options = " ".join(rest.probe_options(STORMFRONT))
    assert "--nonfuzzed" in options
    for name in ("--hatecheck", "--fuzzed", "--news", "--others"):
        assert name not in options.split()


def test_a_corpus_is_no_further_test_set_of_its_own(inputs):
    options = shlex.split(" ".join(inputs("run: [stormfront, ghc, example]").probe_options(STORMFRONT)))
    assert list(json.loads(options[options.index("--others") + 1])) == ["ghc"]
    options = shlex.split(" ".join(inputs("run: [example]").probe_options(EXAMPLE)))
    assert sorted(json.loads(options[options.index("--others") + 1])) == ["ghc", "stormfront"]


def test_keys_become_options_and_what_is_true_a_switch(inputs):
    found = inputs("{regularization: {radius: 2, add_itself: true}, linear_splits: 6}")
    assert found.keys("regularization", "radius", "add_itself") == ["--radius 2", "--add-itself"]
    off = inputs("regularization: {samples: 7, add_itself: false}")
    assert off.keys("regularization", "samples", "add_itself") == ["--samples 7"]
    assert found.keys(None, "linear_splits") == ["--linear-splits 6"]
    assert found.weight(EXAMPLE) == ["--negative-weight 0.5"]
    assert found.weight(STORMFRONT) == ["--negative-weight 0.125"]


def test_the_step_of_texts_gets_corpus_probes_and_limits(inputs, monkeypatch):
    pytest.importorskip("tokenizers")
    found = inputs(
        "{run: [stormfront, example], limits: {train: 50, validation: 30, test: 40, probes: null}}"
    )
    arguments = [*found.source_options(EXAMPLE), *found.probe_options(EXAMPLE), "--seed 7"]
    folder, source, probes, others, limits, seed = run_step(
        monkeypatch, "texts", "preparation", "prepare", arguments
    )
    assert (folder.path, folder.encoder) == (Path("results/x"), Path("e"))
    assert (source.format, source.train, source.split) == ("table", RESOURCES / "example.csv", "random")
    assert set(probes) == {"news", "hatecheck", "fuzzed", "nonfuzzed"}
    assert probes["news"] == RESOURCES / "example_news.jsonl"
    assert {name: other.format for name, other in others.items()} == {
        "stormfront": "stormfront",
        "ghc": "ghc",
    }
    assert others["ghc"].is_released_split
    assert not others["stormfront"].is_released_split
    assert (limits.train, limits.validation, limits.test, limits.probes) == (50, 30, 40, None)
    assert seed == 7


def test_the_step_of_linear_models_gets_its_numbers(inputs, monkeypatch):
    pytest.importorskip("tokenizers")
    found = inputs("{linear_splits: 4, removal_subsets: 3}")
    keys = found.keys(None, "linear_splits", "removal_subsets")
    arguments = [*found.source_options(STORMFRONT), *keys, *found.weight(STORMFRONT), "--seed 7"]
    _, source, effort, _ = run_step(monkeypatch, "linear", "linear_experiment", "run_linear", arguments)
    assert (source.format, source.positive) == ("stormfront", None)
    assert (effort.n_splits, effort.n_subsets, effort.negative_weight, effort.seed) == (4, 3, 0.125, 7)


def test_the_step_of_training_gets_settings_and_contexts(inputs, monkeypatch):
    for name in ("torch", "tokenizers", "safetensors"):
        pytest.importorskip(name)
    monkeypatch.setattr("biaslab.text.devices.make_deterministic", lambda _: None)
    training = "schedule: published, learning_rate: 0.00002, epochs: 7, stop: code"
    more = "batch_size: 16, validate_every: 19, halvings: 4"
    contexts = "{radius: 3, samples: 4, add_itself: true}"
    found = inputs(f"{{training: {{{training}, {more}}}, regularization: {contexts}}}")
    keys = "schedule", "epochs", "batch_size", "learning_rate", "validate_every", "halvings", "stop"
    contexts = found.keys("regularization", "radius", "samples", "add_itself")
    arguments = [*found.keys("training", *keys), *contexts, *found.weight(EXAMPLE)]
    arguments += ["--method soc-0.1@sum", "--number 2", "--seed 7", "--threads 1", "--device cpu"]
    _, method, settings, contexts, number, seed, _ = run_step(
        monkeypatch, "train", "experiment", "train_method", arguments
    )
    assert (method.name, number, seed) == ("soc-0.1@sum", 2, 7)
    chosen = [getattr(settings, key) for key in (*keys, "negative_weight")]
    assert chosen == ["published", 7, 16, 2e-5, 19, 4, "code", 0.5]
    assert (contexts.radius, contexts.samples, contexts.add_itself) == (3, 4, True)


def test_the_step_of_testing_gets_trainings_contexts_and_sentences(inputs, monkeypatch):
    for name in ("torch", "tokenizers", "safetensors"):
        pytest.importorskip(name)
    monkeypatch.setattr("biaslab.text.devices.make_deterministic", lambda _: None)
    found = inputs("{seeds: 3, analysis: {radius: 6, samples: 4, faithful_sentences: 9}}")
    wildcards = SimpleNamespace(corpus="example", method="vanilla")
    contexts = found.keys("analysis", "radius", "samples", "faithful_sentences")
    arguments = ["--method vanilla", *found.numbers_options(wildcards), *contexts]
    arguments += ["--seed 7", "--threads 1", "--device cpu"]
    _, method, numbers, contexts, n_faithful, seed, *_ = run_step(
        monkeypatch, "evaluate", "experiment", "evaluate_method", arguments
    )
    assert (method.name, list(numbers), n_faithful, seed) == ("vanilla", [0, 1, 2], 9, 7)
    assert (contexts.radius, contexts.samples, contexts.add_itself) == (6, 4, False)


def test_the_step_of_measuring_gets_the_settings_as_numbers(inputs, monkeypatch):
    training = "{schedule: published, learning_rate: 0.00002, batch_size: 16, epochs: 3}"
    found = inputs(f"{{seeds: 4, training: {training}, analysis: {{radius: 6, samples: 4, sentences: 9}}}}")
    arguments = ["--methods vanilla", *found.keys("training", "batch_size")]
    arguments += [*found.keys("regularization", "radius", "samples", "add_itself"), *found.settings(EXAMPLE)]
    *_, batch_size, settings = run_step(monkeypatch, "measure", "measurement", "measure_corpus", arguments)
    assert batch_size == settings["batch_size"] == 16
    names = ("seeds", "positive_weight", "published_schedule", "learning_rate", "epochs")
    assert [settings[name] for name in names] == [4, 2, 1, 2e-5, 3]
    names = ("analysis_radius", "analysis_samples", "analysis_sentences", "encoder_pretrained")
    assert [settings[name] for name in names] == [6, 4, 9, 1]


def test_settings_that_are_no_numbers_are_refused():
    common = ["measure", "x", "--encoder", "e", "--identifiers", "i", "--methods", "vanilla"]
    common += ["--batch-size", "8", "--radius", "2", "--samples", "2", "--settings"]
    for text in ("[]", "{", '{"a": "b"}'):
        with pytest.raises(InputError, match="--settings: no numbers in JSON"):
            CliRunner().invoke(cli_experiment.app, [*common, text], catch_exceptions=False)
