"""The commands that train and convert word vectors, also on what the tools of Stanford's GloVe write."""

import json
import shutil

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.embeddings import _kernels, cooccurrence, glove
from biaslab.embeddings.cooccurrence import read_records
from biaslab.embeddings.formats import read_embedding
from biaslab.embeddings.glove import GloveParameters, train, write_trainings
from biaslab.embeddings.retraining import train_replicates
from biaslab.embeddings.vocabulary import digest_words, read_vocabulary
from naive import embeddings as naive
from refusals import assert_file_refused

FOODS = ["bread", "cake", "milk", "wine", "beer", "tea", "ale", "rum"]


@pytest.fixture
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = stream(3)
    lines = [json.dumps({"id": str(i), "text": " ".join(rng.choice(FOODS, 50))}) for i in range(20)]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines) + "\n")
    return "texts.jsonl"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["glove", "word2vec"])
def test_texts_become_vectors_that_depend_on_the_seed_alone(texts, method, tmp_path, biaslab):
    options = ["--method", method, "--dimension", 4, "--epochs", 2]
    shutil.copy(texts, "texts.data")
    named = ["texts.data", "--corpus-format", "jsonl"]
    for name, more in {
        "a": [texts],
        "b": [texts, "--threads", 2],
        "c": [texts, "--seed", 2],
        "d": named,
    }.items():
        assert biaslab("embeddings", "train", *more, *options, "--out", name)[0] == 0
    words, vectors = read_embedding("a")
    assert sorted(words) == sorted(FOODS)
    assert vectors.shape == (8, 4)
    a, b, c, d = ((tmp_path / name).read_bytes() for name in "abcd")
    assert a == b == d != c


def test_a_training_of_a_batch_is_converted_with_the_words_near_it(texts, tmp_path, biaslab):
    x = cooccurrence.count(np.arange(8, dtype=np.int32), np.array([0, 8]), 8, 2)
    trained = train_replicates(x, GloveParameters(3, 1), "baseline", [0, 1], 1, tmp_path / "x", 60)
    write_trainings(tmp_path / "batch.npz", [0, 1], trained, True, digest_words(FOODS))
    rows = "".join(f"{word}\t{9 - i}\n" for i, word in enumerate(FOODS))
    (tmp_path / "vocabulary.tsv").write_text(f"word\tcount\n{rows}")
    options = ["--replicate", 1, "--format", "glove", "--out", "b"]
    assert biaslab("embeddings", "convert", "batch.npz", *options)[0] == 0
    words, vectors = read_embedding("b")
    assert words == FOODS
    np.testing.assert_array_equal(vectors, trained[1].W)


RECORD = np.dtype([("row", "<i4"), ("column", "<i4"), ("value", "<f8")])
WORDS = ["the", "of", "été", "2004", "<unk>", "a\u00a0b", *(f"word{i}" for i in range(54))]


def symmetric_records(n_words=60, n=1000, seed=3):
    """Return distinct records of a symmetric matrix in random order, the words numbered from 1."""
    rng = np.random.default_rng(seed)
    pairs = rng.permutation(np.stack(np.triu_indices(n_words), axis=1))[: n // 2]
    values = rng.zipf(1.5, len(pairs)).clip(max=1000) / rng.integers(1, 11, len(pairs))
    records = [(i + 1, j + 1, x) for (i, j), x in zip(pairs.tolist(), values.tolist(), strict=True)]
    records += [(j, i, x) for i, j, x in records if i != j]
    return np.array([records[k] for k in rng.permutation(len(records))], RECORD)


@pytest.fixture
def files(tmp_path):
    symmetric_records().tofile(tmp_path / "cooccurrence.bin")
    rows = [f"{word} {1000 - i}\n" for i, word in enumerate(WORDS)]
    (tmp_path / "vocab.txt").write_text("".join(rows), encoding="utf-8")
    return tmp_path


def test_records_are_the_entries_of_the_matrix(files):
    x = read_records(files / "cooccurrence.bin", len(WORDS))
    dense = np.zeros((len(WORDS), len(WORDS)))
    for i, j, value in symmetric_records():
        dense[i - 1, j - 1] = value
    found = np.zeros_like(dense)
    found[x.rows(), x.indices] = x.counts / x.unit
    np.testing.assert_array_equal(found, dense)
    vocabulary = read_vocabulary(files / "vocab.txt")
    assert vocabulary.words == WORDS
    assert vocabulary.counts[:2].tolist() == [1000, 999]


def test_the_loss_is_that_of_the_published_algorithm(tmp_path):
    """A literal trainer visits the records in random order, as the C program does after its shuffle.

    The first epoch depends on the order of the records by some 4% in so small a matrix; those after it agree.
    """
    n_words, parameters = 300, GloveParameters(dimension=5, epochs=3, x_max=10)
    records = symmetric_records(n_words, 16_000)
    records.tofile(tmp_path / "cooccurrence.bin")
    x = read_records(tmp_path / "cooccurrence.bin", n_words)
    ours, theirs = [], []
    for seed in range(2):
        ours.append(train(x, parameters, stream(seed)).loss)
        order = stream(seed, "order").permutation(records).tolist()
        visited = [(i - 1, j - 1, value) for i, j, value in order]
        first = glove.initial_parameters(n_words, 5, 7, stream(seed, "other"))
        start = glove.embedding_of(*first, 5, np.empty(0))
        w, u, b, c = (getattr(start, name).astype(float) for name in ("W", "U", "b", "c"))
        sums = {name: np.ones_like(array) for name, array in zip("wubc", (w, u, b, c), strict=True)}
        theirs.append([naive.glove_epoch(visited, w, u, b, c, sums, 10, 0.75, 0.05) for _ in range(3)])
    ours, theirs = np.mean(ours, axis=0), np.mean(theirs, axis=0)
    assert theirs[-1] < 0.9 * theirs[0]
    np.testing.assert_allclose(ours[1:], theirs[1:], rtol=0.005)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=0.1)


def test_the_command_trains_on_them_to_the_same_bytes_with_any_threads(files, biaslab):
    written = []
    for threads in (1, 2):
        out = files / f"vectors-{threads}.txt"
        options = ["--vocabulary", files / "vocab.txt", "--dimension", 5, "--epochs", 2, "--threads", threads]
        source = files / "cooccurrence.bin"
        assert biaslab("embeddings", "train", source, *options, "--out", out)[0] == 0
        written.append(out.read_bytes())
    assert written[0] == written[1]
    assert read_embedding(out)[0] == WORDS


@pytest.mark.parametrize(
    ("source", "options", "problem"),
    [
        ("cut.bin", ["--vocabulary", "vocab.txt"], "cut.bin: expected records of 16"),
        ("cooccurrence.bin", [], "cooccurrence.bin: the file has numbers instead of words; name its"),
        ("cooccurrence.bin", ["--method", "word2vec"], "give texts to word2vec"),
        ("cooccurrence.bin", ["--vocabulary", "few.txt"], "has a word number outside 1 to 9;"),
        ("absent.bin", ["--vocabulary", "vocab.txt"], "co-occurrences does not exist"),
    ],
)
def test_files_that_do_not_fit_end_with_one_line(files, monkeypatch, biaslab, source, options, problem):
    monkeypatch.chdir(files)
    (files / "cut.bin").write_bytes((files / "cooccurrence.bin").read_bytes()[:100])
    (files / "few.txt").write_text("".join(f"{word} 1\n" for word in WORDS[:9]), encoding="utf-8")
    code, _, error = biaslab("embeddings", "train", source, *options, "--out", "vectors.txt")
    assert code == 2
    assert problem in error.splitlines()[-1]
    assert not (files / "vectors.txt").exists()


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        ([], "expected records of 16 bytes .*, found 0 bytes"),
        ([(1, 2, 0.5), (0, 1, 1)], "record 2 has a word number outside 1 to 3"),
        ([(1, 2, 0)], "record 1 has a count that is not a positive number"),
        ([(1, 2, np.nan)], "record 1 has a count that is not a positive number"),
    ],
)
def test_malformed_records_are_refused(tmp_path, records, problem):
    content = np.array(records, RECORD).tobytes()
    assert_file_refused(tmp_path / "x.bin", content, problem, lambda path: read_records(path, 3))


def test_vectors_that_the_last_update_broke_are_no_result(files, monkeypatch):
    def broken(rows, *others):
        rows[0, 0] = np.nan
        others[-1][:] = 0.1

    monkeypatch.setattr(_kernels, "train_epoch", broken)
    x = read_records(files / "cooccurrence.bin", len(WORDS))
    with pytest.raises(InputError, match="diverged in the last epoch; choose a lower learning_rate"):
        train(x, GloveParameters(dimension=5, epochs=1), stream(1))
