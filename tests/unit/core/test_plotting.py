"""Figures: their files and style, and colours as people see them who lack the cones for red or green."""

import itertools
import os
import subprocess
import sys
from datetime import date

import numpy as np
import pandas as pd
import pytest

from biaslab.core import plotting
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv
from biaslab.run.area import FIGURE, SUFFIXES

pytestmark = pytest.mark.usefixtures("drawn")

# One drawing with everything that has ever made files differ: clip paths, markers, hatches, fonts, legends.
SCRIPT = """
import sys
import pandas as pd
from biaslab.core import plotting
from biaslab.run.area import FIGURE, SUFFIXES
with plotting.figure() as figure:
    ax = figure.subplots()
    ax.plot([1, 2, 3], [1, 5, 2], "o-", label="ΔB, r²")
    ax.bar([1, 2], [3, 4], hatch="//")
    ax.fill_between([1, 2], [1, 2], [2, 3], alpha=0.3)
    ax.set_yscale("log")
    figure.legend(loc="outside lower center")
    plotting.save_with_data(figure, sys.argv[1], pd.DataFrame({"x": [1.5]}))
"""


def draw(stem):
    with plotting.figure() as figure:
        figure.subplots().plot([1, 2], [1, 2], label="a")
        plotting.save_with_data(figure, stem, pd.DataFrame({"x": [1.5, None]}))


@pytest.mark.slow
def test_two_processes_save_equal_bytes_in_every_format(tmp_path):
    for number, name in enumerate(("a", "b")):
        environment = os.environ | {"PYTHONHASHSEED": str(number), "MPLBACKEND": "agg", "TZ": f"UTC{number}"}
        subprocess.run([sys.executable, "-c", SCRIPT, tmp_path / name], check=True, env=environment)
    for suffix in SUFFIXES[FIGURE]:
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes(), suffix


def test_files_hold_the_format_with_data_beside_and_neither_dates_nor_paths(tmp_path):
    from matplotlib import _pylab_helpers

    draw(tmp_path / "figure")
    assert read_tsv(tmp_path / "figure.tsv")["x"].tolist()[0] == 1.5
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(f"figure{s}" for s in SUFFIXES[FIGURE])
    year = date.today().year
    for suffix, start in ((".svg", b"<?xml"), (".pdf", b"%PDF"), (".png", b"\x89PNG")):
        content = (tmp_path / f"figure{suffix}").read_bytes()
        assert content.startswith(start)
        for secret in (str(tmp_path), os.getcwd(), f"{year}-", f"D:{year}"):
            assert secret.encode() not in content
    assert not _pylab_helpers.Gcf.figs, "figures would pile up"


def test_positions_do_not_have_the_digits_that_depend_on_addresses_in_memory(tmp_path):
    """Otherwise clips in SVG files, which are named by these positions, differ between processes."""
    found = []
    with plotting.figure() as figure:
        axes = figure.subplots(3, 2, height_ratios=[1, 2, 4])
        figure.colorbar(axes[0, 0].imshow([[1, 2]], aspect="auto"), ax=axes[0, 0])
        axes[1, 1].set_title("x")
        for name in "ab":
            plotting.save(figure, tmp_path / name)
            found.append([value for ax in figure.axes for value in ax.get_position(original=True).extents])
    assert found[0] == found[1] == [round(value, 8) for value in found[0]]
    assert found[0][0] != 0.125, "the layout has placed the axes"


def test_the_style_ends_with_the_context_and_ignores_the_users_own():
    import matplotlib

    with matplotlib.rc_context({"font.size": 31, "axes.grid": True}):
        with plotting.figure() as figure:
            assert matplotlib.rcParams["font.size"] == 7
            assert not matplotlib.rcParams["axes.grid"]
            assert figure.get_size_inches().tolist() == [3.35, 2.4]
        assert matplotlib.rcParams["font.size"] == 31


def test_a_figure_that_cannot_be_written_is_reported_and_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        draw(tmp_path / "file" / "figure")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


# Machado, Oliveira and Fernandes 2009, Table 1: linear RGB as it is seen without these cones.
SEEN = {
    "with all cones": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])  # D65
COLOURS = (*plotting.SERIES, plotting.GREY)
"""What series are drawn in; the lighter greys are for what is context."""
LEAST = 15.0
"""Of CIELAB: far more than the 2.3 that one just notices side by side; small marks lie apart."""


def lab(colour: str, seen: np.ndarray) -> np.ndarray:
    value = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    ratio = XYZ @ np.clip(seen @ linear, 0, 1) / WHITE
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def smallest(colours: tuple[str, ...], seen: np.ndarray) -> float:
    places = [lab(colour, seen) for colour in colours]
    return min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(places, 2))


def test_white_and_black_are_where_cielab_has_them():
    assert lab("#FFFFFF", np.eye(3)) == pytest.approx([100, 0, 0], abs=0.02)
    assert lab("#000000", np.eye(3)) == pytest.approx([0, 0, 0], abs=1e-9)
    assert lab("#FF0000", np.eye(3)) == pytest.approx([53.24, 80.09, 67.20], abs=0.02)


@pytest.mark.parametrize("kind", SEEN)
def test_any_two_series_can_be_told_apart(kind):
    assert smallest(COLOURS, SEEN[kind]) > LEAST


def test_a_middle_grey_would_be_taken_for_green():
    before = (*plotting.SERIES, "#808080")
    assert smallest(before, SEEN["with all cones"]) > LEAST
    assert smallest(before, SEEN["deuteranopia"]) == pytest.approx(9.6, abs=0.1)
    assert smallest(COLOURS, SEEN["deuteranopia"]) == pytest.approx(17.0, abs=0.1)
