"""From a corpus to word vectors: readers, vocabulary, exact co-occurrences, GloVe. Knows no paper."""
