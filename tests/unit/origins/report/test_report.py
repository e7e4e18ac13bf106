"""Tables and figures of the area, of small results."""

import math

import numpy as np
import pandas as pd
import pytest

from biaslab.core import plotting
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv, write_parquet, write_tsv
from biaslab.origins.checks.brittleness import COLUMNS as FLIPS
from biaslab.origins.checks.brittleness.report import draw_flips, number_table
from biaslab.origins.checks.retraining.report import (
    compare_analogies,
    compare_identification,
    draw_predictions,
    draw_sets,
    significance_counts,
)
from biaslab.origins.report.corpus import (
    baseline_bias,
    draw_histogram,
    experimental_setups,
    influential_documents,
    weat_words,
)
from biaslab.origins.report.results import Setup
from biaslab.run.area import Unit
from naive import bias as naive

WORDS = """
name: w
title: Science and arts
source: made up
targets: {science: [nasa, physics], arts: [poetry, dance]}
attributes: {male: [he, him], female: [she, hers]}
"""
OPTIONS = {
    "corpus": {"unit": "part", "part_length": 200, "min_length": 50, "max_length": 50000},
    "vocabulary": {"min_count": 15},
    "glove": {"window": 8, "dimension": 24, "epochs": 6, "x_max": 100, "alpha": 0.75},
}
BASELINE = pd.DataFrame(
    {
        "weat": "w",
        "seed": range(3),
        "effect_size": [0.4, 0.5, 0.6],
        "p_value": [0.01, 0.02, 0.06],
        "n_missing_words": 2,
        "missing_words": "nasa,hers",
    }
)


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Return a function that makes a setup of tables, by their names below its folder."""
    monkeypatch.setattr(plotting, "save", lambda figure, stem: figure.savefig(f"{stem}.svg"))
    (tmp_path / "w.yaml").write_text(WORDS)

    def make(tables, weats=("w",), options=OPTIONS):
        for name, table in ({"baseline.tsv": BASELINE} | tables).items():
            (write_parquet if name.endswith("parquet") else write_tsv)(tmp_path / name, table)
        return Setup(Unit("wiki", weats, options, {"w": str(tmp_path / "w.yaml")}), tmp_path)

    return make


@pytest.mark.parametrize(
    ("read", "problem"),
    [
        (lambda setup: setup.of_weat("baseline", "ww", "effect_size"), "no row for 'ww'; regenerate"),
        (lambda setup: setup.of_weat("baseline", "w", "colour"), "column 'colour' is missing"),
        (lambda setup: setup.differential_bias("w"), r"w\.parquet: no such file"),
    ],
)
def test_what_results_lack_is_named(make, read, problem):
    with pytest.raises(InputError, match=problem):
        read(make({}))


def test_lost_words_and_the_bias_of_the_baselines(make):
    setup = make({})
    rows = weat_words([setup]).data.set_index("symbol")["lost_wiki"]
    assert rows.to_dict() == {"S": "nasa", "T": "", "A": "", "B": "hers"}
    row = baseline_bias([setup]).data.iloc[0]
    assert (row["n_seeds"], row["n_lost_words"], row["p_value_median"]) == (3, 2, 0.02)
    assert row[["effect_size_mean", "effect_size_sd"]].tolist() == pytest.approx([0.5, 0.1])


@pytest.mark.parametrize(("unit", "n_articles"), [("part", "2"), ("article", "4")])
def test_table_3_counts_articles_and_takes_the_analogies_of_the_baselines(make, unit, n_articles):
    documents = pd.DataFrame({"document": range(4), "id": ["1#1", "1#2", "1#3", "2#1"], "n_tokens": 200})
    documents["year"] = pd.Series(["1987", None, None, None], dtype=object)
    analogies = pd.DataFrame({"set": ["baseline", "baseline", "random-5-0"], "accuracy": [0.2, 0.4, 0.9]})
    vocabulary = pd.DataFrame({"word": ["the", "NA"], "count": [9, 5]})
    tables = {"documents.parquet": documents, "analogies.tsv": analogies.assign(coverage=0.5)}
    options = OPTIONS | {"corpus": OPTIONS["corpus"] | {"unit": unit}}
    setup = make(tables | {"vocabulary.tsv": vocabulary}, options=options)
    assert setup.documents()["year"].tolist() == ["1987", "", "", ""]
    values = experimental_setups([setup]).data.set_index("parameter")["value"]
    counted = values[["n_documents", "n_articles", "n_tokens", "vocabulary_size"]].tolist()
    assert counted == ["4", n_articles, "800", "2"]
    assert float(values["top1_analogies"]) == pytest.approx(0.3)
    write_tsv(setup.folder / "analogies.tsv", analogies.assign(accuracy=math.nan, coverage=0.0))
    assert experimental_setups([setup]).shown.set_index("Parameter").loc["TOP-1 analogies", "wiki"] == "–"


def biases(values):
    """Return the differential bias of documents."""
    documents = pd.DataFrame({"document": range(len(values)), "id": "i", "title": "t"})
    counts = {f"{what}_{name}": 1 for what in ("n", "rarest") for name in "STAB"}
    return documents.assign(influence_mean=values, influence_sd=0.1, **counts)


def test_influential_documents_have_the_papers_signs_and_order(make):
    values = np.r_[0.0, np.random.default_rng(1).permutation(np.r_[np.arange(1, 31), -np.arange(1, 4)])]
    bias = biases(values)
    setup = make({"differential_bias/w.parquet": bias, "documents.parquet": bias.assign(excerpt="e")})
    data = influential_documents(setup, "w").data
    raising, lowering = (data[data["effect"] == effect] for effect in ("raises", "lowers"))
    assert raising["influence_mean"].tolist() == list(range(30, 5, -1))
    assert lowering["influence_mean"].tolist() == [-3, -2, -1]
    assert lowering["rank"].tolist() == [1, 2, 3]
    assert data["effect"].iloc[0] == "raises"
    assert raising["percent_of_baseline"].iloc[0] == pytest.approx(100 * 30 / 0.5)


@pytest.mark.parametrize(
    ("values", "mean", "factor"), [([-1.0, 0.2, 2.0], 0.5, 200), ([0.0] * 3, 0.5, 200), ([1, 2, 3.0], 0, 1)]
)
def test_every_document_is_in_the_histogram_and_zero_is_the_centre_of_a_bin(make, values, mean, factor):
    baseline = BASELINE.assign(effect_size=mean)
    setup = make({"differential_bias/w.parquet": biases(values), "baseline.tsv": baseline})
    draw_histogram(setup, "w", setup.folder / "figure")
    data = read_tsv(setup.folder / "figure.tsv")
    assert data["n_documents"].sum() == 3
    centre = data[(data["low"] < 0) & (data["high"] > 0)]
    assert centre["low"].item() == pytest.approx(-centre["high"].item())
    assert data["low"].iloc[0] <= factor * min(values)
    assert factor * max(values) <= data["high"].iloc[-1]


def perturbations():
    """Return predictions and observations of seven sets by two estimators, of one retraining each."""
    sets = [("decrease", 5, 0), ("decrease", 10, 0), ("increase", 10, 0), ("increase", 5, 0)]
    sets += [("random", 5, 0), ("random", 5, 1), ("random", 10, 0)]
    rows = [
        {"set": f"{kind}-{size}-{k}", "kind": kind, "size": size, "replicate": k, "estimator": estimator}
        for kind, size, k in sets
        for estimator in ("influence", "newton")
    ]
    numbers = {"predicted_mean": np.linspace(-1, 1, 14), "predicted_sd": 0.1, "observed_sd": math.nan}
    numbers |= {"observed_mean": np.linspace(-1, 2, 14), "n_retrains": 1}
    p_values = np.repeat([0.01, 0.2, 0.001, math.nan, 0.04, 0.5, 0.5], 2)
    return pd.DataFrame(rows).assign(
        weat="w", baseline_mean=0.5, baseline_sd=0.1, welch_p=p_values, **numbers
    )


def test_sets_are_counted_once_and_arranged_from_most_that_raise_to_most_that_lower(make):
    fits = pd.DataFrame({"weat": "w", "estimator": ["influence", "newton"], "intercept": 0.0})
    tables = {"perturbations.tsv": perturbations(), "correlation.tsv": fits.assign(r2=math.nan, slope=1.0)}
    setup = make(tables)
    counts = significance_counts([setup]).data.set_index("sets")
    assert counts[["n_tested", "n_significant"]].to_numpy().tolist() == [[3, 2], [3, 1]]
    assert counts["n_expected_by_chance"].tolist() == pytest.approx([0.15, 0.15])
    draw_sets(setup, "w", setup.folder / "sets")
    names = ["decrease-10-0", "decrease-5-0", "random-10-0", "random-5-0", "random-5-1"]
    names += ["increase-5-0", "increase-10-0"]
    assert read_tsv(setup.folder / "sets.tsv")["set"].tolist() == names
    draw_predictions([setup], setup.folder / "predictions")
    assert set(read_tsv(setup.folder / "predictions.tsv")["estimator"]) == {"influence"}


def test_analogies_are_compared_with_the_baseline():
    samples = {"random-5-0": [0.2, 0.25, 0.3], "baseline": [0.3, 0.31, 0.35, 0.3], "weat1-decrease-5": [0.4]}
    rows = [(name, accuracy) for name, values in samples.items() for accuracy in values]
    analogies = pd.DataFrame(rows, columns=["set", "accuracy"])
    table = compare_analogies(analogies).set_index("set")
    assert table["n_embeddings"].to_dict() == {"baseline": 4, "random-5-0": 3, "weat1-decrease-5": 1}
    row = table.loc["random-5-0"]
    assert row["accuracy_sd"] == pytest.approx(math.sqrt(naive.variance(samples["random-5-0"])))
    assert row["accuracy_change"] == pytest.approx(0.25 - 0.315)
    expected = naive.welch(samples["random-5-0"], samples["baseline"])
    assert (row["welch_t"], row["welch_p"]) == pytest.approx(expected)
    assert table.loc["weat1-decrease-5", ["accuracy_sd", "welch_t", "welch_p"]].isna().all()
    assert table.loc["baseline", ["accuracy_change", "welch_t", "welch_p"]].isna().all()
    assert compare_analogies(analogies.assign(accuracy=math.nan))["welch_p"].isna().all()


def test_table_5_compares_both_ways_to_find_documents_in_the_papers_order(make):
    keys = [("increase", 10), ("increase", 30), ("decrease", 10), ("decrease", 30)]
    sets, observed = [], []
    for prefix, first, factor in (("", 0, 1.0), ("ppmi-", 5, 0.5)):
        name = {key: f"{prefix}w-{key[0]}-{key[1]}" for key in keys}
        rows = [(name[k], *k, d) for k in keys for d in range(first, first + k[1])]
        sets.append(pd.DataFrame(rows, columns=["set", "kind", "size", "document"]))
        effects = [(name[k], "w", 0.5 + factor * k[1] / 100 + e) for k in keys for e in (-0.01, 0.0, 0.01)]
        observed.append(pd.DataFrame(effects, columns=["set", "weat", "effect_size"]))
    tables = {"perturbation_sets.parquet": sets[0], "ppmi/perturbation_sets.parquet": sets[1]}
    setup = make(tables | {"observed.tsv": observed[0], "ppmi/observed.tsv": observed[1]})
    data = compare_identification(setup).data
    order = [("correct", 30), ("correct", 10), ("aggravate", 10), ("aggravate", 30)]
    assert list(zip(data["objective"], data["size"], strict=True)) == order
    assert data["method_change"].tolist() == pytest.approx([60, 20, 20, 60])
    assert data["ppmi_change"].tolist() == pytest.approx([30, 10, 10, 30])
    assert (data["method_change_ci_low"] < data["method_change"]).all()
    assert data["n_shared"].tolist() == [25, 5, 5, 25]
    write_parquet(setup.folder / "ppmi/perturbation_sets.parquet", sets[1].head(0))
    table = compare_identification(setup)
    assert table.data.empty
    assert table.note == "The setup has no sets by PPMI."


def test_the_number_of_documents_that_flip_a_sign_is_between_two_sets(make):
    bounds = [(3, 2, 5), (3, 0, 5), (3, 4, None), (3, 0, None), (0, 0, None)]
    brackets = pd.DataFrame(bounds, columns=["n_sets", "above", "up_to"]).astype({"up_to": "Int64"})
    brackets = brackets.assign(weat="w", estimator="newton", bias=0.5, baseline_mean=0.5)
    outcomes = pd.DataFrame(columns=list(FLIPS["brittleness/outcomes"]))
    paths = pd.DataFrame({"weat": "w", "estimator": "newton", "form": "sum", "size": [1], "predicted": 0.1})
    tables = {"brackets": brackets.reindex(columns=list(FLIPS["brittleness/brackets"])), "paths": paths}
    tables |= {"outcomes": outcomes}
    setup = make({f"brittleness/{name}.tsv": table for name, table in tables.items()})
    shown = number_table(setup, "w").shown["Observed"].tolist()
    assert shown == ["2 < n ≤ 5", "≤ 5", "> 4", "undecided", "–"]
    draw_flips(setup, "w", setup.folder / "figure")  # nothing was retrained
    assert len(read_tsv(setup.folder / "figure.tsv")) == 1
