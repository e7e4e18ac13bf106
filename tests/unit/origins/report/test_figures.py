"""Figures 1 to 3, 6 to 8, and the losses."""

import numpy as np
import pytest

from biaslab.core import plotting
from biaslab.core.io import read_tsv
from biaslab.origins.checks.retraining.report.predictions import (
    draw_estimators,
    draw_predictions,
    draw_sets,
    draw_targeted_sets,
)
from biaslab.origins.report.histograms import draw_histogram, draw_histograms
from biaslab.origins.report.training import draw_loss
from biaslab.run.area import FIGURE, SUFFIXES
from origins_data import copy_setup, make_setups, save_svg


@pytest.fixture(scope="module")
def setups(tmp_path_factory):
    small = {"weats": ("weat2",), "metadata": False, "n_documents": 30, "sizes": (5, 10), "n_random": 1}
    return make_setups(tmp_path_factory.mktemp("origins"), {"wiki": {"weats": ("weat1",)}, "small": small})


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Return a function that draws a figure in one format, and returns the data that it shows."""
    monkeypatch.setattr(plotting, "save", save_svg)

    def draw(make, *arguments):
        make(*arguments, tmp_path / "figure")
        return read_tsv(tmp_path / "figure.tsv")

    return draw


def test_every_document_is_in_the_histogram_and_zero_is_the_centre_of_a_bin(drawn, setups):
    data = drawn(draw_histograms, setups)
    assert data.groupby(["setup", "weat"])["n_documents"].sum().to_dict() == {
        ("small", "weat2"): 30,
        ("wiki", "weat1"): 300,
    }
    for _, part in data.groupby(["setup", "weat"]):
        centre = part[(part["low"] < 0) & (part["high"] > 0)]
        assert centre["low"].item() == pytest.approx(-centre["high"].item())
    one = drawn(draw_histogram, setups[0], "weat1")
    assert (
        one["n_documents"].tolist()
        == data.query("setup == 'wiki' and weat == 'weat1'")["n_documents"].tolist()
    )
    mean = setups[0].baseline_mean("weat1")
    low = setups[0].differential_bias("weat1")["influence_mean"].min() * 100 / mean
    assert one["low"].min() <= low < one["high"].min()
    assert (one["unit"] == "% of baseline mean").all()


def test_near_a_baseline_of_zero_the_unit_is_the_effect_size(drawn, setups, tmp_path):
    setup = copy_setup(setups[1], tmp_path)
    path = setup.folder / "baseline.tsv"
    read_tsv(path).assign(effect_size=0.01).to_csv(path, sep="\t", index=False)
    data = drawn(draw_histogram, setup, "weat2")
    assert (data["unit"] == "effect size").all()
    assert data["high"].max() == pytest.approx(
        setups[1].differential_bias("weat2")["influence_mean"].max(), rel=0.1
    )


def test_documents_without_any_influence_still_make_a_histogram(drawn, setups, tmp_path):
    setup = copy_setup(setups[1], tmp_path)
    table = setup.differential_bias("weat2").assign(influence_mean=0.0)
    table.to_parquet(setup.folder / "differential_bias/weat2.parquet")
    assert drawn(draw_histogram, setup, "weat2")["n_documents"].sum() == 30


def test_predictions_are_drawn_as_they_are_in_the_results(drawn, setups):
    data = drawn(draw_estimators, setups[0], "weat1")
    source = read_tsv(setups[0].folder / "perturbations.tsv").query("weat == 'weat1'")
    assert len(data) == len(source) == 3 * 12
    np.testing.assert_allclose(data["predicted_mean"], source["predicted_mean"])
    assert data["slope"].nunique() == 3
    grid = drawn(draw_predictions, setups)
    assert set(grid["estimator"]) == {"influence"}
    assert set(zip(grid["setup"], grid["weat"], strict=True)) == {
        ("wiki", "weat1"),
        ("small", "weat2"),
    }


def test_sets_are_arranged_from_most_documents_that_raise_to_most_that_lower(drawn, setups):
    data = drawn(draw_sets, setups[0], "weat1")
    arranged = list(zip(data["kind"], data["size"], data["replicate"], strict=True))
    random = [("random", size, replicate) for size in (100, 30, 10) for replicate in (0, 1)]
    assert arranged == [
        *(("decrease", size, 0) for size in (100, 30, 10)),
        *random,
        *(("increase", size, 0) for size in (10, 30, 100)),
    ]
    targeted = drawn(draw_targeted_sets, setups)
    assert "random" not in set(targeted["kind"])


def test_losses_are_those_of_the_baselines(drawn, setups):
    data = drawn(draw_loss, setups[0])
    assert len(data) == 4 * 6
    np.testing.assert_allclose(data["loss"], read_tsv(setups[0].folder / "training.tsv")["loss"])


def test_drawing_twice_gives_equal_bytes_in_every_format(setups, tmp_path):
    for name in "ab":
        draw_predictions(setups[1:], tmp_path / name)
    for suffix in SUFFIXES[FIGURE]:
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes(), suffix


def test_one_retraining_and_no_fit_still_make_a_figure(drawn, setups, tmp_path):
    setup = copy_setup(setups[1], tmp_path)
    path = setup.folder / "perturbations.tsv"
    read_tsv(path).assign(observed_sd=float("nan")).to_csv(path, sep="\t", index=False)
    path = setup.folder / "correlation.tsv"
    read_tsv(path).assign(r2=float("nan"), slope=float("nan")).to_csv(path, sep="\t", index=False)
    assert drawn(draw_predictions, [setup])["observed_sd"].isna().all()
    assert drawn(draw_sets, setup, "weat2")["observed_sd"].isna().all()
