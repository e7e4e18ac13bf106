import numpy as np
import pandas as pd
import pytest

from biaslab.core.io import read_parquet, read_tsv, write_parquet
from biaslab.origins.checks.bias_gradient.ends import N_ENDS, write_ends
from biaslab.origins.checks.bias_gradient.report import N_DRAWN, draw_gradient, gradient_table
from biaslab.origins.report.results import Setup
from biaslab.run.area import Unit
from origins_data import WORD_SETS, make_setups, write_word_sets


@pytest.fixture
def setup(tmp_path):
    return make_setups(tmp_path, {"wiki": {"weats": ("weat1",)}})[0]


def test_both_ends_are_listed_from_the_strongest(setup):
    pairs = read_parquet(setup.folder / "bias_gradient/weat1.parquet")
    data = gradient_table(setup, "weat1").data
    for effect, sign in (("raises", 1), ("lowers", -1)):
        part = data[data["effect"] == effect]
        strength = sign * pairs["elasticity_mean"]
        expected = strength[strength > 0].sort_values(ascending=False)[:N_ENDS]
        np.testing.assert_allclose(sign * part["elasticity_mean"], expected, rtol=1e-9)
        assert part["rank"].tolist() == list(range(1, len(expected) + 1))


def test_pairs_that_only_raise_leave_the_other_end_empty(tmp_path):
    row = {"word": "he", "context": "$x_1$", "x": 2.0, "gradient_mean": 0.1, "gradient_sd": 0.2}
    pairs = pd.DataFrame([row | {"elasticity_mean": 0.2, "elasticity_sd": 0.4}])
    write_parquet(tmp_path / "pairs.parquet", pairs)
    write_ends(tmp_path / "pairs.parquet", tmp_path / "bias_gradient/ends/weat1.tsv")
    words = write_word_sets(tmp_path, WORD_SETS["weat1"])
    setup = Setup(Unit("wiki", files={"weat1": str(words)}), tmp_path)
    shown = gradient_table(setup, "weat1").shown
    assert shown.loc[0].tolist() == [
        "raises the bias",
        "he",
        "$x_1$",
        "2.00",
        "0.10000 ± 0.20000",
        "0.2000 ± 0.4000",
    ]
    draw_gradient(setup, "weat1", tmp_path / "figure")
    assert (tmp_path / "figure.pdf").stat().st_size > 1000


def test_figure_draws_the_strongest_the_same_each_time(setup, tmp_path):
    for name in ("one", "two"):
        draw_gradient(setup, "weat1", tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    data = read_tsv(tmp_path / "one.tsv")
    assert data.groupby("effect")["rank"].max().to_dict() == {"lowers": N_DRAWN, "raises": N_DRAWN}
