"""What is asked of a classifier of texts whose input gradients are used."""

from typing import Protocol

import numpy as np

from biaslab.text.words import Texts


class TextModel(Protocol):
    """A classifier of texts into two classes, differentiable in the vectors of their words.

    Each text's answer depends on its own words alone, so that a batch can be cut and ordered anyhow.

    Attributes
    ----------
    vectors : (V, d) float32
        The vector of each word of the lexicon as this classifier sees it; gradients are by these.
    """

    vectors: np.ndarray

    def probabilities(self, texts: Texts) -> np.ndarray:
        """Return the probabilities of both classes, whose largest is the label (the first of equal ones).

        Returns
        -------
        (n, 2) float32 or float64
        """
        ...

    def gradients(self, texts: Texts, labels: np.ndarray) -> np.ndarray:
        """Return the gradient of the loss of given labels by the vectors of all words (Equation 1).

        Parameters
        ----------
        labels : (n,) int64
            0 or 1.

        Returns
        -------
        (m, d) float32 or float64
            In the order of ``texts.ids``: ∂J(θ, x, y)/∂x_a, J being the cross entropy of the label y.
        """
        ...
