"""Classifiers of the user as `models.Model`: scikit-learn's networks, torch modules, any function."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.neural_network import MLPClassifier

from biaslab.classifiers.models import Model
from biaslab.classifiers.networks import Network
from biaslab.core.errors import InputError, suggest

__all__ = ["CallableModel", "TorchModel", "adapt", "from_sklearn"]

if TYPE_CHECKING:
    import torch

STEP = 1.0
"""How far a numerical gradient moves an attribute to either side: what a tester does, too."""

_LEAST = np.finfo(np.float64).tiny


def adapt(classifier: object, n_attributes: int, n_classes: int) -> Model:
    """Return a classifier of the user's as a model, by what it is.

    Parameters
    ----------
    classifier : Network, MLPClassifier, torch.nn.Module, object with ``predict_proba``, or function
        A torch module returns logits; a function, probabilities, (n, k), of samples, (n, d) float64.
    n_attributes, n_classes : int
        What the data have.

    Returns
    -------
    Model

    Raises
    ------
    InputError
        When it is none of these, or it is for samples of other attributes or for other classes.
    """
    if isinstance(classifier, MLPClassifier):
        classifier = from_sklearn(classifier)
    if isinstance(classifier, Network):
        if (classifier.n_attributes, classifier.n_classes) != (n_attributes, n_classes):
            raise InputError(
                f"the network takes {classifier.n_attributes} attributes into {classifier.n_classes} classes,"
                f" but the data have {n_attributes} and {n_classes}; give the schema of the data that it was"
                " trained on"
            )
        return classifier
    if _is_torch_module(classifier):
        return TorchModel(classifier, n_attributes, n_classes)
    function = getattr(classifier, "predict_proba", classifier)
    if not callable(function):
        raise InputError(
            f"a {type(classifier).__name__} is no classifier; give a function that returns the probabilities"
            " of the classes, a torch module that returns logits, or an object with predict_proba"
        )
    return CallableModel(function, n_attributes, n_classes)


def import_object(reference: str) -> object:
    """Return an object of a module in the current folder, or of an installed one.

    Parameters
    ----------
    reference : str
        ``MODULE:NAME``.

    Raises
    ------
    InputError
        When it is of another form, the module fails, or it has no such object.
    """
    module_name, colon, name = reference.partition(":")
    if not (module_name and colon and name):
        raise InputError(f"'{reference}' names no classifier; write a file (.npz), MODULE:NAME, or train")
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise InputError(
            f"{module_name}: cannot be imported ({_reason(error)}); mend or install it"
        ) from error
    if not hasattr(module, name):
        near = suggest(name, dir(module)) or "; name what the module defines"
        raise InputError(f"{module_name}: has no '{name}'{near}")
    return getattr(module, name)


def from_sklearn(classifier: MLPClassifier) -> Network:
    """Return a network with the parameters of scikit-learn's.

    Parameters
    ----------
    classifier : sklearn.neural_network.MLPClassifier
        Fitted, with ReLU (or without hidden layers) and with the classes 0, 1, …, k - 1. The one output z of
        a binary one becomes the two logits 0 and z.

    Returns
    -------
    Network
        In float32; a sample between two classes may get the other one by rounding.

    Raises
    ------
    InputError
        When it is not fitted, has another activation, predicts several labels, or other classes.
    """
    if not hasattr(classifier, "coefs_"):
        raise InputError("the MLPClassifier is not fitted; call fit first")
    if classifier.activation != "relu" and classifier.n_layers_ > 2:
        raise InputError(
            f"the MLPClassifier has the activation {classifier.activation}; only relu is supported"
        )
    classes = np.asarray(classifier.classes_).tolist()
    is_binary = classifier.n_outputs_ == 1
    if classifier.out_activation_ == "logistic" and not is_binary:
        raise InputError("the MLPClassifier predicts several labels; train one that predicts one")
    if classes != list(range(len(classes))):
        raise InputError(
            f"the MLPClassifier has the classes {classes}; train it on labels 0, 1, … in their order"
        )
    weights, biases = list(classifier.coefs_), list(classifier.intercepts_)
    if is_binary:
        weights[-1] = np.column_stack([np.zeros_like(weights[-1]), weights[-1]])
        biases[-1] = np.append(0.0, biases[-1])
    return Network(weights, biases)


class TorchModel:
    """A torch module that returns logits; a `models.Model`. torch is imported when this is made.

    How a library sums may depend on the size of the batch, so that equal samples can differ in the last bits;
    a label changes only where two logits are equal up to rounding.

    Parameters
    ----------
    module : torch.nn.Module
        Takes samples, (n, d) in the type of its parameters, and returns logits, (n, k). It is put into
        evaluation mode.
    n_attributes, n_classes : int

    Raises
    ------
    InputError
        Here or later, when the module fails, or its output is not finite or has another shape.
    """

    def __init__(self, module: "torch.nn.Module", n_attributes: int, n_classes: int) -> None:
        import torch

        self.n_attributes, self.n_classes = n_attributes, n_classes
        self._torch, self._module = torch, module.eval()
        like = next(module.parameters(), torch.zeros(0))
        self._place = {"dtype": like.dtype, "device": like.device}

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """Return the softmax of the logits, (n, k) float64; see `models.Model`."""
        z = self._logits(X)
        exponentials = np.exp(z - z.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)

    def labels(self, X: np.ndarray) -> np.ndarray:
        """Return the labels; see `models.Model`."""
        return self._logits(X).argmax(axis=1)

    def input_gradients(self, X: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the gradient of the cross entropy of `labels` by backpropagation; see `models.Model`."""
        torch = self._torch
        inputs = torch.tensor(X, requires_grad=True, **self._place)
        targets = torch.tensor(labels, dtype=torch.int64, device=self._place["device"])
        logits = _answered(self._module, inputs)
        _check_output(logits.detach().cpu().numpy(), len(X), self.n_classes)
        loss = torch.nn.functional.cross_entropy(logits, targets, reduction="sum")
        (gradients,) = torch.autograd.grad(loss, inputs)
        return gradients.cpu().numpy()

    def _logits(self, X: np.ndarray) -> np.ndarray:
        with self._torch.no_grad():
            logits = _answered(self._module, self._torch.tensor(X, **self._place))
        return _check_output(logits.cpu().numpy(), len(X), self.n_classes).astype(np.float64)


class CallableModel:
    """A function that returns probabilities; a `models.Model`.

    A gradient takes central differences: 2 d samples are asked about for each, where testers count one query.
    They lie `step` beside the sample in one attribute, perhaps outside the domain.

    Parameters
    ----------
    function : callable
        Takes samples, (n, d) float64, and returns the probabilities of the classes, (n, k).
    n_attributes, n_classes : int
    step : float
        Half the distance of the two samples of a difference. With 1, models that are constant between whole
        numbers (trees) have a gradient, too; a smooth one's is more exact with a smaller step.

    Raises
    ------
    InputError
        Here, when `step` is not positive; later, when the function fails, or what it returns is not finite or
        has another shape.
    """

    def __init__(
        self,
        function: Callable[[np.ndarray], Any],
        n_attributes: int,
        n_classes: int,
        step: float = STEP,
    ) -> None:
        if not step > 0:
            raise InputError(f"a numerical gradient with a step of {step}: give a positive one")
        self.n_attributes, self.n_classes = n_attributes, n_classes
        self._function, self._step = function, step

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """Return what the function returns, (n, k) float64; see `models.Model`."""
        if not len(X):
            return np.empty((0, self.n_classes))
        answer = _answered(self._function, np.array(X, np.float64))
        return _check_output(answer, len(X), self.n_classes)

    def labels(self, X: np.ndarray) -> np.ndarray:
        """Return the labels; see `models.Model`."""
        return self.probabilities(X).argmax(axis=1)

    def input_gradients(self, X: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the gradient of the cross entropy of `labels` by central differences; see `models.Model`."""
        gradients = np.empty(X.shape)
        for attribute in range(self.n_attributes):
            losses = []
            for side in (self._step, -self._step):
                moved = np.array(X, np.float64)
                moved[:, attribute] += side
                chosen = self.probabilities(moved)[np.arange(len(X)), labels]
                losses.append(-np.log(np.maximum(chosen, _LEAST)))
            gradients[:, attribute] = (losses[0] - losses[1]) / (2 * self._step)
        return gradients


def _is_torch_module(classifier: object) -> bool:
    """Tell a torch module without importing torch: who has one, has imported it."""
    return any(kind.__module__.startswith("torch.nn") for kind in type(classifier).__mro__)


def _answered(function: Callable, X: Any) -> Any:
    """Call the user's function; whatever it raises becomes one line."""
    try:
        return function(X)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"the classifier failed on {len(X)} samples ({_reason(error)}); call it by hand with a float"
            " array of shape (n, d)"
        ) from error


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def _check_output(answer: object, n: int, n_classes: int) -> np.ndarray:
    """Return the answer for n samples as an array, (n, k) float64."""
    try:
        answer = np.asarray(answer, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the classifier returned {type(answer).__name__}, not an array of numbers"
        ) from error
    if answer.shape != (n, n_classes):
        raise InputError(
            f"the classifier returned the shape {answer.shape} for {n} samples, not ({n}, {n_classes}): one"
            " number for each class"
        )
    if not np.isfinite(answer).all():
        row = int((~np.isfinite(answer)).any(axis=1).argmax())
        raise InputError(
            f"the classifier returned {answer[row].tolist()} for the sample number {row} of {n}: not finite;"
            " train it anew or check its inputs"
        )
    return answer
