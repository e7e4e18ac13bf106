"""One row adds a measure or an algorithm: everything that loops over the registry takes it up."""

import dataclasses
from functools import partial

import pandas as pd
import pytest
from typer.testing import CliRunner

from biaslab.cli import app
from biaslab.core.errors import InputError
from biaslab.ranking import geyik, registry
from biaslab.ranking.auditing import audit_file
from biaslab.ranking.comparison import compare
from biaslab.ranking.lists import Columns, ListFile


@pytest.fixture
def source(tmp_path):
    table = pd.DataFrame({"query": list("aaabb"), "score": [3, 2, 1, 2, 1], "sex": list("mfmfm")})
    table.to_csv(tmp_path / "c.csv", index=False)
    return ListFile(tmp_path / "c.csv", Columns("score", ("sex",), "query"))


def test_a_new_row_is_in_every_table(monkeypatch, source):
    last = registry.Measure("Places", 0, lambda rankings: rankings.n_places.astype(float))
    copy = registry.Algorithm("As by score", partial(geyik.rank_pools, "score_only"))
    monkeypatch.setitem(registry.MEASURES, "places", last)
    monkeypatch.setitem(registry.ALGORITHMS, "by_score", copy)
    audited = audit_file(source, "uniform", 2, "by_score")
    assert audited.measures.set_index("title").loc["Places", "mean"].tolist() == [2.0, 2.0]
    compared = compare([2], 3, 4, 4, 1)
    assert (compared["algorithm"] == "by_score").sum() == len(registry.MEASURES)
    assert compared.query("measure == 'places'")["mean"].eq(4).all()


def test_an_unknown_algorithm_is_refused():
    with pytest.raises(InputError, match="did you mean 'det_greedy'"):
        registry.algorithm("det_gredy")


def test_the_commands_name_every_algorithm():
    text = "".join(
        CliRunner().invoke(app, ["ranking", "rerank", "--help"], env={"COLUMNS": "200"}).output.split()
    )
    assert [name for name in registry.ALGORITHMS if name not in text] == []


def test_titles_are_different():
    for rows in (registry.MEASURES, registry.ALGORITHMS):
        assert len({row.title for row in rows.values()}) == len(rows)
        assert all(dataclasses.is_dataclass(row) for row in rows.values())


def test_measures_of_the_paper_are_computed_together(monkeypatch, source):
    measure, calls = geyik.measure, []
    monkeypatch.setattr(geyik, "measure", lambda rankings: calls.append(rankings) or measure(rankings))
    audit_file(source, "uniform", 2, "det_cons")
    assert len(calls) == len({id(rankings) for rankings in calls}) == 2  # before and after
