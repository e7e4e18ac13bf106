"""What rankings are like: orders, intervals, unknown values, p-values."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from biaslab.core.stats import mean_interval
from biaslab.ranking import registry
from biaslab.ranking.desired import read_pools
from biaslab.ranking.lists import Columns, ListFile
from biaslab.ranking.measures import MEASURES
from biaslab.ranking.measuring import count_unsorted, order_of, summarize, test_table, value_table
from biaslab.ranking.pools import top
from naive import ranking as naive_ranking
from naive import ranking_exposure, ranking_fa_ir
from refusals import refused
from unit.ranking import test_reranking as reranked

COLUMNS = Columns("score", ("sex",), "query", rank="place")


def random_table(rng, n_lists=9):
    table = reranked.random_table(rng, n_lists, shortest=2)
    places = [rng.permutation(n) + 1 for n in table.groupby("query", sort=False).size()]
    return table.assign(place=np.concatenate(places))


test_table.__test__ = False


def measured(folder, table, columns=COLUMNS, desired="uniform", k=5):
    table.to_csv(folder / "in.csv", index=False)
    source = ListFile(folder / "in.csv", columns)
    pools = read_pools(source, desired)
    order = order_of(pools, source)
    rankings = top(pools, k, order)
    return SimpleNamespace(
        lists=pd.DataFrame(registry.measure(rankings)),
        values=value_table(rankings, rankings.by_group(), rankings.by_group(rankings.attention)),
        tests=test_table(source.lists.queries, rankings),
        n_unsorted=count_unsorted(pools, order),
    )


def test_every_list_is_measured_in_its_own_order(tmp_path):
    table = random_table(np.random.default_rng(1))
    found = measured(tmp_path, table)
    assert len(found.lists) == table["query"].nunique()
    for i, (_, rows) in enumerate(table.groupby("query", sort=False)):
        names = sorted(rows["sex"].unique())
        values = [names.index(v) for v in rows["sex"]]
        order = np.argsort(rows["place"].to_numpy(), kind="stable")[:5].tolist()
        arguments = (values, rows["score"].tolist(), [1 / len(names)] * len(names), order)
        for name in ("exposure_ratio", "awrf", "disparate_treatment", "disparate_impact"):
            expected = getattr(ranking_exposure, name)(*arguments)
            assert_allclose(found.lists[name][i], expected, rtol=1e-12, err_msg=name)
        expected = naive_ranking.ranking_measures(arguments[1], values, *arguments[2:])
        assert_allclose(found.lists[list(MEASURES)].iloc[i].astype(float), expected, rtol=1e-12, atol=1e-12)


def test_lists_whose_order_is_not_that_of_the_scores_are_counted(tmp_path):
    table = pd.DataFrame({"place": [1, 2, 3], "score": [3, 2, 1], "sex": ["f", "m", "f"]})

    def count(changed, rank=None):
        return measured(tmp_path, changed, Columns("score", ("sex",), rank=rank)).n_unsorted

    assert count(table) == count(table, "place") == 0
    assert count(table[::-1]) == count(table.loc[[0, 2, 1]]) == 1
    assert count(table.assign(place=[3, 2, 1]), "place") == 1
    two = pd.concat([table.assign(query=query) for query in "ab"])
    assert measured(tmp_path, two, Columns("score", ("sex",), "query")).n_unsorted == 0


def test_a_score_is_no_place(tmp_path):
    table = pd.DataFrame({"score": [0.9, 0.5], "sex": ["f", "m"]})
    with refused(r"in.csv:2: the score 0.9 is not a place; write whole numbers"):
        measured(tmp_path, table, Columns(None, ("sex",), rank="score"))
    with refused(r"'score' is named as the place and as the score"):
        measured(tmp_path, table, Columns("score", ("sex",), rank="score"))


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
    assert found.tests["n_places"].tolist() == [2, 2]


def test_p_values_are_those_of_all_rankings(tmp_path):
    table = random_table(np.random.default_rng(5), 6)
    found = measured(tmp_path, table, desired="uniform", k=4).tests.set_index(["query", "value"])
    for (query, value), row in found.iterrows():
        rows = table[table["query"] == query].sort_values("place")
        flags = tuple((rows["sex"] == value).tolist()[:4])
        expected = ranking_fa_ir.p_value(flags, Fraction(1, rows["sex"].nunique()))
        assert row["p_value"] == pytest.approx(float(expected))
        assert (row["n_value"], row["n_places"]) == (sum(flags), len(flags))


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


def test_a_place_that_is_there_twice_is_named(tmp_path):
    table = pd.DataFrame({"query": list("aabb"), "place": [1, 2, 3, 3], "score": 1, "sex": list("fmfm")})
    with refused(r"in\.csv:5: the place 3 is repeated in a list; give each"):
        measured(tmp_path, table)
