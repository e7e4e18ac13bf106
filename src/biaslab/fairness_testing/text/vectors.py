"""Word vectors for networks that read texts: GloVe's, trained here or read from a file (Section 5.1)."""

from dataclasses import dataclass
from pathlib import Path

from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence, glove
from biaslab.embeddings.corpus import build_corpus
from biaslab.embeddings.formats import read_embedding
from biaslab.embeddings.readers import read_documents
from biaslab.embeddings.settings import Choice
from biaslab.text.words import build_lexicon


@dataclass(frozen=True)
class Training:
    """Settings for training word vectors."""

    format: str  # of the corpus, see `read_documents`
    choice: Choice  # the kept part of the corpus
    window: int  # words on each side that count as context
    glove: glove.GloveParameters


def make_vectors(
    source: Path, vectors: Path, seed: int, training: Training | None = None, threads: int = 1
) -> None:
    """Train GloVe on a corpus, with equal results for any threads, or read GloVe or word2vec vectors."""
    if training is None:
        build_lexicon(*read_embedding(source)).save(vectors)
        return
    corpus = build_corpus(read_documents(source, training.format), **vars(training.choice))
    words = list(corpus.vocabulary["word"])
    counts = cooccurrence.count(corpus.tokens, corpus.offsets, len(words), training.window, threads)
    trained = glove.train(counts, training.glove, stream(seed, "text vectors"), threads)
    build_lexicon(words, trained.W).save(vectors)
