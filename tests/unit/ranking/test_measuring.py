"""Measuring the lists of a file as they are: orders, intervals, unknown values, p-values; the commands."""

import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from biaslab.cli import main
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv
from biaslab.core.stats import mean_interval
from biaslab.ranking import registry
from biaslab.ranking.lists import Columns, ListFile
from biaslab.ranking.measuring import measure_file, summarize
from biaslab.ranking.pools import Attention, Settings
from biaslab.ranking.report.measured import order_lines, summary
from biaslab.ranking.report.measured import test_lines as lines_of_tests
from biaslab.run.area import FIGURE, SUFFIXES
from naive import ranking_exposure, ranking_fa_ir

COLUMNS = Columns("score", ("sex",), "query", rank="place")


def random_table(rng, n_lists=9):
    sizes = rng.integers(2, 9, n_lists)
    return pd.DataFrame(
        {
            "query": np.repeat([f"q{i}" for i in range(n_lists)], sizes),
            "place": np.concatenate([rng.permutation(n) + 1 for n in sizes]),
            "score": rng.integers(0, 9, sizes.sum()) / 8,
            "sex": rng.choice(["f", "m", "x"], sizes.sum(), p=[0.4, 0.4, 0.2]),
        }
    )


def measured(folder, table, columns=COLUMNS, chunk_bytes=2**20, settings=None, **how):
    table.to_csv(folder / "in.csv", index=False)
    how = {"desired": "uniform", "k": 5, "test": True} | how
    return measure_file(
        ListFile(folder / "in.csv", columns, chunk_bytes), settings=settings or Settings(), **how
    )


def test_every_list_is_measured_in_its_own_order(tmp_path):
    table = random_table(np.random.default_rng(1))
    found = measured(tmp_path, table, settings=Settings(Attention(0.3)))
    assert found.lists["query"].tolist() == table["query"].unique().tolist()
    for i, (_, rows) in enumerate(table.groupby("query", sort=False)):
        names = sorted(rows["sex"].unique())
        values = [names.index(v) for v in rows["sex"]]
        order = np.argsort(rows["place"].to_numpy(), kind="stable")[:5].tolist()
        arguments = (values, rows["score"].tolist(), [1 / len(names)] * len(names), order)
        for name in ("exposure_ratio", "awrf", "disparate_treatment", "disparate_impact"):
            expected = getattr(ranking_exposure, name)(*arguments, ranking_exposure.geometric(0.3))
            assert_allclose(found.lists[name][i], expected, rtol=1e-12, err_msg=name)


def test_without_a_column_of_places_the_order_of_the_file_counts(tmp_path):
    table = random_table(np.random.default_rng(2))
    by_place = measured(tmp_path, table)
    in_order = table.sort_values(["query", "place"])
    by_file = measured(tmp_path, in_order, Columns("score", ("sex",), "query"))
    pd.testing.assert_frame_equal(by_place.lists, by_file.lists)
    pd.testing.assert_frame_equal(by_place.tests, by_file.tests)


def test_an_order_that_is_not_that_of_the_scores_is_told(tmp_path):
    table = pd.DataFrame({"place": [1, 2, 3], "score": [3, 2, 1], "sex": ["f", "m", "f"]})

    def lines(changed, rank=None):
        columns = Columns("score", ("sex",), rank=rank)
        return order_lines(measured(tmp_path, changed, columns), columns)

    assert lines(table) == lines(table, "place") == []
    assert lines(table[::-1]) == [
        "measured in the order of the file, which is not that of 'score' in 1 of 1 lists; in 1 of them the"
        " worst come first; name the column of the place with --rank, or sort the file"
    ]
    assert "order of the file, which is not that of 'score'" in lines(table.loc[[0, 2, 1]])[0]
    assert (
        "order of 'place', which is not that of 'score'" in lines(table.assign(place=[3, 2, 1]), "place")[0]
    )
    assert lines(table.assign(place=[7, 9, 11]), "place") == [
        "the 'place' of 1 of 1 lists does not count up from 1; the lowest is taken for the best"
    ]


def test_a_score_is_no_place(tmp_path):
    table = pd.DataFrame({"score": [0.9, 0.5], "sex": ["f", "m"]})
    with pytest.raises(InputError, match=r"in.csv:2: the score 0.9 is no place, which is a whole number"):
        measured(tmp_path, table, Columns(None, ("sex",), rank="score"))
    with pytest.raises(InputError, match=r"'score' is named as the place and as the score"):
        measured(tmp_path, table, Columns("score", ("sex",), rank="score"))


def test_chunks_change_nothing(tmp_path):
    table = random_table(np.random.default_rng(3), 30)
    whole, parts = (measured(tmp_path, table, chunk_bytes=size) for size in (2**20, 60))
    pd.testing.assert_frame_equal(whole.lists, parts.lists)
    pd.testing.assert_frame_equal(whole.tests, parts.tests)
    pd.testing.assert_frame_equal(whole.values, parts.values)


def test_shares_are_means_over_all_lists_and_exposure_over_those_with_the_value(tmp_path):
    table = random_table(np.random.default_rng(4), 20)
    found = measured(tmp_path, table).values.set_index("value")
    for value, row in found.iterrows():
        shares, exposures = [], []
        for _, rows in table.groupby("query"):
            if value in rows["sex"].to_numpy():
                top = rows.sort_values("place")[:5]
                shares.append((top["sex"] == value).mean())
                attention = 1 / np.log2(np.arange(2, len(top) + 2))
                exposures.append(attention[top["sex"] == value].sum() / (rows["sex"] == value).sum())
        assert row["n_lists"] == len(shares)
        assert row["share"] == pytest.approx(np.sum(shares) / 20)
        assert row["exposure"] == pytest.approx(np.mean(exposures))
        assert (row["exposure_low"], row["exposure_high"]) == pytest.approx(mean_interval(exposures))


def test_unknown_candidates_keep_their_places_and_are_in_no_share(tmp_path):
    table = pd.DataFrame({"sex": list("mxf"), "score": [3, 2, 1]})
    found = measured(tmp_path, table, Columns("score", ("sex",), unknown=("x",)))
    assert found.values["value"].tolist() == ["f", "m"]
    assert found.values["share"].tolist() == [0.5, 0.5]
    assert found.values["exposure"].tolist() == [0.5, 1.0]
    assert found.lists[["n_candidates", "n_places", "n_unknown"]].iloc[0].tolist() == [3, 3, 1]
    assert found.tests["n_places"].tolist() == [2, 2]


def test_p_values_are_those_of_all_rankings(tmp_path):
    table = random_table(np.random.default_rng(5), 6)
    found = measured(tmp_path, table, desired="observed", k=4).tests.set_index(["query", "value"])
    for (query, value), row in found.iterrows():
        rows = table[table["query"] == query].sort_values("place")
        flags = tuple((rows["sex"] == value).tolist())
        pool = len(flags), sum(flags)
        expected = ranking_fa_ir.p_value(flags[:4], pool=pool)
        assert row["p_value_pool"] == pytest.approx(float(expected))
        assert (row["n_value"], row["n_places"]) == (sum(flags[:4]), len(flags[:4]))


def test_means_leave_out_what_is_not_finite_and_one_list_has_no_interval(tmp_path):
    lists = pd.DataFrame({"query": list("abc"), "min_skew": [-1.0, -np.inf, -3.0], "awrf": [np.nan] * 3})
    means = summarize(lists).set_index("measure")
    assert (means.loc["min_skew", "mean"], means.loc["min_skew", "n_left_out"]) == (-2.0, 1)
    assert means.loc["awrf", "n_left_out"] == 3
    assert np.isnan(means.loc["awrf", "mean"])
    table = pd.DataFrame({"sex": list("mf"), "score": [2, 1]})
    one = summarize(measured(tmp_path, table, Columns("score", ("sex",))).lists)
    assert one["mean"].notna().all()
    assert one["ci_low"].isna().all()


def test_the_rounding_error_of_a_logarithm_is_shown_as_nothing():
    shown = summary(summarize(pd.DataFrame({"query": list("ab"), "min_skew": [1e-16, 1.2e-16]})))
    assert "e-16" not in shown
    assert "1e-05" in summary(summarize(pd.DataFrame({"query": list("ab"), "min_skew": [1e-5, 1e-5]})))


def test_without_scores_what_needs_them_is_left_out(tmp_path):
    table = random_table(np.random.default_rng(6))
    found = measured(tmp_path, table, Columns(None, ("sex",), "query", rank="place"))
    names = [name for name, m in registry.MEASURES.items() if not (m.needs_scores or m.needs_protected)]
    assert found.lists.columns.tolist()[4:] == names


def test_a_place_that_is_there_twice_is_named(tmp_path):
    table = pd.DataFrame({"query": list("aabb"), "place": [1, 2, 3, 3], "score": 1, "sex": list("fmfm")})
    with pytest.raises(InputError, match=r"in\.csv:5: the place 3 is there twice in a list; give each"):
        measured(tmp_path, table)


def test_lines_count_significant_lists():
    tests = pd.DataFrame({"value": ["f"] * 4 + ["m"], "p_value": [0.04, 0.005, 0.5, np.nan, 0.5]})
    tests["p_value_pool"] = tests["p_value"] / 2
    first, second = lines_of_tests(tests)
    assert first.startswith(
        "too few places for 'f' in 3 lists: 2 at p <= 0.05 (9.4 to 99.2%), 1 at p <= 0.01 ("
    )
    assert second == "too few places for 'm': p = 0.5, or 0.25 drawn from the candidates of the list"


@pytest.fixture
def biaslab(monkeypatch, capsys):
    """Run a command of the area; return its exit code, output and error output."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["biaslab", "ranking", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code or 0, *capsys.readouterr()

    return run


def test_drawn_lists_are_measured_by_the_commands(tmp_path, biaslab):
    drawn = ["--lists", 40, "--size", 30, "--protected", 9, "--seed", 1]
    shares = {}
    for fairness in (0.05, 0.3):
        path = tmp_path / f"{fairness}.tsv"
        assert biaslab("generate", *drawn, "--fairness", fairness, "--out", path)[0] == 0
        where = ["--attribute", "value", "--query", "list", "--rank", "place", "--score", "score"]
        outputs = [
            part
            for name in ("out", "lists", "values", "significance")
            for part in (f"--{name}", tmp_path / f"{name}.tsv")
        ]
        how = ["--desired", "observed", "--top", 20, "--figure", tmp_path / "figure", *outputs]
        code, out, err = biaslab("measure", path, *where, *how)
        assert (code, err) == (0, "")
        assert "too few places for 'protected' in 40 lists" in out
        tests = read_tsv(tmp_path / "significance.tsv")
        shares[fairness] = (tests.query("value == 'protected'")["p_value"] <= 0.05).mean()
    assert shares[0.05] > 0.5 > 0.2 > shares[0.3]
    assert len(read_tsv(tmp_path / "lists.tsv")) == 40
    assert read_tsv(tmp_path / "values.tsv")["desired"].tolist() == pytest.approx([0.7, 0.3])
    assert read_tsv(tmp_path / "out.tsv")["n_lists"].eq(40).all()
    assert all((tmp_path / f"figure{suffix}").exists() for suffix in SUFFIXES[FIGURE])


def test_fa_ir_reranks_for_a_protected_value(tmp_path, biaslab):
    path, out = tmp_path / "c.csv", tmp_path / "out.csv"
    assert (
        biaslab("generate", "--size", 30, "--protected", 9, "--fairness", 0, "--seed", 1, "--out", path)[0]
        == 0
    )
    how = ["--attribute", "value", "--score", "score", "--desired", "observed", "--top", 20, "--out", out]
    code, _, err = biaslab("rerank", path, *how, "--algorithm", "fa_ir")
    assert (code, err) == (2, "biaslab: fa_ir: needs the protected value; name it (--protected)\n")
    code, _, err = biaslab("rerank", path, *how, "--algorithm", "fa_ir", "--protected", "protectd")
    assert code == 2
    assert err.startswith(f"biaslab: {path}: no candidate has the protected value 'protectd'")
    assert not out.exists()
    code, text, _ = biaslab("rerank", path, *how, "--algorithm", "fa_ir", "--protected", "protected")
    assert code == 0
    assert ["fa_ir_pass", "0", "1"] in [line.split() for line in text.splitlines()]
    assert (pd.read_csv(out)["value"] == "protected").sum() == 3
    code, _, err = biaslab("rerank", path, *how, "--protected", "protected", "--alpha", 2)
    assert (code, err) == (2, "biaslab: alpha is 2; give a significance between 0 and 1\n")
