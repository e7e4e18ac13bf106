"""Adapt the user's classifiers to `models.Model`: torch modules, scikit-learn's classifiers, any function."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from biaslab.classifiers.foreign import ask, check_probabilities, classes_of, column_order, numbers
from biaslab.classifiers.models import Model
from biaslab.classifiers.networks import LogitModel, Network
from biaslab.classifiers.schema import Category
from biaslab.core.errors import InputError

__all__ = ["adapt"]

if TYPE_CHECKING:
    import pandas as pd
    import torch

_NAME = "the classifier"
_BATCH = 256  # number of samples of a batch of numerical gradients
_LEAST = np.finfo(np.float64).tiny


def adapt(
    classifier: Any,
    n_attributes: int,
    n_classes: int,
    label: Category | None = None,
    table: Callable[[np.ndarray], "pd.DataFrame"] | None = None,
) -> Model:
    """Return the model of a user's classifier, according to its type.

    Parameters
    ----------
    classifier : Network, torch.nn.Module, object with ``predict_proba``, or function
        A torch module returns logits. A function returns probabilities, (n, k), of samples, (n, d) float64.
    n_attributes, n_classes : int
        Numbers of attributes and classes of the data.
    label : Category, optional
        The labels of the data. They reorder the outputs of a classifier with ``classes_``; other classifiers
        must return their outputs in the order of the data's classes.
    table : callable, optional
        Converts samples, (n, d) float64, to a table with named columns, for instance `encoding.as_table`.
        Classifiers fitted on named columns (``feature_names_in_``) receive such tables.

    Returns
    -------
    Model
        The classifier itself if it is a `Network`. A torch module has exact gradients. Other classifiers have
        central differences of their probabilities, with two queries for each attribute.

    Raises
    ------
    InputError
        If the classifier has another type, or other attributes or classes than the data.
    """
    order = None
    if label and (classes := classes_of(classifier)) is not None:
        codes = {str(code): code for code in range(len(label.values))} if label.coded else label.codes
        order = column_order(classes, codes, label.values)
        if order is None:
            raise InputError(
                f"the classifier's classes are {', '.join(classes)}, but the classes of the column"
                f" '{label.column}' are {', '.join(label.values)}; train it on the labels of the table"
            )
    if isinstance(classifier, Network):
        if (classifier.n_attributes, classifier.n_classes) != (n_attributes, n_classes):
            raise InputError(
                f"the network has {classifier.n_attributes} attributes and {classifier.n_classes} classes,"
                f" but the data have {n_attributes} and {n_classes}; use the schema of the data that it was"
                " trained on"
            )
        return classifier
    # A torch module is recognized by its class, without an import of torch.
    if any(kind.__module__.startswith("torch.nn") for kind in type(classifier).__mro__):
        return TorchModel(classifier, n_attributes, n_classes)
    function = getattr(classifier, "predict_proba", classifier)
    if not callable(function):
        raise InputError(
            f"a {type(classifier).__name__} is not a classifier; pass a function that returns the"
            " probabilities of the classes, a torch module that returns logits, or an object with"
            " predict_proba"
        )
    names = getattr(getattr(function, "__self__", classifier), "feature_names_in_", None)
    if names is None or table is None:
        return CallableModel(function, n_attributes, n_classes, order=order)
    ask_table = _on_columns(function, [str(name) for name in names], table, n_attributes)
    return CallableModel(
        lambda X: ask_table(table(X)), n_attributes, n_classes, order=order, table_function=ask_table
    )


def _on_columns(
    function: Callable, names: list[str], table: Callable[[np.ndarray], "pd.DataFrame"], n_attributes: int
) -> Callable[["pd.DataFrame"], Any]:
    """Return a function that passes the columns `names` of a table to `function`."""
    columns = list(table(np.zeros((1, n_attributes))).columns)
    lacking = [name for name in names if name not in columns]
    if lacking:
        raise InputError(
            f"the classifier was fitted on the columns {', '.join(names)}, but the schema lacks"
            f" {', '.join(lacking)} (it has {', '.join(columns)}); add them under 'attributes' (a draft lists"
            " the columns that it omits, with reasons), or fit the classifier without them"
        )
    how = "a pandas table of its training columns, as written in the file"
    return lambda frame: ask(_NAME, f"{len(frame)} rows of a table", how, function, frame[names])


class TorchModel(LogitModel):
    """A torch module that returns logits, in evaluation mode; a `models.Model`.

    A library's order of summation may depend on the batch size, so equal samples can differ in the last bits.
    """

    def __init__(self, module: "torch.nn.Module", n_attributes: int, n_classes: int) -> None:
        import torch

        self.n_attributes, self.n_classes = n_attributes, n_classes
        self._torch, self._module = torch, module.eval()
        like = next(module.parameters(), torch.zeros(0))
        self._place: dict[str, Any] = {"dtype": like.dtype, "device": like.device}

    def logits(self, X: np.ndarray) -> np.ndarray:
        """Return the outputs of the module, (n, k) float64; see `LogitModel`."""
        with self._torch.no_grad():
            logits = _call(self._module, self._torch.tensor(X, **self._place))
        return _check_output(logits.cpu().numpy(), len(X), self.n_classes).astype(np.float64)

    def input_gradients(self, X: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the gradient of the cross entropy of `labels` by backpropagation; see `models.Model`."""
        torch = self._torch
        inputs = torch.tensor(X, requires_grad=True, **self._place)
        targets = torch.tensor(labels, dtype=torch.int64, device=self._place["device"])
        logits = _call(self._module, inputs)
        _check_output(logits.detach().cpu().numpy(), len(X), self.n_classes)
        loss = torch.nn.functional.cross_entropy(logits, targets, reduction="sum")
        (gradients,) = torch.autograd.grad(loss, inputs)
        return gradients.cpu().numpy()


class CallableModel:
    """A function that returns probabilities; a `models.Model`.

    A gradient uses central differences of one unit, so that models constant between integers (trees) also
    have a gradient. `order` has the column of the function's output for each class. `table_function` takes
    rows of a table instead of samples, for a classifier that was fitted on named columns.
    """

    def __init__(
        self,
        function: Callable[[np.ndarray], Any],
        n_attributes: int,
        n_classes: int,
        order: list[int] | None = None,
        table_function: Callable[["pd.DataFrame"], Any] | None = None,
    ) -> None:
        self.n_attributes, self.n_classes = n_attributes, n_classes
        self.n_gradient_queries = 2 * n_attributes
        self._function, self._order = function, order
        self._table_function: Any = table_function
        self.takes_tables = table_function is not None

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes, (n, k) float64; see `models.Model`."""
        if not len(X):
            return np.empty((0, self.n_classes))
        return self._check_answer(_call(self._function, np.array(X, np.float64)), len(X))

    def table_probabilities(self, frame: "pd.DataFrame") -> np.ndarray:
        """Return the probabilities of the classes for rows of a table, if `takes_tables`."""
        return self._check_answer(self._table_function(frame), len(frame))

    def _check_answer(self, answer: Any, n: int) -> np.ndarray:
        p = _check_output(answer, n, self.n_classes)
        check_probabilities(p, _NAME, "the sample number")
        return p if self._order is None else p[:, self._order]

    def labels(self, X: np.ndarray) -> np.ndarray:
        """Return the labels; see `models.Model`."""
        return self.probabilities(X).argmax(axis=1)

    def answers(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return labels and probabilities; see `models.Model`."""
        p = self.probabilities(X)
        return p.argmax(axis=1), p

    def input_gradients(self, X: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the gradient of the cross entropy of `labels` by central differences; see `models.Model`."""
        gradients, d = np.empty(X.shape), self.n_attributes
        steps = np.stack([np.eye(d), -np.eye(d)], axis=1)
        for begin in range(0, len(X), _BATCH):
            part = slice(begin, begin + _BATCH)
            moved = X[part, None, None].astype(np.float64) + steps  # (n, d, 2, d)
            p = self.probabilities(moved.reshape(-1, d)).reshape(-1, d, 2, self.n_classes)
            losses = -np.log(np.maximum(p[np.arange(len(p)), :, :, labels[part]], _LEAST))
            gradients[part] = (losses[:, :, 0] - losses[:, :, 1]) / 2
        return gradients


def _call(function: Callable, X: Any) -> Any:
    return ask(_NAME, f"{len(X)} samples", "a float array of shape (n, d)", function, X)


def _check_output(answer: object, n: int, n_classes: int) -> np.ndarray:
    answer = numbers(answer, _NAME)
    if answer.shape != (n, n_classes):
        raise InputError(
            f"the classifier returned the shape {answer.shape} for {n} samples, not ({n}, {n_classes}): one"
            " number for each class"
        )
    if not np.isfinite(answer).all():
        row = int((~np.isfinite(answer)).any(axis=1).argmax())
        raise InputError(
            f"the classifier returned {answer[row].tolist()} for sample {row} of {n}, which is not finite;"
            " retrain it or check its inputs"
        )
    return answer
