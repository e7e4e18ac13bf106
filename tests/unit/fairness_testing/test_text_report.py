"""Tables and figures on texts, on results with the paper's numbers, which differ by repetition."""

import itertools
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import fairness_text_paper_data as paper
from biaslab.audit.claims import read_claims
from biaslab.core.errors import InputError
from biaslab.core.files import write_json
from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.stats import mean_interval
from biaslab.fairness_testing.report import text_tables
from biaslab.fairness_testing.report.averages import text_averages
from biaslab.fairness_testing.report.results import read_texts
from biaslab.fairness_testing.settings import EXAMPLE
from biaslab.run.area import load_area
from biaslab.run.plan.reports import open_unit, write_report
from biaslab.text.masking import digest
from fairness_report_data import CLAIMS
from fairness_text_paper_data import units_of

CORPUS = "wikipedia"
N_SETTINGS = len(paper.MODELS) * len(paper.FEATURES)
WHOLE = load_area("fairness_testing")
AREA = replace(WHOLE, items=[item for item in WHOLE.items if item.of == "text"])
SCHEMA = CLAIMS.parents[1] / "schemas/claims.schema.yaml"
PRINTED = {claim.claim_id: claim for claim in read_claims([CLAIMS / "fairness_testing.tsv"], SCHEMA)}
FILES = ("global", "local", "validity", "retraining")
ONE = ("corpus", "model", "feature")
WORDS = ["the", "trains", "in", "norway", "are", "seldom", "late"]
EXAMPLES = [
    {
        "corpus": CORPUS,
        "model": "lstm",
        "feature": "country",
        "sentence": WORDS,
        "global": [*WORDS[:5], "rarely", "late"],
        "local": ["the", "trams", *WORDS[2:5], "rarely", "late"],
        "partner": {"from": "norway", "to": "denmark"},
        "labels": {"x": 1, "partner": 0},
    }
]
"""A sentence that both phases change, and one that neither does."""
EXAMPLES.append(
    EXAMPLES[0] | {"global": None, "local": None, "partner": None, "labels": {"x": 0, "partner": None}}
)


def change(path: Path, query: str, **columns: object) -> None:
    """Keep the rows of a result file that meet a condition alone, and give columns other values."""
    write_tsv(path, read_tsv(path).query(query).assign(**columns))


def opened(results: Path, corpora=(CORPUS,)):
    return [open_unit(AREA, unit, results) for unit in units_of(corpora)]


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """Return the results of both corpora with some tables."""
    folder = tmp_path_factory.mktemp("results")
    paper.write_published(folder, PRINTED)
    for corpus in paper.CORPORA:
        for name, column in (("global", "n_found"), ("local", "n_discriminatory")):
            path = folder / f"fairness_testing/text-{corpus}/{name}.tsv"
            table = read_tsv(path)
            write_tsv(path, table.assign(**{column: table[column] + table["repetition"]}))
        write_json(path.parent / EXAMPLE, EXAMPLES)
    write_report(AREA, units_of(paper.CORPORA), folder, ["text_table8"])
    return folder


@pytest.fixture
def copy(results, tmp_path) -> Path:
    """Return a copy of the results of one corpus that a test may change."""
    name = f"fairness_testing/text-{CORPUS}"
    shutil.copytree(results / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def folder(copy) -> Path:
    """Return the folder of this corpus."""
    return copy / f"fairness_testing/text-{CORPUS}"


@pytest.fixture(scope="module")
def units(results):
    return opened(results, paper.CORPORA)


def table(results: Path, stem: str) -> pd.DataFrame:
    return read_tsv(results / "fairness_testing/tables" / f"{stem}.tsv")


def averages(results: Path) -> pd.DataFrame:
    """Return the averages of one corpus by measure."""
    return text_averages(*(read_texts(opened(results), name) for name in FILES)).set_index("measure")


def test_table_8_has_the_finds_of_every_strategy_and_of_both_local_phases(results, units):
    counts = read_texts(units, "global").query("corpus == 'jigsaw' and model == 'gru'")
    found = counts.query("feature == 'country' and strategy == 'adf_hf'")["n_found"]
    row = table(results, "text_table8").query(
        "corpus == 'jigsaw' and model == 'gru' and feature == 'country'"
    )
    assert row["adf_hf"].item() == pytest.approx(found.mean())
    assert [row["adf_hf_ci_low"].item(), row["adf_hf_ci_high"].item()] == pytest.approx(mean_interval(found))
    local = read_texts(units, "local").query("corpus == 'jigsaw' and model == 'gru'")
    own = local.query("feature == 'country' and tester == 'adf' and start == 'own'")
    assert row["local_adf"].item() == pytest.approx(own["n_discriminatory"].mean())
    success = 100 * (own["n_discriminatory"] / own["n_texts"]).mean()
    assert row["success_adf"].item() == pytest.approx(success)


def test_averages_are_means_over_networks_and_features_then_over_repetitions(results, units):
    counts = read_texts(units, "global").query("corpus == 'wikipedia'")
    wide = counts.set_index([*ONE, "repetition", "strategy"])["n_found"].unstack("strategy")
    ratios = (wide["adf_asc"] / wide["rp"]).groupby("repetition").mean()
    row = averages(results).loc["found_ratio_rp"]
    assert row["mean"] == pytest.approx(ratios.mean())
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(mean_interval(ratios))
    sizes = row[["n_settings", "n_all", "n_repetitions"]].tolist()
    assert sizes == [N_SETTINGS, N_SETTINGS, paper.REPETITIONS]


def test_averages_leave_out_settings_without_the_measure(copy, folder):
    counts = read_tsv(folder / "global.tsv")
    is_rp = counts["strategy"] == "rp"
    is_one = (counts["model"] == "gru") & (counts["feature"] == "religion") & (counts["repetition"] == 0)
    for nothing, n_settings in ((is_one, [N_SETTINGS - 1, N_SETTINGS]), (True, [])):
        counts.loc[is_rp & nothing, "n_found"] = 0
        write_tsv(folder / "global.tsv", counts)
        found = averages(copy)[["n_settings", "n_all"]]
        assert found[found.index == "found_ratio_rp"].to_numpy().ravel().tolist() == n_settings
        assert found.loc["gain_adf_asc_rp"].tolist() == [N_SETTINGS, N_SETTINGS]


def test_less_is_nearer_of_distances_and_more_of_likeness(results):
    measures = averages(results)["mean"]
    assert (measures[[f"local_nearer_{metric}" for metric in paper.LEAD]] > 0).all()
    for attack, metric in itertools.product(("asc", "hf"), paper.LEAD):
        expected = PRINTED[f"adf-text-average-global-nearer-{attack}-{metric}"].value
        assert measures[f"global_nearer_{attack}_{metric}"] == pytest.approx(expected, abs=0.0065)


def test_without_an_effect_nothing_is_nearer_or_more(results, tmp_path):
    write_alike, *_ = paper.NULLS["equal testers"]
    write_alike(shutil.copytree(results, tmp_path / "results"), PRINTED)
    found = averages(tmp_path / "results")["mean"]
    gains = found.filter(regex="_nearer_|^gain_|_gain|_increase_")
    assert len(gains) > 25
    assert (gains == 0).all()
    assert (found.filter(regex="_ratio") == 1).all()


def test_the_best_improvement_is_the_largest_of_a_setting(copy, folder):
    data = read_tsv(folder / "retraining.tsv")
    is_added = data["tester"] == "adf_asc"
    is_best = is_added & (data["model"] == "gru") & (data["feature"] == "country")
    data.loc[is_best, "improvement"] = 99
    write_tsv(folder / "retraining.tsv", data)
    found = averages(copy)["mean"]
    assert found["improvement_best"] == 99
    assert found["improvement_augmented"] == pytest.approx(data.loc[is_added, "improvement"].mean())


def test_certified_training_is_compared_in_the_repetition_that_it_has(results):
    measures = averages(results)
    gain = measures.loc["certified_gain"]
    assert gain[["n_settings", "n_repetitions"]].tolist() == [N_SETTINGS, 1]
    improvement = measures.loc["improvement_certified", "mean"]
    assert gain["mean"] == pytest.approx(improvement - paper.CONTROL)
    assert math.isnan(gain["ci_low"])
    assert measures.loc["improvement_control", "n_repetitions"] == paper.REPETITIONS


def test_improvement_of_nothing_is_missing(copy, folder):
    change(folder / "retraining.tsv", "model == model", n_independent=0)
    assert not averages(copy).index.str.startswith(("improvement", "certified")).any()


@pytest.mark.parametrize("unmask", [False, True])
def test_masked_words_are_masked_unless_the_configuration_says_so(copy, tmp_path, unmask):
    (tmp_path / "masks.txt").write_text(f"{digest('norway')}\n")
    (unit,) = units_of((CORPUS,), unmask)
    unit = replace(unit, files={**unit.files, "masked_words": str(tmp_path / "masks.txt")})
    write_report(AREA, [unit], copy, ["text_figure4_example"])
    tables = (copy / "fairness_testing/tables").glob("text_figure4_example.[tm][sd]*")
    pages = "".join(path.read_text() for path in tables)
    assert ("norway" in pages) == unmask
    assert ("n****y" in pages) != unmask


@pytest.mark.parametrize("content", [{"corpus": "forum"}, [{"corpus": "forum"}]])
def test_a_file_that_has_no_examples_is_refused(copy, folder, content):
    write_json(folder / EXAMPLE, content)
    with pytest.raises(InputError, match=re.escape(f"{folder / EXAMPLE}: no list of examples")):
        text_tables.examples(opened(copy))


def test_a_missing_column_is_refused(copy, folder):
    write_tsv(folder / "global.tsv", read_tsv(folder / "global.tsv").drop(columns="n_found"))
    with pytest.raises(InputError, match="column 'n_found' is missing"):
        text_tables.average_table(opened(copy))


def test_a_run_without_the_extra_has_neither_certified_training_nor_sentence_vectors(copy, folder):
    change(folder / "retraining.tsv", "tester != 'certified'")
    change(folder / "validity.tsv", "metric != 'similarity'")
    write_report(AREA, units_of((CORPUS,)), copy, ["text_averages", "text_table9", "text_table13"])
    measures = set(table(copy, "text_averages")["measure"])
    assert not {"improvement_certified", "local_adf_similarity"} & measures
    assert {"improvement_augmented", "local_nearer_l0"} <= measures


@pytest.mark.filterwarnings("error")
def test_a_network_without_discrimination_has_tables_and_figures(copy, folder):
    change(folder / "global.tsv", "model == model", n_raw=0, n_found=0)
    change(folder / "local.tsv", "model == model", n_texts=0, n_discriminatory=0, n_starts=0)
    change(folder / "validity.tsv", "model == model", n_pairs=0)
    change(folder / "retraining.tsv", "model != model")
    write_json(folder / EXAMPLE, [])
    write_report(AREA, units_of((CORPUS,)), copy)
    assert table(copy, "text_table11")["calls"].isna().all()
    assert len(table(copy, "text_table13")) == 0
    measures = table(copy, "text_averages").set_index("measure")["mean"]
    assert set(measures) == {0}
    assert measures.index.str.contains("gain").all()
