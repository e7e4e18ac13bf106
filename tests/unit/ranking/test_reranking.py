"""Re-ranking files: against the oracles, list by list, in any format; the command."""

import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from biaslab.cli import main
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, read_tsv
from biaslab.ranking import registry
from biaslab.ranking.algorithms import ALGORITHMS, rerank_report
from biaslab.ranking.desired import KINDS
from biaslab.ranking.lists import Columns, ListFile
from biaslab.ranking.measures import MEASURES as GEYIK
from biaslab.ranking.measures import measure
from biaslab.ranking.report.lists import (
    absent_lines,
    distribution_table,
    exhausted_line,
    measure_table,
    summary,
    value_table,
    write_figure,
)
from biaslab.ranking.reranking import rerank_file
from biaslab.run.area import FIGURE, SUFFIXES
from naive import ranking as naive
from properties import examples

COLUMNS = Columns("score", ("sex", "age"), "query", "fit")


def random_table(rng, n_lists=8, longest=12):
    """Lists of various lengths with ties, and values that are missing in some."""
    sizes = rng.integers(1, longest, n_lists)
    n = sizes.sum()
    fit = rng.integers(0, 2, n)
    fit[np.cumsum(sizes) - 1] = 1  # at least one in a list
    return pd.DataFrame(
        {
            "query": np.repeat([f"q{i}" for i in range(n_lists)], sizes),
            "row": np.arange(n),
            "score": rng.integers(0, 9, n) / 8,
            "sex": rng.choice(["f", "m", "x"], n, p=[0.5, 0.4, 0.1]),
            "age": rng.choice(["new", "old"], n),
            "fit": fit,
        }
    )


def reranked(folder, table, suffix=".parquet", columns=COLUMNS, **how):
    """Re-rank a table; return the result and the measures."""
    path, out = folder / f"in{suffix}", folder / f"out{suffix}"
    if suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    how = {"desired": "uniform", "k": 5, "algorithm": "det_greedy"} | how
    part = rerank_file(ListFile(path, columns), out, **how)
    if suffix == ".parquet":
        return read_parquet(out), part
    return pd.read_csv(out, sep="\t" if suffix == ".tsv" else ","), part


def desired_fractions(rows, whole, kind):
    """The shares of a list's values by definition, as fractions; by value."""
    values, everyone = rows["sex"] + "|" + rows["age"], whole["sex"] + "|" + whole["age"]
    among = {
        "uniform": pd.Series(values.unique()),
        "observed": values,
        "equal-opportunity": values[rows["fit"] == 1],
        "demographic-parity": everyone,
    }[kind]
    names = sorted(set(values) | set(among))
    return {name: Fraction(int((among == name).sum()), len(among)) for name in names}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_list_is_ranked_and_measured_as_the_oracles_do(tmp_path, kind, algorithm):
    rng = np.random.default_rng(2)
    for k in (1, 4, 50):
        table = random_table(rng)
        result, part = reranked(tmp_path, table, desired=kind, k=k, algorithm=algorithm)
        assert part.queries == table["query"].unique().tolist()
        for i, (query, rows) in enumerate(table.groupby("query", sort=False)):
            shares = desired_fractions(rows, table, kind)
            names, desired = list(shares), list(shares.values())
            scores = rows["score"].tolist()
            values = [names.index(v) for v in rows["sex"] + "|" + rows["age"]]
            order, exhausted = naive.rank_fairly(scores, values, desired, k, algorithm)
            by_score = naive.ranking_by_score(scores, len(scores))
            found = result[result["query"] == query]
            assert found["row"].tolist() == rows["row"].iloc[order].tolist()
            assert found["rank"].tolist() == list(range(1, len(order) + 1))
            assert found["old_rank"].tolist() == [by_score.index(j) + 1 for j in order]
            assert (part.n_exhausted[i], part.n_candidates[i], part.n_places[i]) == (
                exhausted,
                len(rows),
                len(order),
            )
            if part.is_mixed[i]:
                continue  # a mean over orders of ties: see test_ties
            expected = [
                naive.ranking_measures(scores, values, desired, o) for o in (by_score[: len(order)], order)
            ]
            found = np.stack([part.measures[name][i] for name in GEYIK], axis=1)
            assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


MEASURES = [name for name, measure in registry.MEASURES.items() if not measure.needs_protected]


@examples(12)
@given(
    seed=st.integers(0, 2**32),
    k=st.integers(1, 15),
    algorithm=st.sampled_from(ALGORITHMS),
    kind=st.sampled_from(["uniform", "observed", "equal-opportunity"]),
)
def test_lists_in_one_file_are_ranked_as_each_alone(tmp_path_factory, seed, k, algorithm, kind):
    folder = tmp_path_factory.mktemp("alone")
    table = random_table(np.random.default_rng(seed), 5)
    how = {"desired": kind, "k": k, "algorithm": algorithm}
    together, part = reranked(folder, table, ".csv", **how)
    alone = [reranked(folder, t, ".csv", **how) for _, t in table.groupby("query", sort=False)]
    pd.testing.assert_frame_equal(together, pd.concat([t for t, _ in alone], ignore_index=True))
    for name, values in part.measures.items():
        np.testing.assert_array_equal(values, np.concatenate([p.measures[name] for _, p in alone]))


@pytest.mark.parametrize("kind", KINDS)
def test_formats_change_nothing(tmp_path, kind):
    table = random_table(np.random.default_rng(3), 25)
    first, *others = [
        reranked(tmp_path, table, suffix, desired=kind) for suffix in (".parquet", ".csv", ".tsv")
    ]
    for result, part in others:
        pd.testing.assert_frame_equal(result, first[0], check_dtype=False)
        assert measure_table(part).equals(measure_table(first[1]))


def test_one_list_is_ranked_as_the_function_does(tmp_path):
    table = random_table(np.random.default_rng(4), 1, 200)
    result, part = reranked(tmp_path, table, columns=Columns("score", ("sex",)), k=40)
    names, values = np.unique(table["sex"], return_inverse=True)
    desired, scores = np.full(len(names), 1 / len(names)), table["score"].to_numpy()
    ours = rerank_report(scores, values, desired, 40, "det_greedy")
    assert result["row"].tolist() == ours.order.tolist()
    assert part.n_exhausted[0] == ours.n_exhausted
    found = [part.measures[name][0, 1] for name in GEYIK]  # the same in all orders of ties, but for rounding
    assert_allclose(found, measure(scores, values, desired, ours.order, 40), rtol=1e-12)
    assert sum(part.shares[name][0] for name in names) == pytest.approx(1)
    after = [part.shares[name][2] for name in names]
    assert_allclose(after, [(values[ours.order] == i).mean() for i in range(len(names))])


def test_values_that_run_out_are_counted_and_told(tmp_path):
    table = pd.DataFrame({"query": list("aaab"), "score": [4, 3, 2, 1], "sex": list("mmmf"), "row": range(4)})
    (tmp_path / "p.csv").write_text("value,share\nf,0.5\nm,0.5\n")
    columns = Columns("score", ("sex",), "query")
    how = {"desired": str(tmp_path / "p.csv"), "k": 3}
    result, part = reranked(tmp_path, table, columns=columns, **how)
    assert result["row"].tolist() == [0, 1, 2, 3]
    assert part.n_exhausted.tolist() == [2, 0]
    line = "in 1 of 2 lists (first: 'a') a value ran out of candidates: 2 places went to the best remaining"
    assert exhausted_line(part).startswith(line)
    _, part = reranked(tmp_path, table[:3], columns=Columns("score", ("sex",)), **how)
    assert exhausted_line(part).startswith("in the list a value ran out of candidates: 2 places")
    _, part = reranked(tmp_path, table, columns=columns, k=3)
    assert exhausted_line(part) == ""


def test_shares_are_shown_by_value_and_a_value_without_a_place_is_told(tmp_path):
    rows = {"query": "q", "score": range(9, 0, -1), "sex": list("mfmfmfmfx"), "row": range(9)}
    table = pd.DataFrame(rows)
    _, part = reranked(tmp_path, table, columns=Columns("score", ("sex",)), desired="observed", k=4)
    lines = [line.split() for line in summary(part).split("\n\n")[1].splitlines()]
    assert lines[0][-5:] == ["desired", "before", "after", "skew_before", "skew_after"]
    assert lines[1] == ["f", "0.4444", "0.5", "0.5", "0.1178", "0.1178"]
    assert lines[3] == ["x", "0.1111", "0", "0", "-inf", "-inf"]
    (line,) = absent_lines(part)
    assert line.startswith("'x' has no place in the top: min_skew is -inf and the exposure ratio 0;")
    assert line.endswith("0.44 of 4 places, less than one, so that a ranking without it is feasible")
    _, part = reranked(tmp_path, table, columns=Columns("score", ("sex",)), desired="uniform", k=4)
    assert absent_lines(part) == []
    two = pd.concat([table, table.assign(query="r")])
    _, part = reranked(tmp_path, two, columns=Columns("score", ("sex",), "query"), desired="observed", k=4)
    assert summary(part).endswith("x   0.1111       0      0")
    assert absent_lines(part) == []


def test_measure_table_has_means_first(tmp_path):
    table = random_table(np.random.default_rng(6), 20)
    _, part = reranked(tmp_path, table, desired="observed")
    measures = measure_table(part)
    assert len(measures) == 2 + 2 * 20
    means, lists = measures[:2], measures[2:]
    assert means["query"].tolist() == ["", ""]
    for ranking in ("before", "after"):
        of_lists = lists[lists["ranking"] == ranking]
        mean = means[means["ranking"] == ranking].iloc[0]
        for column in ("n_candidates", "n_places", "n_exhausted", "feasible", *MEASURES):
            assert mean[column] == pytest.approx(of_lists[column].mean(), nan_ok=True)
        assert ((of_lists["feasible"] == 1) == (of_lists["infeasible_index"] == 0)).all()
    assert (lists.loc[lists["ranking"] == "before", "ndcg"] == 1).all()
    _, part = reranked(tmp_path, table, columns=Columns("score", ("sex",)))
    assert measure_table(part)["query"].tolist() == ["", ""]


def test_tables_of_the_figures(tmp_path):
    table = pd.DataFrame({"query": list("aaab"), "score": [4, 3, 2, 1], "sex": list("mmff")})
    _, part = reranked(tmp_path, table, columns=Columns("score", ("sex",)), k=2)
    values = value_table(part).set_index("value")
    assert values.loc["f"].tolist() == [0.5, 0.0, 0.5, -np.inf, 0.0]
    assert values.loc["m"].tolist() == [0.5, 1.0, 0.5, np.log(2), 0.0]
    _, part = reranked(tmp_path, table, columns=Columns("score", ("sex",), "query"), k=2)
    part.measures["ndkl"][0, 0] = np.inf
    curves = distribution_table(part)
    last = curves.groupby(["measure", "ranking"])["share"].last()
    assert last.to_dict() == {
        ("ndcg", "after"): 1.0,
        ("ndcg", "before"): 1.0,
        ("ndkl", "after"): 1.0,
        ("ndkl", "before"): 0.5,
    }
    assert (curves.groupby(["measure", "ranking"])["share"].first() == 0).all()


@pytest.mark.parametrize("n_lists", [1, 3])
def test_figures_repeat_byte_for_byte(tmp_path, n_lists):
    table = random_table(np.random.default_rng(7), n_lists)
    _, part = reranked(tmp_path, table.assign(score=-table["score"]), k=3)
    for name in "ab":
        write_figure(part, tmp_path / name)
    for suffix in SUFFIXES[FIGURE]:
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"k": 0}, "k is 0"),
        ({"k": -1}, "k is -1"),
        ({"algorithm": "det_gredy"}, "did you mean 'det_greedy'"),
        ({"desired": "unifrom"}, "did you mean 'uniform'"),
    ],
)
def test_bad_argument_leaves_no_file(tmp_path, how, message):
    with pytest.raises(InputError, match=message):
        reranked(tmp_path, random_table(np.random.default_rng(0)), **how)
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_bad_line_leaves_no_file(tmp_path):
    table = random_table(np.random.default_rng(0), 40)
    table["score"] = [*table["score"][:-1], np.nan]
    with pytest.raises(InputError, match=rf"in\.csv:{len(table) + 1}: the score"):
        reranked(tmp_path, table, ".csv")
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.fixture
def biaslab(monkeypatch, capsys):
    """Run the command; return its exit code, output and error output."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["biaslab", "ranking", "rerank", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code or 0, *capsys.readouterr()

    return run


def test_command_writes_everything(tmp_path, biaslab):
    table = pd.DataFrame({"who": list("abcdef"), "sex": list("mmmmff"), "points": [6, 5, 4, 3, 2, 1]})
    table.to_csv(tmp_path / "c.csv", index=False)
    arguments = [tmp_path / "c.csv", "--score", "points", "--attribute", "sex", "--desired", "uniform"]
    arguments += ["--algorithm", "det_greedy", "--top", "6", "--out", tmp_path / "fair.csv"]
    arguments += ["--measures", tmp_path / "measures.tsv", "--figure", tmp_path / "fair"]
    code, out, err = biaslab(*arguments)
    assert code == 0
    assert pd.read_csv(tmp_path / "fair.csv")["who"].tolist() == list("aebfcd")
    assert read_tsv(tmp_path / "measures.tsv")["n_exhausted"].tolist() == [0, 1]
    assert all((tmp_path / f"fair{suffix}").exists() for suffix in SUFFIXES[FIGURE])
    assert [line.split()[0] for line in out.split("\n\n")[0].splitlines()][-len(MEASURES) :] == list(MEASURES)
    assert err == (
        "biaslab: in the list a value ran out of candidates: 1 places went to the best remaining candidates"
        " of other values (n_exhausted in the measures)\n"
    )


def test_command_ends_with_one_line_for_bad_input(tmp_path, biaslab):
    (tmp_path / "c.csv").write_text("score,sex\n1,f\n")
    arguments = ["--attribute", "sex", "--desired", "uniform", "--top", "1", "--out", tmp_path / "out.xls"]
    code, _, err = biaslab(tmp_path / "c.csv", "--score", "scor", *arguments)
    assert (code, err) == (
        2,
        f"biaslab: {tmp_path}/c.csv: there is no column 'scor' (it has score, sex); did you mean 'score'?\n",
    )
    code, _, err = biaslab(tmp_path / "c.csv", "--score", "score", *arguments)
    assert (code, err) == (
        2,
        f"biaslab: {tmp_path}/out.xls: unknown kind of file; name a .csv, .tsv or .parquet file\n",
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_unknown_candidates_keep_their_places_and_the_others_are_reranked(tmp_path, algorithm):
    rng = np.random.default_rng(8)
    columns, names = Columns("score", ("sex",), "query", unknown=("x",)), ["f", "m"]
    desired = [Fraction(1, 2)] * 2
    (tmp_path / "p.csv").write_text("value,share\nf,0.5\nm,0.5\n")
    for k in (1, 4, 50):
        table = random_table(rng, 15)
        how = {"desired": str(tmp_path / "p.csv"), "k": k, "algorithm": algorithm}
        result, part = reranked(tmp_path, table, columns=columns, **how)
        for i, (query, rows) in enumerate(table.groupby("query", sort=False)):
            scores = rows["score"].tolist()
            values = [names.index(v) if v in names else None for v in rows["sex"]]
            by_score = naive.ranking_by_score(scores, k)
            known = [j for j, value in enumerate(values) if value is not None]
            n_known = sum(values[j] is not None for j in by_score)
            order, exhausted = naive.rank_fairly(
                [scores[j] for j in known], [values[j] for j in known], desired, n_known, algorithm
            )
            left = [known[j] for j in order] if n_known else []
            expected = [j if values[j] is None else left.pop(0) for j in by_score]
            found = result[result["query"] == query]
            assert found["row"].tolist() == rows["row"].iloc[expected].tolist()
            assert part.n_exhausted[i] == (exhausted if n_known else 0)


def test_command_takes_empty_fields_for_unknown(tmp_path, biaslab):
    (tmp_path / "c.csv").write_text("name,score,sex\na,4,m\nb,3,\nc,2,m\nd,1,f\n")
    arguments = [tmp_path / "c.csv", "--score", "score", "--attribute", "sex", "--desired", "uniform"]
    arguments += ["--top", "4", "--out", tmp_path / "out.csv"]
    code, _, err = biaslab(*arguments)
    assert (code, err) == (
        2,
        f"biaslab: {tmp_path}/c.csv:3: the sex is missing; fill it in, or add --unknown ''\n",
    )
    assert biaslab(*arguments, "--unknown", "", "--algorithm", "det_greedy")[0] == 0
    assert pd.read_csv(tmp_path / "out.csv")["name"].tolist() == list("abdc")
