"""Vocabularies: reading them, and files that another order of the same words does not fit."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, write_npz, write_tsv
from biaslab.embeddings.cooccurrence import count_corpus
from biaslab.embeddings.corpus import read_corpus
from biaslab.embeddings.retraining import train_glove
from biaslab.embeddings.settings import Choice, GloveParameters
from biaslab.embeddings.unit import read_vectors
from biaslab.embeddings.vocabulary import WORDS, Vocabulary, digest_words, read_vocabulary
from biaslab.origins.attribution.settings import InfluenceParameters
from biaslab.origins.attribution.tables import attribute_documents
from biaslab.origins.baseline import write_sets
from biaslab.origins.representations.ppmi_comparison import measure_baselines
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


MODEL = GloveParameters(dimension=3, epochs=1)
BATCH, OTHER = Path("batch.npz"), Path("other.tsv")
TEXT = "bread cake milk wine beer tea ale rum bread cake milk wine"
READERS = {
    "counting": lambda words: count_corpus(Path("corpus.npz"), words, 2, Path("other.npz")),
    "bias": lambda words: measure_baselines(
        [BATCH], Path("x.npz"), words, [Path("w.yaml")], 9, 2, 1, OTHER, OTHER, OTHER, OTHER
    ),
    "sets": lambda words: write_sets(words, [Path("w.yaml")], OTHER, [BATCH]),
    "attribution": lambda words: attribute_documents(
        *([BATCH], *map(Path, ("x.npz", "corpus.npz", "documents.parquet")), words, [Path("w.yaml")]),
        *(InfluenceParameters(), OTHER, OTHER, OTHER),
    ),
    "conversion": lambda words: read_vectors("batch.npz", vocabulary=words),
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Files of a small corpus, and two vocabularies of it: the one it was read with, and a swapped one."""
    folder = tmp_path_factory.mktemp("corpus")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        rows = [f'{{"id": "{i}", "text": "{TEXT}"}}\n' for i in range(4)]
        (folder / "texts.jsonl").write_text("".join(rows))
        files = (Path("corpus.npz"), Path("documents.parquet"), Path("vocabulary.tsv"))
        read_corpus(Path("texts.jsonl"), "jsonl", Choice(min_count=2), *files, say=print)
        count_corpus(Path("corpus.npz"), Path("vocabulary.tsv"), 2, Path("x.npz"))
        train_glove(Path("x.npz"), "baseline", MODEL, 1, Path("batch.npz"))
        text = (folder / "vocabulary.tsv").read_text()
        assert "bread\t8\ncake\t8\n" in text
        (folder / "swapped.tsv").write_text(text.replace("bread\t8\ncake\t8\n", "cake\t8\nbread\t8\n"))
        sets = "targets: {s: [bread, ale], t: [wine, rum]}\nattributes: {a: [cake, tea], b: [milk, beer]}\n"
        (folder / "w.yaml").write_text(f"name: w\ntitle: t\nsource: s\n{sets}")
        yield folder


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_swapped_words_are_refused(corpus, read):
    with pytest.raises(InputError) as caught:
        read(Path("swapped.tsv"))
    problem = str(caught.value)
    assert "the words differ from those of swapped.tsv, or have another order; name two files" in problem
    assert problem.split(":")[0] in ("corpus.npz", "x.npz", "batch.npz")
    assert not list(corpus.glob("other.*"))


def test_a_corpus_of_other_words_than_the_counts_is_refused(corpus):
    arrays = read_npz("corpus.npz")
    write_npz("another.npz", **arrays | {WORDS: np.array(digest_words(["another", "word"]))})
    with pytest.raises(InputError, match=r"^another.npz: the words differ from those of"):
        train_glove(
            Path("x.npz"), "s", MODEL, 1, Path("batch-1.npz"), corpus=Path("another.npz"), sets=Path("s")
        )


def test_the_digest_is_of_words_in_order_in_any_unicode_form():
    assert digest_words(["a", "b"]) != digest_words(["b", "a"])
    assert digest_words(["ab"]) != digest_words(["a", "b"])
    assert digest_words(["caf\u00e9"]) == digest_words(["cafe\u0301"])
    known = "23adae33514484f69e40fb1f64b2c447cb37b5c3eb38fd3af34ab2675159623a"
    assert Vocabulary(["bread", "cake"], np.ones(2)).digest == known
