"""Classifiers of the user behind one protocol."""

import sys

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from biaslab.classifiers.adapters import CallableModel, TorchModel, adapt
from biaslab.classifiers.foreign import import_object
from biaslab.classifiers.schema import Category
from biaslab.core.errors import InputError
from biaslab.fairness_testing.testers.discrimination import check
from fairness_data import make_subject, random_network, small_domain

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
        (REVERSED, [1.0, 0.0]),
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


def test_classes_that_the_table_does_not_have():
    X, y = data()
    classifier = DecisionTreeClassifier().fit(X, np.where(y == 1, "a", "b"))
    with pytest.raises(InputError, match=r"classes are a, b, but those of the column 'credit' are 1, 0"):
        adapt(classifier, 5, 2, REVERSED)
    three = DecisionTreeClassifier().fit(X, data(3)[1])
    with pytest.raises(InputError, match=r"classes are 0, 1, 2, but"):
        adapt(three, 5, 2, REVERSED)


def test_a_function_is_a_model():
    network = random_network(1)
    model = CallableModel(lambda X: network.probabilities(X.astype(np.int32)), 5, 2)
    X = small_domain().draw(200, np.random.default_rng(0))
    np.testing.assert_array_equal(model.labels(X), network.labels(X))
    found = check(make_subject(model, (4,)), X).discriminatory
    np.testing.assert_array_equal(found, check(make_subject(network, (4,)), X).discriminatory)
    assert found.any()


def test_a_function_gets_floats_and_may_spoil_them():
    def function(X):
        assert X.dtype == np.float64
        X[:] = 0
        return np.full((len(X), 2), 0.5)

    X = np.ones((3, 2), np.int32)
    model = CallableModel(function, 2, 2)
    np.testing.assert_array_equal(model.input_gradients(X, model.labels(X)), 0)
    assert (X == 1).all()


def test_numerical_gradients():
    """Of a softmax of linear functions z = xA: the gradient of -log p_y is A (p - e_y)."""
    A = np.array([[0.2, -0.1, 0.05], [-0.3, 0.0, 0.2]])

    def softmax(X):
        e = np.exp(X @ A)
        return e / e.sum(axis=-1, keepdims=True)

    model = CallableModel(softmax, 2, 3)
    X, labels = np.array([[1, 2], [-3, 4], [0, 0]], np.int32), np.array([0, 1, 2])
    expected = (softmax(X) - np.eye(3)[labels]) @ A.T
    np.testing.assert_allclose(model.input_gradients(X, labels), expected, atol=0.01)
    ends = [-np.log(softmax(X[:, None] + way * np.eye(2))[range(3), :, labels]) for way in (1, -1)]
    np.testing.assert_allclose(model.input_gradients(X, labels), (ends[0] - ends[1]) / 2, rtol=1e-12)
    for x, y, gradient in zip(X, labels, model.input_gradients(X, labels), strict=True):
        np.testing.assert_array_equal(model.input_gradients(x[None], y[None])[0], gradient)


def test_a_gradient_asks_two_samples_for_each_attribute():
    asked = []

    def function(X):
        asked.append(X.copy())
        return np.column_stack([X[:, 0] > 2, X[:, 0] <= 2])

    X = np.array([[2, 7, 9]], np.int32)
    gradient = CallableModel(function, 3, 2).input_gradients(X, np.array([1]))
    moved = np.concatenate(asked) - X
    np.testing.assert_array_equal(
        moved, [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    )
    assert gradient[0, 0] > 0  # one unit more changes the label: the loss of the old one grows
    np.testing.assert_array_equal(gradient[0, 1:], 0)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda X: X[:, :1], r"the shape \(4, 1\) for 4 samples, not \(4, 2\)"),
        (lambda X: X[:, 0], r"the shape \(4,\)"),
        (lambda X: X[:1, :2], r"the shape \(1, 2\)"),
        (lambda X: np.where(X[:, :2] > 2, np.nan, 0.5), "number 2 of 4: not finite"),
        (lambda X: np.where(X[:, :2] > 2, np.inf, 0.5), "not finite"),
        (lambda X: np.full((len(X), 2), 3), "returned 3, 3 for the sample number 1: no probability"),
        (
            lambda X: np.full((len(X), 2), 0.6),
            "returned 0.6, 0.6 for the sample number 1: whose sum is not 1",
        ),
        (lambda X: ["a"] * len(X), "returned a list that is no array of numbers"),
        (lambda X: None, r"the shape \(\)|is no array of numbers"),
        (lambda X: X @ np.ones(9), "failed on 4 samples .ValueError"),
    ],
)
def test_answers_that_are_none(answer, message):
    model = CallableModel(answer, 3, 2)
    X = np.array([[1, 1, 1], [2, 2, 2], [3, 3, 3], [4, 4, 4]], np.int32)
    for ask in (model.probabilities, model.labels):
        with pytest.raises(InputError, match=message) as caught:
            ask(X)
        assert "\n" not in str(caught.value)


def test_adapt_tells_what_it_is_given():
    X, y = data()
    classifier = MLPClassifier((8, 5), random_state=1, tol=1.0).fit(X, y)
    assert adapt(classifier, 5, 2).n_classes == 2
    network = random_network(2)
    assert adapt(network, 5, 2) is network
    for one in (make_pipeline(StandardScaler(), classifier).fit(X, y), DecisionTreeClassifier().fit(X, y)):
        np.testing.assert_array_equal(adapt(one, 5, 2).labels(X), one.predict(X))
    np.testing.assert_array_equal(adapt(network.probabilities, 5, 2).labels(X), network.labels(X))
    with pytest.raises(InputError, match="takes 5 attributes into 2 classes, but the data have 4 and 2"):
        adapt(network, 4, 2)
    with pytest.raises(InputError, match="a dict is no classifier"):
        adapt({}, 5, 2)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module of the current folder; its name is new in every test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return write


def test_import_object(module):
    name = module("fairness_model_a", "def classify(X):\n    return 7\n")
    assert import_object(f"{name}:classify")(None) == 7
    with pytest.raises(InputError, match="has no 'clasify'; did you mean 'classify'"):
        import_object(f"{name}:clasify")
    with pytest.raises(InputError, match="'model' names no classifier"):
        import_object("model")
    with pytest.raises(InputError, match=r"cannot be imported \(ModuleNotFoundError"):
        import_object("no_such_module_here:f")
    broken = module("fairness_model_b", "1 / 0\n")
    with pytest.raises(InputError, match=r"cannot be imported \(ZeroDivisionError: division"):
        import_object(f"{broken}:f")


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
