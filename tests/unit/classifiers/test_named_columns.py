"""Classifiers that were fitted on named columns are asked about a table as the file has it."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from biaslab.classifiers.adapters import adapt
from biaslab.classifiers.encoding import as_table, read_table
from biaslab.classifiers.schema import load_schema
from biaslab.core.errors import InputError
from refusals import refused

SCHEMA = {
    "protected": ["sex"],
    "attributes": [
        {"name": "years", "column": "age", "kind": "integer", "low": 2, "high": 6, "divide_by": 10},
        {"name": "sex", "kind": "category", "values": ["female", "male"]},
        {"name": "grade", "kind": "category", "values": ["3", "1", "2"]},
        {"name": "pay", "kind": "bins", "edges": [10, 20.5]},
    ],
    "label": {"column": "hired", "classes": ["no", "yes"]},
}


@pytest.fixture
def files(tmp_path):
    """A table whose numbers are those that stand for their ranges, and its schema."""
    rng = np.random.default_rng(4)
    n = 300
    columns = {"sex": rng.choice(["female", "male"], n), "age": 10 * rng.integers(2, 7, n)}
    columns |= {"pay": rng.choice([9, 10, 20.5], n), "grade": rng.integers(1, 4, n)}
    table = pd.DataFrame(columns)
    is_hired = (table["age"] + 15 * (table["sex"] == "male") + 3 * table["grade"]) > 50
    table["hired"] = np.where(is_hired, "yes", "no")
    table.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "t.yaml").write_text(yaml.safe_dump(SCHEMA))
    return pd.read_csv(tmp_path / "t.csv"), load_schema(tmp_path / "t.yaml"), tmp_path / "t.csv"


def test_samples_are_the_rows_that_they_were_read_from(files):
    table, schema, path = files
    shown = as_table(read_table(path, schema).X, schema)
    pd.testing.assert_frame_equal(shown, table[["age", "sex", "grade", "pay"]])
    moved = as_table(np.array([[2, -1, 3, 9.0], [2, 0.4, 0, -1]]), schema)
    assert moved.to_dict("list") == {
        "age": [20, 20],
        "sex": ["female", "female"],
        "grade": [2, 3],
        "pay": [20.5, 9],
    }


def test_true_and_false_are_booleans_as_pandas_reads_them(tmp_path):
    attribute = {"name": "member", "kind": "category", "values": ["False", "True"]}
    (tmp_path / "s.yaml").write_text(
        yaml.safe_dump(SCHEMA | {"protected": ["member"], "attributes": [attribute]})
    )
    table = as_table(np.array([[1.0], [0.0]]), load_schema(tmp_path / "s.yaml"))
    pd.testing.assert_frame_equal(table, pd.DataFrame({"member": [True, False]}))


@pytest.mark.parametrize("columns", [["sex", "age", "grade"], ["grade", "sex", "age"]])
def test_a_pipeline_on_a_table_answers_as_by_hand(files, columns):
    table, schema, path = files
    words = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    pipeline = make_pipeline(words, DecisionTreeClassifier(random_state=0))
    pipeline.fit(table[columns], table["hired"])
    samples = read_table(path, schema)
    model = adapt(pipeline, 4, 2, schema.label, partial(as_table, schema=schema))
    expected = pipeline.predict(table[columns]) == "yes"
    np.testing.assert_array_equal(model.labels(samples.X), expected)
    assert (model.labels(samples.X) == samples.y).all()


def test_columns_that_the_schema_lacks_and_a_failure_are_told(files):
    table, schema, path = files
    of_table = partial(as_table, schema=schema)
    tree = DecisionTreeClassifier().fit(table[["age"]].assign(height=1), table["hired"])
    problem = "fitted on the columns age, height, but the schema lacks height (it has age, sex, grade, pay)"
    with pytest.raises(InputError, match=re.escape(problem)):
        adapt(tree, 4, 2, schema.label, of_table)
    coded = DecisionTreeClassifier().fit(table[["age"]].assign(sex=1), table["hired"])
    model = adapt(coded, 4, 2, schema.label, of_table)
    with refused("call it yourself with a pandas table of its training columns"):
        model.labels(read_table(path, schema).X)
