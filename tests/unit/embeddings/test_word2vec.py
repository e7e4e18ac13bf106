"""word2vec: the same bytes in another process, the vocabulary of the whole corpus, no word lost."""

import itertools
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, write_npz, write_parquet, write_tsv
from biaslab.core.rng import stream
from biaslab.embeddings.batches import read_trainings
from biaslab.embeddings.vocabulary import digest_words, read_vocabulary
from biaslab.embeddings.word2vec import MAX_SENTENCE, Sentences, Word2VecParameters, leave_out, train
from biaslab.run.plan.steps import run_step

N_WORDS = 30
WORDS = [f"w{i}" for i in range(N_WORDS)]
PARAMETERS = Word2VecParameters(dimension=6, window=3, epochs=2, learning_rate=0.05)


def a_corpus(n_documents=12, length=80, n_words=N_WORDS, seed=0):
    tokens = np.random.default_rng(seed).integers(n_words, size=n_documents * length).astype(np.int32)
    return tokens, np.arange(n_documents + 1) * length


@pytest.fixture
def files(tmp_path):
    """Write a corpus, its vocabulary and a set, and return what the step of a training is given."""
    tokens, offsets = a_corpus()
    counts = np.bincount(tokens, minlength=N_WORDS)
    order = np.argsort(-counts, kind="stable")  # ids are by falling count
    ids = np.argsort(order)[tokens].astype(np.int32)
    write_npz(tmp_path / "corpus.npz", tokens=ids, offsets=offsets, words=digest_words(WORDS))
    words = pd.DataFrame({"word": WORDS, "count": counts[order]})
    write_tsv(tmp_path / "vocabulary.tsv", words)
    sets = pd.DataFrame({"set": "w-decrease-2", "document": [3, 7]})
    write_parquet(tmp_path / "sets.parquet", sets)

    def given(name, out):
        paths = {"corpus": "corpus.npz", "vocabulary": "vocabulary.tsv", "sets": "sets.parquet"}
        paths = {key: str(tmp_path / file) for key, file in paths.items()} | {"out": str(out)}
        return json.dumps(paths | {"set": name, "model": vars(PARAMETERS), "trainings": 2, "seed": 4})

    return tmp_path, given


def test_another_process_writes_the_same_bytes(files):
    folder, given = files
    ours, theirs = (folder / name / "w-decrease-2" / "batch-0.npz" for name in ("ours", "theirs"))
    command = ["step", "embeddings.train-word2vec", "--given", given("w-decrease-2", theirs)]
    subprocess.run([sys.executable, "-m", "biaslab", *command], check=True, capture_output=True)
    run_step("embeddings.train-word2vec", given("w-decrease-2", ours), None, print)
    assert ours.read_bytes() == theirs.read_bytes()


def test_the_step_leaves_the_sets_documents_out(files):
    folder, given = files
    for name in ("baseline", "w-decrease-2"):
        run_step("embeddings.train-word2vec", given(name, folder / name / "batch-0.npz"), None, print)
    tokens, offsets = read_npz(folder / "corpus.npz", ("tokens", "offsets")).values()
    left = leave_out(tokens, offsets, np.array([3, 7]))
    paths = [folder / name / "batch-0.npz" for name in ("baseline", "w-decrease-2")]
    trainings = {
        (t.set, t.replicate): t.W for t in read_trainings(paths, read_vocabulary(folder / "vocabulary.tsv"))
    }
    assert len(trainings) == 4
    assert len({W.tobytes() for W in trainings.values()}) == 4
    for name, corpus in (("baseline", (tokens, offsets)), ("w-decrease-2", left)):
        for replicate in range(2):
            W = train(*corpus, N_WORDS, PARAMETERS, stream(4, "word2vec", name, replicate))
            np.testing.assert_array_equal(trainings[name, replicate], W)
    assert set(read_npz(paths[0])) == {"replicates", "W", "words"}


def test_a_set_that_is_not_there(files):
    folder, given = files
    with pytest.raises(InputError, match="the table has no set 'w-decrease-9'"):
        run_step("embeddings.train-word2vec", given("w-decrease-9", folder / "o.npz"), None, print)
    without = json.loads(given("w-decrease-2", folder / "o.npz"))
    del without["sets"]
    with pytest.raises(InputError, match="removing documents requires the table of sets"):
        run_step("embeddings.train-word2vec", json.dumps(without), None, print)
    assert not (folder / "o.npz").exists()


def test_words_keep_their_rows_when_they_are_rare_or_gone():
    """Words 0 and 1 share their contexts, and so do 2 and 3; word 4 does not occur any more, 5 only once."""
    rng = np.random.default_rng(1)
    pieces = []
    for _ in range(2000):
        group = rng.integers(2)
        pieces.append([2 * group + rng.integers(2), *(6 + 6 * group + rng.integers(6, size=3)), 2 * group])
    tokens = np.concatenate([*pieces, [5]]).astype(np.int32)
    offsets = np.append(np.arange(0, len(tokens), 5), len(tokens))
    W = train(tokens, offsets, 18, Word2VecParameters(8, 4, 8, 0.05), stream(0)).astype(np.float64)
    assert W.shape == (18, 8)
    assert np.isfinite(W).all()
    unit = W / np.linalg.norm(W, axis=1, keepdims=True)
    cosines = unit[:4] @ unit[:4].T
    assert min(cosines[0, 1], cosines[2, 3]) > cosines[:2, 2:].max() + 0.5
    assert np.abs(W[4]).max() <= 1 / 8  # still the random vector it began with


def test_long_documents_are_cut_and_no_word_is_lost():
    lengths = [MAX_SENTENCE, 0, 2 * MAX_SENTENCE + 7, 3]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    tokens = np.random.default_rng(2).integers(N_WORDS, size=offsets[-1]).astype(np.int32)
    sentences = Sentences(tokens, offsets, np.array([str(i) for i in range(N_WORDS)], object))
    cut = list(sentences)
    assert [len(s) for s in cut] == [MAX_SENTENCE, MAX_SENTENCE, MAX_SENTENCE, 7, 3]
    assert [int(w) for s in cut for w in s] == tokens.tolist()
    assert len(sentences) == len(cut) == len(list(sentences))


def test_leaving_out_keeps_the_other_documents():
    tokens, offsets = a_corpus(5, 4)
    left, cuts = leave_out(tokens, offsets, np.array([0, 3]))
    assert [left[a:b].tolist() for a, b in itertools.pairwise(cuts)] == [
        tokens[offsets[d] : offsets[d + 1]].tolist() for d in (1, 2, 4)
    ]
    with pytest.raises(InputError, match="document 5 is not in the corpus of 5 documents"):
        leave_out(tokens, offsets, np.array([1, 5]))


def test_bad_corpora():
    tokens, offsets = a_corpus()
    with pytest.raises(InputError, match="the corpus is empty"):
        train(tokens[:0], np.zeros(1, np.int64), N_WORDS, PARAMETERS, stream(0))
    with pytest.raises(InputError, match="word 29 is outside the vocabulary of 29"):
        train(tokens, offsets, 29, PARAMETERS, stream(0))
