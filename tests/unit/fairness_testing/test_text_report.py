"""Tables and figures on texts, on small made results."""

import itertools
import math
import re
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.core.files import write_json
from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval
from biaslab.fairness_testing.names import EXAMPLE, TEXT_COLUMNS
from biaslab.fairness_testing.report import text_tables
from biaslab.fairness_testing.report.averages import text_averages
from biaslab.fairness_testing.report.results import read_texts
from biaslab.run.area import TABLE, load_area
from biaslab.run.reports import open_unit, write_report
from biaslab.text.masking import digest
from fairness_text_paper_data import units_of

MODELS = ("lstm", "gru")
FEATURES = ("country", "religion")
N_REPETITIONS = 3
N_SEEDS = 60
FOUND = {"rp": 0.1, "asc": 0.3, "adf_asc": 0.4, "hf": 0.5, "adf_hf": 0.6}
"""Share of the seeds that each strategy turns in the made results."""
NEAR = {"l0": 2.5, "l2": 5.0, "jaccard": 0.8, "bleu": 0.8, "similarity": 0.9, "perplexity": 90.0}
FARTHER = ("l0", "l2", "perplexity")
REMOVED = {
    ("adf_asc", "model"): 45.0,
    ("adf_asc", "majority"): 60.0,
    ("adf_asc", "data"): 50.0,
    ("asc", "majority"): 40.0,
    ("hf", "majority"): 42.0,
    ("adf_hf", "majority"): 55.0,
    ("certified", ""): 62.0,
    ("none", ""): 12.0,
}
"""What each training removes in the made results, in percent."""

WHOLE = load_area("fairness_testing")
AREA = replace(WHOLE, items=[item for item in WHOLE.items if item.of == "text"])
TABLES = replace(AREA, items=[item for item in AREA.items if item.kind == TABLE])
FILES = ("global", "local", "validity", "retraining")
ONE = ("corpus", "model", "feature")


def write_results(folder: Path, corpora: Iterable[str], effect: float = 1.0) -> None:
    """Write the files of every corpus; of effect 0, all that is compared is equal."""
    for corpus in corpora:
        rows = {name: [] for name in TEXT_COLUMNS}
        for model in MODELS:
            for repetition in range(N_REPETITIONS):
                quality = 0.88, 0.9, 0.4 + repetition / 50, 0.001
                rows["models"].append([model, repetition, 900, 200, *quality, 7])
            for feature in FEATURES:
                _write_benchmark(rows, corpus, model, feature, effect)
        for feature in ("all", *FEATURES):
            for part, n in (("train", 900), ("validation", 100), ("test", 200)):
                rows["texts"].append([part, feature, n, n // 10, 14.5, 0.93])
        rows["vectors"].append([450, 20])
        for model, feature, tester in itertools.product(MODELS, FEATURES, ("adf_asc", "asc", "hf", "adf_hf")):
            rows["pools"].append([model, feature, tester, 300])
        for name, found in rows.items():
            table = pd.DataFrame(found, columns=TEXT_COLUMNS[name])
            write_tsv(folder / f"text-{corpus}/{name}.tsv", table)
        write_json(folder / f"text-{corpus}" / EXAMPLE, _examples(corpus))


def change(path: Path, query: str, **columns: object) -> None:
    """Keep the rows of a result file that meet a condition alone, and give columns other values."""
    write_tsv(path, read_tsv(path).query(query).assign(**columns))


def _write_benchmark(rows: dict[str, list], corpus: str, model: str, feature: str, effect: float) -> None:
    """Add the rows of one network and feature."""
    rng = stream(7, "made results", corpus, model, feature)
    setting = [model, feature]
    level = FOUND["rp"]
    for repetition in range(N_REPETITIONS):
        n_raw = 5 + repetition
        chance = rng.random(N_SEEDS - n_raw)
        for strategy, share in FOUND.items():
            turned = chance < level + effect * (share - level)
            row = [*setting, strategy, repetition]
            rows["global"].append([*row, N_SEEDS, n_raw, turned.sum(), 9000, 700])
            rows["validity"] += _near(setting, repetition, "global", strategy, "adf" in strategy, effect)
        k = 1 + repetition / 50
        for tester, n in (("rp", 1000), ("adf", 1000 + effect * 1500)):
            n_found = int(n * k * (0.8 + 0.1 * effect * (tester == "adf")))
            for start in ("own", "same"):
                row = [*setting, tester, start, repetition, 30, int(n * k), n_found]
                calls = [(6 - 3 * effect) * n_found, 2 * n_found] if tester == "adf" else [6 * n_found, 0]
                rows["local"].append([*row, *calls])
            rows["validity"] += _near(setting, repetition, "local", tester, tester == "adf", effect)
        # Certified training is run once.
        for (tester, rule), removed in REMOVED.items():
            if tester == "certified" and repetition:
                continue
            removed = REMOVED["none", ""] + effect * (removed - REMOVED["none", ""]) + repetition
            n_removed = int(3 * removed)
            n_added = 0 if tester in ("none", "certified") else 40
            row = [*setting, tester, rule, repetition, n_added, 300, n_removed]
            rows["retraining"].append([*row, removed, 0.88, 0.87, 0.4, 0.39])


def _near(setting: list, repetition: int, phase: str, tester: str, nearer: bool, effect: float) -> list:
    """Return the rows of validity.tsv of one search."""
    rows = []
    for metric, value in NEAR.items():
        sign = -1 if metric in FARTHER else 1
        mean = value * (1 + sign * 0.1 * effect * nearer) + 0.01 * repetition
        rows.append([*setting, repetition, phase, tester, metric, 50, mean])
    rows.append([*setting, repetition, phase, tester, "seed_perplexity", 50, 80.0])
    return rows


def _examples(corpus: str) -> list[dict]:
    """Return a sentence that both phases change, and one that neither does."""
    words = ["the", "trains", "in", "norway", "are", "seldom", "late"]
    other = ["the", "trains", "in", "norway", "are", "rarely", "late"]
    last = ["the", "trams", "in", "norway", "are", "rarely", "late"]
    row = {"corpus": corpus, "model": "lstm", "feature": "country", "sentence": words}
    changed = {
        "global": other,
        "local": last,
        "partner": {"from": "norway", "to": "denmark"},
        "labels": {"x": 1, "partner": 0},
    }
    idle = {"global": None, "local": None, "partner": None, "labels": {"x": 0, "partner": None}}
    return [row | changed, row | {"model": "gru"} | idle]


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
