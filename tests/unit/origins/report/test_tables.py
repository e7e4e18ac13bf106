"""Tables 1 to 4, Appendix E and the tests of sets and analogies."""

from dataclasses import replace

import pytest

from biaslab.core.io import read_tsv
from biaslab.origins.checks.retraining.report.estimators import correlation
from biaslab.origins.checks.retraining.report.quality import glove_analogies
from biaslab.origins.checks.retraining.report.significance import set_tests, significance_counts
from biaslab.origins.report.association_tests import baseline_bias, weat_sets, weat_words
from biaslab.origins.report.influential_documents import influential_documents
from biaslab.origins.report.setups import experimental_setups
from origins_data import copy_setup, make_setups


@pytest.fixture(scope="module")
def setups(tmp_path_factory):
    small = {"weats": ("weat2",), "metadata": False, "n_documents": 30}
    return make_setups(tmp_path_factory.mktemp("origins"), {"wiki": {}, "small": small})


def test_table_1_names_the_sets_and_marks_lost_words(setups):
    table = weat_sets(setups)
    assert table.shown["Symbol"].tolist() == ["S", "T", "A", "B"]
    assert table.shown["weat1"].tolist() == ["science", "arts", "male", "female"]
    words = weat_words(setups)
    row = words.data[(words.data["weat"] == "weat1") & (words.data["set"] == "female")].iloc[0]
    assert row["words"] == "she, hers, woman"
    assert row["lost_wiki"] == "hers"
    shown = words.shown[words.shown["WEAT"] == "weat1"]
    assert shown["Lost in wiki"].tolist() == ["nasa", "none", "none", "hers"]
    assert shown["Lost in small"].tolist() == ["–"] * 4  # it does not measure weat1


def test_table_2_summarises_the_baselines(setups):
    table = baseline_bias(setups)
    baseline = read_tsv(setups[0].folder / "baseline.tsv").query("weat == 'weat1'")
    row = table.data.iloc[0]
    assert (row["setup"], row["weat"], row["n_seeds"], row["n_lost_words"]) == ("wiki", "weat1", 4, 2)
    assert row["effect_size_mean"] == pytest.approx(sum(baseline["effect_size"]) / 4)
    assert row["effect_size_sd"] == pytest.approx(baseline["effect_size"].std())
    assert row["p_value_median"] == pytest.approx(0.0115)
    assert table.shown["Effect size"][0] == f"{row['effect_size_mean']:.3f} ± {row['effect_size_sd']:.3f}"
    assert len(table.data) == 3


def test_table_3_counts_documents_articles_and_tokens(setups):
    table = experimental_setups(setups)
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
    unit = setups[1].unit
    options = {**unit.options, "corpus": {"unit": "article", "min_length": 1, "max_length": 9}}
    setup = replace(setups[1], unit=replace(unit, options=options))
    values = experimental_setups([setup]).data.set_index("parameter")["value"]
    assert values["unit"] == "articles"
    assert values["n_articles"] == values["n_documents"] == "30"


def test_unanswerable_analogies_show_a_dash(setups, tmp_path):
    setup = copy_setup(setups[1], tmp_path)
    path = setup.folder / "analogies.tsv"
    read_tsv(path).assign(accuracy=float("nan")).to_csv(path, sep="\t", index=False)
    shown = experimental_setups([setup]).shown.set_index("Parameter")["small"]
    assert shown["TOP-1 analogies"] == shown["± std. dev."] == "–"


def test_table_3_leaves_out_the_analogies_of_retrained_embeddings(setups):
    values = experimental_setups(setups[:1]).data.set_index("parameter")["value"]
    analogies = read_tsv(setups[0].folder / "analogies.tsv")
    baseline = analogies.loc[analogies["set"] == "baseline", "accuracy"]
    assert len(analogies) > len(baseline) == 4
    assert float(values["top1_analogies"]) == pytest.approx(baseline.mean())


def test_analogies_of_every_set_are_tested_against_the_baseline(setups):
    table = glove_analogies(setups[0])
    sets = read_tsv(setups[0].folder / "perturbations.tsv")["set"].unique()
    assert table.data["set"].tolist() == ["baseline", *sets]
    significant = (table.data["welch_p"] < 0.05).sum()
    assert f"of {len(sets)} sets {significant} differ (p < 0.05), {0.05 * len(sets):.1f} would" in table.note
    assert table.shown.iloc[0][["Change", "t", "p"]].tolist() == ["–"] * 3
    accuracy = table.data.loc[0, "accuracy_mean"]
    assert table.shown.loc[0, "TOP-1 (%)"].startswith(f"{100 * accuracy:.2f} ± ")


def test_table_4_has_a_row_for_every_setup_test_and_estimator(setups):
    table = correlation(setups)
    assert len(table.data) == 3 * 3
    row = table.data.query("setup == 'wiki' and weat == 'weat1' and estimator == 'newton'").iloc[0]
    source = read_tsv(setups[0].folder / "correlation.tsv").query("weat == 'weat1' and estimator == 'newton'")
    assert row["r2"] == source["r2"].item()
    assert row["n_sets"] == 6


def test_influential_documents_have_the_papers_signs_and_order(setups):
    table = influential_documents(setups[0], "weat1")
    bias = setups[0].differential_bias("weat1").set_index("document")["influence_mean"]
    by_effect = dict(list(table.data.groupby("effect")))
    assert list(table.data["effect"].unique()) == ["raises", "lowers"]  # those that raise the bias first
    raising, lowering = by_effect["raises"], by_effect["lowers"]
    assert len(raising) == len(lowering) == 25
    assert lowering["document"].iloc[0] == bias.idxmin()
    assert raising["document"].iloc[0] == bias.idxmax()
    assert (lowering["influence_mean"] < 0).all()
    assert lowering["influence_mean"].is_monotonic_increasing
    assert raising["influence_mean"].is_monotonic_decreasing
    assert set(raising["document"]) == set(bias.nlargest(25).index)
    mean = setups[0].baseline_mean("weat1")
    assert raising["percent_of_baseline"].iloc[0] == pytest.approx(100 * bias.max() / mean)
    assert "Raises (ΔB > 0): the document raises the effect size, its removal lowers it" in table.note
    counts = setups[0].differential_bias("weat1").set_index("document")["rarest_B"]
    assert raising["rarest_B"].tolist() == counts[raising["document"]].tolist()
    row = raising.iloc[0]
    assert row["title"].startswith(f"Article {row['document'] // 3} ")
    assert row["excerpt"].startswith(
        f"The beginning of part {row['document'] % 3} of article {row['document'] // 3},"
    )


def test_few_documents_give_a_short_list_without_those_of_no_influence(setups):
    table = influential_documents(setups[1], "weat2")
    bias = setups[1].differential_bias("weat2")["influence_mean"]
    assert table.data["effect"].value_counts().to_dict() == {
        "lowers": min(25, (bias < 0).sum()),
        "raises": min(25, (bias > 0).sum()),
    }
    assert (table.data["influence_mean"] != 0).all()


def test_every_set_is_tested_once_and_counted(setups):
    sets = set_tests(setups[0]).data
    assert len(sets) == 2 * (6 + 6)
    assert not sets.duplicated(["weat", "set"]).any()
    counts = significance_counts(setups).data.set_index(["setup", "weat", "sets"])
    assert counts.loc["wiki", "weat1", "targeted"]["n_tested"] == 6
    assert counts.loc["wiki", "weat1", "targeted"]["n_significant"] == 4
    assert counts.loc["wiki", "weat1", "random"]["n_significant"] == 0
    assert counts.loc["wiki", "weat1", "random"]["n_expected_by_chance"] == pytest.approx(0.3)
    assert (sets["significant"] == "yes").sum() == 8
