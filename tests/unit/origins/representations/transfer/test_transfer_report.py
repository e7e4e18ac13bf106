"""Figure 4 and the tables of Section 5.4."""

import numpy as np
import pytest

from biaslab.core import plotting
from biaslab.core.io import read_tsv
from biaslab.origins.checks.retraining.report.quality import word2vec_analogies
from biaslab.origins.report.panels import set_label
from biaslab.origins.representations.transfer.report import draw_transfer, place, transfer_table
from origins_data import make_setups, save_svg


@pytest.fixture(scope="module")
def setup(tmp_path_factory):
    return make_setups(tmp_path_factory.mktemp("origins"), {"wiki": {"weats": ("weat1",)}})[0]


@pytest.fixture(autouse=True)
def one_format(monkeypatch):
    monkeypatch.setattr(plotting, "save", save_svg)


def test_table_has_the_responses_that_were_put_in(setup):
    table = transfer_table([setup])
    rows = table.data.set_index("representation")
    assert rows["response"].to_dict() == pytest.approx({"glove": 1, "ppmi": 0.5, "word2vec": 0.25})
    assert rows["spearman"].tolist() == pytest.approx([1, 1, 1])
    assert (rows["n_sets"] == 6).all()
    assert (rows["n_same_sign"] == 6).all()
    assert table.shown["Representation"].tolist() == ["GloVe", "PPMI", "word2vec"]
    assert table.shown.loc[1, "Baseline"] == f"{rows['baseline_mean']['ppmi']:.3f}"


def test_figure_holds_every_set_in_the_order_of_figure_3(setup, tmp_path):
    draw_transfer(setup, "weat1", tmp_path / "figure")
    data = read_tsv(tmp_path / "figure.tsv")
    assert len(data) == 3 * (6 + 6)
    order = [f"raise the bias - {n}" for n in (100, 30, 10)] + ["random - 100", "random - 30", "random - 10"]
    order += [f"lower the bias - {n}" for n in (10, 30, 100)]
    names = [set_label(*key) for key in zip(data["kind"], data["size"], strict=True)]
    assert list(dict.fromkeys(names)) == order


def test_points_of_a_set_stay_within_its_place(setup):
    data, places = place(setup.of_weat("transfer/changes", "weat1"))
    own = np.array([places[kind, size] for kind, size in zip(data["kind"], data["size"], strict=True)])
    assert (np.abs(data["x"] - own) < 0.45).all()
    assert data.groupby("x")["set"].nunique().max() == 1
    assert not data["x"].duplicated().any()


def test_analogies_are_compared_with_the_baseline(setup):
    data = word2vec_analogies(setup).data
    source = setup.table("word2vec/analogies")
    means = source.groupby("set")["accuracy"].mean()
    assert data["set"].tolist() == ["baseline", "weat1-decrease-100"]
    assert data["accuracy_mean"].tolist() == pytest.approx([means["baseline"], means["weat1-decrease-100"]])
    assert data["welch_p"].notna().tolist() == [False, True]
