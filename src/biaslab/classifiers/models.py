"""What the testers ask of a classifier: probabilities and input gradients of batches of samples."""

from typing import Protocol

import numpy as np

__all__ = ["Model"]


class Model(Protocol):
    """A classifier of integer samples with d attributes into k classes.

    Each row of an answer depends on its own sample alone, so that a batch can be cut anywhere.

    Attributes
    ----------
    n_attributes : int
        d.
    n_classes : int
        k.
    n_gradient_queries : int
        Samples that the model is asked about for the gradient of one: 1 where it is computed backwards.
    """

    n_attributes: int
    n_classes: int
    n_gradient_queries: int

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """Return the outputs for samples, whose largest entry is the label (the first of equal ones).

        Parameters
        ----------
        X : (n, d) int32

        Returns
        -------
        (n, k) float32 or float64
        """
        ...

    def labels(self, X: np.ndarray) -> np.ndarray:
        """Return the labels of samples.

        Parameters
        ----------
        X : (n, d) int32

        Returns
        -------
        (n,) int64
        """
        ...

    def answers(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return labels and probabilities of samples, which are asked about once.

        Parameters
        ----------
        X : (n, d) int32

        Returns
        -------
        (n,) int64 and (n, k) float32 or float64
        """
        ...

    def input_gradients(self, X: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the gradient of the loss of given labels with respect to the samples (Equation 1).

        Parameters
        ----------
        X : (n, d) int32
        labels : (n,) int64

        Returns
        -------
        (n, d) float32 or float64
            ∂J(θ, x, y)/∂x, J being the cross entropy of the label y.
        """
        ...
