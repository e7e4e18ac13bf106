"""What is asked of a classifier of texts whose input gradients are used."""

from typing import Protocol

import numpy as np

from biaslab.text.words import Texts


class TextModel(Protocol):
    """A classifier of texts into two classes, differentiable in the vectors of their words.

    Each text's answer depends on its own words alone, so that a batch can be cut and ordered anyhow.
    `vectors`, (V, d) float32, are those of the lexicon's words as this classifier sees them; gradients are by
    these.
    """

    vectors: np.ndarray

    def probabilities(self, texts: Texts) -> np.ndarray:
        """Return the probabilities of both classes, (n, 2), whose largest (first of equals) is the label."""
        ...

    def gradients(self, texts: Texts, labels: np.ndarray) -> np.ndarray:
        """Return the gradient of the loss of given labels, 0 or 1, by the vectors of all words (Equation 1).

        (m, d), in the order of ``texts.ids``: ∂J(θ, x, y)/∂x_a, J being the cross entropy of the label y.
        """
        ...
