"""Attribution through the training: the derivative of the bias by every co-occurrence.

No vector is held constant and no minimum is assumed: all word vectors move as this training moves them
(`biaslab.embeddings.reverse`). The only approximation is linearity in the steps of the training. A training
depends on X_ij through f(X_ij) and f(X_ij) log X_ij. Their changes by a removal are exact:

    B(w) - B(w~) = sum_ij dB/df_ij (f(X_ij) - f(X~_ij)) + dB/dg_ij (g(X_ij) - g(X~_ij)),   g = f log X

The attribution needs the hyperparameters and the seed of the baselines. It retrains them, and the results
must be identical, bit for bit.
"""

import itertools
from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from biaslab.bias.measures import measure_bias
from biaslab.bias.weat import weat_words
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.embeddings import BASELINE, reverse
from biaslab.embeddings.glove import GloveEmbedding, GloveParameters, weighting
from biaslab.embeddings.retraining import on_entries_of, without_documents
from biaslab.embeddings.reverse import TrainingGradient
from biaslab.origins.attribution.estimates import Estimates, from_values
from biaslab.origins.attribution.influence import by_words, removals_of_documents, weat_rows
from biaslab.origins.attribution.scanner import Scanner

_TOKENS_AT_A_TIME = 100_000  # limits the memory for the co-occurrences of documents


def estimate_documents(scanner: Scanner, weat: WeatIndices) -> Estimates:
    """Estimate the removal of every document."""
    x, tokens, offsets = scanner.x, scanner.tokens, scanner.offsets
    bias, derivatives = gradients(scanner, weat)
    n_documents = len(offsets) - 1
    values = np.zeros((len(bias), n_documents))
    rows = weat_rows(x, np.arange(x.n_words), GloveParameters.x_max, GloveParameters.alpha)
    cuts = np.unique(np.searchsorted(offsets, np.arange(0, offsets[-1], _TOKENS_AT_A_TIME)))
    bounds = np.unique([0, *cuts, n_documents]).tolist()
    for first, last in itertools.pairwise(bounds):
        part = removals_of_documents(
            rows, tokens[offsets[first] : offsets[last]], offsets[first : last + 1] - offsets[first]
        )
        documents = np.repeat(np.arange(first, last), np.diff(part.entry_starts[part.unit_starts]))
        changes = _changes(scanner, derivatives, part.places, x.counts[part.places] - part.counts)
        values += [np.bincount(documents, change, n_documents) for change in changes]
    return from_values(bias, values)


def estimate_sets(scanner: Scanner, weat: WeatIndices, sets: Sequence[np.ndarray]) -> Estimates:
    """Estimate the joint removal of each set, from f and f log X of the remaining counts."""
    bias, derivatives = gradients(scanner, weat)
    values = []
    for documents in sets:
        remaining = without_documents(scanner.x, scanner.tokens, scanner.offsets, documents, scanner.threads)
        counts = on_entries_of(scanner.x, remaining).counts
        places = np.flatnonzero(counts != scanner.x.counts)
        values.append([c.sum() for c in _changes(scanner, derivatives, places, counts[places])])
    return from_values(bias, np.array(values).T)


def gradients(scanner: Scanner, weat: WeatIndices) -> tuple[np.ndarray, list[TrainingGradient]]:
    """Return the bias of each baseline and its derivatives; the scanner caches those of the last test."""
    if scanner.last_derivatives and scanner.last_derivatives[0] is weat:
        return scanner.last_derivatives[1:]
    if scanner.training is None:
        raise InputError(
            "unrolled requires the hyperparameters and the seed of the baselines; give the training"
        )
    baselines = list(scanner.embeddings())
    epochs = scanner.training.parameters.epochs * len(baselines)
    with tqdm(total=epochs, desc=f"{weat.name}, backwards", unit="epoch", disable=None) as bar:
        derivatives = [_differentiate(scanner, weat, *b, lambda: bar.update(1)) for b in baselines]
    bias = np.array([measure_bias(arrays["W"], weat) for _, arrays in baselines], np.float64)
    scanner.last_derivatives = weat, bias, derivatives
    return bias, derivatives


def _differentiate(scanner, weat, replicate, baseline, progress) -> TrainingGradient:
    parameters, seed, memory = scanner.training

    def gradient(embedding: GloveEmbedding) -> np.ndarray:
        if not np.array_equal(embedding.W, baseline["W"]):
            raise InputError(
                f"baseline {replicate} differs from a training with its seed and hyperparameters; name"
                " those of the baseline"
            )
        by_word = np.zeros(embedding.W.shape)
        by_word[weat_words(weat)] = by_words(embedding.W, weat)
        return by_word

    rng = stream(seed, "train", BASELINE, replicate)
    return reverse.differentiate(scanner.x, parameters, rng, gradient, memory, scanner.threads, progress)


def _changes(
    scanner: Scanner, derivatives: Sequence[TrainingGradient], places: np.ndarray, left: np.ndarray
) -> list[np.ndarray]:
    """Return, for each baseline, the decrease of the bias at each place if its count becomes `left`."""
    weights, products = [], []
    for counts in (scanner.x.counts[places], left):
        x = counts / scanner.x.unit
        weights.append(weighting(x, scanner.parameters.x_max, scanner.parameters.alpha))
        products.append(weights[-1] * np.log(np.where(x > 0, x, 1.0)))
    by_weight, by_product = weights[0] - weights[1], products[0] - products[1]
    return [d.by_weight[places] * by_weight + d.by_product[places] * by_product for d in derivatives]
