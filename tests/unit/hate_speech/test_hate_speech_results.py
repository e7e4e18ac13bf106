"""Tables and figures of hate speech classifiers, on small tables."""

import hashlib
import math

import pandas as pd
import pytest

from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.stats import mean_interval, share_interval
from biaslab.hate_speech.metrics import COLUMNS
from biaslab.hate_speech.report import figures, hatecheck, results, tables
from biaslab.run.area import Unit, load_area
from biaslab.run.plan.reports import open_unit
from refusals import refused

AREA = load_area("hate_speech")
PRINTED = {
    "t1-forum-vanilla-f1": "51.25 (BoW: 40.00)",
    "t1-forum-vanilla-f1-sd": "± 2.5 (BoW: ± 1.0)",
    "t5-forum-talk-wr-f1": "33.50",
    "t6-bert-time": "1 m 1 s",
}
F1 = {("bow", 0): 0.4, ("vanilla", 0): 0.5, ("vanilla", 1): 0.6, ("wr", 0): 0.45, ("wr", 1): 0.45}


def metrics(f1=F1, sets=("test", "news", "talk")):
    """Return metrics.tsv of trainings with these F1 on the test set, 0.2 less on another corpus."""
    rows = []
    for (method, seed), value in f1.items():
        for name in sets:
            own = [math.nan] * 3 if name == "news" else [0.3, 0.7, value - 0.2 * (name == "talk")]
            accuracies = [value + 0.3, value + 0.2] if name == "news" else [0.9, math.nan]
            rows.append([method, seed, name, 1200, 500, 65, *own, *accuracies, 0.001])
    return rows


@pytest.fixture
def unit(tmp_path):
    """Return a function that writes tables of a corpus, each as rows, and opens it."""
    claims = tmp_path / "claims.tsv"
    lines = [f"{name}\t{text}" for name, text in PRINTED.items()]
    claims.write_text("\n".join(["claim_id\tpublished", *lines]) + "\n", encoding="utf-8")
    masked = tmp_path / "masked.txt"
    masked.write_text(hashlib.sha256(b"lopel").hexdigest() + "\n", encoding="utf-8")

    def make(name="forum", unmask=False, **written):
        for table, rows in written.items():
            frame = pd.DataFrame(rows, columns=COLUMNS[table])
            write_tsv(tmp_path / f"hate_speech/{name}/{table}.tsv", frame)
        files = {"claims": str(claims), "masked_words": str(masked)}
        return open_unit(AREA, Unit(name, options={"unmask": unmask}, files=files), tmp_path)

    return make


def test_a_method_is_compared_with_the_plain_model_of_its_kind():
    methods = ("bow", "bow-wr", "vanilla", "wr", "ear-0.01", "soc-1@sum")
    baselines = ["", "bow", "", "vanilla", "vanilla", "vanilla"]
    assert [results.baseline(method) for method in methods] == baselines


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda table: table.assign(method="rw"), "there is no method 'rw'"),
        (lambda table: table.drop(columns="f1"), r"metrics\.tsv: column 'f1' is missing"),
    ],
)
def test_bad_results_are_refused(unit, tmp_path, change, problem):
    opened, path = unit(metrics=metrics()), tmp_path / "hate_speech/forum/metrics.tsv"
    write_tsv(path, change(read_tsv(path)))
    with refused(problem):
        tables.performance([opened])


def test_differences_are_taken_seed_by_seed():
    data = pd.DataFrame(
        {
            "method": ["vanilla"] * 3 + ["wr"] * 3,
            "seed": [0, 1, 2, 0, 1, 7],
            "v": [1.0, 10.0, 100.0, 3.0, 9.0, 5.0],
        }
    )
    own = data[data["method"] == "wr"].assign(baseline="vanilla")
    (row,) = results.paired(own, data, ["method"], "v").to_dict("records")
    assert (row["n_pairs"], row["n_lower"]) == (2, 1)
    assert row["v_difference"] == pytest.approx(0.5)
    assert (row["v_ci_low"], row["v_ci_high"]) == pytest.approx(mean_interval([2.0, -1.0]))


def test_table_1_has_means_over_seeds_beside_what_is_printed(unit):
    table = tables.performance([unit(metrics=metrics()), unit("talk", metrics=metrics())])
    rows = table.data[table.data["corpus"] == "forum"].set_index("method")
    assert rows.index.tolist() == ["bow", "vanilla", "wr"]
    encoder = rows.loc["vanilla"]
    assert encoder[["n_seeds", "n_train"]].tolist() == [2, 1200]
    assert encoder[["f1_mean", "news_mean", "news_macro_mean"]].tolist() == pytest.approx([0.55, 0.85, 0.75])
    assert encoder["f1_sd"] == pytest.approx(math.sqrt(0.005))
    shown = table.shown.set_index(["Corpus", "Method"])
    assert shown.loc[("forum", "Encoder"), ["F1 (%)", "Printed F1"]].tolist() == ["55.0 ± 7.1", "51.25 ± 2.5"]
    assert shown.loc[("forum", "BoW"), ["F1 (%)", "Printed F1"]].tolist() == ["40.0 ± –", "–"]
    assert set(shown.loc["talk", "Printed F1"]) == {"–"}


def test_table_5_has_other_corpora_alone(unit):
    table = tables.transfer([unit(metrics=metrics())])
    assert set(table.data["set"]) == {"talk"}
    row = table.data.set_index("method").loc["wr"]
    assert row["f1_mean"] == pytest.approx(0.25)
    assert row["printed_f1"] == "33.50"


def test_table_6_shows_what_is_printed_beside_each_kind(unit):
    rows = [[method, 38, 900, 1.0] for method in ("vanilla", "soc-1", "soc-0.1@sum")]
    table = tables.cost([unit(cost=rows)])
    assert table.data["method"].tolist() == ["vanilla", "soc-1"]
    assert table.shown["Printed, an epoch"].tolist() == ["1 m 1 s", "–"]


def test_differences_are_shown_in_points(unit):
    numbers = [3, 0.01, -0.02, 0.04, 0.3, 2]
    rows = [["wr", "vanilla", "test", measure, *numbers] for measure in ("f1", "accuracy")]
    rows += [["vanilla", "vanilla", "news", "accuracy", *numbers], ["bow", "vanilla", "test", "f1", *numbers]]
    table = tables.differences([unit(differences=rows)])
    shown = table.shown[["Set", "Measure", "Method", "Against"]].to_numpy().tolist()
    assert shown == [
        ["news", "Accuracy", "Encoder", "another seed of it"],
        ["test", "F1", "Encoder + WR", "Encoder"],
    ]
    assert set(table.shown["Difference (points)"]) == {"+1.00 (-2.00 to +4.00)"}
    assert set(table.shown["Higher in (seeds)"]) == {"2 of 3"}


def test_changes_of_rank_have_the_sign_of_the_paper():
    before, after = ["loka", "mika", "taso", "veso"], ["veso", "loka", "mika", "neso"]
    rows = [
        [method, word, word == "mika", 2, 1.0 / place, place]
        for method, listed in (("vanilla", before), ("soc-0.1", after))
        for place, word in enumerate(listed, start=1)
    ]
    found = tables.rank_changes(pd.DataFrame(rows, columns=COLUMNS["importance"]))
    changes = {name: part.set_index("word")["rank_change"].to_dict() for name, part in found.groupby("list")}
    missing = pytest.approx(math.nan, nan_ok=True)
    assert changes["before"] == {"loka": -1, "mika": -1, "taso": missing, "veso": 3}
    assert changes["after"] == {"veso": 3, "loka": -1, "mika": -1, "neso": missing}
    assert found.groupby("list", sort=False)["word"].agg(list).tolist() == [before, after]


@pytest.mark.parametrize(("unmask", "word"), [(False, "l***l"), (True, "lopel")])
def test_table_2_has_twenty_words_of_each_list_and_masks_the_listed(unit, unmask, word):
    listed = ["lopel", *(f"w{place}" for place in range(24))]
    rows = [
        [method, name, name == "w0", 3, 25.0 - rank, rank]
        for method in ("vanilla", "soc-0.1")
        for rank, name in enumerate(listed, start=1)
    ]
    table = tables.word_importance(unit(importance=rows, unmask=unmask))
    assert table.data.groupby(["method", "list"]).size().to_dict() == {
        ("soc-0.1", "after"): 20, ("soc-0.1", "before"): 20
    }  # fmt: skip
    assert table.shown["Word"].tolist()[:3] == [word, "w0†", "w1"]
    assert set(table.data["word"]) == {word, *listed[1:20]}


def test_identifiers_come_by_their_rank(unit):
    rows = [["baker", True, 0.5, 160, 900], ["loka", False, 2.0, 1, 900], ["potter", True, 1.0, 150, 900]]
    table = tables.identifiers([unit(linear_weights=rows)])
    assert table.data["term"].tolist() == ["potter", "baker"]
    assert "forum: 1 of 2" in table.note


def importance_of(trainings):
    """Return attributions.tsv, from |φ| by method, seed and identifier."""
    return [
        [method, seed, kind, identifier, n, phi / 2, phi]
        for (method, seed, identifier, n), phi in trainings.items()
        for kind in ("oc", "soc")
    ]


def test_importance_is_a_mean_over_occurrences_and_paired_with_the_encoder(unit):
    rows = importance_of(
        {
            ("vanilla", 0, "baker", 1): 1.0,
            ("vanilla", 0, "weaver", 3): 2.0,
            ("vanilla", 1, "baker", 4): 1.0,
            ("soc-1", 0, "baker", 4): 0.5,
            ("soc-1", 1, "baker", 4): 0.75,
            ("soc-1@sum", 0, "baker", 4): 0.1,
        }
    )
    rows.append(["vanilla", 0, "oc", "potter", 0, math.nan, math.nan])
    table = tables.attributions([unit(attributions=rows)])
    data = table.data
    assert set(data["method"]) == {"vanilla", "soc-1"}
    row = data[data["explanation"] == "oc"].set_index("method").loc["soc-1"]
    assert row["mean_abs_phi_difference"] == pytest.approx(((0.5 - 1.75) + (0.75 - 1.0)) / 2)
    ends = row[["mean_abs_phi_ci_low", "mean_abs_phi_ci_high"]].tolist()
    assert ends == pytest.approx(mean_interval([-1.25, -0.25]))
    assert row["n_lower"] == 2


def test_quirks_are_compared_with_the_same_seed_without(unit):
    f1 = {("soc-1", 0): 0.5, ("soc-1", 1): 0.7, ("soc-1@sum", 0): 0.4, ("oc-1", 0): 0.5}
    phi = {(method, seed, "baker", 4): value for (method, seed), value in f1.items()}
    data = tables.ablation([unit(metrics=metrics(f1), attributions=importance_of(phi))]).data
    assert data["method"].tolist() == ["soc-1", "soc-1@sum"]
    plain, quirk = data.to_dict("records")
    assert quirk["n_pairs"] == 1
    assert (quirk["f1"], quirk["f1_difference"]) == pytest.approx((0.4, -0.1))
    assert (quirk["phi_soc"], quirk["phi_soc_difference"]) == pytest.approx((0.4, -0.1))
    assert plain["f1"] == pytest.approx(0.6)
    assert math.isnan(plain["f1_difference"])


def functionalities():
    """Return functionalities.tsv, from the cases of two functionalities that are passed, of 10 and of 4."""
    passed = {("bow", 0): (9, 1), ("vanilla", 0): (6, 2), ("vanilla", 1): (8, 4)}
    return [
        [method, seed, name, name == "slur_h", n, k, k / n, *share_interval(k, n)]
        for (method, seed), counts in passed.items()
        for name, n, k in zip(("own_nh", "slur_h"), (10, 4), counts, strict=True)
    ]


def test_pass_rates_are_means_over_seeds_and_those_of_all_cases_pooled(unit):
    table = hatecheck.hatecheck([unit(functionalities=functionalities())])
    rates = table.data.set_index(["method", "functionality"])
    for name, k, n in (("(all hateful)", 1, 4), ("(all non-hateful)", 9, 10), ("(all)", 10, 14)):
        row = rates.loc[("bow", name)]
        assert row[["n", "n_seeds", "interval"]].tolist() == [n, 1, "texts"]
        assert row[["rate", "ci_low", "ci_high"]].tolist() == pytest.approx([k / n, *share_interval(k, n)])
    row = rates.loc[("vanilla", "(all)")]
    assert (row["n_seeds"], row["interval"], row["rate"]) == (2, "seeds", pytest.approx(10 / 14))
    assert (row["ci_low"], row["ci_high"]) == (0, 1)  # cut
    row = rates.loc[("vanilla", "own_nh")]
    assert row["ci_low"] == pytest.approx(max(0, mean_interval([0.6, 0.8])[0]))


def test_removal_has_mean_and_range_over_the_subsets(unit, tmp_path):
    rows = [
        [n, subset, 0.1, 0.1, 0.5 - 0.1 * subset, 0.8, 0.7] for n in (0, 1) for subset in range(1 + 2 * n)
    ]
    figures.draw_removal([unit(removal=rows)], tmp_path / "figure")
    data = read_tsv(tmp_path / "figure.tsv")
    assert data["n_removed"].tolist() == [0, 1]
    assert data["n_subsets"].tolist() == [1, 3]
    assert data.loc[1, ["f1", "f1_low", "f1_high"]].tolist() == pytest.approx([0.4, 0.3, 0.5])


@pytest.mark.filterwarnings("error")
def test_a_corpus_without_rows_does_not_change_another(unit, tmp_path):
    empty = unit("empty", metrics=[], removal=[], attributions=[], functionalities=[])
    full = unit(
        metrics=metrics(),
        removal=[[0, 0, *[0.5] * 5]],
        attributions=importance_of({("vanilla", 0, "baker", 1): 1}),
        functionalities=functionalities(),
    )
    for make in (tables.performance, tables.transfer, tables.attributions, hatecheck.hatecheck):
        pd.testing.assert_frame_equal(make([empty, full]).data, make([full]).data)
    figures.draw_removal([empty], tmp_path / "figure")
    assert read_tsv(tmp_path / "figure.tsv").empty
    hatecheck.draw_hatecheck(empty, tmp_path / "figure")
    assert read_tsv(tmp_path / "figure.tsv").empty
