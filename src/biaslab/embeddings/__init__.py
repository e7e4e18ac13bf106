"""From a corpus to word vectors: readers, vocabulary, exact co-occurrences, GloVe. Knows no paper."""

__all__ = [
    "analogies",
    "cooccurrence",
    "corpus",
    "formats",
    "glove",
    "ppmi",
    "reverse",
    "unit",
    "vocabulary",
    "word2vec",
]

BASELINE = "baseline"
"""The name, in place of a set of documents to remove, of embeddings trained on the whole corpus."""
