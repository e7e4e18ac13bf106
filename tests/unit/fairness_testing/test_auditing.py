"""The audit of a classifier of tables: who is favoured, how badly, group measures, and what is refused."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pages
from biaslab.classifiers.adapters import CallableModel
from biaslab.classifiers.encoding import read_table
from biaslab.classifiers.schema import load_schema
from biaslab.cli import main
from biaslab.core.errors import InputError
from biaslab.core.rates import difference_interval
from biaslab.fairness_testing.auditing import audit, check, favourable_class, group_measures
from biaslab.fairness_testing.report.audited import answer
from biaslab.fairness_testing.testers.subject import Subject

EQUAL_FILE = Path(__file__).parents[2] / "equal_measures.tsv"
EQUAL = pd.read_csv(EQUAL_FILE, sep="\t", comment="#").set_index("measure")["value"]
SCHEMA = """\
protected: [sex]
attributes:
  - {name: score, kind: integer, low: 0, high: 9}
  - {name: sex, kind: category, values: [a, b, c]}
label: {column: good, classes: ["no", "yes"]}
"""
SEXES = "abc"


def probability(score, sex):
    """Of yes: b needs two points fewer, c is never invited."""
    return 0.0 if sex == 2 else min(1.0, (score + 2 * (sex == 1)) / 10)


def function(X):
    p = np.array([probability(score, sex) for score, sex in X.tolist()])
    return np.stack([1 - p, p], axis=1)


@pytest.fixture
def files(tmp_path):
    """A table of 40 rows and its schema; return both, read."""
    rng = np.random.default_rng(1)
    rows = [f"{s},{SEXES[v]},{'yes' if s > 4 else 'no'}" for s, v in rng.integers((0, 0), (10, 3), (40, 2))]
    (tmp_path / "t.csv").write_text("\n".join(["score,sex,good", *rows]) + "\n")
    (tmp_path / "t.yaml").write_text(SCHEMA)
    schema = load_schema(tmp_path / "t.yaml")
    return read_table(tmp_path / "t.csv", schema), schema


def audited(files, model=function):
    table, schema = files
    subject = Subject(CallableModel(model, 2, 2), schema.domain, schema.protect(["sex"]))
    return audit(subject, table, schema, 1, 1, "sex")


def test_who_is_favoured_is_counted_as_a_loop_counts_it(files):
    found = audited(files)
    scores = files[0].X[:, 0].tolist()
    for _, row in found.pairs.iterrows():
        first, second = SEXES.index(row["value"]), SEXES.index(row["other"])
        good = [(probability(s, first) > 0.5, probability(s, second) > 0.5) for s in scores]
        assert row["n_favoured"] == sum(a and not b for a, b in good)
        assert row["difference"] == pytest.approx(np.mean([a - b for a, b in good]))
        gaps = [probability(s, first) - probability(s, second) for s in scores]
        assert row["gap"] == pytest.approx(np.mean(gaps))
        assert row["gap_low"] <= row["gap"] <= row["gap_high"]
    assert found.most_favoured[["value", "other"]].tolist() == ["b", "c"]
    spread = [max(probability(s, v) for v in range(3)) for s in scores]  # c gets nothing
    assert found.gap["mean"] == pytest.approx(np.mean(spread))
    assert found.gap["maximum"] == pytest.approx(max(spread))
    assert found.n_discriminatory == sum(p > 0.5 for p in spread)
    assert found.uniform[0] == pytest.approx(0.6, abs=0.02)  # 6 of 10 scores give b more than .5


def test_group_measures_are_equal_to_those_of_other_packages():
    rng, n = np.random.default_rng(7), 200
    sex = rng.integers(0, 2, n)
    actual = rng.random(n) < 0.4 + 0.2 * sex
    predicted = np.where(rng.random(n) < 0.8, actual, rng.random(n) < 0.3 + 0.4 * sex)
    row = group_measures(sex, predicted, actual).iloc[0]
    assert row["spd"] == pytest.approx(EQUAL["statistical parity difference"], rel=1e-12)
    assert row["ratio"] == pytest.approx(EQUAL["disparate impact"], rel=1e-12)
    assert row["eod"] == pytest.approx(EQUAL["equal opportunity difference"], rel=1e-12)
    assert row["average_odds"] == pytest.approx(EQUAL["average odds difference"], rel=1e-12)
    assert row["spd_low"] < row["spd"] < row["spd_high"]


def test_the_interval_of_a_difference_covers_no_difference():
    """Newcombe's printed example (56/70 and 48/80: .0524 to .3339), and a null."""
    assert difference_interval(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=1e-4)
    rng = np.random.default_rng(0)
    hits = rng.binomial(30, 0.4, (400, 2))
    ends = [difference_interval(a, 30, b, 30) for a, b in hits.tolist()]
    assert 0.92 < np.mean([low <= 0 <= high for low, high in ends]) < 0.99


def test_a_classifier_that_never_looks_favours_nobody(files):
    table, schema = files
    found = audited(files, lambda X: np.stack([1 - X[:, 0] / 9, X[:, 0] / 9], axis=1))
    assert found.n_discriminatory == 0
    assert found.gap["maximum"] == 0
    assert found.uniform[0] == 0
    lines = answer([found], Path("t.csv"), table, schema, "m:f", "yes", 1.0).lines
    assert any(line.startswith("No value of sex is favoured in any row") for line in lines)


def test_a_page_names_files_not_their_folders(files):
    page = answer([audited(files)], Path("/a/way/t.csv"), *files, "/a/way/net.npz", "yes", 1.0)
    assert page.question == "Whom does net.npz treat differently in t.csv?"
    assert "/a/way" not in " ".join([*page.data.values(), *page.lines])
    assert page.files == [Path("/a/way/t.csv"), "/a/way/net.npz"]


def test_a_false_all_clear_is_refused(files):
    table, schema = files
    labels = table.y
    few = type(table)(table.X[:1], table.y[:1], 0, 0)
    one_sex = type(table)(np.where([False, True], 0, table.X).astype(np.int32), labels, 0, 0)
    for some, given, problem in (
        (few, labels[:1], "there is one sample; the classifier calls all of them"),
        (table, labels * 0, "the classifier calls all of them no"),
        (one_sex, labels, "all of them have the same sex"),
    ):
        with pytest.raises(InputError, match=problem):
            check(given, some, schema, [["sex"]])
    check(labels, table, schema, [["sex"]])


def test_the_favourable_class_is_asked_for_where_it_is_open(files):
    _, schema = files
    assert [favourable_class(schema, name) for name in (None, "no", "yes")] == [1, 0, 1]
    with pytest.raises(InputError, match="--favourable maybe: no class of"):
        favourable_class(schema, "maybe")


def run(monkeypatch, capsys, *arguments, code=0):
    monkeypatch.setattr(sys, "argv", ["biaslab", "fairness-testing", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    return capsys.readouterr()


def test_the_command_answers_and_writes_a_page(files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("audited_model.py").write_text(
        "import numpy as np\n"
        "def f(X):\n"
        "    p = np.where(X[:, 1] == 2, 0, np.minimum(1, (X[:, 0] + 2 * (X[:, 1] == 1)) / 10))\n"
        "    return np.stack([1 - p, p], axis=1)\n"
    )
    command = ["audit", "t.csv", "--schema", "t.yaml", "--model", "audited_model:f"]
    said = run(monkeypatch, capsys, *command).out
    assert "Favoured is b over c:" in said
    assert said.endswith("The page: fairness-audit.html; all numbers: fairness-audit.json\n")
    page = pages.Page(Path("fairness-audit.html").read_text())
    assert all(link.startswith("data:") for link in page.links)
    numbers = json.loads(Path("fairness-audit.json").read_text())
    assert numbers["sex"]["n_discriminatory"] == audited(files).n_discriminatory
    said = run(monkeypatch, capsys, *command, "--favourable", "maybe", code=2)
    assert said.err.count("\n") == 1
