"""What a run tests of networks that read texts: corpora, refusals, files and options of the steps."""

import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from typer.testing import CliRunner

from biaslab.core.errors import InputError
from biaslab.fairness_testing.text import cli_experiment
from biaslab.fairness_testing.text.area import PROBES, summaries, wanted
from biaslab.fairness_testing.text.inputs import TextInputs
from biaslab.fairness_testing.text.search_experiment import Effort
from biaslab.run import config as configuration
from biaslab.run import plan as planning
from biaslab.run.fetching import ABSENT, THERE, Status
from biaslab.run.plan import make_plan

ROOT = Path(__file__).parents[3]
TEXTS = "workflow/resources/hate_speech/example.csv"
TERMS = "workflow/resources/fairness_testing/terms_example.yaml"
ENCODER = {"minilm-l6-config", "minilm-l6-vocabulary", "minilm-l6-weights"}
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
        monkeypatch.setattr("biaslab.fairness_testing.text.area.missing_extra", lambda _: extra)
        return make_plan({"fairness_testing": {"text": yaml.safe_load(text)}}, ROOT)

    return make


def loaded(text):
    return configuration.load({"fairness_testing": {"text": yaml.safe_load(text)}}, ROOT)


def own(**keys):
    """Return a section with one corpus of the user."""
    corpus = {"source": TEXTS, "terms": TERMS, "features": ["trade"]} | keys
    return yaml.safe_dump({"run": ["mine"], "otherwise": [], "corpora": {"mine": corpus}})


def names_of(plan):
    names = plan.units["fairness_testing"].names
    return [name for name in names if name.startswith("text-")]


# --- the area


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
    assert (
        units.left_out["likeness of sentences, perplexity, certified training and the encoder as a network"]
        == reason
    )
    assert [unit.marks for unit in units.chosen if "text" in unit.marks] == [("text",)]
    inputs = TextInputs(found)
    assert not inputs.is_certified
    assert inputs.encoder_files() == {}
    assert inputs.encoder_options() == []
    assert TextInputs(plan()).is_certified
    assert not TextInputs(plan("certified_epochs: 0")).is_certified


def test_wanted_data_are_those_of_the_corpora_and_what_measures_them():
    probes = {f"toxicity-{name}" for name in PROBES}
    assert wanted(loaded("{}")) == {"stormfront", "adf-text-terms", "enwiki-sample"} | ENCODER | probes
    assert wanted(loaded("{run: [ghc], otherwise: []}")) >= GHC
    assert wanted(loaded("{run: [], otherwise: []}")) == set()
    offline = "{nonfuzzed: null, fuzzed: null, encoder: {weights: random}, vectors: {file: v.txt}, "
    Path("v.txt").touch()
    few = {"minilm-l6-config", "minilm-l6-vocabulary"}
    assert wanted(loaded(offline + "run: [example], otherwise: []}")) == few


def test_one_line_says_what_is_tested():
    (line,) = summaries(loaded("{run: [ghc], models: [gru]}"))
    assert line.startswith(
        "GRU that read ghc (or else example), searched by gradients and at random: 3 trainings"
    )
    assert summaries(loaded("run: []")) == []


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (
            "run: [stormfrnt]",
            "run: there is no corpus 'stormfrnt' (defined: stormfront, ghc, example); did you mean",
        ),
        ("otherwise: [mine]", "otherwise: there is no corpus 'mine'"),
        (own(source=""), "corpora.mine.source: is missing; name the file"),
        (own(source="no.csv"), "corpora.mine.source: no such file"),
        (own(source="dataset:stormfrnt"), "corpora.mine.source: there is no dataset 'stormfrnt'"),
        (own(terms="no.yaml"), "corpora.mine.terms: no such file"),
        (own(sentences="no.txt"), "corpora.mine.sentences: no such file"),
        (own(sentences=""), "corpora.mine.sentences: is missing; name the file"),
        (own(test=TEXTS), "corpora.mine.test: names one of validation and test alone; name both, or null"),
        (own(validation=TEXTS), "corpora.mine.validation: names one of validation and test alone"),
        ("fuzzed: no.csv", "fuzzed: no such file"),
        ("nonfuzzed: 'dataset:none'", "nonfuzzed: there is no dataset 'none'"),
        ("encoder: {config: no.json}", "encoder.config: no such file"),
        ("encoder: {weights: no.safetensors}", "encoder.weights: no such file"),
        ("masked_words: no.txt", "masked_words: no such file"),
        ("vectors: {file: no.txt}", "vectors.file: no such file"),
        ("vectors: {setup: sampl}", "vectors.setup: there is no setup 'sampl' (defined: sample)"),
    ],
)
def test_wrong_keys_are_refused_in_one_line(section, message):
    with pytest.raises(InputError) as caught:
        loaded(section)
    assert "\n" not in str(caught.value)
    assert f"fairness_testing.text.{message}" in str(caught.value)


# --- files and options of the steps


def taken_by(monkeypatch, step, function, arguments):
    """Call a command as a rule does; return what it hands to the function that does the work."""
    taken = []
    monkeypatch.setattr(f"biaslab.fairness_testing.text.{function}", lambda *values: taken.extend(values))
    words = shlex.split(" ".join(["results/x", *arguments, "--seed 1"]))
    result = CliRunner().invoke(cli_experiment.app, [step, *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return taken


def test_options_of_preparing_reach_it(plan, monkeypatch):
    inputs = TextInputs(plan("{run: [ghc], nonfuzzed: null}"))
    arguments = ["--vectors", "v.npz", *inputs.prepare_options(SimpleNamespace(texts="ghc"))]
    folder, source, vectors, terms, features, sentences, probes, seed = taken_by(
        monkeypatch, "prepare", "corpus.prepare", arguments
    )
    assert (folder, vectors, seed) == (Path("results/x"), Path("v.npz"), 1)
    assert (source.format, source.positive, features) == ("ghc", None, ["race", "country"])
    given = [source.train, source.validation, source.test, terms]
    assert [path.parts[:3] for path in given] == [
        ("results", "datasets", name) for name in ("ghc-train", "ghc-dev", "ghc-test", "adf-text-terms")
    ]
    assert sentences == ROOT / "workflow/resources/fairness_testing/sentences.txt"
    assert list(probes) == ["fuzzed"]
    files = inputs.texts(SimpleNamespace(texts="ghc"))
    assert files == [str(path) for path in (*given[:3], probes["fuzzed"])]


def test_absent_probes_are_gone_without(plan):
    inputs = TextInputs(plan("{}", {"toxicity-fuzzed": "gone"}))
    files = inputs.texts(SimpleNamespace(texts="stormfront"))
    assert [Path(file).parts[2] for file in files] == ["stormfront", "toxicity-nonfuzzed"]
    assert not [
        word for word in inputs.prepare_options(SimpleNamespace(texts="stormfront")) if "--fuzzed" in word
    ]


def test_options_of_the_other_steps_reach_them(plan, monkeypatch):
    inputs = TextInputs(plan("{run: [example], repetitions: 2, hops: 7, independent: null}"))
    example = SimpleNamespace(texts="example")
    training = inputs.training_options(example)
    expected = {"epochs": 10, "batch_size": 64, "learning_rate": 0.01, "negative_weight": 0.5}
    taken = taken_by(
        monkeypatch,
        "train",
        "experiment.train_networks",
        [*inputs.options("models", "repetitions"), *training],
    )
    assert taken == [Path("results/x"), ["lstm", "gru"], 2, expected, 1]
    searched = [*inputs.options("repetitions", "seeds", "hops"), "--threads 1"]
    taken = taken_by(monkeypatch, "search", "search_experiment.search_networks", ["--model gru", *searched])
    assert taken == [Path("results/x"), "gru", 2, Effort(1000, 7, 1)]
    retrained = [*inputs.options("retrainings", "retraining_share", "independent"), *training]
    taken = taken_by(
        monkeypatch, "retrain", "retraining_experiment.retrain_network", ["--model gru", *retrained]
    )
    assert taken == [Path("results/x"), "gru", 3, 0.05, None, expected, 1]
    certified = [*inputs.options("certified_epochs", "independent"), *training]
    taken = taken_by(
        monkeypatch, "certify", "retraining_experiment.certify_network", ["--model lstm", *certified]
    )
    assert taken == [Path("results/x"), "lstm", 8, None, expected, 1]
    measured = [*inputs.measure_options(), *inputs.encoder_options(), "--threads 1"]
    taken = taken_by(monkeypatch, "measure", "measurement.measure", measured)
    encoder = {part: Path(file) for part, file in inputs.encoder_files().items()}
    assert taken == [Path("results/x"), ["lstm", "gru"], 60, encoder, ["certified", "encoder"], 1, 1]
    assert list(encoder) == ["config", "vocabulary", "weights"]


def test_random_weights_are_no_file(plan):
    inputs = TextInputs(plan("encoder: {weights: random}"))
    assert list(inputs.encoder_files()) == ["config", "vocabulary"]


def test_word_vectors_are_trained_as_a_setup_says_or_read(plan, monkeypatch):
    inputs = TextInputs(plan("vectors: {dimension: 9}"))
    words = shlex.split(" ".join(inputs.vectors_options()))
    given = dict(zip(words[::2], words[1::2], strict=True))
    assert (given["--dimension"], given["--min-count"], given["--epochs"]) == ("9", "3", "30")
    assert (given["--window"], given["--format"]) == ("8", "mediawiki")
    assert inputs.vectors_checksum()
    assert "enwiki-sample" in inputs.vectors_source()
    Path("vectors.txt").write_text("the 1 2\n")
    inputs = TextInputs(plan("vectors: {file: vectors.txt}"))
    assert (inputs.vectors_options(), inputs.vectors_checksum()) == ([], "")
    assert inputs.vectors_source() == "vectors.txt"


def test_the_last_step_reads_what_the_others_write(plan):
    inputs = TextInputs(plan("{models: [gru], repetitions: 2}"))
    files = inputs.measured(SimpleNamespace(texts="ghc"))
    folder = "results/fairness_testing/text-ghc"
    assert {f"{folder}/{file}" for file in ("lexicon.npz", "texts.npz")} < set(files)
    of_network = {Path(file).name for file in files if file.startswith(f"{folder}/gru/")}
    assert of_network >= {"network-0.npz", "network-1.npz", "certified.tsv", "unseen.tsv", *inputs.searched}
    assert not [file for file in files if "lstm" in file]
    alone = TextInputs(plan("certified_epochs: 0")).measured(SimpleNamespace(texts="ghc"))
    assert not [file for file in alone if "certified" in file]
    assert "--certified" in inputs.measure_options()
    assert "--certified" not in TextInputs(plan("certified_epochs: 0")).measure_options()


def test_nothing_is_asked_for_without_corpora(plan):
    inputs = TextInputs(plan("{run: [], otherwise: []}"))
    assert inputs.corpora == []
    assert not inputs.is_neural
    assert inputs.encoder_files() == {}
    assert inputs.vectors_source()


def test_files_that_are_not_named_are_no_inputs(plan):
    inputs = TextInputs(plan(own()))
    mine = SimpleNamespace(texts="mine")
    assert inputs.file("terms")(mine) == str(ROOT / TERMS)
    assert inputs.file("validation")(mine) == []
    assert inputs.texts(mine)[0] == str(ROOT / TEXTS)
