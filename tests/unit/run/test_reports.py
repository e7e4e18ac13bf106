"""The one writer of tables and figures: what it opens, what it writes, and what it refuses."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from biaslab.core.io import write_tsv
from biaslab.core.tables import Table
from biaslab.run.area import FIGURE, SUFFIXES, TEST, UNIT, Unit, figure, items_of, load_area, table
from biaslab.run.plan.reports import write_report
from refusals import refusal

UNITS = [Unit("one", ("t",), {"depth": {"epochs": 3}}, {"claims": "claims.tsv"}), Unit("two")]


@table("shares", "Table 1", "shares")
def shares(units):
    data = pd.concat([unit.table("shares", "x").assign(unit=unit.name) for unit in units])
    return Table(data, data.astype(str), "Shares")


@figure("line", "Figure 1", "shares", per=TEST)
def draw(unit, test, stem):
    for suffix in SUFFIXES[FIGURE]:
        stem.parent.mkdir(parents=True, exist_ok=True)
        Path(f"{stem}{suffix}").write_text(f"{unit.name} {test} {unit.option('depth', 'epochs')}")


@figure("empty", "Figure 2", per=UNIT)
def draw_nothing(unit, stem):
    """Make no file."""


AREA = replace(load_area("origins"), name="made", items=items_of(shares, draw), reader=None)


@pytest.fixture
def results(tmp_path):
    for number, name in enumerate(("one", "two", "of_an_earlier_run")):
        write_tsv(tmp_path / f"made/{name}/shares.tsv", pd.DataFrame({"x": [number]}))
    return tmp_path


def test_items_are_made_of_the_units_of_the_run_alone(results):
    said = []
    written = write_report(AREA, UNITS, results, say=said.append)
    assert written == ["tables/shares", "one/figures/line_t"]
    table = pd.read_csv(results / "made/tables/shares.tsv", sep="\t")
    assert table["unit"].tolist() == ["one", "two"]
    assert (results / "made/one/figures/line_t.svg").read_text() == "one t 3"
    assert [line.split(" (")[0] for line in said] == ["1 of 2: tables/shares", "2 of 2: one/figures/line_t"]


def test_single_items_can_be_written(results):
    assert write_report(AREA, UNITS, results, only=["line"]) == ["one/figures/line_t"]
    assert not (results / "made/tables").exists()
    assert "unknown item 'lin' (known: shares, line); did you mean" in refusal(
        write_report, AREA, UNITS, results, only=["lin"]
    )


def test_a_path_names_one_of_two_items_that_have_the_same_stem(results):
    both = replace(AREA, items=(shares.item, replace(draw.item, stem="shares")))
    for path in ("tables/shares", "one/figures/shares_t"):
        assert write_report(both, UNITS, results, only=[path]) == [path]


def test_a_figure_whose_function_writes_nothing_is_an_error(results):
    message = refusal(write_report, replace(AREA, items=items_of(draw_nothing)), UNITS, results)
    assert message.startswith(f"{__name__}.draw_nothing did not write one/figures/empty.svg")


def test_what_is_missing_is_refused(results):
    assert "no unit to report on" in refusal(write_report, AREA, [], results)
    without = [replace(UNITS[0], options={})]
    assert "one: the option depth.epochs is missing" in refusal(write_report, AREA, without, results)
    (results / "made/two/shares.tsv").unlink()
    assert "two/shares.tsv: no such file" in refusal(write_report, AREA, UNITS, results)
