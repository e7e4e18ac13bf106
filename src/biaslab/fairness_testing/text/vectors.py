"""Word vectors for networks that read texts: GloVe's, trained here or read from a file (Section 5.1)."""

from dataclasses import dataclass
from pathlib import Path

from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence, glove
from biaslab.embeddings.corpus import build_corpus
from biaslab.embeddings.formats import read_embedding
from biaslab.embeddings.readers import read_documents
from biaslab.embeddings.settings import Choice
from biaslab.text.words import Lexicon, build_lexicon


@dataclass(frozen=True)
class Training:
    """How word vectors are trained."""

    format: str  # of the corpus, see `read_documents`
    choice: Choice  # what is kept of it
    window: int  # words on each side that count as context
    glove: glove.GloveParameters


def make_vectors(
    source: Path, vectors: Path, seed: int, training: Training | None = None, threads: int = 1
) -> None:
    """Train word vectors on a corpus, or read them from a file in the format of GloVe or word2vec."""
    made = (
        build_lexicon(*read_embedding(source))
        if training is None
        else train_vectors(source, training, seed, threads)
    )
    made.save(vectors)


def train_vectors(source: Path, training: Training, seed: int, threads: int) -> Lexicon:
    """Train GloVe on a corpus, the same with any threads."""
    corpus = build_corpus(read_documents(source, training.format), **vars(training.choice))
    words = list(corpus.vocabulary["word"])
    counts = cooccurrence.count(corpus.tokens, corpus.offsets, len(words), training.window, threads)
    trained = glove.train(counts, training.glove, stream(seed, "text vectors"), threads)
    return build_lexicon(words, trained.W)
