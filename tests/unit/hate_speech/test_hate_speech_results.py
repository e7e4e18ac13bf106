"""Tables and figures of hate speech classifiers, on small made results."""

import hashlib
import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.stats import mean_interval
from biaslab.hate_speech.report import explanations, figures, names, results, summaries, tables, words
from biaslab.run.area import TABLE, Unit
from biaslab.run.reports import Results, open_unit, write_report
from hate_speech_data import IDENTIFIERS, METHODS, N_SEEDS, units_of, write_results
from report_data import report_area

AREA = report_area("hate_speech")
TABLES = replace(AREA, items=[item for item in AREA.items if item.kind == TABLE])
CORPORA = ("forum", "talk")
PRINTED = {
    "t1-forum-vanilla-f1": "51.25 (BoW: 40.00)",
    "t1-forum-vanilla-f1-sd": "± 2.5 (BoW: ± 1.0)",
    "t1-forum-bow-f1": "40.00",
    "t1-forum-oc-0-1-news": "93.75",
    "t5-forum-talk-soc-1-f1": "33.50",
    "t6-bert-time": "1 m 1 s",
}


@pytest.fixture(scope="module")
def lists(tmp_path_factory) -> dict[str, Path]:
    """Return a registry of claims and digests of two made words."""
    folder = tmp_path_factory.mktemp("lists")
    rows = "".join(f"{name}\t{text}\n" for name, text in PRINTED.items())
    (folder / "claims.tsv").write_text(f"claim_id\tpublished\n{rows}", encoding="utf-8")
    digests = [hashlib.sha256(word.encode()).hexdigest() for word in ("lopel", "taka")]
    (folder / "masked.txt").write_text("\n".join(digests) + "\n", encoding="utf-8")
    return {"claims": folder / "claims.tsv", "masked": folder / "masked.txt"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, lists) -> Path:
    """Return the area's results with all tables."""
    folder = tmp_path_factory.mktemp("results") / "hate_speech"
    write_results(folder, CORPORA)
    write_report(TABLES, units_of(CORPORA, **lists), folder.parent)
    return folder


@pytest.fixture(scope="module")
def units(folder, lists) -> list[Results]:
    """Return the corpora, opened."""
    return opened(folder, units_of(CORPORA, **lists))


def opened(folder: Path, units: Sequence[Unit]) -> list[Results]:
    return [open_unit(AREA, unit, folder.parent) for unit in units]


def change(folder: Path, name: str, query: str) -> None:
    """Keep the rows of a file alone that a query names."""
    path = folder / f"{name}.tsv"
    write_tsv(path, read_tsv(path).query(query))


def test_methods_come_in_the_order_of_the_paper():
    shuffled = ["soc-1", "wr", "soc-0.1", "bow-wr", "vanilla", "oc-0.1", "soc-0.1@sum", "bow"]
    assert names.in_order(shuffled) == [
        "bow", "vanilla", "bow-wr", "wr", "oc-0.1", "soc-0.1", "soc-0.1@sum", "soc-1"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "title", "quirk", "other"),
    [
        ("bow", "BoW", "none", ""),
        ("bow-wr", "BoW + WR", "none", "bow"),
        ("vanilla", "Encoder", "none", ""),
        ("wr", "Encoder + WR", "none", "vanilla"),
        (
            "soc-1@pad+sum",
            "Encoder + SOC (α = 1)",
            f"{names.QUIRKS['pad']}, {names.QUIRKS['sum']}",
            "vanilla",
        ),
    ],
)
def test_what_a_method_is_called(method, title, quirk, other):
    assert names.title(method) == title
    assert names.quirk_title(method) == quirk
    assert names.baseline(method) == other


def test_a_method_that_there_is_not_is_refused(folder, lists, tmp_path):
    copy = tmp_path / "hate_speech/forum/metrics.tsv"
    metrics = read_tsv(folder / "forum/metrics.tsv")
    write_tsv(copy, metrics.assign(method=metrics["method"].replace("wr", "rw")))
    with pytest.raises(InputError, match="rw"):
        tables.performance(opened(tmp_path / "hate_speech", units_of(["forum"], **lists)))


@pytest.mark.parametrize(("yes", "no"), [("True", "False"), ("yes", "no"), ("1", "0")])
def test_flags_are_read_however_they_are_written(tmp_path, yes, no):
    rows = [["baker", yes, 1.0, 1, 9], ["loka", no, 0.5, 2, 9]]
    path = tmp_path / "hate_speech/forum/linear_weights.tsv"
    write_tsv(path, pd.DataFrame(rows, columns=results.COLUMNS["linear_weights"]))
    (unit,) = opened(tmp_path / "hate_speech", [Unit("forum")])
    assert results.read(unit, "linear_weights")["is_identifier"].tolist() == [True, False]


def test_mean_and_deviation_over_seeds():
    data = pd.DataFrame({"method": ["a", "a", "b"], "seed": [0, 1, 0], "v": [1.0, 3.0, 5.0]})
    found = summaries.over_seeds(data, ["method"], ["v"]).set_index("method")
    assert found.loc["a"].tolist() == [2, 2.0, pytest.approx(math.sqrt(2))]
    assert found.loc["b", ["n_seeds", "v_mean"]].tolist() == [1, 5.0]
    assert math.isnan(found.loc["b", "v_sd"])


def test_differences_are_taken_seed_by_seed():
    data = pd.DataFrame(
        {
            "method": ["vanilla"] * 3 + ["wr"] * 3,
            "seed": [0, 1, 2, 0, 1, 7],
            "v": [1.0, 10.0, 100.0, 3.0, 9.0, 5.0],
        }
    )
    own = data[data["method"] == "wr"].assign(baseline="vanilla")
    (row,) = summaries.paired(own, data, ["method"], "v").to_dict("records")
    assert row["n_pairs"] == 2
    assert row["v_difference"] == pytest.approx(0.5)
    assert (row["v_ci_low"], row["v_ci_high"]) == pytest.approx(mean_interval([2.0, -1.0]))
    assert row["n_lower"] == 1


def test_table_1_has_test_performance_and_news_accuracy(folder):
    metrics = read_tsv(folder / "talk/metrics.tsv").query("method == 'soc-1'")
    test, news = metrics[metrics["set"] == "test"], metrics[metrics["set"] == "news"]
    row = read_tsv(folder / "tables/table1_performance.tsv").query("corpus == 'talk' and method == 'soc-1'")
    (row,) = row.to_dict("records")
    assert row["f1_mean"] == pytest.approx(test["f1"].mean())
    assert row["f1_sd"] == pytest.approx(test["f1"].std(ddof=1))
    assert row["news_mean"] == pytest.approx(news["accuracy"].mean())
    assert row["news_macro_mean"] == pytest.approx(news["macro_accuracy"].mean())
    assert (row["n_seeds"], row["n_train"]) == (N_SEEDS, 1200)


def test_table_1_shows_what_is_printed(units):
    table = tables.performance(units)
    shown = table.shown.assign(name=[names.title(method) for method in table.data["method"]])
    forum = shown[shown["Corpus"] == "forum"].set_index("name")
    assert forum.loc["Encoder", "Printed F1"] == "51.25 ± 2.5"
    assert forum.loc["BoW", "Printed F1"] == "40.00"
    assert forum.loc["Encoder + OC (α = 0.1)", "Printed news"] == "93.75"
    assert forum.loc["Encoder + WR", "Printed F1"] == "–"
    assert set(shown.loc[shown["Corpus"] == "talk", "Printed F1"]) == {"–"}


def test_a_single_seed_has_no_deviation(units):
    table = tables.performance(units)
    cells = table.shown["F1 (%)"][table.data["n_seeds"] == 1]
    means = 100 * table.data.loc[table.data["n_seeds"] == 1, "f1_mean"]
    assert cells.tolist() == [f"{mean:.1f} ± –" for mean in means]
    assert not table.shown["F1 (%)"][table.data["n_seeds"] > 1].str.contains("–").any()


def test_table_5_has_other_corpora_alone(folder, units):
    table = tables.transfer(units)
    pairs = table.data[["corpus", "set"]].drop_duplicates().to_numpy().tolist()
    assert pairs == [["forum", "talk"], ["talk", "forum"]]
    assert set(table.data["method"]) == set(METHODS)
    own = read_tsv(folder / "forum/metrics.tsv").query("set == 'talk' and method == 'soc-1'")
    row = table.data.query("corpus == 'forum' and method == 'soc-1'").iloc[0]
    assert row["f1_mean"] == pytest.approx(own["f1"].mean())
    assert row["printed_f1"] == "33.50"


def test_table_6_shows_what_is_printed_beside_each_kind(units):
    table = tables.cost(units)
    shown = table.shown.set_index(["Corpus", "Method"])["Printed, an epoch"]
    assert shown["talk", "Encoder"] == "1 m 1 s"
    assert shown["talk", "Encoder + SOC (α = 1)"] == "–"
    assert not table.data["method"].str.contains("@").any()


def test_differences_are_shown_in_points(units):
    table = tables.differences(units)
    assert set(table.data["method"]) == set(METHODS) - {"bow"}
    assert set(table.data["baseline"]) == {"vanilla", "bow"}
    row = table.data.query(
        "corpus == 'forum' and method == 'wr' and baseline == 'vanilla' and measure == 'f1'"
    ).iloc[0]
    shown = table.shown.query("Corpus == 'forum' and Method == 'Encoder + WR' and Against == 'Encoder'")
    cell = shown.loc[shown["Measure"] == "F1", "Difference (points)"].item()
    numbers = [100 * row[name] for name in ("mean_difference", "ci_low", "ci_high")]
    assert cell == "{:+.2f} ({:+.2f} to {:+.2f})".format(*numbers)
    # Accuracy on the test set is in the numbers, but not shown.
    assert ((table.data["set"] == "test") & (table.data["measure"] == "accuracy")).any()
    assert not ((table.shown["Set"] == "test") & (table.shown["Measure"] == "Accuracy")).any()


def test_changes_of_rank_have_the_sign_of_the_paper():
    before, after = ["loka", "mika", "taso", "veso"], ["veso", "loka", "mika", "neso"]
    rows = [
        [method, word, word == "mika", 2, 1.0 / place, place]
        for method, listed in (("vanilla", before), ("soc-0.1", after))
        for place, word in enumerate(listed, start=1)
    ]
    found = words.rank_changes(pd.DataFrame(rows, columns=results.COLUMNS["importance"]))
    changes = {name: part.set_index("word")["rank_change"].to_dict() for name, part in found.groupby("list")}
    assert changes["before"] == {
        "loka": -1, "mika": -1, "taso": pytest.approx(math.nan, nan_ok=True), "veso": 3
    }  # fmt: skip
    assert changes["after"] == {
        "veso": 3, "loka": -1, "mika": -1, "neso": pytest.approx(math.nan, nan_ok=True)
    }  # fmt: skip
    assert found.groupby("list", sort=False)["word"].agg(list).tolist() == [before, after]


def test_table_2_has_twenty_words_of_each_list(folder):
    data = read_tsv(folder / "forum/tables/table2_word_importance.tsv")
    assert data.groupby(["method", "list"]).size().to_dict() == {
        ("oc-0.1", "after"): 20, ("oc-0.1", "before"): 20, ("soc-0.1", "after"): 20, ("soc-0.1", "before"): 20
    }  # fmt: skip
    importance = read_tsv(folder / "forum/importance.tsv").query("method == 'soc-0.1' and rank <= 20")
    own = data.query("method == 'soc-0.1' and list == 'after'")
    assert own["mean_phi"].tolist() == pytest.approx(importance["mean_phi"].tolist())


def test_listed_words_are_masked_in_all_files_of_table_2(folder, tmp_path):
    seen = set()
    for corpus in CORPORA:
        for path in (folder / corpus / "tables").glob("table2_*"):
            text = path.read_text(encoding="utf-8").replace("\\", "")
            assert "lopel" not in text, path.name
            assert "taka" not in text, path.name
            seen |= {mask for mask in ("l***l", "t**a") if mask in text}
    assert seen == {"l***l", "t**a"}


def test_words_are_shown_on_request(folder, lists):
    shown = []
    for unmask in (False, True):
        for unit in opened(folder, units_of(CORPORA, **lists, unmask=unmask)):
            table = words.word_importance(unit)
            assert table.note.endswith(" Slurs are masked.") != unmask
            shown.append("lopel" in set(table.data["word"]))
    assert any(shown[2:])
    assert not any(shown[:2])


def test_identifiers_come_by_their_rank(folder, units):
    table = words.identifiers(units)
    for corpus, part in table.data.groupby("corpus"):
        assert set(part["term"]) == set(IDENTIFIERS)
        assert part["rank"].is_monotonic_increasing
        assert f"{corpus}: {(part['rank'] <= 150).sum()} of {len(IDENTIFIERS)}" in table.note


def test_importance_counts_every_occurrence_once():
    rows = [["soc-1", 0, "soc", "baker", 1, 0.5, 1.0], ["soc-1", 0, "soc", "weaver", 3, -0.5, 2.0]]
    rows += [["soc-1", 0, "soc", "potter", 0, math.nan, math.nan]]
    data = pd.DataFrame(rows, columns=results.COLUMNS["attributions"]).assign(corpus="forum")
    (row,) = explanations.phi_by_seed(data).to_dict("records")
    assert (row["n"], row["mean_phi"], row["mean_abs_phi"]) == (4, -0.25, 1.75)


def test_importance_is_paired_with_the_encoder(units):
    data = explanations.attributions(units).data
    phi = explanations.phi_by_seed(results.read_all(units, "attributions"))
    phi = phi.query("corpus == 'talk' and explanation == 'oc'").set_index(["method", "seed"])["mean_abs_phi"]
    changes = phi["soc-1"] - phi["vanilla"]
    row = data.query("corpus == 'talk' and explanation == 'oc'").set_index("method").loc["soc-1"]
    assert row["mean_abs_phi_difference"] == pytest.approx(changes.mean())
    ends = row[["mean_abs_phi_ci_low", "mean_abs_phi_ci_high"]].tolist()
    assert ends == pytest.approx(mean_interval(changes))
    assert row["n_lower"] == (changes < 0).sum()
    assert not data["method"].str.contains("@").any()


def test_quirks_are_compared_with_the_same_seed_without(folder, units):
    data = explanations.ablation(units).data.query("corpus == 'forum'").set_index("method")
    assert data.index.tolist() == ["soc-0.1", "soc-0.1@dropout", "soc-0.1@published"]
    f1 = read_tsv(folder / "forum/metrics.tsv").query("set == 'test'").set_index(["method", "seed"])["f1"]
    row = data.loc["soc-0.1@dropout"]
    assert row["n_pairs"] == 1
    assert row["f1"] == pytest.approx(f1["soc-0.1@dropout", 0])
    assert row["f1_difference"] == pytest.approx(f1["soc-0.1@dropout", 0] - f1["soc-0.1", 0])
    assert data.loc["soc-0.1", "f1"] == pytest.approx(f1["soc-0.1"].mean())
    assert math.isnan(data.loc["soc-0.1", "f1_difference"])


def test_removal_has_mean_and_range_over_the_subsets(folder, units):
    data = figures.removal(results.read_all(units, "removal")).query("corpus == 'forum'")
    own = read_tsv(folder / "forum/removal.tsv").query("n_removed == 3")
    row = data[data["n_removed"] == 3].iloc[0]
    assert row["n_subsets"] == 5
    assert [row["f1"], row["f1_low"], row["f1_high"]] == pytest.approx(
        [own["f1"].mean(), own["f1"].min(), own["f1"].max()]
    )
    assert data["n_removed"].tolist() == list(range(len(IDENTIFIERS) + 1))


def test_points_of_the_performance_figure_are_trainings(folder, units, tmp_path):
    figures.draw_performance(units, tmp_path / "figure")
    data = read_tsv(tmp_path / "figure.tsv").set_index(["corpus", "method", "seed"])
    metrics = read_tsv(folder / "talk/metrics.tsv").set_index(["set", "method", "seed"])
    for seed in range(N_SEEDS):
        row = data.loc[("talk", "oc-0.1", seed)]
        assert row["f1"] == pytest.approx(metrics.loc[("test", "oc-0.1", seed), "f1"])
        assert row["news"] == pytest.approx(metrics.loc[("news", "oc-0.1", seed), "accuracy"])
    assert len(data) == 2 * (2 + 5 * N_SEEDS)


def test_a_corpus_that_is_not_among_the_units_enters_no_item(lists, tmp_path):
    write_results(tmp_path / "hate_speech", ["forum", "other"], ["vanilla", "soc-0.1"])
    written = []
    for _ in range(2):
        write_report(TABLES, units_of(["forum"], **lists), tmp_path)
        written.append({path: path.read_text("utf-8") for path in tmp_path.rglob("tables/*")})
        shutil.rmtree(tmp_path / "hate_speech/other", ignore_errors=True)
    assert written[0] == written[1]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["vanilla", "soc-0.1"])
def test_one_method_with_one_seed_has_tables_and_figures(method, lists, tmp_path):
    write_results(tmp_path / "hate_speech", ["forum"], [method], n_seeds=1)
    write_report(AREA, units_of(["forum"], **lists), tmp_path)
    shown = (tmp_path / "hate_speech/tables/table1_performance.md").read_text(encoding="utf-8")
    assert " ± – |" in shown


@pytest.mark.filterwarnings("error")
def test_a_corpus_without_news_has_tables_and_figures(lists, tmp_path):
    folder = tmp_path / "hate_speech"
    write_results(folder, ["forum"], ["bow", "vanilla", "soc-0.1"], n_seeds=2)
    for name in ("metrics", "differences"):
        change(folder / "forum", name, "set != 'news'")
    change(folder / "forum", "removal", "subset < 0")
    write_report(AREA, units_of(["forum"], **lists), tmp_path)
    data = read_tsv(folder / "tables/table1_performance.tsv")
    assert data["news_mean"].isna().all()
    assert data["f1_mean"].notna().all()


@pytest.mark.filterwarnings("error")
def test_files_without_rows_do_not_change_the_other_corpora(lists, tmp_path):
    folder = tmp_path / "hate_speech"
    write_results(folder, ["empty", "forum"], ["vanilla", "soc-0.1"], n_seeds=2)
    for path in (folder / "empty").glob("*.tsv"):
        write_tsv(path, read_tsv(path)[:0])
    write_report(TABLES, units_of(["empty", "forum"], **lists), tmp_path)
    both = {path.name: path.read_text("utf-8") for path in (folder / "tables").glob("*.tsv")}
    write_report(TABLES, units_of(["forum"], **lists), tmp_path)
    assert both == {path.name: path.read_text("utf-8") for path in (folder / "tables").glob("*.tsv")}


def test_a_missing_column_is_refused(folder, lists, tmp_path):
    path = tmp_path / "hate_speech/forum/cost.tsv"
    write_tsv(path, read_tsv(folder / "forum/cost.tsv").drop(columns="ratio"))
    with pytest.raises(InputError, match=r"cost\.tsv: column 'ratio' is missing"):
        tables.cost(opened(tmp_path / "hate_speech", units_of(["forum"], **lists)))
