"""The co-occurrences of a corpus, from file to file."""

from pathlib import Path

from biaslab.embeddings import cooccurrence
from biaslab.embeddings.corpus import read_tokens
from biaslab.embeddings.vocabulary import read_vocabulary


def count_corpus(corpus: Path, vocabulary: Path, window: int, out: Path, threads: int = 1) -> None:
    """Count the co-occurrences of a corpus, exactly."""
    words = read_vocabulary(vocabulary)
    counts = cooccurrence.count(*read_tokens(corpus, words), len(words), window, threads)
    cooccurrence.write(out, counts, words.digest)
