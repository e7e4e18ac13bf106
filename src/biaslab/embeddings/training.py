"""Train one file of word vectors from texts, or from the counts of Stanford's GloVe."""

import warnings
from collections.abc import Callable
from pathlib import Path

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.embeddings import BASELINE, cooccurrence, glove, word2vec
from biaslab.embeddings.corpus import build_corpus
from biaslab.embeddings.formats import write_embedding
from biaslab.embeddings.readers import read_documents
from biaslab.embeddings.settings import Choice, GloveParameters, Word2VecParameters
from biaslab.embeddings.vocabulary import read_vocabulary


def train_on_texts(
    source: Path,
    corpus_format: str,
    choice: Choice,
    model: GloveParameters | Word2VecParameters,
    window: int,
    seed: int,
    out: Path,
    format: str,
    threads: int = 1,
    say: Callable[[str], None] = warnings.warn,
) -> None:
    """Train one embedding on a corpus, and write it to `out` in a format of `write_embedding`.

    The vectors are identical to the first baseline of a workflow run with the same settings and seed.
    """
    corpus = build_corpus(read_documents(source, corpus_format, say), **vars(choice), name=str(source))
    say(f"{source}: kept {corpus.kept}")
    words = corpus.vocabulary["word"].tolist()
    if isinstance(model, Word2VecParameters):
        rng = stream(seed, "word2vec", BASELINE, 0)
        W = word2vec.train(corpus.tokens, corpus.offsets, len(words), model, rng)
    else:
        counts = cooccurrence.count(corpus.tokens, corpus.offsets, len(words), window, threads)
        W = glove.train(counts, model, stream(seed, "train", BASELINE, 0), threads).W
    write_embedding(out, words, W, format)


def train_on_counts(
    counts: Path,
    vocabulary: Path | None,
    model: GloveParameters,
    seed: int,
    out: Path,
    format: str,
    threads: int = 1,
) -> None:
    """Train GloVe on ``cooccurrence.bin`` and ``vocab.txt`` of Stanford's GloVe; see `train_on_texts`."""
    if vocabulary is None:
        raise InputError(
            f"{counts}: the file has numbers instead of words; name its vocab.txt with --vocabulary"
        )
    words = read_vocabulary(vocabulary).words
    x = cooccurrence.read_records(counts, len(words))
    W = glove.train(x, model, stream(seed, "train", BASELINE, 0), threads).W
    write_embedding(out, words, W, format)
