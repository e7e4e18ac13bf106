"""Deterministic word2vec (CBOW) trainings on the documents of a corpus (Mikolov et al. 2013, by gensim).

Each training uses one worker. gensim's workers update the same vectors without locks, in an order that
differs between runs. Therefore only one worker reproduces an embedding. One worker needs no more processor
time than two: 2.5 s for 4 epochs of the embedded corpus (380,000 words, D 24). Other sets train on the other
cores. The vocabulary is always that of the entire corpus.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tqdm import tqdm

from biaslab.core.errors import InputError
from biaslab.core.io import write_npz
from biaslab.core.rng import stream
from biaslab.embeddings import BASELINE
from biaslab.embeddings.batches import documents_of
from biaslab.embeddings.corpus import read_tokens
from biaslab.embeddings.settings import Word2VecParameters
from biaslab.embeddings.vocabulary import WORDS, read_vocabulary

__all__ = ["Word2VecParameters", "train"]

MAX_SENTENCE = 10_000  # words of a sentence that gensim reads; it drops the rest


def train_word2vec(
    corpus: Path,
    vocabulary: Path,
    set: str,
    model: Word2VecParameters,
    trainings: int,
    seed: int,
    out: Path,
    sets: Path | None = None,
) -> None:
    """Train word2vec on the corpus, or on the corpus without a set of documents of `sets`."""
    words = read_vocabulary(vocabulary)
    tokens, offsets = read_tokens(corpus, words)
    if set != BASELINE:
        tokens, offsets = leave_out(tokens, offsets, documents_of(sets, set))
    bar = tqdm(range(trainings), desc=f"{set}, word2vec", unit="training", disable=None)
    streams = (stream(seed, "word2vec", set, replicate) for replicate in bar)
    W = np.stack([train(tokens, offsets, len(words), model, rng) for rng in streams])
    write_npz(out, replicates=np.arange(trainings), W=W, **{WORDS: np.array(words.digest)})


class Sentences:
    """A repeatable iterable of the documents as sentences of at most `MAX_SENTENCE` words.

    `names`, (V,) object, are the names of the words in gensim.
    """

    def __init__(self, tokens: np.ndarray, offsets: np.ndarray, names: np.ndarray) -> None:
        self._tokens, self._names = tokens, names
        self._pieces = [
            (k, min(k + MAX_SENTENCE, end))
            for start, end in itertools.pairwise(offsets.tolist())
            for k in range(start, end, MAX_SENTENCE)
        ]

    def __len__(self) -> int:
        return len(self._pieces)

    def __iter__(self) -> Iterator[list[str]]:
        for start, end in self._pieces:
            yield self._names[self._tokens[start:end]].tolist()


def leave_out(
    tokens: np.ndarray, offsets: np.ndarray, documents: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return tokens and offsets of the corpus without `documents`."""
    lengths = np.diff(offsets)
    if len(documents) and not 0 <= documents.min() <= documents.max() < len(lengths):
        raise InputError(
            f"document {documents.max()} is not in the corpus of {len(lengths)} documents; rerun the"
            " selection of sets"
        )
    kept = np.ones(len(lengths), bool)
    kept[documents] = False
    return tokens[np.repeat(kept, lengths)], np.concatenate([[0], np.cumsum(lengths[kept])])


def train(
    tokens: np.ndarray,
    offsets: np.ndarray,
    n_words: int,
    parameters: Word2VecParameters,
    rng: np.random.Generator,
) -> np.ndarray:
    """Train one embedding.

    Parameters
    ----------
    tokens, offsets : numpy.ndarray
        The remaining corpus, (n,) int32 and (n_documents + 1,) int64.
    n_words : int
        V, size of the vocabulary of the entire corpus. A word that no longer occurs keeps its random vector.
    parameters : Word2VecParameters
        Hyperparameters.
    rng : numpy.random.Generator
        Source of all randomness.

    Returns
    -------
    numpy.ndarray
        (V, D) float32, word vectors.

    Raises
    ------
    InputError
        When no word is left, or a word is outside the vocabulary.
    """
    from gensim.models import Word2Vec

    if not len(tokens) or tokens.max() >= n_words:
        raise InputError(
            "word2vec: the corpus is empty; remove fewer documents"
            if not len(tokens)
            else f"word2vec: word {tokens.max()} is outside the vocabulary of {n_words}; regenerate both"
        )
    names = np.array([str(i) for i in range(n_words)], object)
    counts = np.maximum(np.bincount(tokens, minlength=n_words), 1)  # gensim's subsampling divides by counts
    model = Word2Vec(
        vector_size=parameters.dimension,
        window=parameters.window,
        alpha=parameters.learning_rate,
        sg=0,
        min_count=1,
        sorted_vocab=0,  # keep the ids of the vocabulary
        workers=1,
        seed=int(rng.integers(2**32)),
    )
    model.build_vocab_from_freq(dict(zip(names, counts.tolist(), strict=True)))
    sentences = Sentences(tokens, offsets, names)
    model.train(sentences, total_examples=len(sentences), total_words=len(tokens), epochs=parameters.epochs)
    return model.wv.vectors
