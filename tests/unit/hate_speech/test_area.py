"""What a run of the area works on, what it goes without, and what it refuses."""

import pytest
import yaml

from biaslab.audit.claims import read_claims
from biaslab.audit.measure import measure_claims
from biaslab.hate_speech.area import AREA, ENCODER_FILES, ENCODERS, wanted
from biaslab.hate_speech.inputs import Inputs
from biaslab.run.data.fetching import THERE, Status
from biaslab.run.plan import plan as planning
from biaslab.run.plan.jobs import planned_jobs
from biaslab.run.plan.plan import CLAIMS
from hate_speech_experiment_data import ROOT, plan_of
from refusals import refused

ENCODER = {"minilm-l6-config", "minilm-l6-vocabulary", "minilm-l6-weights"}
GHC = {"ghc-train", "ghc-dev", "ghc-test"}
OC = "{methods: [vanilla, oc-0.1], explained: oc-0.1, "
ALONE = """
run: [example]
otherwise: []
transfer: []
hatecheck: null
"""


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *what: plan_of(monkeypatch, *what)


def mine(**keys):
    """A configuration whose only corpus is the user's own, with some keys changed."""
    own = {
        "source": "workflow/resources/hate_speech/example.csv",
        "identifiers": "workflow/resources/hate_speech/identifiers_example.yaml",
        "news": None,
    }
    section = yaml.safe_load(ALONE) | {"run": ["mine"], "corpora": {"mine": own | keys}}
    return yaml.safe_dump(section)


def test_a_corpus_of_linear_models_alone_does_without_what_encoders_leave(plan):
    found = plan("")
    stormfront, ghc = found.units["hate_speech"].chosen
    assert stormfront.marks == (ENCODERS,)
    assert ghc.marks == ()
    assert not stormfront.lacks
    (lacking,) = found.audited()["lacking"]["hate_speech/ghc"].values()
    assert set(lacking) == {f"hate_speech/ghc/{file}" for file in ENCODER_FILES}
    stems = {made.item.stem for made in found.made(AREA) if ghc in made.units}
    assert {"table1_performance", "figure2_removal"} <= stems
    assert not stems & {"table2_word_importance", "table6_cost", "figure3_hierarchies"}
    assert found.audited() != plan("linear_only: []").audited()


ENCODER_LOST = "its encoder: no network"
EVERYTHING_ELSE = dict.fromkeys([*GHC, "hatecheck", "news-identity"], "gone")


@pytest.mark.parametrize(
    ("section", "absent", "names", "left_out"),
    [
        (
            "run: [stormfront, example]",
            {"minilm-l6-weights": "no network"},
            [],
            {"stormfront": ENCODER_LOST, "example": ENCODER_LOST},
        ),
        ("encoder: {weights: random}", {"minilm-l6-weights": "no network"}, ["stormfront", "ghc"], {}),
        ("run: [stormfront]", EVERYTHING_ELSE, ["stormfront"], {}),
        ("run: [stormfront]", {"stormfront": "licensed"}, ["example"], {"stormfront": "licensed"}),
        (
            "{run: [stormfront], otherwise: [ghc]}",
            {"stormfront": "first", "ghc-test": "second"},
            [],
            {"stormfront": "first", "ghc": "second"},
        ),
    ],
)
def test_what_is_absent_leaves_out_what_needs_it_with_the_reason(plan, section, absent, names, left_out):
    found = plan(section, absent)
    units = found.units["hate_speech"]
    assert (units.names, units.left_out) == (names, left_out)
    assert {f"hate_speech skips {name}: {reason}" for name, reason in left_out.items()} <= {*found.notices}
    assert found.audited()["made_up"] == [("hate_speech", name) for name in names if name == "example"]
    assert found.has(AREA) == bool(names)
    assert found.record()["hate_speech"]["run"] == names


def test_datasets_that_are_wanted(plan):
    default = plan("").config
    assert wanted(default) == {"stormfront", "hatecheck", "news-identity", *ENCODER, *GHC}
    assert wanted(plan(ALONE).config) == ENCODER
    assert wanted(plan(ALONE + "encoder: {weights: random}").config) == ENCODER - {"minilm-l6-weights"}


def test_units_name_the_files_that_results_follow_from(plan):
    units = plan("{run: [ghc, example], methods: [vanilla, soc-1], explained: soc-1, unmask: true}").units[
        "hate_speech"
    ]
    assert dict(units.files) == {
        "ghc-source": "results/datasets/ghc-train/train.jsonl",
        "ghc-validation": "results/datasets/ghc-dev/dev.jsonl",
        "ghc-test": "results/datasets/ghc-test/test.jsonl",
        "example-source": str(ROOT / "workflow/resources/hate_speech/example.csv"),
    }
    for unit in units.chosen:
        assert unit.options == {"unmask": True, "explained": "soc-1"}
        assert unit.files == {
            "claims": str(ROOT / "workflow/resources/claims/hate_speech.tsv"),
            "masked_words": str(ROOT / "workflow/resources/masked_words.txt"),
        }


@pytest.mark.parametrize(
    ("section", "key", "problem"),
    [
        ("run: [stormfrnt]", "run", "no corpus 'stormfrnt'.*did you mean 'stormfront'"),
        ("transfer: [gch]", "transfer", "no corpus 'gch'"),
        ("{run: [origins], corpora: {origins: {}}}", "run", "the name of an area; rename"),
        (mine(news="dataset:newz"), "corpora.mine.news", "unknown dataset 'newz'"),
        (mine(identifiers="dataset:hatecheck"), "corpora.mine.identifiers", "no such file: dataset:h"),
        ("masked_words: dataset:hatecheck", "masked_words", "no such file: dataset:h"),
        ("hatecheck: no.csv", "hatecheck", "no such file: no.csv"),
        ("encoder: {weights: dataset:minilm}", "encoder.weights", "unknown dataset 'minilm'"),
        ("methods: [vanilla, soc-0.1, soc-0.10]", "methods", "has the spelling 'soc-0.1'; use that name"),
        ("explained: soc-2", "explained", "vanilla and soc-2 must both be among methods"),
        ("{explained: wr, methods: [vanilla, wr]}", "explained", "wr regularizes no explanation; name an oc"),
        (OC + "ablation: [pad]}", "ablation", "no quirk 'pad'.*oc has dropout, sum"),
    ],
)
def test_bad_configurations_are_refused_in_one_line(plan, section, key, problem):
    with refused(rf"config: hate_speech\.{key}: .*{problem}"):
        plan(section)


@pytest.mark.parametrize(
    "section",
    [
        OC + "ablation: [pad], ablation_seeds: 0}",
        OC + "ablation: [dropout, sum, published]}",
        mine(format="ghc", validation="dataset:ghc-dev", test="dataset:ghc-test"),
    ],
)
def test_what_is_of_no_account_is_not_refused(plan, section):
    assert plan(section).units["hate_speech"].left_out == {}


def test_claims_on_trainings_that_are_left_out_are_not_measured_and_say_why(plan, tmp_path, monkeypatch):
    """The audit counts the histories of trainings among its inputs: what a run loses of them is named."""
    histories = Inputs(plan("run: [stormfront]")).histories
    assert len(histories) > 10
    lost = {"train_classifier: torch is not installed": [file.removeprefix("results/") for file in histories]}
    monkeypatch.setattr(planning, "status", lambda *_: Status(THERE, "here"))
    found = planning.make_plan(
        {"areas": ["hate_speech"], "failed": lost, "hate_speech": {"run": ["stormfront"]}}, ROOT
    )
    claims = read_claims([ROOT / CLAIMS / "hate_speech.tsv"], ROOT / "workflow/schemas/claims.schema.yaml")
    ours = [claim for claim in claims if claim.claim_id == "hate-validation-every"]
    told = found.audited()
    table = measure_claims(ours, tmp_path, told["setups"], told["absent"], (), told["lacking"])
    assert table["verdict"].tolist() == ["not_attempted"]
    assert table["reason"][0].endswith("models/*/*/history.tsv: train_classifier: torch is not installed")


def test_the_audit_reads_every_history(tmp_path, monkeypatch):
    """The workflow itself: what measures claims waits for what claims read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "only.yaml").write_text("areas: [hate_speech]\n")
    files = [str(ROOT / "workflow/presets/smoke.yaml"), str(tmp_path / "only.yaml")]
    jobs = planned_jobs(["--snakefile", str(ROOT / "Snakefile"), "--configfile", *files])
    (audit,) = (job for job in jobs if job.rule == "audit")
    trained = {file for job in jobs if job.rule == "train_classifier" for file in job.outputs}
    assert {file for file in trained if file.endswith("history.tsv")} <= set(audit.inputs)
