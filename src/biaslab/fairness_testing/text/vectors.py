"""Word vectors for networks that read texts: GloVe's, trained here or read from a file (Section 5.1)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence, glove
from biaslab.embeddings.corpus import build_corpus
from biaslab.embeddings.formats import read_embedding
from biaslab.embeddings.readers import read_documents
from biaslab.text.words import Lexicon, build_lexicon


def read_vectors(file: Path) -> Lexicon:
    """Read vectors in the format of GloVe or word2vec."""
    return build_lexicon(*read_embedding(file))


def train_vectors(
    source: Path,
    format: str,
    choice: Mapping[str, Any],
    window: int,
    parameters: glove.GloveParameters,
    seed: int,
    threads: int,
) -> Lexicon:
    """Train GloVe on what `choice` keeps of a corpus (see `build_corpus`), the same with any threads."""
    corpus = build_corpus(read_documents(source, format), **choice)
    words = list(corpus.vocabulary["word"])
    counts = cooccurrence.count(corpus.tokens, corpus.offsets, len(words), window, threads)
    trained = glove.train(counts, parameters, stream(seed, "text vectors"), threads)
    return build_lexicon(words, trained.W)
