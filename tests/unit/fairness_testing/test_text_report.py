"""Tables and figures on texts, on small made results."""

import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.core.files import write_json
from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.stats import mean_interval
from biaslab.fairness_testing.report import text_averages, text_results, text_tables
from biaslab.fairness_testing.text.names import EXAMPLE
from biaslab.run.area import TABLE
from biaslab.run.reports import open_unit, write_report
from biaslab.text.masking import digest
from fairness_text_report_data import MODELS, N_REPETITIONS, change, units_of, write_results
from report_data import report_area

WHOLE = report_area("fairness_testing")
AREA = replace(WHOLE, items=[item for item in WHOLE.items if item.of == "text"])
TABLES = replace(AREA, items=[item for item in AREA.items if item.kind == TABLE])
FILES = ("global", "local", "validity", "retraining")
ONE = ("corpus", "model", "feature")


def opened(results: Path, corpora, unmask=True):
    return [open_unit(AREA, unit, results) for unit in units_of(corpora, unmask)]


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """Return the results of two corpora with all tables and figures."""
    folder = tmp_path_factory.mktemp("results")
    write_results(folder / "fairness_testing", ("forum", "talk"))
    items = ["text_table8", "text_averages", "text_figure4_example", "text_figure8", "text_retraining"]
    write_report(AREA, units_of(("forum", "talk")), folder, items)
    return folder


@pytest.fixture
def copy(results, tmp_path) -> Path:
    """Return a copy of the results of one corpus that a test may change."""
    name = "fairness_testing/text-forum"
    shutil.copytree(results / name, tmp_path / name)
    return tmp_path


@pytest.fixture(scope="module")
def units(results):
    return opened(results, ("forum", "talk"))


def table(results: Path, stem: str) -> pd.DataFrame:
    return read_tsv(results / "fairness_testing/tables" / f"{stem}.tsv")


def averages(results: Path, corpora=("forum",)) -> pd.DataFrame:
    own = opened(results, corpora)
    return text_averages.text_averages(*(text_results.read_all(own, name) for name in FILES))


def test_table_8_has_the_finds_of_every_strategy_and_of_both_local_phases(results, units):
    counts = text_results.read_all(units, "global").query("corpus == 'talk' and model == 'gru'")
    found = counts.query("feature == 'country' and strategy == 'adf_hf'")["n_found"]
    row = table(results, "text_table8").query("corpus == 'talk' and model == 'gru' and feature == 'country'")
    assert row["adf_hf"].item() == pytest.approx(found.mean())
    assert [row["adf_hf_ci_low"].item(), row["adf_hf_ci_high"].item()] == pytest.approx(mean_interval(found))
    local = text_results.read_all(units, "local").query("corpus == 'talk' and model == 'gru'")
    own = local.query("feature == 'country' and tester == 'adf' and start == 'own'")
    assert row["local_adf"].item() == pytest.approx(own["n_discriminatory"].mean())
    success = 100 * (own["n_discriminatory"] / own["n_texts"]).mean()
    assert row["success_adf"].item() == pytest.approx(success)


def test_table_8_takes_local_searches_from_their_own_finds_alone(copy):
    own = opened(copy, ("forum",))
    before = text_tables.found(own).data
    path = copy / "fairness_testing/text-forum/local.tsv"
    local = read_tsv(path)
    local.loc[local["start"] == "same", "n_discriminatory"] = 1
    write_tsv(path, local)
    pd.testing.assert_frame_equal(text_tables.found(own).data, before)


def test_a_strategy_that_finds_nothing_has_no_ratio(copy):
    path = copy / "fairness_testing/text-forum/global.tsv"
    counts = read_tsv(path)
    counts.loc[counts["strategy"] == "rp", "n_found"] = 0
    write_tsv(path, counts)
    measures = set(averages(copy)["measure"])
    assert "found_ratio_rp" not in measures
    assert "gain_adf_asc_rp" in measures


def test_averages_are_means_over_networks_and_features_then_over_repetitions(results, units):
    counts = text_results.read_all(units, "global").query("corpus == 'talk'")
    wide = counts.set_index([*ONE, "repetition", "strategy"])["n_found"].unstack("strategy")
    ratios = (wide["adf_asc"] / wide["rp"]).groupby("repetition").mean()
    row = averages(results, ("talk",)).query("measure == 'found_ratio_rp'").iloc[0]
    assert row["mean"] == pytest.approx(ratios.mean())
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(mean_interval(ratios))
    assert row[["n_settings", "n_all", "n_repetitions"]].tolist() == [4, 4, N_REPETITIONS]


def test_averages_leave_out_settings_without_the_measure(copy):
    path = copy / "fairness_testing/text-forum/global.tsv"
    counts = read_tsv(path)
    is_one = (counts["model"] == "gru") & (counts["feature"] == "religion") & (counts["repetition"] == 0)
    counts.loc[is_one & (counts["strategy"] == "rp"), "n_found"] = 0
    write_tsv(path, counts)
    found = averages(copy).set_index("measure")
    assert found.loc["found_ratio_rp", ["n_settings", "n_all"]].tolist() == [3, 4]
    assert found.loc["gain_adf_asc_rp", ["n_settings", "n_all"]].tolist() == [4, 4]


def test_less_is_nearer_of_distances_and_more_of_likeness(results):
    found = averages(results).set_index("measure")["mean"]
    assert len(found.filter(like="_nearer_")) == 18
    assert (found.filter(like="_nearer_") > 0).all()
    assert found["local_nearer_l0"] == pytest.approx(10, abs=0.2)
    assert found["global_nearer_hf_l2"] == pytest.approx(0.5)


def test_without_an_effect_nothing_is_nearer_or_more(tmp_path):
    write_results(tmp_path / "fairness_testing", ("forum",), effect=0)
    found = averages(tmp_path).set_index("measure")["mean"]
    gains = found.filter(regex="_nearer_|^gain_|_gain|_increase_")
    assert len(gains) > 25
    assert (gains == 0).all()
    assert (found.filter(regex="_ratio") == 1).all()
    assert found["cost_share"] > 100  # gradients cost, and find nothing more


def test_the_best_improvement_is_the_largest_of_a_setting(copy):
    path = copy / "fairness_testing/text-forum/retraining.tsv"
    data = read_tsv(path)
    is_best = (data["tester"] == "adf_asc") & (data["label_rule"] == "model") & (data["model"] == "gru")
    data.loc[is_best & (data["feature"] == "country"), "improvement"] = 90
    write_tsv(path, data)
    found = averages(copy).query("label_rule == 'model'").set_index("measure")["mean"]
    assert found["improvement_best"] == 90
    assert found["improvement_augmented"] == pytest.approx((90 + 3 * 46) / 4)
    assert found["improvement_gain"] == pytest.approx((90 + 3 * 46) / 4 - 13)


def test_certified_training_is_compared_in_the_repetition_that_it_has(results):
    found = averages(results).set_index("measure")
    assert found.loc["certified_gain", ["n_settings", "n_repetitions"]].tolist() == [4, 1]
    assert found.loc["certified_gain", "mean"] == pytest.approx(62 - 12)
    assert math.isnan(found.loc["certified_gain", "ci_low"])
    assert found.loc["improvement_control", "n_repetitions"] == N_REPETITIONS


def test_improvement_of_nothing_is_missing(copy):
    change(copy / "fairness_testing/text-forum/retraining.tsv", "model == model", n_independent=0)
    assert not averages(copy)["measure"].str.startswith(("improvement", "certified")).any()


def masked(results: Path, tmp_path: Path, *, unmask: bool) -> str:
    """Return all that the items with words hold, with one harmless word on the list of masked ones."""
    (tmp_path / "masks.txt").write_text(f"{digest('norway')}\n")
    (unit,) = units_of(("forum",), unmask)
    unit = replace(unit, files={**unit.files, "masked_words": str(tmp_path / "masks.txt")})
    write_report(AREA, [unit], results, ["text_figure4_example"])
    folder = results / "fairness_testing/tables"
    return "".join(path.read_text() for path in folder.glob("text_figure4_example.[tm][sd]*"))


@pytest.mark.parametrize("unmask", [False, True])
def test_masked_words_are_masked_unless_the_configuration_says_so(copy, tmp_path, unmask):
    pages = masked(copy, tmp_path, unmask=unmask)
    assert ("norway" in pages) == unmask
    assert (pages.count("n****y") > 4) != unmask
    assert ("Slurs are masked." in pages) != unmask


def test_examples_mark_what_each_phase_changed(results):
    data = table(results, "text_figure4_example").query("corpus == 'forum' and model == 'lstm'")
    assert data["step"].tolist() == ["original", "global", "local"]
    assert data["text"].tolist() == [
        "the trains in norway are seldom late",
        "the trains in norway are [rarely] late",
        "the [trams] in norway are rarely late",
    ]
    checked = data.loc[data["label"].notna(), ["step", "value", "instead", "label", "partner_label"]]
    assert checked.to_numpy().tolist() == [["global", "norway", "denmark", 1, 0]]
    idle = table(results, "text_figure4_example").query("corpus == 'forum' and model == 'gru'")
    assert idle[["step", "label"]].to_numpy().tolist() == [["original", 0]]


@pytest.mark.parametrize("content", [{"corpus": "forum"}, [{"corpus": "forum"}], [1]])
def test_a_file_that_has_no_examples_is_refused(copy, content):
    path = copy / "fairness_testing/text-forum" / EXAMPLE
    write_json(path, content)
    with pytest.raises(InputError, match=re.escape(f"{path}: no list of examples")):
        text_tables.examples(opened(copy, ("forum",)))


@pytest.mark.parametrize(("name", "column"), [("global", "n_found"), ("retraining", "improvement")])
def test_a_missing_column_is_refused(copy, name, column):
    path = copy / f"fairness_testing/text-forum/{name}.tsv"
    write_tsv(path, read_tsv(path).drop(columns=column))
    with pytest.raises(InputError, match=f"column '{column}' is missing"):
        text_tables.average_table(opened(copy, ("forum",)))


def test_a_run_without_the_extra_has_neither_certified_training_nor_sentence_vectors(copy):
    folder = copy / "fairness_testing/text-forum"
    change(folder / "retraining.tsv", "tester != 'certified'")
    change(folder / "validity.tsv", "metric not in ('similarity', 'perplexity', 'seed_perplexity')")
    write_report(AREA, units_of(("forum",)), copy)
    assert "Certified" not in (copy / "fairness_testing/tables/text_table13.md").read_text()
    assert "erplexity" not in (copy / "fairness_testing/tables/text_table9.md").read_text().split("\n\n")[1]
    measures = set(table(copy, "text_averages")["measure"])
    assert not {"improvement_certified", "local_adf_similarity", "local_nearer_perplexity"} & measures
    assert {"improvement_augmented", "local_nearer_l0"} <= measures


@pytest.mark.filterwarnings("error")
def test_a_network_without_discrimination_has_tables_and_figures(copy):
    folder = copy / "fairness_testing/text-forum"
    change(folder / "global.tsv", "model == model", n_raw=0, n_found=0)
    change(folder / "local.tsv", "model == model", n_texts=0, n_discriminatory=0, n_starts=0)
    change(folder / "validity.tsv", "model == model", n_pairs=0)
    change(folder / "retraining.tsv", "model != model")
    write_json(folder / EXAMPLE, [])
    write_report(AREA, units_of(("forum",)), copy)
    assert table(copy, "text_table11")["calls"].isna().all()
    assert len(table(copy, "text_table13")) == 0
    measures = table(copy, "text_averages").set_index("measure")["mean"]
    assert set(measures) == {0}
    assert set(measures.index) == {
        *(f"gain_{pair}" for pair in ("adf_asc_rp", "adf_asc_asc", "adf_hf_hf", "hf_asc")),
        *("local_gain", "local_gain_same"),
    }


def test_figures_hold_the_data_they_draw(results, units):
    near = read_tsv(results / "fairness_testing/figures/text_figure8.tsv")
    validity = text_results.read_all(units, "validity").query("phase == 'local' and metric == 'l0'")
    own = validity.query("corpus == 'forum' and model == 'gru' and feature == 'country' and tester == 'rp'")
    row = near.query("corpus == 'forum' and model == 'gru' and feature == 'country' and tester == 'rp'")
    row = row.query("metric == 'l0'")
    assert row["mean"].tolist() == pytest.approx([own["mean"].mean()])
    removed = read_tsv(results / "fairness_testing/figures/text_retraining.tsv")
    control = removed.query("tester == 'none'")
    assert control["improvement"].tolist() == [13.0] * 2 * len(MODELS) * 2
