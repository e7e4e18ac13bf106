"""Texts as numbers, and embeddings of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from biaslab.core.rng import stream
from biaslab.embeddings import BASELINE, cooccurrence
from biaslab.embeddings.cooccurrence import Cooccurrence
from biaslab.embeddings.glove import GloveEmbedding, GloveParameters, train
from biaslab.embeddings.vocabulary import Vocabulary
from biaslab.origins.settings import Glove


@dataclass(frozen=True)
class CountedTexts:
    """Texts as numbers.

    Attributes
    ----------
    counts : Cooccurrence
        The co-occurrences X of all texts.
    vocabulary : Vocabulary
        Its words, whose order is that of the rows of X.
    tokens, offsets : numpy.ndarray
        (n,) int32, word ids of all texts; (n_documents + 1,) int64, where each text begins in them.
    """

    counts: Cooccurrence
    vocabulary: Vocabulary
    tokens: np.ndarray
    offsets: np.ndarray


@dataclass(frozen=True)
class Baselines:
    """Embeddings of all texts, each with a random stream of its own.

    Attributes
    ----------
    embeddings : list of GloveEmbedding
        The more, the better the scores: they are averaged.
    parameters : GloveParameters
        Their hyperparameters.
    seed : int
        Of their random streams.
    """

    embeddings: list[GloveEmbedding]
    parameters: GloveParameters
    seed: int


def count_texts(
    texts: Iterable[Sequence[str]], window: int = Glove.window, min_count: int = 1, threads: int = 1
) -> CountedTexts:
    """Count the co-occurrences of texts that are lists of words, and keep the texts.

    Parameters
    ----------
    texts, window, min_count, threads
        As for `biaslab.embeddings.cooccurrence.count_texts`. Each text is a document.

    Returns
    -------
    CountedTexts
    """
    tokens, offsets, vocabulary = cooccurrence.number_texts(texts, min_count)
    x = cooccurrence.count(tokens, offsets, len(vocabulary), window, threads)
    return CountedTexts(x, vocabulary, tokens, offsets)


def train_baselines(
    texts: CountedTexts, parameters: GloveParameters, n: int = 5, seed: int = 1, threads: int = 1
) -> Baselines:
    """Train embeddings of all texts.

    Parameters
    ----------
    texts : CountedTexts
        Of `count_texts`.
    parameters : GloveParameters
        Hyperparameters of every one.
    n : int
        How many.
    seed : int
        Embedding k has the random stream of baseline k of a run of the workflow with this seed.
    threads : int
        Threads to use; the result is the same bit for bit.

    Returns
    -------
    Baselines
    """
    streams = [stream(seed, "train", BASELINE, k) for k in range(n)]
    return Baselines([train(texts.counts, parameters, rng, threads) for rng in streams], parameters, seed)
