"""Answers about somebody's own data: pages that stand alone, numbers that any reader of JSON takes."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from biaslab.answers import Answer, Section, check_answer, dots, names_of, write_answer
from biaslab.core.stats import holm
from pages import Page
from refusals import refused

HOSTILE = "<script>alert(1)</script> $x_$ " + "long " * 20


def answer(**changes):
    values = np.array([[1, 0, 2], [np.nan] * 3, [3, 3, 3]])
    figure = dots(["日本\x07", HOSTILE, "$a"], {"$x_{1": values}, f"Share of {HOSTILE} $", 0.5, "$ half")
    table = pd.DataFrame({"Value": [HOSTILE, "b"], "Share": ["50%", "–"]})
    section = Section(HOSTILE, [HOSTILE], figure, HOSTILE, table, "note")
    parts = {
        "command": "biaslab x audit",
        "question": "Why?",
        "data": {"File": HOSTILE},
        "files": ["/way/a"],
        "lines": ["So."],
    }
    parts |= {"sections": [section, Section("bare")], "limits": ["none"], "numbers": {"table": table}}
    return Answer(**parts | changes)


def test_a_page_stands_alone_and_says_only_what_it_was_given(tmp_path):
    said = write_answer(answer(), tmp_path / "a")
    assert said.splitlines() == ["So.", f"The page: {tmp_path}/a.html; all numbers: {tmp_path}/a.json"]
    page = Page((tmp_path / "a.html").read_text())
    assert "script" not in page.tags
    assert [link[:22] for link in page.links] == ["data:image/svg+xml;bas"]
    assert (tmp_path / "a.html").read_text().count('<th scope="col" class="number">Share</th>') == 1


def test_numbers_are_plain_json(tmp_path):
    table = pd.DataFrame({"x": [np.nan, np.inf], "n": [1, 2]})
    numbers = {"table": table, "one": np.float64(0.1), "none": math.nan, "list": (np.int64(1), True)}
    write_answer(answer(numbers=numbers), tmp_path / "a")
    found = json.loads((tmp_path / "a.json").read_text(), parse_constant=pytest.fail)
    assert found["files"] == ["/way/a"]
    assert found["table"] == [{"x": None, "n": 1}, {"x": "inf", "n": 2}]
    assert (found["one"], found["none"], found["list"], found["answer"]) == (0.1, None, [1, True], ["So."])


def test_files_are_called_by_name_or_by_what_tells_them_apart():
    assert names_of(["/long/way/a.txt", "b.txt"]) == ["a.txt", "b.txt"]
    assert names_of(["x/y/a.txt", "z/y/a.txt", "b.txt"]) == ["x/y/a.txt", "z/y/a.txt", "b.txt"]
    assert names_of([]) == []


def test_files_of_somebody_else_are_kept(tmp_path):
    write_answer(answer(), tmp_path / "a")
    first = (tmp_path / "a.html").read_bytes()
    write_answer(answer(), tmp_path / "a")
    assert (tmp_path / "a.html").read_bytes() == first
    (tmp_path / "b.html").write_text("<html>mine</html>")
    for stem in ("b", "c"):
        (tmp_path / "c.json").mkdir(exist_ok=True)
        with refused("is there, and no answer of biaslab; choose another --out"):
            check_answer(tmp_path / stem)
    assert (tmp_path / "b.html").read_text() == "<html>mine</html>"


def test_holm_is_the_textbook_s():
    assert holm([0.01, 0.04, 0.03, np.nan, 0.005]).tolist()[:3] == pytest.approx([0.03, 0.06, 0.06])
    assert np.isnan(holm([0.2, np.nan])[1])
    rng = np.random.default_rng(0)
    falsely = [(holm(rng.random(20)) <= 0.05).any() for _ in range(2000)]
    assert 0.035 < np.mean(falsely) < 0.065
