import shutil
from pathlib import Path

import numpy as np
import pytest

from biaslab.core import plotting
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv
from biaslab.core.plotting import FIGURE_SUFFIXES
from biaslab.origins.report import figures
from biaslab.origins.report.results import Setup
from origins_data import WORD_SETS, make_setups


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("origins")


@pytest.fixture(scope="module")
def setups(folder):
    small = {"weats": ("weat2",), "metadata": False, "n_documents": 30, "sizes": (5, 10), "n_random": 1}
    return make_setups(folder, {"wiki": {"weats": ("weat1",)}, "small": small})


@pytest.fixture(scope="module")
def written(folder, setups):
    with pytest.MonkeyPatch.context() as patch:  # all formats are drawn below; here one is enough
        patch.setattr(plotting, "_METADATA", {"svg": {"Date": None}})
        figures.write_figures(setups, WORD_SETS, folder)
    return folder


def test_exactly_the_listed_files_are_written(written):
    items = figures.figure_items({"wiki": ("weat1",), "small": ("weat2",)})
    listed = {written / f"{item.stem}{suffix}" for item in items for suffix in (".svg", ".tsv")}
    assert listed == {p for p in written.rglob("*") if p.parent.name == "figures"}
    assert len(items) == 3 + 2 * 4 + 2 * 9


def test_every_document_is_in_the_histogram_and_zero_is_the_centre_of_a_bin(written, setups):
    data = read_tsv(written / "figures" / "figure6_histograms.tsv")
    assert data.groupby(["setup", "weat"])["n_documents"].sum().to_dict() == {
        ("small", "weat2"): 30,
        ("wiki", "weat1"): 300,
    }
    for _, part in data.groupby(["setup", "weat"]):
        centre = part[(part["low"] < 0) & (part["high"] > 0)]
        assert centre["low"].item() == pytest.approx(-centre["high"].item())
    one = read_tsv(written / "wiki" / "figures" / "figure1_histogram_weat1.tsv")
    assert (
        one["n_documents"].tolist()
        == data.query("setup == 'wiki' and weat == 'weat1'")["n_documents"].tolist()
    )
    mean = setups[0].baseline_mean("weat1")
    low = setups[0].differential_bias("weat1")["influence_mean"].min() * 100 / mean
    assert one["low"].min() <= low < one["high"].min()
    assert (one["unit"] == "% of baseline mean").all()


def test_near_a_baseline_of_zero_the_unit_is_the_effect_size(setups, tmp_path):
    shutil.copytree(setups[1].folder, tmp_path / "small")
    path = tmp_path / "small" / "baseline.tsv"
    read_tsv(path).assign(effect_size=0.01).to_csv(path, sep="\t", index=False)
    figures.draw_histograms(
        [Setup("small", tmp_path / "small", setups[1].options)], {"weat2": "x"}, tmp_path / "figure"
    )
    data = read_tsv(tmp_path / "figure.tsv")
    assert (data["unit"] == "effect size").all()
    assert data["high"].max() == pytest.approx(
        setups[1].differential_bias("weat2")["influence_mean"].max(), rel=0.1
    )


def test_documents_without_any_influence_still_make_a_histogram(setups, tmp_path):
    shutil.copytree(setups[1].folder, tmp_path / "small")
    path = tmp_path / "small" / "differential_bias" / "weat2.parquet"
    table = setups[1].differential_bias("weat2")
    table["influence_mean"] = 0.0
    table.to_parquet(path)
    setup = Setup("small", tmp_path / "small", setups[1].options)
    figures.draw_histograms([setup], {"weat2": "x"}, tmp_path / "figure")
    assert read_tsv(tmp_path / "figure.tsv")["n_documents"].sum() == 30


def test_predictions_are_drawn_as_they_are_in_the_results(written, setups):
    data = read_tsv(written / "wiki" / "figures" / "figure2_predicted_observed_weat1.tsv")
    source = read_tsv(setups[0].folder / "perturbations.tsv").query("weat == 'weat1'")
    assert len(data) == len(source) == 3 * 12
    np.testing.assert_allclose(data["predicted_mean"], source["predicted_mean"])
    assert data["slope"].nunique() == 3
    grid = read_tsv(written / "figures" / "figure7_predicted_observed.tsv")
    assert set(grid["estimator"]) == {"influence"}
    assert set(zip(grid["setup"], grid["weat"], strict=True)) == {
        ("wiki", "weat1"),
        ("small", "weat2"),
    }


def test_sets_are_arranged_from_the_largest_increase_to_the_largest_decrease(written):
    data = read_tsv(written / "wiki" / "figures" / "figure3_sets_weat1.tsv")
    arranged = list(zip(data["kind"], data["size"], data["replicate"], strict=True))
    random = [("random", size, replicate) for size in (100, 30, 10) for replicate in (0, 1)]
    assert arranged == [
        *(("increase", size, 0) for size in (100, 30, 10)),
        *random,
        *(("decrease", size, 0) for size in (10, 30, 100)),
    ]
    targeted = read_tsv(written / "figures" / "figure8_sets.tsv")
    assert "random" not in set(targeted["kind"])


def test_losses_are_those_of_the_baselines(written, setups):
    data = read_tsv(written / "wiki" / "figures" / "training_loss.tsv")
    assert len(data) == 4 * 6
    np.testing.assert_allclose(data["loss"], read_tsv(setups[0].folder / "training.tsv")["loss"])


def test_metadata_figures_show_year_and_section_or_say_that_there_is_none(written, setups):
    data = read_tsv(written / "wiki" / "figures" / "metadata_weat1.tsv")
    assert list(dict.fromkeys(data["column"])) == ["year", "section"]
    years = data[data["column"] == "year"]
    assert years["value"].astype(int).is_monotonic_increasing
    mean = setups[0].baseline_mean("weat1")
    total = setups[0].differential_bias("weat1")["influence_mean"].sum() * 100 / mean
    assert years["sum"].sum() == pytest.approx(total)
    assert read_tsv(written / "small" / "figures" / "metadata_weat2.tsv").empty


def test_drawing_twice_gives_equal_bytes_in_every_format(setups, tmp_path):
    for name in "ab":
        figures.draw_predicted_observed(setups[1:], {"weat2": "x"}, tmp_path / name)
    for suffix in FIGURE_SUFFIXES:
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes(), suffix


def test_one_retraining_and_no_fit_still_make_a_figure(setups, tmp_path):
    shutil.copytree(setups[1].folder, tmp_path / "small")
    path = tmp_path / "small" / "perturbations.tsv"
    read_tsv(path).assign(observed_sd=float("nan")).to_csv(path, sep="\t", index=False)
    path = tmp_path / "small" / "correlation.tsv"
    read_tsv(path).assign(r2=float("nan"), slope=float("nan")).to_csv(path, sep="\t", index=False)
    setup = Setup("small", tmp_path / "small", setups[1].options)
    figures.draw_predicted_observed([setup], {"weat2": "x"}, tmp_path / "a")
    figures.draw_sets([setup], {"weat2": "x"}, tmp_path / "b", random=True)
    assert read_tsv(tmp_path / "a.tsv")["observed_sd"].isna().all()


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("training.tsv", lambda setup, stem: figures.draw_loss(setup, stem)),
        ("correlation.tsv", lambda setup, stem: figures.draw_estimators(setup, "weat2", "x", stem)),
        (
            "perturbations.tsv",
            lambda setup, stem: figures.draw_sets([setup], {"weat2": "x"}, stem, random=True),
        ),
        (
            "differential_bias/weat2.parquet",
            lambda setup, stem: figures.draw_metadata(setup, "weat2", "x", stem),
        ),
    ],
)
def test_a_missing_result_is_an_error_and_leaves_no_figure(setups, tmp_path, name, draw):
    shutil.copytree(setups[1].folder, tmp_path / "small")
    (tmp_path / "small" / name).unlink()
    with pytest.raises(InputError, match=f"{name}: no such file"):
        draw(Setup("small", tmp_path / "small", setups[1].options), tmp_path / "figure")
    assert not list(tmp_path.glob("figure*"))


def test_missing_word_sets_are_named(setups, tmp_path):
    with pytest.raises(InputError, match="no word sets for 'weat1'"):
        figures.write_figures(setups, {"weat2": WORD_SETS["weat2"]}, tmp_path)


def test_every_figure_has_a_caption_for_the_report():
    report = Path(__file__).parents[3] / "workflow" / "report"
    for item in figures.figure_items({"sample": ("weat1",)}):
        assert (report / f"{item.caption}.rst").read_text().strip(), item
