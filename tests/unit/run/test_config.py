"""The configuration: what is refused, with which words, and what is filled in."""

import json
import os
import re
from dataclasses import is_dataclass
from pathlib import Path
from typing import get_args, get_origin

import pytest
import yaml

from biaslab.core.errors import InputError
from biaslab.core.files import locate, read_yaml
from biaslab.core.settings import complete, fields_of, merge, setting_of
from biaslab.run.plan import config as configuration
from biaslab.run.plan.plan import make_plan
from refusals import refusal

ROOT = Path(__file__).parents[3]
PRESETS = sorted((ROOT / configuration.PRESETS).glob("*.yaml"))


@pytest.fixture(autouse=True)
def _empty_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def load(text: str = "") -> dict:
    return configuration.load(yaml.safe_load(text) or {}, ROOT)


def meanings(annotation: object, path: str = ""):
    """Yield path and meaning of everything a user may write."""
    setting = setting_of(annotation)
    yield path, setting
    below = {"NAME": get_args(setting.type)[1]} if get_origin(setting.type) is dict else {}
    below = fields_of(setting.type) if is_dataclass(setting.type) else below
    for key, child in below.items():
        yield from meanings(child, f"{path}.{key}")


# --- schema and defaults


def test_every_key_has_a_description():
    known = list(meanings(configuration.settings()))[1:]
    assert len(known) > 150
    assert [path for path, setting in known if not setting.about] == []


def test_shipped_configuration_is_exactly_the_defaults():
    shipped = read_yaml(ROOT / "config.yaml")
    assert shipped == load(), "config.yaml must hold every key, at the default that the schema states"


@pytest.mark.parametrize("preset", [p for p in PRESETS if p.stem != "fairness-text"], ids=lambda p: p.stem)
def test_what_is_recorded_of_a_run_is_a_configuration_of_the_same_run(preset):
    # Not that whose vectors are of a setup which goes without its data here.
    shipped = read_yaml(ROOT / configuration.CONFIG)
    recorded = make_plan(merge(shipped, read_yaml(preset)), ROOT).record()
    again = make_plan(merge(shipped, json.loads(json.dumps(recorded))), ROOT).record()
    assert json.dumps(again, sort_keys=True) == json.dumps(recorded, sort_keys=True)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda path: path.stem)
def test_presets_are_valid_alone_and_over_the_shipped_configuration(preset):
    alone = configuration.load_files([preset], ROOT)
    overlaid = configuration.load_files([ROOT / "config.yaml", preset], ROOT)
    assert alone["origins"]["run"] == [preset.stem] or "origins" not in alone["areas"]
    assert alone == overlaid


def test_every_example_in_the_comments_of_the_template_has_known_keys():
    template = (ROOT / "config/config.yaml").read_text(encoding="utf-8")
    switched = yaml.safe_load(re.sub(r"^# (?=(?: *)[a-z_]+:)", "", template, flags=re.M))
    assert {"origins", "fairness_testing", "hate_speech"} <= set(switched)
    complete(configuration.settings(), switched, "config/config.yaml")


def test_defaults_fill_what_is_missing_and_leave_the_input_alone():
    raw = {"origins": {"setups": {"mine": {"glove": {"dimension": 50}}}, "run": ["mine"]}}
    setups = configuration.load(raw, ROOT)["origins"]["setups"]
    assert raw == {"origins": {"setups": {"mine": {"glove": {"dimension": 50}}}, "run": ["mine"]}}
    assert setups["mine"]["glove"]["dimension"] == 50
    assert setups["mine"]["glove"]["window"] == 8
    assert setups["mine"]["corpus"]["source"] == "dataset:enwiki-sample"
    setups["mine"]["perturbations"]["sizes"].append(1)
    assert load()["origins"]["setups"]["sample"]["perturbations"]["sizes"] == [10, 30, 100, 200]


def test_settings_are_not_read_from_a_pipe_or_a_folder(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(InputError, match="not a regular file, and settings are read more than once"):
            configuration.overlays(None, [tmp_path / name], tmp_path)


def test_overlays_merge_mappings_and_replace_everything_else():
    base = {"run": ["a"], "setups": {"a": {"baselines": 3}}}
    overlay = {"run": ["b"], "setups": {"a": {"trainings_per_job": 1}, "b": {}}}
    assert merge(base, overlay) == {
        "run": ["b"],
        "setups": {"a": {"baselines": 3, "trainings_per_job": 1}, "b": {}},
    }


# --- bad input


SAMPLE, TEXT = "origins.setups.sample", "fairness_testing.text"


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("hate_speech.corpora", "{own: {}}", "there is no corpus 'own'"),
        ("sed", "3", "unknown key; did you mean 'seed'?"),
        ("zzz", "3", "known here: seed, areas, corpora, origins"),
        (f"{SAMPLE}.glove.dimenson", "8", "did you mean 'dimension'?"),
        ("seed", "one", '"one" is not a whole number; write a whole number'),
        ("seed", "-1", "-1 is less than 0"),
        (f"{SAMPLE}.glove.window", "30", "30 is more than 20"),
        (f"{SAMPLE}.glove.x_max", ".nan", "NaN is not a number"),
        (f"{SAMPLE}.glove.x_max", "0", "0 is not more than 0"),
        (f"{SAMPLE}.glove", "3", "3 is not a mapping"),
        (f"{SAMPLE}.corpus.format", "medawiki", "\"medawiki\" is not known; did you mean 'mediawiki'?"),
        (f"{SAMPLE}.perturbations.sizes", "[]", "is empty; write a list"),
        (f"{SAMPLE}.perturbations.sizes", "10", "10 is not a list"),
        (f"{SAMPLE}.perturbations.sizes", "[0]", "sizes[0]: 0 is less than 1"),
        (f"{SAMPLE}.perturbations.sizes", "[30, 10]", "[30, 10] is not in increasing order; write [10, 30]"),
        (f"{SAMPLE}.perturbations.random_sizes", "[5, 5]", "write [5]"),
        (f"{SAMPLE}.ppmi_sets.sizes", "[20]", "lacks the size 20"),
        (f"{SAMPLE}.ppmi_sets.sizes", "[100, 30]", "[100, 30] is not in increasing order"),
        (f"{SAMPLE}.lds.subsets", "1", "one subset has no rank correlation; write 0 for none"),
        (f"{SAMPLE}.brittleness.retrainings", "1", "one embedding has no interval; write 0 for none"),
        (f"{SAMPLE}.bias.weats", "[weat3]", "unknown test 'weat3'"),
        (f"{SAMPLE}.corpus", "{unit: article, part_length: 5}", "unit: part"),
        (f"{SAMPLE}.corpus", "{min_length: 9, max_length: 8}", "min_length: 9 is larger than"),
        (f"{SAMPLE}.corpus.source", "dump.xml", "the file or folder dump.xml does not exist"),
        (f"{SAMPLE}.corpus.source", "'dataset:enwiki'", "unknown dataset 'enwiki'"),
        ("areas", "[rankin]", "areas[0]: \"rankin\" is not known; did you mean 'ranking'?"),
        ("origins.run", "[sample, sample]", "the list names something twice"),
        ("origins.run", "[smple]", "'smple' is not defined (defined: sample); did you mean 'sample'?"),
        ("origins.setups.ranking", "{}", "the name is that of an area; rename the setup"),
        ("origins.setups.tables", "{}", "not a usable name"),
        ("origins.setups", "{5: {}}", "setups[5]: not a usable name"),
        ("origins.weats.ppmi", "x.yaml", "not a usable name"),
        ("origins.weats.random", "x.yaml", "not a usable name"),
        ("origins.weats.weat1", "nowhere.yaml", "no such file: nowhere.yaml"),
        ("ranking.top", "101", "101 exceeds ranking.candidates, 100"),
        ("debiasing.embeddings", "[w2vnew]", "'w2vnew' is neither a registered dataset nor a setup"),
        ("debiasing.defining", "no.yaml", "no such file: no.yaml"),
        ("debiasing.weats", "[workflow/x.yaml]", "; name its file under debiasing.word_sets"),
        ("debiasing.weats", "[caliskan9]", "unknown test 'caliskan9'"),
        ("debiasing", "{weats: [mine], word_sets: {mine: no.yaml}}", "word_sets.mine: no such file: no.yaml"),
        ("debiasing.lambdas", "[2, 0.2]", "does not rise or lacks lambda, 0.2; write [0.2, 2]"),
        ("debiasing", "{lambda: 3, lambdas: [0, 2]}", "lacks lambda, 3; write [0, 2, 3]"),
        ("fairness_testing.run", "[censu]", "the classifier 'censu' is not defined"),
        ("fairness_testing.otherwise", "[mine]", "the classifier 'mine' is not defined"),
        ("fairness_testing", "{run: [ranking], classifiers: {ranking: {}}}", "rename the classifier"),
        (
            "fairness_testing",
            "{run: [mine], classifiers: {mine: {schema: no.yaml, data: config.yaml}}}",
            "classifiers.mine.schema: no such file: no.yaml",
        ),
        (
            "fairness_testing",
            "{run: [mine], classifiers: {mine: {data: config.yaml}}}",
            "classifiers.mine.schema: is missing; name the file",
        ),
        (
            "fairness_testing.classifiers.census.network",
            "'dataset:adf-censu-network'",
            "unknown dataset 'adf-censu-network'",
        ),
        (f"{TEXT}.run", "[stormfrnt]", "there is no corpus 'stormfrnt'"),
        (f"{TEXT}.vectors.setup", "smple", "the setup 'smple' is not defined"),
        ("datasets.mirror", "nowhere", "no such folder: nowhere"),
        ("datasets.paths.nyt-annotated-corpus", "nowhere", "no such"),
        ("datasets.paths", "{nyt: .}", "unknown dataset 'nyt'"),
    ],
)
def test_a_bad_value_is_refused_in_one_line(key, value, problem):
    message = refusal(load, ": {".join(key.split(".")) + f": {value}" + "}" * key.count("."))
    assert message.startswith(f"config: {key}")
    assert problem in message


def test_a_corpus_names_both_validation_and_test_or_neither():
    own = "corpora: {own: {source: README.md, test: README.md}}"
    message = refusal(load, f"{own}\nfairness_testing: {{text: {{run: [own]}}}}")
    assert (
        "corpora.own.test: names only one of validation and test; name both, or write null for both"
        in message
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("name: other", "holds the test 'other'"),
        ("name: mine\nmeasure: ripa", "names the measure 'ripa', but the workflow computes only weat"),
    ],
)
def test_word_sets_bear_the_name_of_their_test_and_are_of_weat(content, problem):
    Path("mine.yaml").write_text(content)
    message = refusal(load, "origins: {weats: {mine: mine.yaml}, setups: {sample: {bias: {weats: [mine]}}}}")
    assert f"origins.weats.mine: mine.yaml {problem}" in message
    if "other" in content:
        message = refusal(load, "debiasing: {weats: [mine], word_sets: {mine: mine.yaml}}")
        assert f"debiasing.word_sets.mine: mine.yaml {problem}" in message


def test_setups_that_are_not_run_need_no_files():
    load("origins: {setups: {sample: {}, later: {corpus: {source: not-there-yet.xml}}}}")


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"a: [1, 2", "mine.yaml, line 1: not valid YAML"),
        (b"a: 1\nb: c: d\n", "mine.yaml, line 2: not valid YAML"),
        (b"- a\n", "mine.yaml: holds no mapping"),
        (b"# later\n", "mine.yaml: the file has no settings"),
        (b"a: \xff\n", "mine.yaml: not UTF-8"),
    ],
)
def test_files_that_are_no_configuration_are_refused(content, part):
    Path("mine.yaml").write_bytes(content)
    assert part in refusal(configuration.load_files, [Path("mine.yaml")], ROOT)


def test_a_file_with_an_unknown_key_is_named():
    Path("mine.yaml").write_text("sed: 1\n")
    with pytest.raises(InputError, match=r"^mine\.yaml: sed: unknown key; did you mean 'seed'\?$"):
        configuration.load_files([ROOT / "config.yaml", Path("mine.yaml")], ROOT)


def test_misspelt_preset_is_refused_with_a_suggestion():
    with pytest.raises(InputError, match=r"no preset 'simplwiki'.*did you mean 'simplewiki'\?$"):
        configuration.overlays("simplwiki", [], ROOT)
    expected = [ROOT / "workflow/presets/nyt.yaml", Path("mine.yaml")]
    assert configuration.overlays("nyt", [Path("mine.yaml")], ROOT) == expected


# --- files and options


def test_working_directory_comes_before_the_repository():
    name = "workflow/resources/word_sets/weat1.yaml"
    assert locate(name, ROOT) == ROOT / name
    Path(name).parent.mkdir(parents=True)
    Path(name).touch()
    assert locate(name, ROOT) == Path(name)


def test_what_a_run_wrote_is_read_as_json(tmp_path):
    """Of 5e-05 YAML makes a text."""
    written = tmp_path / "config.json"
    written.write_text(json.dumps({"hate_speech": {"training": {"learning_rate": 5e-05}}}))
    assert "5e-05" in written.read_text()
    assert configuration.read_files([written])["hate_speech"]["training"]["learning_rate"] == 5e-05
    for text, problem in {
        "{": "not valid JSON",
        "[]": "contains no mapping",
        "{}": "the file has no settings",
    }.items():
        written.write_text(text)
        with pytest.raises(InputError, match=problem):
            configuration.read_files([written])
