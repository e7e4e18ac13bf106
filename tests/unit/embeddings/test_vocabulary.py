"""Reading vocabulary.tsv."""

import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import write_tsv
from biaslab.embeddings.vocabulary import read_vocabulary
from refusals import assert_file_refused

TABLE = "vocabulary.tsv"


def test_words_get_their_rows_as_ids(tmp_path):
    path = tmp_path / "vocabulary.tsv"
    words = ["the", "NA", "nan", "null", "2004", "1e5", "True", "été", '"', "'"]  # none of them is a number
    write_tsv(path, pd.DataFrame({"word": words, "count": [20, 19, 18, 17, 5, 5, 4, 3, 2, 1]}))
    vocabulary = read_vocabulary(path)
    assert vocabulary.words == words
    assert len(vocabulary) == 10
    assert vocabulary.ids == {word: i for i, word in enumerate(words)}
    assert vocabulary.counts.dtype == np.int64
    assert vocabulary.counts.tolist() == [20, 19, 18, 17, 5, 5, 4, 3, 2, 1]
    path.write_text("word\tcount\n007\t3\n1\t2\n")
    assert read_vocabulary(path).words == ["007", "1"], "words of digits stay text"


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        (TABLE, "", "not a tab-separated table"),
        (TABLE, "word\tcount\n", "the vocabulary is empty"),
        (TABLE, "word\tn\na\t1\n", "column 'count' is missing"),
        (TABLE, "word\tcount\na\t2\n\t1\n", "line 3: the word is missing"),
        (TABLE, "word\tcount\na\t2\nb\t1\na\t1\n", "line 4: the word is repeated"),
        (TABLE, "word\tcount\na\ttwo\n", "line 2: the count is not a positive integer"),
        (TABLE, "word\tcount\na\t2.5\n", "line 2: the count is not a positive integer"),
        (TABLE, "word\tcount\na\t0\n", "line 2: the count is not a positive integer"),
        (TABLE, "word\tcount\na\t2\nb\t3\n", "line 3: the count is larger than that of the row above"),
        (TABLE, "word\tcount\na\t2", "the last line has no end"),
        ("vocab.txt", "", "the vocabulary is empty"),
        ("vocab.txt", "the 5\nof x\n", "line 2: the count is not a positive integer"),
        ("vocab.txt", "th\xff 5\n", "not UTF-8 text"),
    ],
)
def test_malformed_vocabularies_are_refused(tmp_path, name, text, problem):
    assert_file_refused(tmp_path / name, text.encode("latin-1"), problem, read_vocabulary)
    with pytest.raises(InputError, match="no such file"):
        read_vocabulary(tmp_path / "absent.tsv")
