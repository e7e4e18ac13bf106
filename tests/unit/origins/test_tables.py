import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from biaslab.cli import main
from biaslab.core import plotting
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv
from biaslab.core.tables import TABLE_SUFFIXES
from biaslab.origins.report import tables
from biaslab.origins.report.figures import figure_items
from origins_data import WORD_SETS, make_setups


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("origins")


@pytest.fixture(scope="module")
def setups(folder):
    return make_setups(
        folder, {"wiki": {}, "small": {"weats": ("weat2",), "metadata": False, "n_documents": 30}}
    )


@pytest.fixture(scope="module")
def written(folder, setups):
    tables.write_tables(setups, WORD_SETS, folder)
    return folder


def test_exactly_the_listed_files_are_written(written, setups):
    items = tables.table_items({"wiki": ("weat1", "weat2"), "small": ("weat2",)})
    listed = {written / f"{item.stem}{suffix}" for item in items for suffix in TABLE_SUFFIXES}
    assert listed == {p for p in written.rglob("*") if p.parent.name == "tables"}
    assert len(items) == 10 + 2 * 6 + 3 * 4


def test_writing_twice_gives_equal_bytes(written, setups, tmp_path):
    tables.write_tables(setups, WORD_SETS, tmp_path)
    for path in tmp_path.rglob("*.*"):
        assert path.read_bytes() == (written / path.relative_to(tmp_path)).read_bytes(), path


def test_table_1_names_the_sets_and_marks_lost_words(setups):
    table = tables.weat_sets(setups, WORD_SETS)
    assert table.shown["Symbol"].tolist() == ["S", "T", "A", "B"]
    assert table.shown["weat1"].tolist() == ["science", "arts", "male", "female"]
    words = tables.weat_words(setups, WORD_SETS)
    row = words.data[(words.data["weat"] == "weat1") & (words.data["set"] == "female")].iloc[0]
    assert row["words"] == "she, hers, woman"
    assert row["lost_wiki"] == "hers"
    shown = words.shown[words.shown["WEAT"] == "weat1"]
    assert shown["Lost in wiki"].tolist() == ["nasa", "none", "none", "hers"]
    assert shown["Lost in small"].tolist() == ["–"] * 4  # it does not measure weat1


def test_table_2_summarises_the_baselines(setups):
    table = tables.baseline_bias(setups)
    baseline = read_tsv(setups[0].folder / "baseline.tsv").query("weat == 'weat1'")
    row = table.data.iloc[0]
    assert (row["setup"], row["weat"], row["n_seeds"], row["n_lost_words"]) == ("wiki", "weat1", 4, 2)
    assert row["effect_size_mean"] == pytest.approx(sum(baseline["effect_size"]) / 4)
    assert row["effect_size_sd"] == pytest.approx(baseline["effect_size"].std())
    assert row["p_value_median"] == pytest.approx(0.0115)
    assert table.shown["Effect size"][0] == f"{row['effect_size_mean']:.3f} ± {row['effect_size_sd']:.3f}"
    assert len(table.data) == 3


def test_table_3_counts_documents_articles_and_tokens(setups):
    table = tables.experimental_setups(setups)
    values = table.data.set_index(["setup", "parameter"])["value"]
    assert values["wiki", "n_documents"] == "300"
    assert values["wiki", "n_articles"] == "100"
    assert values["wiki", "n_tokens"] == "60000"
    assert values["small", "n_documents"] == "30"
    assert values["wiki", "vocabulary_size"] == "3"  # the word NA is a word
    assert values["wiki", "alpha"] == "0.75"
    assert float(values["wiki", "top1_analogies"]) == pytest.approx(0.35, abs=0.05)
    shown = table.shown.set_index("Parameter")
    assert shown.loc["Num. tokens", "wiki"] == "60,000"
    assert shown.loc["TOP-1 analogies", "wiki"].endswith("%")


def test_table_3_of_articles_does_not_look_for_parts(setups):
    options = {**setups[1].options, "corpus": {"unit": "article", "min_length": 1, "max_length": 9}}
    setup = tables.Setup("small", setups[1].folder, options)
    values = tables.experimental_setups([setup]).data.set_index("parameter")["value"]
    assert values["unit"] == "articles"
    assert values["n_articles"] == values["n_documents"] == "30"


def test_unanswerable_analogies_show_a_dash(setups, tmp_path):
    shutil.copytree(setups[1].folder, tmp_path / "small")
    path = tmp_path / "small" / "analogies.tsv"
    read_tsv(path).assign(accuracy=float("nan")).to_csv(path, sep="\t", index=False)
    setup = tables.Setup("small", tmp_path / "small", setups[1].options)
    shown = tables.experimental_setups([setup]).shown.set_index("Parameter")["small"]
    assert shown["TOP-1 analogies"] == shown["± std. dev."] == "–"


def test_table_3_leaves_out_the_analogies_of_retrained_embeddings(setups):
    values = tables.experimental_setups(setups[:1]).data.set_index("parameter")["value"]
    analogies = read_tsv(setups[0].folder / "analogies.tsv")
    baseline = analogies.loc[analogies["set"] == "baseline", "accuracy"]
    assert len(analogies) > len(baseline) == 4
    assert float(values["top1_analogies"]) == pytest.approx(baseline.mean())


def test_analogies_of_every_set_are_tested_against_the_baseline(setups):
    table = tables.analogy_tests(setups[0])
    sets = read_tsv(setups[0].folder / "perturbations.tsv")["set"].unique()
    assert table.data["set"].tolist() == ["baseline", *sets]
    significant = (table.data["welch_p"] < 0.05).sum()
    assert f"of {len(sets)} sets {significant} differ (p < 0.05), {0.05 * len(sets):.1f} would" in table.note
    assert table.shown.iloc[0][["Change", "t", "p"]].tolist() == ["–"] * 3
    accuracy = table.data.loc[0, "accuracy_mean"]
    assert table.shown.loc[0, "TOP-1 (%)"].startswith(f"{100 * accuracy:.2f} ± ")


def test_table_4_has_a_row_for_every_setup_test_and_estimator(setups):
    table = tables.correlation(setups)
    assert len(table.data) == 3 * 3
    row = table.data.query("setup == 'wiki' and weat == 'weat1' and estimator == 'newton'").iloc[0]
    source = read_tsv(setups[0].folder / "correlation.tsv").query("weat == 'weat1' and estimator == 'newton'")
    assert row["r2"] == source["r2"].item()
    assert row["n_sets"] == 6


def test_influential_documents_have_the_papers_signs_and_order(setups):
    table = tables.influential_documents(setups[0], "weat1")
    bias = setups[0].differential_bias("weat1").set_index("document")["influence_mean"]
    by_effect = dict(list(table.data.groupby("effect")))
    decreasing, increasing = by_effect["decreasing"], by_effect["increasing"]
    assert len(decreasing) == len(increasing) == 25
    assert decreasing["document"].iloc[0] == bias.idxmin()
    assert increasing["document"].iloc[0] == bias.idxmax()
    assert (decreasing["influence_mean"] < 0).all()
    assert decreasing["influence_mean"].is_monotonic_increasing
    assert increasing["influence_mean"].is_monotonic_decreasing
    assert set(increasing["document"]) == set(bias.nlargest(25).index)
    mean = setups[0].baseline_mean("weat1")
    assert increasing["percent_of_baseline"].iloc[0] == pytest.approx(100 * bias.max() / mean)
    assert "decreasing (ΔB < 0): the document lowers the effect size, its removal raises it" in table.note
    row = increasing.iloc[0]
    assert row["title"].startswith(f"Article {row['document'] // 3} ")
    assert row["excerpt"].startswith(
        f"The beginning of part {row['document'] % 3} of article {row['document'] // 3},"
    )


def test_few_documents_give_a_short_list_without_those_of_no_influence(setups):
    table = tables.influential_documents(setups[1], "weat2")
    bias = setups[1].differential_bias("weat2")["influence_mean"]
    assert table.data["effect"].value_counts().to_dict() == {
        "decreasing": min(25, (bias < 0).sum()),
        "increasing": min(25, (bias > 0).sum()),
    }
    assert (table.data["influence_mean"] != 0).all()


def test_every_set_is_tested_once_and_counted(setups):
    sets = tables.set_tests(setups[0]).data
    assert len(sets) == 2 * (6 + 6)
    assert not sets.duplicated(["weat", "set"]).any()
    counts = tables.significance_counts(setups).data.set_index(["setup", "weat", "sets"])
    assert counts.loc["wiki", "weat1", "targeted"]["n_tested"] == 6
    assert counts.loc["wiki", "weat1", "targeted"]["n_significant"] == 4
    assert counts.loc["wiki", "weat1", "random"]["n_significant"] == 0
    assert counts.loc["wiki", "weat1", "random"]["n_expected_by_chance"] == pytest.approx(0.3)
    assert (sets["significant"] == "yes").sum() == 8


def test_a_corpus_without_metadata_says_so(written):
    table = read_tsv(written / "small" / "tables" / "metadata_weat2.tsv")
    assert table.empty
    assert "value" in table.columns
    assert "no metadata column" in (written / "small" / "tables" / "metadata_weat2.md").read_text()


def test_many_groups_are_all_in_the_tsv_but_only_the_ends_are_shown(setups, monkeypatch):
    monkeypatch.setattr(tables, "N_GROUPS", 3)
    table = tables.metadata(setups[0], "weat1")
    years = table.data[table.data["column"] == "year"]
    shown = table.shown[table.shown["Column"] == "year"]
    assert len(years) == 21
    assert shown["Value"].tolist() == [*years["value"][:3], *years["value"][-3:]]


def test_missing_word_sets_are_named(setups):
    with pytest.raises(InputError, match="no word sets for 'weat1'"):
        tables.weat_sets(setups, {"weat2": WORD_SETS["weat2"]})


@pytest.mark.parametrize(
    "name",
    [
        "baseline.tsv",
        "correlation.tsv",
        "perturbations.tsv",
        "documents.parquet",
        "analogies.tsv",
        "vocabulary.tsv",
    ],
)
def test_a_missing_result_is_an_error_not_a_gap(setups, tmp_path, name):
    shutil.copytree(setups[1].folder, tmp_path / "small")
    (tmp_path / "small" / name).unlink()
    setup = tables.Setup("small", tmp_path / "small", setups[1].options)
    with pytest.raises(InputError, match=f"{name}: no such file"):
        tables.write_tables([setup], WORD_SETS, tmp_path)


def test_tables_read_back_with_pandas(written):
    for path in written.rglob("tables/*.tsv"):
        assert isinstance(pd.read_csv(path, sep="\t"), pd.DataFrame)


def test_every_table_has_a_caption_for_the_report():
    report = Path(__file__).parents[3] / "workflow" / "report"
    for item in tables.table_items({"sample": ("weat1",)}):
        assert (report / f"{item.caption}.rst").read_text().strip(), item


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["biaslab", "origins", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code, capsys.readouterr().err


def test_the_commands_write_what_is_listed(folder, setups, tmp_path, monkeypatch, capsys):
    word_sets = vars(WORD_SETS["weat2"])
    (tmp_path / "weat2.yaml").write_text(yaml.safe_dump(word_sets, sort_keys=False))
    arguments = ["--config", folder / "config.json", "--weat", tmp_path / "weat2.yaml", "--out-dir", tmp_path]
    named = ["--setup", f"small={folder / 'small'}"]
    assert run(monkeypatch, capsys, "tables", *named, *arguments) == (0, "")
    assert all((tmp_path / f"{i.stem}.md").is_file() for i in tables.table_items({"small": ("weat2",)}))
    monkeypatch.setattr(plotting, "save", lambda figure, stem: None)  # the figures have their own tests
    assert run(monkeypatch, capsys, "figures", *named, *arguments) == (0, "")
    assert all((tmp_path / f"{i.stem}.tsv").is_file() for i in figure_items({"small": ("weat2",)}))
    code, message = run(monkeypatch, capsys, "tables", "--setup", f"smal={folder}", *arguments)
    assert code == 2
    assert message.startswith("biaslab: ")
    assert message.count("\n") == 1
    assert "did you mean 'small'?" in message
