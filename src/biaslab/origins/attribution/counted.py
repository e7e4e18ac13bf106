"""Read the files of a counted corpus, for steps and commands."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from biaslab.bias.word_sets import WeatIndices, in_vocabulary, read_word_sets
from biaslab.core.errors import InputError
from biaslab.embeddings import cooccurrence as counting
from biaslab.embeddings.cooccurrence import Cooccurrence
from biaslab.embeddings.corpus import read_tokens
from biaslab.embeddings.vocabulary import Vocabulary, check_words, read_vocabulary


def read_counted(
    cooccurrence: Path, corpus: Path, vocabulary: Path
) -> tuple[Vocabulary, Cooccurrence, np.ndarray, np.ndarray]:
    """Read the vocabulary, the counts, the word ids and the offsets of a corpus."""
    words = read_vocabulary(vocabulary)
    x = read_counts(cooccurrence, words)
    return words, x, *read_tokens(corpus, words)


def read_counts(path: Path, words: Vocabulary) -> Cooccurrence:
    """Read the counts of a corpus, and check that they match its vocabulary."""
    x = counting.read(path)
    if x.n_words != len(words):
        raise InputError(
            f"{path}: the counts have {x.n_words} words and {words.source} has {len(words)}; name files of"
            " the same corpus"
        )
    check_words(path, words)
    return x


def read_tests(
    files: Sequence[Path], words: Vocabulary, measures: Mapping[str, Iterable[str]] | None = None
) -> list[WeatIndices]:
    """Read tests by the given measures, by default only WEAT, and look up their words in a vocabulary."""
    return [in_vocabulary(read_word_sets(file, measures), words.ids) for file in files]
