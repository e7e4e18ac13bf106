"""Classifiers of the user behind one protocol."""

import re
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from biaslab.classifiers.adapters import CallableModel, TorchModel, adapt
from biaslab.classifiers.encoding import as_table, read_table
from biaslab.classifiers.foreign import import_object
from biaslab.classifiers.schema import Category, load_schema
from biaslab.core.errors import InputError
from fairness_data import random_network, small_domain
from refusals import refused

RTOL, ATOL = 1e-5, 1e-7


def data(n_classes=2, n=300):
    X = small_domain().draw(n, np.random.default_rng(3))
    return X, (X[:, 0] + 2 * X[:, 1] + X[:, 4] * X[:, 2]) % (5 * n_classes) // 5


REVERSED = Category("credit", "credit", ("1", "0"), {"1": 0, "0": 1})
NAMED = Category("credit", "credit", ("refused", "granted"), {"A": 0, "B": 1, "C": 1})


@pytest.mark.parametrize(
    ("label", "targets"),
    [
        (REVERSED, [1, 0]),
        (REVERSED, ["1", "0"]),
        (REVERSED, [True, False]),
        (NAMED, ["refused", "granted"]),
        (NAMED, [0, 1]),
        (Category("credit", "credit", ("yes", "no"), {"yes": 0, "no": 1}), ["yes", "no"]),
        (Category("credit", "credit", ("1", "0"), {"1": 0, "0": 1}, coded=True), [0, 1]),
    ],
)
def test_outputs_follow_the_order_of_the_classes(label, targets):
    """A classifier with any order of the classes gives the labels that it was fitted on."""
    X, y = data()
    classifier = DecisionTreeClassifier(random_state=0).fit(X, np.array(targets)[y])
    expected = np.array([np.array(targets).tolist().index(t) for t in classifier.predict(X).tolist()])
    model = adapt(classifier, 5, 2, label)
    assert (model.labels(X) == expected).mean() > 0.99
    assert 0 < expected.mean() < 1


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (["a", "b"], r"classes are a, b, but the classes of the column 'credit' are 1, 0"),
        ([0, 1, 2], r"classes are 0, 1, 2, but"),
    ],
)
def test_classes_that_the_table_does_not_have_are_refused(targets, message):
    X, y = data(len(targets))
    classifier = DecisionTreeClassifier().fit(X, np.array(targets)[y])
    with pytest.raises(InputError, match=message):
        adapt(classifier, 5, 2, REVERSED)


def test_a_function_gets_floats_and_may_spoil_them():
    def function(X):
        assert X.dtype == np.float64
        X[:] = 0
        return np.full((len(X), 2), 0.5)

    X = np.ones((3, 2), np.int32)
    model = CallableModel(function, 2, 2)
    np.testing.assert_array_equal(model.input_gradients(X, model.labels(X)), 0)
    assert (X == 1).all()


def test_numerical_gradients_are_central_differences():
    """Of a softmax of linear functions z = xA: the gradient of -log p_y is A (p - e_y)."""
    A = np.array([[0.2, -0.1, 0.05], [-0.3, 0.0, 0.2]])

    def softmax(X):
        e = np.exp(X @ A)
        return e / e.sum(axis=-1, keepdims=True)

    model = CallableModel(softmax, 2, 3)
    X, labels = np.array([[1, 2], [-3, 4], [0, 0]], np.int32), np.array([0, 1, 2])
    gradients = model.input_gradients(X, labels)
    np.testing.assert_allclose(gradients, (softmax(X) - np.eye(3)[labels]) @ A.T, atol=0.01)
    ends = [-np.log(softmax(X[:, None] + way * np.eye(2))[range(3), :, labels]) for way in (1, -1)]
    np.testing.assert_allclose(gradients, (ends[0] - ends[1]) / 2, rtol=1e-12)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda X: X[:, :1], r"the shape \(4, 1\) for 4 samples, not \(4, 2\)"),
        (lambda X: X[:1, :2], r"the shape \(1, 2\)"),
        (lambda X: np.where(X[:, :2] > 2, np.nan, 0.5), "sample 2 of 4, which is not finite"),
        (lambda X: np.full((len(X), 2), 3), "returned 3, 3 for the sample number 1: not a probability"),
        (
            lambda X: np.full((len(X), 2), 0.6),
            "returned 0.6, 0.6 for the sample number 1: with a sum other than 1",
        ),
        (lambda X: ["a"] * len(X), "returned a list, not an array of numbers"),
        (lambda X: None, r"the shape \(\)|is no array of numbers"),
        (lambda X: X @ np.ones(9), "failed on 4 samples .ValueError"),
    ],
)
def test_answers_that_are_none(answer, message):
    model = CallableModel(answer, 3, 2)
    X = np.array([[1, 1, 1], [2, 2, 2], [3, 3, 3], [4, 4, 4]], np.int32)
    for ask in (model.probabilities, model.labels):
        with refused(message):
            ask(X)


def test_adapt_tells_what_it_is_given():
    X, y = data()
    network = random_network(2)
    assert adapt(network, 5, 2) is network
    classifier = MLPClassifier((8, 5), random_state=1, tol=1.0).fit(X, y)
    for one in (make_pipeline(StandardScaler(), classifier).fit(X, y), DecisionTreeClassifier().fit(X, y)):
        np.testing.assert_array_equal(adapt(one, 5, 2).labels(X), one.predict(X))
    np.testing.assert_array_equal(adapt(network.probabilities, 5, 2).labels(X), network.labels(X))
    with pytest.raises(InputError, match="has 5 attributes and 2 classes, but the data have 4 and 2"):
        adapt(network, 4, 2)
    with pytest.raises(InputError, match="a dict is not a classifier"):
        adapt({}, 5, 2)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("fairness_model:clasify", "has no 'clasify'; did you mean 'classify'"),
        ("model", "'model' is not a classifier"),
        ("no_such_module_here:f", r"cannot be imported \(ModuleNotFoundError"),
        ("fairness_broken:f", r"cannot be imported \(ZeroDivisionError: division"),
        ("fairness_exit:f", r"cannot be imported \(SystemExit: 7"),
    ],
)
def test_an_object_is_imported_from_the_current_folder(tmp_path, monkeypatch, reference, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    modules = {
        "model": "def classify(X):\n    return 7\n",
        "broken": "1 / 0\n",
        "exit": "raise SystemExit(7)\n",
    }
    for name, text in modules.items():
        (tmp_path / f"fairness_{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, f"fairness_{name}", raising=False)
    assert import_object("fairness_model:classify")(None) == 7
    with pytest.raises(InputError, match=message):
        import_object(reference)


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def torch_twin(torch, network):
    """The same network as a torch module."""
    layers = []
    for w, b in zip(network.weights, network.biases, strict=True):
        layer = torch.nn.Linear(*w.shape)
        layer.weight.data, layer.bias.data = torch.tensor(w.T.copy()), torch.tensor(b)
        layers += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def test_a_torch_module_is_a_model(torch):
    network = random_network(4, sizes=(5, 8, 6, 3))
    model = adapt(torch_twin(torch, network), 5, 3)
    assert isinstance(model, TorchModel)
    X = small_domain().draw(100, np.random.default_rng(5))
    labels = np.random.default_rng(6).integers(0, 3, 100)
    np.testing.assert_allclose(model.probabilities(X), network.probabilities(X), rtol=RTOL, atol=ATOL)
    np.testing.assert_array_equal(model.labels(X), network.labels(X))
    np.testing.assert_allclose(
        model.input_gradients(X, labels), network.input_gradients(X, labels), rtol=1e-4, atol=1e-6
    )


def test_torch_modules_that_answer_wrongly(torch):
    X, labels = np.ones((4, 3), np.int32), np.zeros(4, np.int64)
    for module, message in (
        (torch.nn.Linear(3, 1), r"the shape \(4, 1\)"),
        (torch.nn.Linear(2, 2), "failed on 4 samples .RuntimeError"),
    ):
        model = TorchModel(module, 3, 2)
        with pytest.raises(InputError, match=message):
            model.labels(X)
        with pytest.raises(InputError, match=message):
            model.input_gradients(X, labels)
    module = torch.nn.Linear(3, 2)
    module.bias.data[:] = float("nan")
    with pytest.raises(InputError, match="not finite"):
        TorchModel(module, 3, 2).input_gradients(X, labels)


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
