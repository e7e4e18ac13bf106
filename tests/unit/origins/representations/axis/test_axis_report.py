"""The table of frequencies and Figure 5."""

import pytest

from biaslab.core import plotting
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv
from biaslab.origins.representations.axis.report import draw_axis, frequency_table
from origins_data import make_setups, save_svg


@pytest.fixture(scope="module")
def setups(tmp_path_factory):
    return make_setups(tmp_path_factory.mktemp("origins"), {"wiki": {}, "small": {"weats": ("weat2",)}})


def test_table_has_a_row_for_every_setup_and_test(setups):
    table = frequency_table(setups)
    assert table.data[["setup", "weat"]].values.tolist() == [
        ["wiki", "weat1"],
        ["wiki", "weat2"],
        ["small", "weat2"],
    ]
    source = read_tsv(setups[0].folder / "axis_frequency.tsv")
    assert table.data["r2"][:2].tolist() == source["r2"].tolist()
    assert table.shown["r²"][0] == f"{source['r2'][0]:.3f}"


def test_figure_shows_every_word_three_times_from_the_highest_baseline_down(setups, tmp_path, monkeypatch):
    monkeypatch.setattr(plotting, "save", save_svg)
    draw_axis(setups[0], "weat1", tmp_path / "figure")
    data = read_tsv(tmp_path / "figure.tsv")
    source = read_tsv(setups[0].folder / "projections.tsv").query("weat == 'weat1'")
    assert len(data) == 6 * 3
    assert data["kind"].tolist() == ["baseline", "decrease", "increase"] * 6
    expected = source.groupby(["kind", "word"])["projection"].agg(["mean", "std"])
    for row in data.itertuples():
        assert row.projection_mean == pytest.approx(expected.loc[(row.kind, row.word), "mean"], rel=1e-6)
        assert row.projection_sd == pytest.approx(expected.loc[(row.kind, row.word), "std"], rel=1e-6)
        assert row.n_embeddings == 4
    baseline = data[data["kind"] == "baseline"]
    assert baseline["symbol"].tolist() == ["S"] * 3 + ["T"] * 3
    assert all(part.is_monotonic_decreasing for _, part in baseline.groupby("symbol")["projection_mean"])
    page = (tmp_path / "figure.svg").read_text()
    assert "chemistry (12)" in page
    assert "without the 100 that" in page


def test_a_test_that_was_not_projected_is_refused(setups, tmp_path):
    with pytest.raises(InputError, match=r"projections\.tsv: no row for 'weat1'.*did you mean 'weat2'"):
        draw_axis(setups[1], "weat1", tmp_path / "figure")
