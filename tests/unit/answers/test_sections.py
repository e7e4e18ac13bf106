"""Sections of answers: their charts, the descriptions of the charts, and their cells."""

import numpy as np
import pandas as pd
import pytest

from biaslab import answers
from biaslab.answers import Chart, build_section, estimate, join_names, with_interval

TABLE = pd.DataFrame(
    {
        "group": ["a", "b"],
        "rate": [0.5, 0.25],
        "rate_low": [0.4, np.nan],
        "rate_high": [0.6, np.nan],
        "plain": [1.0, 2.0],
    }
)


def test_a_section_has_cells_with_intervals_only_where_there_are_any():
    cells = {"Group": "{group}", "Rate": estimate("rate", ".0%")}
    section = build_section("T", "p\n\nq", TABLE, cells, "note")
    assert section.table.to_dict("list") == {"Group": ["a", "b"], "Rate": ["50% (40% to 60%)", "25%"]}
    assert (section.title, section.text, section.note, section.figure) == ("T", ["p", "q"], "note", "")


def test_a_chart_draws_the_intervals_of_the_columns_and_describes_the_rows(monkeypatch):
    drawn = {}

    def dots(labels, series, xlabel, line, line_label):
        drawn.update(labels=labels, series=series, rest=(xlabel, line, line_label))
        return "figure"

    monkeypatch.setattr(answers, "dots", dots)
    series = {"rate": "rate", "own": np.ones((2, 3))}
    chart = Chart("group", series, "Rate", "{group} {rate:.0%}", "Rates: ", 0.8, "four fifths")
    section = build_section("T", "p", TABLE, {"Group": "{group}"}, chart=chart)
    assert (section.figure, section.about_figure) == ("figure", "Rates: a 50%; b 25%")
    assert drawn["labels"] == ["a", "b"]
    assert drawn["rest"] == ("Rate", 0.8, "four fifths")
    np.testing.assert_array_equal(drawn["series"]["rate"], [[0.5, 0.4, 0.6], [0.25, np.nan, np.nan]])
    np.testing.assert_array_equal(drawn["series"]["own"], np.ones((2, 3)))


def test_a_column_without_ends_has_no_interval():
    np.testing.assert_array_equal(with_interval(TABLE, "plain"), [[1, np.nan, np.nan], [2, np.nan, np.nan]])


@pytest.mark.parametrize(("names", "text"), [("a", "a"), ("ab", "a and b"), ("abc", "a, b and c")])
def test_names_are_joined(names, text):
    assert join_names(list(names)) == text
