"""Define the interface of a text classifier with input gradients."""

from typing import Protocol

import numpy as np

from biaslab.text.words import Texts


class TextModel(Protocol):
    """A classifier of texts into two classes, differentiable in the vectors of their words.

    The output for a text depends only on its own words, so that batches can be split and reordered.
    `vectors`, (V, d) float32, has the lexicon's word vectors in this classifier; gradients refer to them.
    """

    vectors: np.ndarray

    def probabilities(self, texts: Texts) -> np.ndarray:
        """Return the probabilities of both classes, (n, 2); the label is the first largest one."""

    def gradients(self, texts: Texts, labels: np.ndarray) -> np.ndarray:
        """Return the gradient of the loss for `labels`, 0 or 1, by the vectors of all words (Equation 1).

        The result, (m, d), in the order of ``texts.ids``, is ∂J(θ, x, y)/∂x_a with the cross entropy J of y.
        """
