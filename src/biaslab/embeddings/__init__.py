"""From a corpus to word vectors: readers, vocabulary, exact co-occurrences, GloVe; independent of papers."""

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

BASELINE = "baseline"  # name used as a set of documents to remove, for embeddings of the entire corpus
