"""From a corpus to word vectors: readers, vocabulary, exact co-occurrences, GloVe. Knows no paper."""

BASELINE = "baseline"
"""The name, in place of a set of documents to remove, of embeddings trained on the whole corpus."""
