"""Re-ranking files: against the oracles, list by list, in any format; the command."""

from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet
from biaslab.ranking.algorithms import ALGORITHMS
from biaslab.ranking.desired import KINDS
from biaslab.ranking.lists import Columns, ListFile
from biaslab.ranking.reranking import rerank_file
from naive import ranking as naive

COLUMNS = Columns("score", ("sex", "age"), "query", "fit")


def random_table(rng, n_lists=8, shortest=1):
    sizes = rng.integers(shortest, 12, n_lists)
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
    path, out = folder / f"in{suffix}", folder / f"out{suffix}"
    if suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    how = {"desired": "uniform", "k": 5, "algorithm": "det_greedy"} | how
    n_exhausted = rerank_file(ListFile(path, columns), out, **how)
    if suffix == ".parquet":
        return read_parquet(out), n_exhausted
    return pd.read_csv(out, sep="\t" if suffix == ".tsv" else ","), n_exhausted


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
def test_every_list_is_ranked_as_the_oracle_does(tmp_path, kind, algorithm):
    rng = np.random.default_rng(2)
    for k in (1, 4, 50):
        table = random_table(rng)
        suffix = {1: ".csv", 4: ".parquet", 50: ".tsv"}[k]
        result, n_exhausted = reranked(tmp_path, table, suffix, desired=kind, k=k, algorithm=algorithm)
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
            assert n_exhausted[i] == exhausted


@pytest.mark.parametrize(
    ("how", "last", "message"),
    [
        ({"k": 0}, 0.5, "k is 0"),
        ({"algorithm": "det_gredy"}, 0.5, "did you mean 'det_greedy'"),
        ({"desired": "unifrom"}, 0.5, "did you mean 'uniform'"),
        ({}, np.nan, r"in\.csv:{}: the score"),
    ],
)
def test_a_bad_argument_or_line_leaves_no_file(tmp_path, how, last, message):
    table = random_table(np.random.default_rng(0), 40)
    table["score"] = [*table["score"][:-1], last]
    with pytest.raises(InputError, match=message.format(len(table) + 1)):
        reranked(tmp_path, table, ".csv", **how)
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.fixture
def rerank(biaslab):
    return partial(biaslab, "ranking", "rerank")


def test_command_writes_the_lists_and_tells_what_ran_out(tmp_path, rerank):
    table = pd.DataFrame({"who": list("abcdef"), "sex": list("mmmmff"), "points": [6, 5, 4, 3, 2, 1]})
    table.to_csv(tmp_path / "c.csv", index=False)
    arguments = [tmp_path / "c.csv", "--score", "points", "--attribute", "sex", "--desired", "uniform"]
    arguments += ["--algorithm", "det_greedy", "--top", "6", "--out", tmp_path / "fair.csv"]
    code, out, err = rerank(*arguments)
    assert (code, out) == (0, f"{tmp_path}/fair.csv: the top 6 of 1 list\n")
    assert pd.read_csv(tmp_path / "fair.csv")["who"].tolist() == list("aebfcd")
    assert err == (
        "biaslab: in the list a value ran out of candidates: 1 places went to the best remaining candidates"
        " of other values\n"
    )


def test_command_ends_with_one_line_for_bad_input(tmp_path, rerank):
    (tmp_path / "c.csv").write_text("score,sex\n1,f\n")
    arguments = ["--attribute", "sex", "--desired", "uniform", "--top", "1", "--out", tmp_path / "out.xls"]
    code, _, err = rerank(tmp_path / "c.csv", "--score", "scor", *arguments)
    assert (code, err) == (
        2,
        f"biaslab: {tmp_path}/c.csv: the column 'scor' is missing (columns: score, sex); did you"
        " mean 'score'?\n",
    )
    assert "unknown file type" in rerank(tmp_path / "c.csv", "--score", "score", *arguments)[2]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_unknown_candidates_keep_their_places_and_the_others_are_reranked(tmp_path, algorithm):
    rng = np.random.default_rng(8)
    columns, names = Columns("score", ("sex",), "query", unknown=("x",)), ["f", "m"]
    desired = [Fraction(1, 2)] * 2
    (tmp_path / "p.csv").write_text("value,share\nf,0.5\nm,0.5\n")
    for k in (1, 4, 50):
        table = random_table(rng, 15)
        how = {"desired": str(tmp_path / "p.csv"), "k": k, "algorithm": algorithm}
        result, n_exhausted = reranked(tmp_path, table, columns=columns, **how)
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
            assert n_exhausted[i] == (exhausted if n_known else 0)


def test_command_takes_empty_fields_for_unknown(tmp_path, rerank):
    (tmp_path / "c.csv").write_text("name,score,sex\na,4,m\nb,3,\nc,2,m\nd,1,f\n")
    arguments = [tmp_path / "c.csv", "--score", "score", "--attribute", "sex", "--desired", "uniform"]
    arguments += ["--top", "4", "--out", tmp_path / "out.csv"]
    code, _, err = rerank(*arguments)
    assert (code, err) == (
        2,
        f"biaslab: {tmp_path}/c.csv:3: the sex is missing; fill it in, or add --unknown ''\n",
    )
    assert rerank(*arguments, "--unknown", "", "--algorithm", "det_greedy")[0] == 0
    assert pd.read_csv(tmp_path / "out.csv")["name"].tolist() == list("abdc")


def test_fa_ir_reranks_for_a_protected_value(tmp_path, rerank):
    path, out = tmp_path / "c.csv", tmp_path / "out.csv"
    values = ["other"] * 21 + ["protected"] * 9
    pd.DataFrame({"value": values, "score": np.arange(30, 0, -1)}).to_csv(path, index=False)
    how = ["--attribute", "value", "--score", "score", "--desired", "observed", "--top", 20, "--out", out]
    for options, problem in (
        (["--algorithm", "fa_ir"], "fa_ir: the protected value is missing; name it with --protected"),
        (
            ["--algorithm", "fa_ir", "--protected", "protectd"],
            f"{path}: no candidate has the protected value",
        ),
        (["--protected", "protected", "--alpha", 2], "alpha is 2; give a significance between 0 and 1"),
    ):
        code, _, err = rerank(path, *how, *options)
        assert code == 2
        assert err.startswith(f"biaslab: {problem}")
    assert not out.exists()
    assert rerank(path, *how, "--algorithm", "fa_ir", "--protected", "protected")[0] == 0
    assert (pd.read_csv(out)["value"] == "protected").sum() == 3
