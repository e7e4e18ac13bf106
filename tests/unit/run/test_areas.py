"""What a run works on: units, what is left out and why, tables and figures."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from biaslab.core.errors import InputError
from biaslab.debiasing.area import AUTHORS
from biaslab.run import extras
from biaslab.run.area import FIGURE, TABLE, TEST, UNIT, Item, Unit, expand, items_of, load_area
from biaslab.run.areas import AREAS
from biaslab.run.data.fetching import ABSENT, THERE, Status
from biaslab.run.plan import plan as planning
from biaslab.run.plan.plan import make_plan, wanted
from biaslab.run.record.taken import Taken

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def plan(monkeypatch):
    """Return a function that plans a configuration where some datasets are absent.

    Optional dependencies of the areas count as there, installed or not.
    """
    had = Taken(extras=tuple({load_area(name).extra for name in AREAS} - {""}))
    monkeypatch.setattr(planning, "read_taken", lambda _: had)

    def make(text: str = "", absent: dict[str, str] | None = None):
        def status(dataset, *_):
            reason = (absent or {}).get(dataset.name)
            return Status(ABSENT, reason) if reason else Status(THERE, "here")

        monkeypatch.setattr(planning, "status", status)
        return make_plan(yaml.safe_load(text) or {}, ROOT)

    return make


# --- origins


def test_a_setup_without_its_corpus_is_left_out(plan):
    setups = "{sample: {}, nyt: {corpus: {source: 'dataset:nyt-annotated-corpus'}}}"
    nyt = f"origins: {{run: [sample, nyt], setups: {setups}}}"
    found = plan(nyt, {"nyt-annotated-corpus": "licensed"})
    assert found.units["origins"].names == ["sample"]
    assert "origins skips nyt: licensed" in found.notices
    assert found.record()["origins"]["run"] == ["sample"]
    assert list(found.record()["origins"]["setups"]) == ["sample"]


def test_what_decides_no_result_is_not_recorded(plan):
    setups = "{sample: {bias: {weats: [weat2]}}, other: {}}"
    record = plan(f"origins: {{setups: {setups}}}\ndatasets: {{mirror: null}}").record()
    assert set(record) == {"seed", "areas", "corpora", *AREAS}
    assert list(record["origins"]["weats"]) == ["weat2"]
    assert list(record["origins"]["setups"]) == ["sample"]


AUDITED = "areas: [ranking, fairness_testing]\nfairness_testing: {run: [census, bank], text: {run: []}}"


def test_what_a_failed_step_cost_is_said_and_the_rest_stays(plan):
    whole = plan(AUDITED)
    failed = {"one broke": ["fairness_testing/census/counts.tsv"], "two broke": ["ranking/simulation.tsv"]}
    found = plan(f"{AUDITED}\nfailed: {json.dumps(failed)}")
    area = found.area("fairness_testing")
    assert found.units["fairness_testing"].names == whole.units["fairness_testing"].names
    assert "skips fairness_testing/census/counts.tsv: one broke" in found.notices
    assert found.record() == whole.record() | {"failed": failed}
    before, after = ({one.stem: one for one in each.made(area)} for each in (whole, found))
    assert 0 < len(after) <= len(before)
    assert not any("census/counts.tsv" in file for one in after.values() for file in one.inputs(area))
    (table,) = (stem for stem in after if stem.endswith("averages") and "bank" in str(after[stem].units))
    assert len(before[table].units) == len(after[table].units) + 1
    lacking = found.audited()["lacking"]["fairness_testing/census"]["one broke"]
    assert {"fairness_testing/census/counts.tsv", f"fairness_testing/{table}.tsv"} <= set(lacking)
    assert "fairness_testing/bank" not in found.audited()["lacking"]


def test_a_table_whose_own_step_failed_is_left_out_alone(plan):
    whole = plan(AUDITED)
    area = whole.area("ranking")
    first = whole.made(area)[0]
    files = [f"ranking/{file}" for file in first.files]
    found = plan(f"{AUDITED}\nfailed: {json.dumps({'it broke': files})}")
    assert [one.stem for one in found.made(area)] == [one.stem for one in whole.made(area)[1:]]
    lacking = found.audited()["lacking"]["ranking/ranking"]
    assert f"ranking/{first.stem}.tsv" in lacking["it broke"]
    assert set(lacking["it broke"]) == set(files)


def test_what_one_test_lacks_costs_the_items_of_that_test_and_of_all_tests():
    unit = Unit("one", tests=("a", "b"), lacks={"scores/a.tsv": "it broke"})
    items = [
        Item("each", "table", "", print, ("scores/{test}.tsv",), per="test"),
        Item("whole", "table", "", print, ("scores/{test}.tsv",), per="unit"),
        Item("other", "table", "", print, ("other.tsv",), per="unit"),
    ]
    assert [one.stem for one in expand(items, [unit])] == ["one/tables/each_b", "one/tables/other"]


def test_an_area_that_is_not_run_records_and_wants_nothing(plan):
    found = plan("areas: [ranking]\nranking: {distributions: 7}")
    assert set(found.record()) == {"seed", "areas", "ranking"}
    assert wanted(found.config) == []


# --- debiasing


def test_lists_and_benchmarks_are_wanted_for_registered_embeddings(plan):
    config = plan("areas: [debiasing]").config
    assert set(wanted(config)) == {"w2vnews", "wordsim353", "msr-syntax", *AUTHORS.values()}
    own = plan("areas: [debiasing]\ndebiasing: {embeddings: [sample], benchmarks: [rg65]}").config
    assert wanted(own) == []


GONE = {"adf-census": "1", "adf-bank-network": "2", "adf-credit": "3"}
NO_TEXTS = "areas: [fairness_testing]\nfairness_testing: {text: {run: [], otherwise: []}}"


@pytest.mark.parametrize(
    ("text", "absent", "names", "left_out"),
    [
        ("areas: [origins]", {"enwiki-sample": "gone"}, ["sample"], {}),  # fetching says what is missing
        ("areas: [debiasing]", {}, ["w2vnews"], {"sample": "the setup sample is not run"}),
        ("areas: [debiasing, origins]", {}, ["w2vnews", "sample"], {}),
        (
            "areas: [debiasing, origins]",
            {"w2vnews": "no network", "msr-syntax": "no wheel"},
            ["sample"],
            {"w2vnews": "no network", "msr": "no wheel"},
        ),
        (NO_TEXTS, {"adf-census": "1"}, ["bank", "credit"], {"census": "1"}),
        (NO_TEXTS, GONE, ["adult", "german"], {"census": "1", "bank": "2", "credit": "3"}),
        (NO_TEXTS, GONE | {"uci-adult-train": "4", "uci-german": "5"}, [], {}),
    ],
)
def test_units_without_their_data_are_left_out_with_the_reason(plan, text, absent, names, left_out):
    found = plan(text, absent)
    area = found.areas[-1].name if found.areas else "fairness_testing"
    units = found.units[area]
    assert units.names == names
    assert left_out.items() <= units.left_out.items()
    assert found.has(load_area(area)) == bool(names)


@pytest.mark.parametrize(
    ("absent", "corpus"),
    [({}, "stormfront"), ({"stormfront": "1"}, "example"), ({"adf-text-terms": "2"}, "example")],
)
def test_networks_read_another_corpus_when_none_of_run_is_there(plan, absent, corpus):
    assert plan(absent=absent).units["fairness_testing"].names[-1] == f"text-{corpus}"


def test_a_corpus_goes_without_likeness_where_its_encoder_is_missing(plan):
    units = plan(absent={"minilm-l6-weights": "no network"}).units["fairness_testing"]
    corpus = units.chosen[-1]
    assert (corpus.name, "neural" in corpus.marks) == ("text-stormfront", False)
    assert any("no network" in reason for reason in units.left_out.values())


# --- every area


@pytest.mark.parametrize("area", AREAS)
def test_every_declared_table_and_figure_is_in_its_area(area):
    items = load_area(area).items
    modules = [module for name, module in sys.modules.items() if name.startswith(f"biaslab.{area}.")]
    assert set(items_of(*modules)) == set(items)


def test_items_expand_to_units_and_tests():
    items = [
        Item("a", TABLE, "A", print, ("x.tsv",)),
        Item("b", FIGURE, "B", print, ("y/{test}.tsv",), TEST),
        Item("c", TABLE, "C", print, ("z.tsv",), UNIT, of="marked"),
    ]
    units = [Unit("one", ("t", "u"), files={"t": "words.yaml"}), Unit("two", marks=("marked",))]
    made = expand(items, units)
    stems = ["tables/a", "one/figures/b_t", "one/figures/b_u", "two/tables/c"]
    assert [one.stem for one in made] == stems
    assert made[1].files == [f"one/figures/b_t{suffix}" for suffix in (".svg", ".pdf", ".png", ".tsv")]
    origins = load_area("origins")
    assert made[1].inputs(origins) == ["results/origins/one/y/t.tsv", "words.yaml"]
    own = ["results/origins/one/x.tsv", "results/origins/two/x.tsv"]
    assert made[0].inputs(origins) == [*own, "words.yaml"]
    assert made[1].report(origins)["labels"] == {"item": "B", "setup": "one", "weat": "t"}
    assert expand(items, []) == []


def test_optional_dependencies_that_are_missing_leave_an_area_out(plan, monkeypatch):
    monkeypatch.setattr(planning, "load_area", lambda name: replace(load_area(name), extra="nowhere"))
    monkeypatch.setattr(
        extras.importlib.metadata, "requires", lambda _: ["absent-package>=1 ; extra == 'nowhere'"]
    )
    found = plan("areas: [ranking]")
    assert found.areas == ()
    assert "the area ranking is omitted: absent-package is not installed" in found.notices[0]


def test_a_corpus_may_be_a_folder(plan, tmp_path):
    folder = tmp_path / "talk"
    corpora = f"corpora: {{mine: {{format: wikipedia, source: {folder}}}}}"
    text = f"{corpora}\nfairness_testing: {{text: {{run: [mine]}}}}"
    with pytest.raises(InputError, match="no such file"):
        plan(text)
    folder.mkdir()
    assert plan(text).units["fairness_testing"].names[-1] == "text-mine"
