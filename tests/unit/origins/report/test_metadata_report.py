"""Differential bias by metadata, as table and figure."""

import numpy as np
import pandas as pd
import pytest

from biaslab.core import plotting
from biaslab.core.io import read_tsv
from biaslab.origins.report import metadata
from biaslab.origins.report.metadata import (
    aggregate_by_metadata,
    draw_metadata,
    metadata_columns,
    metadata_table,
)
from origins_data import make_setups, save_svg


@pytest.fixture(scope="module")
def setups(tmp_path_factory):
    bare = {"weats": ("weat2",), "metadata": False, "n_documents": 30, "sizes": (5, 10), "n_random": 1}
    return make_setups(tmp_path_factory.mktemp("results"), {"wiki": {}, "bare": bare})


def test_groups_sum_their_documents_with_students_interval_over_seeds():
    bias = pd.DataFrame(
        {"document": [0, 1, 2], "influence_seed0": [1.0, 2.0, -4.0], "influence_seed1": [3.0, 4.0, -6.0]}
    )
    documents = pd.DataFrame({"document": [2, 1, 0], "section": ["B", "A", "A"], "year": ["", "", ""]})
    documents["influence_seed0"] = "a key of the corpus"
    table = aggregate_by_metadata(bias, documents)
    assert table[["column", "value", "n_documents"]].to_numpy().tolist() == [
        ["section", "A", 2],
        ["section", "B", 1],
    ]
    assert table["sum"].tolist() == [5.0, -5.0]
    # Sums of A by seed: 3 and 7, so mean 5, standard error 2, and t(0.975; 1) = 12.7062.
    np.testing.assert_allclose(
        table.loc[0, ["sum_ci_low", "sum_ci_high"]].tolist(), [5 - 25.4124, 5 + 25.4124], atol=1e-3
    )
    np.testing.assert_allclose(table["mean"], table["sum"] / table["n_documents"])
    np.testing.assert_allclose(table["mean_ci_high"], table["sum_ci_high"] / table["n_documents"])


def test_sums_add_up_to_the_whole_corpus_and_name_what_has_no_value(setups):
    bias = setups[0].differential_bias("weat1")
    table = aggregate_by_metadata(setups[0].differential_bias_by_seed("weat1"), setups[0].documents())
    for _, part in table.groupby("column"):
        np.testing.assert_allclose(part["sum"].sum(), bias["influence_mean"].sum(), atol=1e-12)
        assert part["n_documents"].sum() == len(bias)
        assert part["sum"].is_monotonic_decreasing
    assert "(none)" in set(table["value"])


def test_columns_without_any_value_say_nothing():
    documents = pd.DataFrame({"year": ["1987", ""], "section": ["", ""]})
    assert metadata_columns(documents) == ["year"]


def test_many_groups_are_all_in_the_tsv_but_only_the_ends_are_shown(setups, monkeypatch):
    monkeypatch.setattr(metadata, "N_LISTED", 3)
    table = metadata_table(setups[0], "weat1")
    years = table.data[table.data["column"] == "year"]
    shown = table.shown[table.shown["Column"] == "year"]
    assert len(years) == 21
    assert shown["Value"].tolist() == [*years["value"][:3], *years["value"][-3:]]


def test_figure_shows_year_and_section_in_percent_of_the_baseline(setups, tmp_path, monkeypatch):
    monkeypatch.setattr(plotting, "save", save_svg)
    draw_metadata(setups[0], "weat1", tmp_path / "figure")
    data = read_tsv(tmp_path / "figure.tsv")
    assert list(dict.fromkeys(data["column"])) == ["year", "section"]
    years = data[data["column"] == "year"]
    assert years["value"].astype(int).is_monotonic_increasing
    mean = setups[0].baseline_mean("weat1")
    total = setups[0].differential_bias("weat1")["influence_mean"].sum() * 100 / mean
    assert years["sum"].sum() == pytest.approx(total)


def test_a_corpus_without_metadata_says_so(setups, tmp_path, monkeypatch):
    table = metadata_table(setups[1], "weat2")
    assert table.data.empty
    assert "value" in table.data.columns
    assert "no metadata column" in table.note
    monkeypatch.setattr(plotting, "save", save_svg)
    draw_metadata(setups[1], "weat2", tmp_path / "figure")
    assert read_tsv(tmp_path / "figure.tsv").empty
    assert "no metadata column" in (tmp_path / "figure.svg").read_text()
