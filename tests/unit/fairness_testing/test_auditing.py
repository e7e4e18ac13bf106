"""The audit of a classifier of tables: who is favoured, how badly, group measures, and what is refused."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import pages
from biaslab.classifiers.adapters import CallableModel
from biaslab.classifiers.drafting import draft
from biaslab.classifiers.encoding import read_table
from biaslab.classifiers.schema import load_schema
from biaslab.core.errors import InputError
from biaslab.core.rates import difference_interval
from biaslab.fairness_testing import own_tables
from biaslab.fairness_testing.auditing import _pairs, audit, equalized_odds, group_measures
from biaslab.fairness_testing.own_tables import OwnTable, favourable_class, protected_sets
from biaslab.fairness_testing.report.audited import answer

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
def own(tmp_path):
    """Return a table of 40 rows, with a function that discriminates."""
    rng = np.random.default_rng(1)
    rows = [f"{s},{SEXES[v]},{'yes' if s > 4 else 'no'}" for s, v in rng.integers((0, 0), (10, 3), (40, 2))]
    (tmp_path / "t.csv").write_text("\n".join(["score,sex,good", *rows]) + "\n")
    (tmp_path / "t.yaml").write_text(SCHEMA)
    schema = load_schema(tmp_path / "t.yaml")
    table = read_table(tmp_path / "t.csv", schema)
    return OwnTable(tmp_path / "t.csv", table, schema, CallableModel(function, 2, 2))


def audited(own):
    return audit(own, ["sex"], favourable=1, seed=1)


def test_who_is_favoured_is_counted_as_a_loop_counts_it(own):
    found = audited(own)
    scores = own.table.X[:, 0].tolist()
    for _, row in found.pairs.iterrows():
        first, second = SEXES.index(row["value"]), SEXES.index(row["other"])
        good = [(probability(s, first) > 0.5, probability(s, second) > 0.5) for s in scores]
        assert row["n_favoured"] == sum(a and not b for a, b in good)
        assert row["difference"] == pytest.approx(np.mean([a - b for a, b in good]))
        gaps = [probability(s, first) - probability(s, second) for s in scores]
        assert row["gap"] == pytest.approx(np.mean(gaps))
        assert row["gap_low"] <= row["gap"] <= row["gap_high"]
    assert found.pairs.loc[found.pairs["difference"].idxmax(), ["value", "other"]].tolist() == ["b", "c"]
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


def test_a_classifier_that_never_looks_favours_nobody(own):
    own = replace(own, model=CallableModel(lambda X: np.stack([1 - X[:, 0] / 9, X[:, 0] / 9], axis=1), 2, 2))
    found = audited(own)
    assert found.n_discriminatory == 0
    assert found.gap["maximum"] == 0
    assert found.uniform[0] == 0
    lines = answer([found], own, "m:f", "yes").lines
    assert any(line.startswith("No value of sex is favoured in any row") for line in lines)


def test_a_page_names_files_not_their_folders(own):
    page = answer([audited(own)], replace(own, path=Path("/a/way/t.csv")), "/a/way/net.npz", "yes")
    assert "/a/way" not in " ".join([page.question, *page.data.values(), *page.lines])


READING = """\
protected: [sex, age]
missing: ["?"]
outside: keep
attributes:
  - {name: score, kind: integer, low: 0, high: 9}
  - {name: sex, kind: category, values: [a, b]}
  - {name: age, kind: integer, low: 2, high: 6, divide_by: 10, clip: true}
label: {column: good, classes: ["no", "yes"]}
"""


def test_what_reading_a_table_changed_is_counted_by_group(tmp_path):
    rows = ["3,a,25,no", "?,a,30,yes", "12,a,70,no", "4,b,95,yes", "5,b,29,?", "?,?,31,no", "5 ,b,20,yes"]
    (tmp_path / "t.csv").write_text("\n".join(["score,sex,age,good", *rows]) + "\n")
    (tmp_path / "t.yaml").write_text(READING)
    schema = load_schema(tmp_path / "t.yaml")
    own = OwnTable(tmp_path / "t.csv", read_table(tmp_path / "t.csv", schema), schema, None)
    lines = own.describe_reading([["sex"], ["age"]])
    for line, counts in zip(
        lines,
        (
            ("3 of 7 rows are left out", "sex: a 1 of 3, b 1 of 3, missing 1 of 1"),
            ("1 of 4 rows", "sex: a 1 of 2, b 0 of 2", "age: 60 or more 1 of 2, up to 29 0 of 2"),
            ("2 of 4 rows", "sex: a 1 of 2, b 1 of 2"),
            ("1 row has blanks",),
        ),
        strict=True,
    ):
        assert all(count in line for count in counts), line


def test_a_search_stops_at_values_that_are_spelled_in_two_ways(own, tmp_path, monkeypatch, biaslab):
    monkeypatch.chdir(tmp_path)
    Path("t.yaml").write_text(SCHEMA.replace("[a, b, c]", "[a, b, c, A]"))
    command = ["search", "t.csv", "--schema", "t.yaml", "--model", "train", "--epochs", "1", "--seeds", "3"]
    command = ["fairness-testing", *command, "--tester", "random", "--out", "found"]
    code, _, error = biaslab(*command)
    assert code == 2
    assert "t.yaml: sex: 'A' and 'a' differ by case, blanks or a final stop alone" in error
    assert not Path("found").exists()
    assert "40 rows of 2 attributes" in biaslab(*command, "--exact-values")[1]


def test_the_favourable_class_is_the_last_unless_it_is_named(own):
    schema = own.schema
    assert [favourable_class(schema, name) for name in (None, "no", "yes")] == [1, 0, 1]
    with pytest.raises(InputError, match="--favourable maybe: not a class of"):
        favourable_class(schema, "maybe")


AUDIT = ["fairness-testing", "audit", "t.csv", "--schema", "t.yaml", "--model", "audited_model:f"]


@pytest.fixture
def audit_command(own, tmp_path, monkeypatch, biaslab):
    """Return a function that audits the table in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("audited_model.py").write_text(
        "import numpy as np\n"
        "def f(X):\n"
        "    p = np.where(X[:, 1] == 2, 0, np.minimum(1, (X[:, 0] + 2 * (X[:, 1] == 1)) / 10))\n"
        "    return np.stack([1 - p, p], axis=1)\n"
    )
    return lambda: biaslab(*AUDIT)


def test_the_command_answers_and_writes_a_page(own, audit_command):
    assert "b is favoured over c:" in audit_command()[1]
    page = pages.Page(Path("fairness-audit.html").read_text())
    assert all(link.startswith("data:") for link in page.links)
    numbers = json.loads(Path("fairness-audit.json").read_text())
    assert numbers["sex"]["n_discriminatory"] == audited(own).n_discriminatory


def test_a_false_all_clear_is_refused(audit_command):
    Path("t.csv").write_text("score,sex,good\n3,a,no\n")
    code, _, error = audit_command()
    assert code == 2
    assert "there is one sample; the classifier gives all samples the label no; all samples have the" in error
    assert error.strip().endswith("give at least 10 rows, with several values and several labels")


def read_own(folder, table, model, monkeypatch, text=None):
    """Read a table by a schema, by default a draft, with a classifier of its columns."""
    *_, label = table.columns
    table.to_csv(folder / "own.csv", index=False)
    (folder / "own.yaml").write_text(text or draft(folder / "own.csv", label).text)
    monkeypatch.setattr(own_tables, "import_object", lambda reference: model)
    return OwnTable.read(folder / "own.csv", load_schema(folder / "own.yaml"), "m:f", 1, 1, folder, print)


def test_a_classifier_of_real_and_bool_columns_is_asked_about_the_rows_of_the_file(tmp_path, monkeypatch):
    """The edge of the tree lies within a bin of the drafted schema."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"sex": rng.choice(["female", "male"], 800), "ratio": rng.uniform(0, 1, 800).round(4)}
    )
    table["owner"] = rng.choice([True, False], 800)
    table["granted"] = np.where(table["ratio"] > np.where(table["sex"] == "male", 0.62, 0.68), "yes", "no")
    X, y = table[["sex", "ratio", "owner"]], table["granted"]
    encoder = make_column_transformer((OneHotEncoder(), ["sex"]), ("passthrough", ["ratio", "owner"]))
    model = make_pipeline(encoder, DecisionTreeClassifier(random_state=0)).fit(X, y)
    own = read_own(tmp_path, table, model, monkeypatch)
    found = audited(own)
    assert own.encoded_attributes == []
    flips = model.predict(X.assign(sex="female")) != model.predict(X.assign(sex="male"))
    assert found.n_discriminatory == flips.sum() > 0
    predicted = pd.Series(model.predict(X) == "yes").groupby(table["sex"]).mean()
    assert found.groups.set_index("value")["rate"].to_dict() == pytest.approx(predicted.to_dict())
    assert (found.groups["agreement"] == 1).all()
    assert 0.02 < found.uniform[0] < 0.12  # the band from .62 to .68
    pd.testing.assert_frame_equal(own.rows.frame[["sex", "ratio", "owner"]], X)


def test_a_row_keeps_its_own_protected_value_in_its_own_variant(tmp_path, monkeypatch):
    table = pd.DataFrame({"age": [21, 24, 24, 38, 39, 39] * 5, "good": ["no", "yes"] * 15})
    text = (
        "protected: [age]\n"
        "attributes: [{name: age, kind: integer, low: 2, high: 3, divide_by: 10}]\n"
        'label: {column: good, classes: ["no", "yes"]}\n'
    )
    model = DecisionTreeClassifier(max_depth=1).fit(table[["age"]], table["good"])
    own = read_own(tmp_path, table, model, monkeypatch, text)
    protected, rows = own.schema.protect(["age"]), own.rows
    variants = rows.variants(rows.frame[:4], protected, protected.positions(rows.X[:4]))["age"].tolist()
    assert variants == [21, 39, 24, 39, 24, 39, 24, 38]  # the most frequent of the other range
    (usual,) = own.describe_usual([["age"]])
    assert "(20-29: 24, 30-39: 39)" in usual


def test_the_equalized_odds_difference_is_the_largest_of_all_pairs_and_rates():
    rng = np.random.default_rng(3)
    values = rng.choice(["a", "b", "c"], 300)
    actual = rng.random(300) < 0.5
    predicted = np.where(values == "b", ~actual, actual) ^ (rng.random(300) < 0.2)
    groups = group_measures(values, predicted, actual)
    rates = {(v, of): predicted[(values == v) & (actual == of)].mean() for v in "abc" for of in (True, False)}
    largest = max(
        abs(rates[a, of] - rates[b, of]) for a, b in itertools.combinations("abc", 2) for of in (True, False)
    )
    value, low, high = equalized_odds(groups)
    assert value == pytest.approx(largest)
    assert low < value < high


def test_opposite_errors_cancel_in_the_average_odds_and_not_in_the_equalized_ones():
    values = np.repeat(["a", "b"], 40)
    actual = np.tile([True, False], 40)
    predicted = np.where(values == "a", True, False) == actual  # a: all right; b: all wrong
    groups = group_measures(values, predicted, actual)
    assert groups.loc[~groups["is_reference"], "average_odds"].item() == 0
    assert equalized_odds(groups)[0] == 1
    assert (groups["p_value"] > 0.9).all()
    assert group_measures(values, values == "a", actual)["p_value"].max() < 1e-3


def test_small_groups_keep_their_counts_and_a_named_reference_is_used():
    values = np.array(["a"] * 60 + ["b"] * 60 + ["one"])
    predicted, actual = np.arange(121) % 2 == 0, np.arange(121) % 3 == 0
    groups = group_measures(values, predicted, actual, reference="b").set_index("value")
    assert groups.loc["one", ["n", "n_predicted"]].tolist() == [1, 1]
    assert np.isnan(groups.loc["one", "seen_rate"])
    assert groups["is_reference"].to_dict() == {"a": False, "b": True, "one": False}
    with pytest.raises(InputError, match=r"--reference c: unknown group \(known: a, b, one\)"):
        group_measures(values, predicted, actual, reference="c")


@pytest.mark.parametrize(
    ("values", "label", "match"),
    [
        ('[a, b, "nan"]', '["no", "yes"]', "'nan' probably stands for a missing value; leave missing values"),
        ("[a, b, c]", '["<=50K", "<=50K.", ">50K"]', "good: '<=50K' and '<=50K.' differ by case"),
    ],
)
def test_groups_and_classes_that_are_spelled_in_two_ways_are_refused(tmp_path, values, label, match):
    text = SCHEMA.replace("[a, b, c]", values).replace('["no", "yes"]', label)
    (tmp_path / "t.yaml").write_text(text)
    with pytest.raises(InputError, match=match):
        protected_sets(["sex"], load_schema(tmp_path / "t.yaml"), is_exact=False)


@pytest.mark.parametrize("m", [2, 4])
def test_values_alike_are_called_favoured_in_at_most_one_of_twenty(m):
    """30 files whose answers have nothing to do with the value; at 5% more than 5 are rare."""
    rng, n_called = np.random.default_rng(m), 0
    for _ in range(30):
        p = rng.random((80, m))
        n_called += (_pairs(p, p > 0.5, np.array(list("abcdef")[:m]))["difference_low"] > 0).any()
    assert n_called <= 5
