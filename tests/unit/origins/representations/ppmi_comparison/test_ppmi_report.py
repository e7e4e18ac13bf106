import numpy as np
import pytest

from biaslab.core import plotting
from biaslab.core.io import read_parquet, read_tsv, write_parquet
from biaslab.origins.representations.ppmi_comparison.report.random_tests import draw_ppmi, draw_word2vec
from biaslab.origins.representations.ppmi_comparison.report.rankings import document_rankings, draw_rankings
from origins_data import copy_setup, make_setups, save_svg


@pytest.fixture(scope="module")
def setups(tmp_path_factory):
    return make_setups(tmp_path_factory.mktemp("origins"), {"wiki": {"weats": ("weat1",)}})


@pytest.fixture(autouse=True)
def one_format(monkeypatch):
    monkeypatch.setattr(plotting, "save", save_svg)


def with_ppmi(setup, folder, change):
    """Copy the results, the differential bias by PPMI changed."""
    copied = copy_setup(setup, folder)
    path = copied.folder / "ppmi" / "weat1.parquet"
    table = read_parquet(path)
    influence = read_parquet(copied.folder / "differential_bias" / "weat1.parquet")["influence_mean"]
    write_parquet(path, table.assign(ppmi=change(table["ppmi"], influence)))
    return copied


def test_equal_rankings_share_every_document(setups, tmp_path):
    setup = with_ppmi(setups[0], tmp_path, lambda ppmi, influence: 3 * influence)
    row = document_rankings([setup]).data.iloc[0]
    assert row["spearman"] == pytest.approx(1)
    assert [row[f"overlap_{kind}_{n}"] for kind in ("raises", "lowers") for n in (10, 30)] == [10, 30] * 2


def test_opposite_rankings_share_none(setups, tmp_path):
    setup = with_ppmi(setups[0], tmp_path, lambda ppmi, influence: -influence)
    row = document_rankings([setup]).data.iloc[0]
    assert row["spearman"] == pytest.approx(-1)
    assert [row[f"overlap_{kind}_{n}"] for kind in ("raises", "lowers") for n in (10, 30)] == [0] * 4


def test_documents_without_an_effect_size_are_left_out(setups, tmp_path):
    def change(ppmi, influence):
        return influence.where(influence != influence.max(), np.nan)

    setup = with_ppmi(setups[0], tmp_path, change)
    row = document_rankings([setup]).data.iloc[0]
    assert row["spearman"] == pytest.approx(1)
    assert row["overlap_raises_10"] == 9
    draw_rankings(setup, "weat1", tmp_path / "figure")


def test_overlap_counts_the_documents_of_both_sets(setups):
    row = document_rankings(setups).data.iloc[0]
    glove = setups[0].differential_bias("weat1").set_index("document")["influence_mean"]
    ppmi = setups[0].ppmi("weat1").set_index("document")["ppmi"]
    assert row["overlap_raises_30"] == len(set(glove.nlargest(30).index) & set(ppmi.nlargest(30).index))
    assert row["overlap_lowers_30"] == len(set(glove.nsmallest(30).index) & set(ppmi.nsmallest(30).index))
    assert row["ppmi_effect_size"] == pytest.approx(0.957 * 0.4)


def test_figure_of_rankings_holds_every_document_in_percent(setups, tmp_path):
    draw_rankings(setups[0], "weat1", tmp_path / "figure")
    data = read_tsv(tmp_path / "figure.tsv")
    assert len(data) == 300
    assert data["set"].value_counts().to_dict() == {"raises 30": 30, "lowers 30": 30}
    glove = setups[0].differential_bias("weat1")["influence_mean"]
    assert data["influence_mean"].max() == pytest.approx(100 * glove.max() / setups[0].baseline_mean("weat1"))
    assert data["ppmi"].max() == pytest.approx(100 * setups[0].ppmi("weat1")["ppmi"].max() / (0.957 * 0.4))


def test_figure_9_holds_every_random_test(setups, tmp_path):
    for other, column, draw in (("ppmi", "ppmi", draw_ppmi), ("word2vec", "word2vec_mean", draw_word2vec)):
        draw(setups[0], tmp_path / other)
        data = read_tsv(tmp_path / f"{other}.tsv")
        assert len(data) == 200
        source = setups[0].table(f"{other}/word_sets")
        assert data[column].tolist() == source[column].tolist()
