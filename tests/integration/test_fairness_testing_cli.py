"""``biaslab fairness-testing`` on a small table and a classifier that discriminates."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from biaslab.classifiers.encoding import read_table
from biaslab.classifiers.networks import Network, save_network
from biaslab.classifiers.schema import load_schema
from biaslab.cli import app
from biaslab.core.io import read_tsv
from biaslab.fairness_testing.testers.registry import TESTERS

SCHEMA = {
    "protected": ["sex", "age"],
    "attributes": [
        {"name": "age", "kind": "integer", "low": 1, "high": 9, "divide_by": 10, "clip": True},
        {"name": "sex", "kind": "category", "values": ["female", "male"]},
        {"name": "income", "kind": "bins", "edges": [1000, 2000, 3000, 4000, 5000, 6000]},
        {"name": "debts", "kind": "integer", "low": 0, "high": 20},
    ],
    "label": {"column": "credit", "classes": ["refused", "granted"]},
}
MODULE = """
import numpy as np

def classify(X):
    granted = X @ [0.0, 3.0, 1.0, -0.5] > 1.5
    return np.column_stack([~granted, granted]).astype(float)

reverse = lambda X: classify(X)[:, ::-1]

def constant(X):
    return np.tile([0.2, 0.8], (len(X), 1))

def nan(X):
    return np.full((len(X), 2), np.nan)
"""
FOUND = ["protected", "age", "sex", "income", "debts", "other_value", "label", "other_label"]


def network():
    """Income and debts count, and so does being male: as much as three steps of income."""
    return Network(
        [np.array([[0.0, 0], [0, 3], [0, 1], [0, -0.5]]), np.eye(2)], [np.array([40, 38.5]), np.zeros(2)]
    )


@pytest.fixture
def files(here):
    rng = np.random.default_rng(4)
    n = 60
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 95, n),
            "sex": rng.choice(["female", "male"], n),
            "income": rng.integers(0, 7000, n),
            "debts": rng.integers(0, 21, n),
            "credit": "refused",
        }
    )
    table.to_csv("data.csv", index=False)
    Path("schema.yaml").write_text(yaml.safe_dump(SCHEMA, sort_keys=False))
    schema = load_schema("schema.yaml")
    table["credit"] = np.array(schema.classes)[network().labels(read_table("data.csv", schema).X)]
    table.to_csv("data.csv", index=False)
    save_network("network.npz", network())
    Path("my_classifier.py").write_text(MODULE)
    return here


def run(*arguments, model="network.npz", out="out"):
    options = ["search", "data.csv", "--schema", "schema.yaml", "--model", model, "--out", out]
    arguments = ["fairness-testing", *options, "--seeds", "20", "--hops", "10", *arguments]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("tester", list(TESTERS))
def test_a_search_finds_the_attribute_that_the_classifier_looks_at(files, tester):
    page = " ".join(run("--tester", tester).split())
    found = read_tsv("out/found.tsv", text=("other_value", "age"))
    assert list(found.columns) == FOUND
    assert set(found["protected"]) == {"sex"}  # the age counts for nothing
    assert (found["sex"] != found["other_value"]).all()
    assert (found["label"] != found["other_label"]).all()
    assert ((found["label"] == "granted") == (found["sex"] == "male")).all()
    assert set(found["age"]) <= {"up to 19", "90 or more", *(f"{a}-{a + 9}" for a in range(20, 90, 10))}
    sex, age = read_tsv("out/summary.tsv").to_dict("records")
    assert (sex["protected"], age["protected"]) == ("sex", "age")
    assert (sex["n_discriminatory"], age["n_discriminatory"]) == (len(found), 0)
    assert 0 < sex["n_discriminatory"] <= sex["n_samples"]
    assert sex["ci_low"] <= sex["uniform_share"] <= sex["ci_high"]
    assert (age["uniform_share"], age["data_share"]) == (0, 0)
    assert "60 rows of 4 attributes, 0 with a value outside the domain" in page
    assert "labels 100.0% as the data do" in page
    assert "No discriminatory sample was found." in page


def test_the_pairs_are_what_the_classifier_says(files):
    """Each row of found.tsv, written back as data with either value, gets the labels that stand in it."""
    run("--protected", "sex")
    found = read_tsv("out/found.tsv", text=("age",))
    assert len(found) > 5
    first = {"up to 19": 10, "90 or more": 90} | {f"{a}-{a + 9}": a for a in range(20, 90, 10)}
    bins = {"below 1000": 0, "6000 or more": 6000} | {
        f"{a} to below {a + 1000}": a for a in range(1000, 6000, 1000)
    }
    rows = pd.DataFrame(
        {
            "age": found["age"].map(first),
            "income": found["income"].map(bins),
            "debts": found["debts"],
            "credit": found["label"],
        }
    )
    schema = load_schema("schema.yaml")
    for value, label in (("sex", "label"), ("other_value", "other_label")):
        rows.assign(sex=found[value]).to_csv("back.csv", index=False)
        labels = network().labels(read_table("back.csv", schema).X)
        assert [schema.classes[k] for k in labels] == list(found[label])


def test_classes_out_of_order_are_told(files):
    for model, is_told in (("classify", False), ("reverse", True)):
        options = ["--schema", "schema.yaml", "--model", f"my_classifier:{model}", "--out", model]
        arguments = ["search", "data.csv", *options, "--tester", "random", "--seeds", "5"]
        result = CliRunner().invoke(app, ["fairness-testing", *arguments])
        assert result.exit_code == 0, result.output
        assert ("less often than by chance; its outputs may be in" in result.stderr) == is_told


def test_equal_runs_write_equal_files(files):
    for threads in ("1", "2"):
        run("--threads", threads, out=threads)
    for name in ("found.tsv", "summary.tsv"):
        assert (files / "1" / name).read_bytes() == (files / "2" / name).read_bytes()


def test_a_function_is_tested_like_the_network_it_is(files):
    run("--tester", "random", out="network")
    run("--tester", "random", model="my_classifier:classify", out="function")
    assert (files / "network/found.tsv").read_bytes() == (files / "function/found.tsv").read_bytes()


def test_a_network_is_trained_and_kept(files):
    run("--epochs", "30", model="train")
    run(model="out/network.npz", out="again")
    assert (files / "out/found.tsv").read_bytes() == (files / "again/found.tsv").read_bytes()


@pytest.mark.parametrize(
    ("kept", "model", "reason"),
    [
        (lambda table: table[table["sex"] == "male"], "classify", "all samples have the same sex"),
        (lambda table: table[:1], "classify", "there is one sample; the classifier gives all samples"),
        (lambda table: table, "constant", "the classifier gives all samples the label granted"),
    ],
)
def test_what_cannot_be_found_is_no_all_clear(files, kept, model, reason):
    options = ("--tester", "random", "--protected", "sex")
    assert "No all-clear" not in run(*options, model="my_classifier:classify")
    kept(pd.read_csv("data.csv")).to_csv("data.csv", index=False)
    assert f"No all-clear: {reason}" in run(*options, model=f"my_classifier:{model}")


def test_attributes_that_vary_together(files):
    run("--protected", "age,sex")
    found = read_tsv("out/found.tsv")
    assert set(found["protected"]) == {"age,sex"}
    assert all(value.endswith((", female", ", male")) for value in found["other_value"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": "none.csv"}, "none.csv: no such file"),
        ({"--schema": "none.yaml"}, "none.yaml: No such file"),
        ({"--model": "none.npz"}, "none.npz: no such file"),
        ({"--model": "my_classifier:nan"}, "not finite"),
        ({"--protected": "gender"}, "there is no attribute 'gender'"),
        (
            {"--protected": ("sex", "sex")},
            "biaslab: --protected sex: the set is repeated; give each set once",
        ),
        ({"--tester": "adv"}, "unknown tester 'adv' (known: adf, aequitas, symbolic, random, eidig-5, "),
        ({"--seeds": "0"}, "--seeds"),
        (
            {"data": "one.csv", "--model": "train"},
            "biaslab: --model train: all 60 rows have the label granted; add rows with another",
        ),
        ({"data": "wide.csv"}, "biaslab: wide.csv, line 62: debts '21' is outside 0 to 20;"),
    ],
)
def test_bad_input_is_refused(files, refused, changes, message):
    pd.read_csv("data.csv").assign(credit="granted").to_csv("one.csv", index=False)
    rows = "45,male,2000,21,granted\n45,diverse,2000,3,granted\n"
    Path("wide.csv").write_text(Path("data.csv").read_text() + rows)
    options = {"--schema": "schema.yaml", "--model": "network.npz", "--out": "out", **changes}
    data, given = options.pop("data", "data.csv"), []
    for name, values in options.items():
        for value in [values] if isinstance(values, str) else values:
            given += [name, value]
    assert message in refused("fairness-testing", "search", data, *given)
    assert not Path("out").exists()
