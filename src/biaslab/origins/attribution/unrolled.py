"""Attribution through the training itself: the derivative of the bias by every co-occurrence.

Nothing is held and no minimum is assumed: all vectors of all words move, as far as this very training lets
them (`biaslab.embeddings.reverse`). What is left out is only what is not linear in the steps of the training.
It sees X_ij by f(X_ij) and f(X_ij) log X_ij, of which the change by a removal is taken exactly:

    B(w) - B(w~) = sum_ij dB/df_ij (f(X_ij) - f(X~_ij)) + dB/dg_ij (g(X_ij) - g(X~_ij)),   g = f log X

It is told the hyperparameters and the seed of the baselines, which are trained again and must come out as
they are, bit for bit.
"""

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

_TOKENS_AT_A_TIME = 100_000  # bounds the memory that the co-occurrences of documents take


def of_documents(scanner: Scanner, weat: WeatIndices) -> Estimates:
    """Return the estimates of every document."""
    x, tokens, offsets = scanner.x, scanner.tokens, scanner.offsets
    bias, found = gradients(scanner, weat)
    n_documents = len(offsets) - 1
    values = np.zeros((len(bias), n_documents))
    rows = weat_rows(x, np.arange(x.n_words), GloveParameters.x_max, GloveParameters.alpha)
    for first, last in _pieces(offsets):
        some = removals_of_documents(
            rows, tokens[offsets[first] : offsets[last]], offsets[first : last + 1] - offsets[first]
        )
        documents = np.repeat(np.arange(first, last), np.diff(some.entry_starts[some.unit_starts]))
        changes = _changes(scanner, found, some.places, x.counts[some.places] - some.counts)
        values += [np.bincount(documents, change, n_documents) for change in changes]
    return from_values(bias, values)


def of_sets(scanner: Scanner, weat: WeatIndices, sets: Sequence[np.ndarray]) -> Estimates:
    """Return the estimates of whole sets: f and f log X of what is left of each count."""
    bias, found = gradients(scanner, weat)
    values = []
    for documents in sets:
        left = without_documents(scanner.x, scanner.tokens, scanner.offsets, documents, scanner.threads)
        counts = on_entries_of(scanner.x, left).counts
        places = np.flatnonzero(counts != scanner.x.counts)
        values.append([of.sum() for of in _changes(scanner, found, places, counts[places])])
    return from_values(bias, np.array(values).T)


def gradients(scanner: Scanner, weat: WeatIndices) -> tuple[np.ndarray, list[TrainingGradient]]:
    """Return the bias of each baseline and its derivatives; those of the last test are kept."""
    if scanner.gone_back and scanner.gone_back[0] is weat:
        return scanner.gone_back[1:]
    if scanner.training is None:
        raise InputError(
            "unrolled needs the hyperparameters and the seed that the baselines were trained with"
        )
    baselines = list(scanner.embeddings())
    epochs = scanner.training.parameters.epochs * len(baselines)
    with tqdm(total=epochs, desc=f"{weat.name}, backwards", unit="epoch", disable=None) as bar:
        found = [_go_back(scanner, weat, *of, lambda: bar.update(1)) for of in baselines]
    bias = np.array([measure_bias(of["W"], weat) for _, of in baselines], np.float64)
    scanner.gone_back = weat, bias, found
    return bias, found


def _go_back(scanner, weat, replicate, baseline, progress) -> TrainingGradient:
    parameters, seed, memory = scanner.training

    def gradient(embedding: GloveEmbedding) -> np.ndarray:
        if not np.array_equal(embedding.W, baseline["W"]):
            raise InputError(
                f"baseline {replicate} is not what its seed and hyperparameters give; name its own"
            )
        found = np.zeros(embedding.W.shape)
        found[weat_words(weat)] = by_words(embedding.W, weat)
        return found

    rng = stream(seed, "train", BASELINE, replicate)
    return reverse.differentiate(scanner.x, parameters, rng, gradient, memory, scanner.threads, progress)


def _changes(
    scanner: Scanner, found: Sequence[TrainingGradient], places: np.ndarray, left: np.ndarray
) -> list[np.ndarray]:
    """Return how much of the bias of each baseline goes when counts at some places become `left`."""
    before, after = (_seen(scanner, counts) for counts in (scanner.x.counts[places], left))
    return [
        of.by_weight[places] * (before[0] - after[0]) + of.by_product[places] * (before[1] - after[1])
        for of in found
    ]


def _seen(scanner: Scanner, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return f(X) and f(X) log X."""
    x = counts / scanner.x.unit
    f = weighting(x, scanner.parameters.x_max, scanner.parameters.alpha)
    return f, f * np.log(np.where(x > 0, x, 1.0))


def _pieces(offsets: np.ndarray) -> list[tuple[int, int]]:
    """Cut the documents into runs of about `_TOKENS_AT_A_TIME`."""
    cuts = np.unique(np.searchsorted(offsets, np.arange(0, offsets[-1], _TOKENS_AT_A_TIME)))
    bounds = np.unique([0, *cuts, len(offsets) - 1])
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
