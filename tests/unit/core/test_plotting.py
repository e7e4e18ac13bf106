import os
import subprocess
import sys
from datetime import date

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
