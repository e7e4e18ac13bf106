"""Define the interface of a classifier of tables: probabilities and input gradients of batches of samples."""

from typing import Protocol

import numpy as np

__all__ = ["Model"]


class Model(Protocol):
    """A classifier of integer samples with d attributes into k classes.

    Each row of an output depends only on its own sample, so that a batch can be split anywhere.

    Attributes
    ----------
    n_attributes, n_classes : int
        d and k.
    n_gradient_queries : int
        Number of queries for the gradient of one sample; 1 for backpropagation.
    """

    n_attributes: int
    n_classes: int
    n_gradient_queries: int

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes; the label is the first largest one.

        Parameters
        ----------
        X : (n, d) int32

        Returns
        -------
        (n, k) float32 or float64
        """

    def labels(self, X: np.ndarray) -> np.ndarray:
        """Return the labels of samples.

        Parameters
        ----------
        X : (n, d) int32

        Returns
        -------
        (n,) int64
        """

    def answers(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return labels and probabilities of samples, with one query for each sample.

        Parameters
        ----------
        X : (n, d) int32

        Returns
        -------
        (n,) int64 and (n, k) float32 or float64
        """

    def input_gradients(self, X: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the gradient of the loss of given labels with respect to the samples (Equation 1).

        Parameters
        ----------
        X : (n, d) int32
        labels : (n,) int64

        Returns
        -------
        (n, d) float32 or float64
            ∂J(θ, x, y)/∂x, where J is the cross entropy of the label y.
        """
