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
from biaslab.fairness_testing.names import EXAMPLE
from biaslab.fairness_testing.report import text_tables
from biaslab.fairness_testing.report.averages import text_averages
from biaslab.fairness_testing.report.results import read_texts
from biaslab.run.area import TABLE, load_area
from biaslab.run.reports import open_unit, write_report
from biaslab.text.masking import digest
from fairness_text_report_data import N_REPETITIONS, change, units_of, write_results

WHOLE = load_area("fairness_testing")
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
    items = ["text_table8", "text_averages", "text_figure4_example"]
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
    return text_averages(*(read_texts(own, name) for name in FILES))


@pytest.fixture(scope="module")
def measures(results) -> pd.DataFrame:
    """Return the averages of one corpus by measure."""
    return averages(results).set_index("measure")


def test_table_8_has_the_finds_of_every_strategy_and_of_both_local_phases(results, units):
    counts = read_texts(units, "global").query("corpus == 'talk' and model == 'gru'")
    found = counts.query("feature == 'country' and strategy == 'adf_hf'")["n_found"]
    row = table(results, "text_table8").query("corpus == 'talk' and model == 'gru' and feature == 'country'")
    assert row["adf_hf"].item() == pytest.approx(found.mean())
    assert [row["adf_hf_ci_low"].item(), row["adf_hf_ci_high"].item()] == pytest.approx(mean_interval(found))
    local = read_texts(units, "local").query("corpus == 'talk' and model == 'gru'")
    own = local.query("feature == 'country' and tester == 'adf' and start == 'own'")
    assert row["local_adf"].item() == pytest.approx(own["n_discriminatory"].mean())
    success = 100 * (own["n_discriminatory"] / own["n_texts"]).mean()
    assert row["success_adf"].item() == pytest.approx(success)


def test_table_8_takes_local_searches_from_their_own_finds_alone(copy):
    own = opened(copy, ("forum",))
    before = text_tables.finds(own).data
    path = copy / "fairness_testing/text-forum/local.tsv"
    local = read_tsv(path)
    write_tsv(
        path, local.assign(n_discriminatory=local["n_discriminatory"].where(local["start"] == "own", 1))
    )
    pd.testing.assert_frame_equal(text_tables.finds(own).data, before)


def test_averages_are_means_over_networks_and_features_then_over_repetitions(results, units):
    counts = read_texts(units, "global").query("corpus == 'talk'")
    wide = counts.set_index([*ONE, "repetition", "strategy"])["n_found"].unstack("strategy")
    ratios = (wide["adf_asc"] / wide["rp"]).groupby("repetition").mean()
    row = averages(results, ("talk",)).query("measure == 'found_ratio_rp'").iloc[0]
    assert row["mean"] == pytest.approx(ratios.mean())
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(mean_interval(ratios))
    assert row[["n_settings", "n_all", "n_repetitions"]].tolist() == [4, 4, N_REPETITIONS]


def test_averages_leave_out_settings_without_the_measure(copy):
    path = copy / "fairness_testing/text-forum/global.tsv"
    counts = read_tsv(path)
    is_rp = counts["strategy"] == "rp"
    is_one = (counts["model"] == "gru") & (counts["feature"] == "religion") & (counts["repetition"] == 0)
    for nothing, n_settings in ((is_one, [3, 4]), (True, [])):
        counts.loc[is_rp & nothing, "n_found"] = 0
        write_tsv(path, counts)
        found = averages(copy).set_index("measure")[["n_settings", "n_all"]]
        assert found[found.index == "found_ratio_rp"].to_numpy().ravel().tolist() == n_settings
        assert found.loc["gain_adf_asc_rp"].tolist() == [4, 4]


def test_less_is_nearer_of_distances_and_more_of_likeness(measures):
    nearer = measures["mean"].filter(like="_nearer_")
    assert len(nearer) == 18
    assert (nearer > 0).all()


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


def test_certified_training_is_compared_in_the_repetition_that_it_has(measures):
    gain = measures.loc["certified_gain"]
    assert gain[["n_settings", "n_repetitions"]].tolist() == [4, 1]
    assert gain["mean"] == pytest.approx(62 - 12)
    assert math.isnan(gain["ci_low"])
    assert measures.loc["improvement_control", "n_repetitions"] == N_REPETITIONS


def test_improvement_of_nothing_is_missing(copy):
    change(copy / "fairness_testing/text-forum/retraining.tsv", "model == model", n_independent=0)
    assert not averages(copy)["measure"].str.startswith(("improvement", "certified")).any()


@pytest.mark.parametrize("unmask", [False, True])
def test_masked_words_are_masked_unless_the_configuration_says_so(copy, tmp_path, unmask):
    (tmp_path / "masks.txt").write_text(f"{digest('norway')}\n")
    (unit,) = units_of(("forum",), unmask)
    unit = replace(unit, files={**unit.files, "masked_words": str(tmp_path / "masks.txt")})
    write_report(AREA, [unit], copy, ["text_figure4_example"])
    tables = (copy / "fairness_testing/tables").glob("text_figure4_example.[tm][sd]*")
    pages = "".join(path.read_text() for path in tables)
    assert ("norway" in pages) == unmask
    assert ("n****y" in pages) != unmask


@pytest.mark.parametrize("content", [{"corpus": "forum"}, [{"corpus": "forum"}]])
def test_a_file_that_has_no_examples_is_refused(copy, content):
    path = copy / "fairness_testing/text-forum" / EXAMPLE
    write_json(path, content)
    with pytest.raises(InputError, match=re.escape(f"{path}: no list of examples")):
        text_tables.examples(opened(copy, ("forum",)))


def test_a_missing_column_is_refused(copy):
    path = copy / "fairness_testing/text-forum/global.tsv"
    write_tsv(path, read_tsv(path).drop(columns="n_found"))
    with pytest.raises(InputError, match="column 'n_found' is missing"):
        text_tables.average_table(opened(copy, ("forum",)))


def test_a_run_without_the_extra_has_neither_certified_training_nor_sentence_vectors(copy):
    folder = copy / "fairness_testing/text-forum"
    change(folder / "retraining.tsv", "tester != 'certified'")
    change(folder / "validity.tsv", "metric not in ('similarity', 'perplexity', 'seed_perplexity')")
    write_report(AREA, units_of(("forum",)), copy, ["text_averages", "text_table9", "text_table13"])
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
    assert measures.index.str.contains("gain").all()
