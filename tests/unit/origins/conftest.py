"""A small corpus whose baselines are trained, which several tests attribute."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from biaslab.bias.word_sets import WeatIndices
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.glove import GloveEmbedding, GloveParameters, write_trainings
from biaslab.embeddings.retraining import train_replicates
from biaslab.embeddings.vocabulary import digest_words
from biaslab.origins.attribution.scanner import Scanner
from biaslab.origins.attribution.settings import InfluenceParameters

N_WORDS, N_DOCUMENTS, LENGTH, WINDOW = 30, 40, 40, 8


class Small(NamedTuple):
    """A corpus, counted, with three baselines, and a test of its words."""

    scanner: Scanner
    trained: list[GloveEmbedding]
    weat: WeatIndices
    documents: pd.DataFrame

    def texts(self) -> list[list[int]]:
        """Return the word ids of every document."""
        return self.scanner.tokens.reshape(N_DOCUMENTS, LENGTH).tolist()


@pytest.fixture(scope="session")
def small(tmp_path_factory) -> Small:
    rng, offsets = np.random.default_rng(5), np.arange(0, LENGTH * N_DOCUMENTS + 1, LENGTH)
    left = np.bincount(np.arange(offsets[-1]) % N_WORDS)  # ids by falling count
    left[[20, 24]] -= LENGTH // 2
    first = np.repeat([20, 24], LENGTH // 2)  # a document without a word of the test
    others = rng.permutation(np.repeat(np.arange(N_WORDS), left))
    tokens = np.concatenate([first, others]).astype(np.int32)
    x, words = cooccurrence.count(tokens, offsets, N_WORDS, WINDOW), [f"w{i}" for i in range(N_WORDS)]
    path = tmp_path_factory.mktemp("small") / "batch-0.npz"
    trained = train_replicates(x, GloveParameters(4, 3), "baseline", [0, 1, 2], 1, path, 1e9)
    write_trainings(path, [0, 1, 2], trained, every_parameter=True, words=digest_words(words))
    weat = WeatIndices("w", *np.array([[3, 10], [7, 11], [0, 2], [1, 5]]))
    numbers = np.arange(N_DOCUMENTS)
    documents = pd.DataFrame({"document": numbers, "id": numbers.astype(str), "title": "a title"})
    scanner = Scanner([path], x, tokens, offsets, words, InfluenceParameters(x_max=20.0), 1)
    return Small(scanner, trained, weat, documents)
