"""Is a training smooth enough to attribute? Three trainings along a direction say so, before any attribution.

An attribution says what becomes of the bias when documents count a little less, and is trusted for documents
that do not count at all. That supposes that trained parameters A(z) answer to weights z of the documents in
one direction, not to and fro; X is the sum of the documents' counts, each times its weight.

The *empirical metasmoothness* (Engstrom et al. 2025, "Optimizing ML training with metagradient descent",
Definition 2) of weights 1 along a direction v, at a step h, is

    S = sign(A(1 + hv) - A(1))ᵀ diag(d / |d|₁) sign(A(1 + 2hv) - A(1 + hv)),   d = |A(1 + 2hv) - A(1)|

the share of what moved in two steps that went the same way in both, minus the share that turned back. It is 1
of a training that answers linearly. Of one that answers at random, three draws of one distribution, numerator
and so S have the mean 0, whatever the distribution: of three numbers the distances add up to twice the range.

Signs do not see that a response fades or grows. So there stands beside it the *bend*

    |A(1 + 2hv) - 2A(1 + hv) + A(1)|₁ / (|A(1 + hv) - A(1)|₁ + |A(1 + 2hv) - A(1 + hv)|₁)

which is 0 of a linear response, 1 of one that turns all the way back, and √3/2 of normal draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from biaslab.bias.measures import measure_bias
from biaslab.bias.word_sets import WordSets, in_vocabulary
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.embeddings import BASELINE
from biaslab.embeddings.cooccurrence import Cooccurrence
from biaslab.embeddings.glove import GloveEmbedding, GloveParameters, train
from biaslab.origins.attribution.unrolled import entries_of_documents
from biaslab.origins.documents.texts import CountedTexts

ENOUGH = 0.5
"""The metasmoothness below which there is a warning: half-way from random to linear. Chosen before any number
was seen."""


@dataclass(frozen=True)
class Smoothness:
    """How a training answers to weights of documents.

    Attributes
    ----------
    parameters, parameters_bend : float
        Metasmoothness and bend of all parameters W, U, b, c, along all directions.
    bias, bias_bend : float
        The same of the measured bias, which is one number a direction: along few of them it says little.
    biases : numpy.ndarray
        (n_directions, 3) float64, the bias at the weights 1, 1 + hv, 1 + 2hv.
    """

    parameters: float
    parameters_bend: float
    bias: float
    bias_bend: float
    biases: np.ndarray

    @property
    def is_enough(self) -> bool:
        """Whether the parameters move more like a linear response than like a random one."""
        return self.parameters >= ENOUGH

    def __str__(self) -> str:
        """Say the numbers, and what they mean."""
        text = (
            f"metasmoothness {self.parameters:.2f} of the parameters (1: linear, 0: random), bend"
            f" {self.parameters_bend:.2f} (0: linear); of the bias {self.bias:.2f} and {self.bias_bend:.2f}"
            f" along {len(self.biases)} directions"
        )
        remedy = "; do not trust attributions of this training, lower its learning rate or add epochs"
        return text if self.is_enough else text + remedy


def smoothness(
    texts: CountedTexts,
    parameters: GloveParameters,
    test: WordSets,
    step: float = 0.05,
    directions: int | Sequence[np.ndarray] = 1,
    seed: int = 1,
    threads: int = 1,
) -> Smoothness:
    """Train along directions of the documents' weights, and say how smoothly the embedding answers.

    Parameters
    ----------
    texts : CountedTexts
        Of `biaslab.origins.documents.count_texts`.
    parameters : GloveParameters
        Hyperparameters; of the trainings that are to be attributed.
    test : WordSets
        The words, and the measure of bias.
    step : float
        h. With directions of their own, a document with -1 there is weighted 1, 1 - h, 1 - 2h: at h = 1/2 it
        is left out.
    directions : int or sequence of (n_documents,) arrays
        How many standard normal directions to draw, or directions. Each costs two trainings beside the first.
    seed : int
        Of the directions, and of the trainings: their random stream is that of baseline 0 with this seed.
    threads : int
        Threads to use; the result is the same bit for bit.

    Returns
    -------
    Smoothness

    Raises
    ------
    InputError
        When a weight would be negative, the step is none, or too few words of the test are in the vocabulary.
    """
    n, words = len(texts.offsets) - 1, in_vocabulary(test, texts.vocabulary.ids)
    if isinstance(directions, int):
        directions = [stream(seed, "smoothness", k).standard_normal(n) for k in range(directions)]
    if not step > 0 or not directions or any(np.shape(v) != (n,) for v in directions):
        raise InputError(
            f"step {step}, {len(directions)} directions: take a step above 0 and one direction or"
            f" more, with a number for each of the {n} documents"
        )

    def trained(weights: np.ndarray) -> GloveEmbedding:
        return train(weighted(texts, weights), parameters, stream(seed, "train", BASELINE, 0), threads)

    whole, moved, biases = trained(np.ones(n)), [], []
    for direction in directions:
        three = (whole, *(trained(1 + k * step * direction) for k in (1, 2)))
        moved.append([_flat(embedding) for embedding in three])
        biases.append([measure_bias(embedding.W, words) for embedding in three])
    of_parameters, of_bias = np.concatenate(moved, axis=1), np.array(biases, np.float64)
    return Smoothness(
        metasmoothness(*of_parameters), bend(*of_parameters),
        metasmoothness(*of_bias.T), bend(*of_bias.T), of_bias,
    )  # fmt: skip


def metasmoothness(first: np.ndarray, half: np.ndarray, whole: np.ndarray) -> float:
    """Return S of what three trainings gave; NaN where nothing moved."""
    moved = np.abs(whole - first)
    same = np.sign(half - first) * np.sign(whole - half)
    return float(_share((moved * same).sum(), moved.sum()))


def bend(first: np.ndarray, half: np.ndarray, whole: np.ndarray) -> float:
    """Return the bend of what three trainings gave; NaN where nothing moved."""
    return float(
        _share(
            np.abs(whole - 2 * half + first).sum(),
            np.abs(half - first).sum() + np.abs(whole - half).sum(),
        )
    )


def weighted(texts: CountedTexts, weights: np.ndarray) -> Cooccurrence:
    """Return X with each document's counts times its weight, on the entries of X."""
    if (low := float(weights.min())) < 0:
        raise InputError(f"a document would have the weight {low:.2f}; take a smaller step")
    x = texts.counts
    counts = x.counts.astype(np.float64)
    for documents, places, taken in entries_of_documents(x, texts.tokens, texts.offsets):
        np.add.at(counts, places, (weights[documents] - 1) * taken)
    return replace(x, counts=np.maximum(counts, 0))


def _flat(embedding: GloveEmbedding) -> np.ndarray:
    parts = (embedding.W, embedding.U, embedding.b, embedding.c)
    return np.concatenate([part.ravel() for part in parts]).astype(np.float64)


def _share(part: float, of: float) -> float:
    return part / of if of else float("nan")
