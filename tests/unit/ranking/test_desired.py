"""Desired distributions: the ready-made ones by their definitions, files of shares, and every bad file."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from biaslab.core.io import read_parquet
from biaslab.ranking.desired import read_pools, read_shares
from biaslab.ranking.lists import Columns, ListFile
from biaslab.ranking.reranking import rerank_file
from refusals import assert_file_refused, refused

COLUMNS = Columns("score", ("sex",), "query", "fit")
TABLE = pd.DataFrame(
    {
        "query": list("aaaabbb"),
        "score": [7, 6, 5, 4, 3, 2, 1],
        "sex": list("fmmmffx"),
        "fit": [1, 1, 0, 1, 0, 1, 0],
    }
)


@pytest.fixture
def source(tmp_path):
    TABLE.to_csv(tmp_path / "c.csv", index=False)
    return ListFile(tmp_path / "c.csv", COLUMNS)


def shares(source, desired):
    lists, found = source.lists, {}
    groups = read_pools(source, desired).groups
    for i, query in enumerate(lists.queries):
        own = slice(*groups.list_groups[i : i + 2])
        names = [groups.names[value] for value in groups.values[own]]
        found[query] = dict(zip(names, groups.desired[own].tolist(), strict=True))
        assert groups.counts[own].sum() == lists.offsets[i + 1] - lists.offsets[i]
    return found


@pytest.mark.parametrize(
    ("kind", "a", "b"),
    [
        ("uniform", {"f": 1 / 2, "m": 1 / 2}, {"f": 1 / 2, "x": 1 / 2}),
        ("observed", {"f": 1 / 4, "m": 3 / 4}, {"f": 2 / 3, "x": 1 / 3}),
        ("equal-opportunity", {"f": 1 / 3, "m": 2 / 3}, {"f": 1, "x": 0}),
        ("demographic-parity", *[{"f": 3 / 7, "m": 3 / 7, "x": 1 / 7}] * 2),
    ],
)
def test_ready_made_shares(source, kind, a, b):
    assert shares(source, kind) == {"a": a, "b": b}


def selection_rates(table, desired, folder, k):
    table.to_parquet(folder / "c.parquet")
    source = ListFile(folder / "c.parquet", Columns("score", ("sex",), None, "fit"))
    rerank_file(source, folder / "out.parquet", desired, k, "det_const_sort")
    return read_parquet(folder / "out.parquet")["sex"].value_counts() / table["sex"].value_counts()


def test_the_aims_of_the_paper_are_met(tmp_path):
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"sex": list("f" * 40 + "m" * 60), "score": rng.random(100)})
    table["score"] += table["sex"] == "m"
    table["fit"] = [True] * 30 + [False] * 10 + [True] * 30 + [False] * 30
    rates = selection_rates(table, "demographic-parity", tmp_path, 20)  # P(top | A) is the same
    assert_allclose(rates[["f", "m"]], 0.2)
    qualified = table[table["fit"]]
    rates = selection_rates(qualified, "equal-opportunity", tmp_path, 20)  # P(top | A, qualified), too
    assert_allclose(rates[["f", "m"]], 1 / 3)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.csv", "value,share\nm,1/4\n\nf,1/2\nx,0.25\n"),
        ("p.tsv", "share\tvalue\n1/4\tm\n0.5\tf\n0.25\tx\n"),
        ("p.yml", '"m": 0.2500001\nf: 0.5\nx: 0.25\n'),
    ],
)
def test_files_of_shares(tmp_path, source, name, text):
    (tmp_path / name).write_text(text)
    found = read_shares(tmp_path / name)
    assert list(found) == ["f", "m", "x"]
    assert_allclose(list(found.values()), [0.5, 0.25, 0.25], atol=1e-7)
    assert sum(found.values()) == pytest.approx(1, abs=1e-15)
    assert shares(source, str(tmp_path / name)) == {"a": found, "b": found}


BAD = {
    r"p\.csv: the shares sum to 0.9, not to 1 \(within 1e-06\)": "value,share\nf,0.5\nm,0.4\n",
    r"p\.csv:3: the share 'half' of 'm' is not a number from 0 to 1": "value,share\nf,0.5\nm,half\n",
    r"p\.csv:3: the share '1/0' of 'm'": "value,share\nf,1\nm,1/0\n",
    r"p\.csv:4: the value 'f' is repeated": "value,share\nf,0.5\nm,0.4\nf,0.1\n",
    r"p\.csv: the column 'share' is missing": "value,shares\nf,1\n",
    r"p\.csv: not a table of shares": "",
    "yaml: the value True is yes or no in YAML; write it in quotes": "yes: 0.5\nm: 0.5\n",
    r"yaml: the share '\[1\]' of 'f' is not a number": "f: [1]\n",
    "yaml: holds no mapping": "- f\n",
}


@pytest.mark.parametrize("message", BAD)
def test_bad_file_is_one_line(tmp_path, message):
    path = tmp_path / ("p.yaml" if message.startswith("yaml: ") else "p.csv")
    assert_file_refused(path, BAD[message].encode(), message.removeprefix("yaml: "), read_shares)


def test_other_bad_distributions(tmp_path, source):
    with refused(r"unknown desired distribution 'unifrm' .*did you mean 'uniform'"):
        read_pools(source, "unifrm")
    with refused(r"none\.tsv: the file of desired shares does not exist"):
        read_pools(source, str(tmp_path / "none.tsv"))
    (tmp_path / "p.csv").write_text("value,share\nf,0.5\nmm,0.5\n")
    message = (
        r"c\.csv:3: the value 'm' has no desired share .*f, mm\); add one, which may be 0; did you mean 'mm'"
    )
    with refused(message):
        shares(source, str(tmp_path / "p.csv"))
    without = ListFile(source.path, Columns("score", ("sex",), "query"))
    with refused("equal-opportunity: the column of qualifications is missing"):
        read_pools(without, "equal-opportunity")
    TABLE.assign(fit=[1, 1, 1, 1, 0, 0, 0]).to_csv(source.path, index=False)
    with refused(r"c\.csv:6: no candidate of the list that begins here is qualified"):
        shares(ListFile(source.path, COLUMNS), "equal-opportunity")
