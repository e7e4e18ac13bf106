import numpy as np
import pandas as pd
import pytest
import yaml

from biaslab.bias.weat import effect_size
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, read_tsv, write_npz, write_parquet, write_tsv
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.glove import GloveParameters, write_trainings
from biaslab.embeddings.retraining import train_replicates
from biaslab.embeddings.vocabulary import Vocabulary
from biaslab.origins.attribution.ppmi import differential_bias, write_scan
from biaslab.origins.attribution.scanner import InfluenceParameters
from biaslab.origins.checks.bias_gradient.analysis import write_gradient
from biaslab.origins.representations.ppmi_comparison.analysis import (
    compare_word_sets,
    correlate_word_sets,
    random_word_sets,
    write_comparison,
)
from naive import bias as naive_bias
from naive import embeddings as naive_embeddings

N_WORDS, WINDOW, SIZES = 40, 5, (3, 3, 2, 4)
WORDS = [f"w{i}" for i in range(N_WORDS)]
VOCABULARY = Vocabulary(WORDS, np.ones(N_WORDS))


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(8)
    tokens = rng.permutation(np.arange(900) % (N_WORDS - 1)).astype(np.int32)  # ids by falling count
    tokens[np.flatnonzero(tokens == N_WORDS - 2)[0]] = N_WORDS - 1  # a word with 10 contexts at most
    return tokens, np.arange(0, 901, 90)


@pytest.fixture(scope="module")
def x(corpus):
    return cooccurrence.count(*corpus, N_WORDS, WINDOW)


@pytest.fixture(scope="module")
def batches(x, tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "baseline" / "batch-0.npz"
    trained = train_replicates(x, GloveParameters(4, 2), "baseline", [0, 1], 1, path, 1e9)
    write_trainings(path, [0, 1], trained, True, VOCABULARY.digest)
    return [path], [training.W for training in trained]


def test_random_tests_have_different_words_with_enough_contexts(x):
    tests = random_word_sets(x, SIZES, 300, 15, 1)
    drawn = np.array([np.concatenate([t.S, t.T, t.A, t.B]) for t in tests])
    assert [len(getattr(tests[0], name)) for name in "STAB"] == list(SIZES)
    assert all(len(set(row)) == sum(SIZES) for row in drawn.tolist())
    assert set(drawn.ravel()) == set(range(N_WORDS - 1))
    np.testing.assert_array_equal(drawn[:10, :3], [t.S for t in random_word_sets(x, SIZES, 10, 15, 1)])
    assert (drawn[0, :3] != random_word_sets(x, SIZES, 1, 15, 2)[0].S).any()


def test_too_few_words(x):
    with pytest.raises(InputError, match="0 words have 99 contexts or more, and a random test needs 12"):
        random_word_sets(x, SIZES, 2, 99, 1)


def test_random_tests_are_measured_in_both(x, corpus, batches):
    tests = random_word_sets(x, SIZES, 6, 15, 1)
    table = compare_word_sets(batches[0], x, tests, VOCABULARY)
    documents = [corpus[0][k : k + 90].tolist() for k in range(0, 900, 90)]
    matrix = naive_embeddings.ppmi(documents, N_WORDS, WINDOW)
    for k, test in enumerate(tests):
        ppmi = naive_bias.effect_size(matrix, *(getattr(test, name).tolist() for name in "STAB"))
        glove = [effect_size(W, test) for W in batches[1]]
        assert table["ppmi"][k] == pytest.approx(ppmi, abs=1e-10)
        assert table["glove_mean"][k] == pytest.approx(np.mean(glove))
        assert table["glove_sd"][k] == pytest.approx(np.std(glove, ddof=1))
        assert table["A"][k] == ",".join(WORDS[i] for i in test.A)
    fit = correlate_word_sets(table, "ppmi", 1).iloc[0]
    assert fit["n_sets"] == 6
    assert fit["r2"] == pytest.approx(naive_bias.r_squared(table["ppmi"], table["glove_mean"]))
    assert fit["r2_ci_low"] <= fit["r2_ci_high"]


def test_another_vocabulary(x, batches):
    with pytest.raises(InputError, match="X has 40 words and the vocabulary 39"):
        compare_word_sets(
            batches[0], x, random_word_sets(x, SIZES, 2, 15, 1), Vocabulary(WORDS[1:], np.ones(N_WORDS - 1))
        )


@pytest.fixture
def files(x, corpus, batches, tmp_path):
    """Write the files that the steps read, and return a function that scans them."""
    cooccurrence.write(tmp_path / "x.npz", x, VOCABULARY.digest)
    write_npz(tmp_path / "corpus.npz", tokens=corpus[0], offsets=corpus[1], words=VOCABULARY.digest)
    numbers = np.arange(10)
    documents = pd.DataFrame({"document": numbers, "id": numbers.astype(str), "title": "t"})
    write_parquet(tmp_path / "documents.parquet", documents)
    write_tsv(tmp_path / "vocabulary.tsv", pd.DataFrame({"word": WORDS, "count": np.bincount(corpus[0])}))
    sets = {"name": "w", "title": "t", "source": "s"}
    sets |= {"targets": {"S": ["w0", "w1", "lost"], "T": ["w2", "w3"]}}
    sets |= {"attributes": {"A": ["w4", "w5"], "B": ["w6", "w7"]}}
    (tmp_path / "w.yaml").write_text(yaml.safe_dump(sets))

    return tmp_path


def scan(folder):
    files = [folder / name for name in ("x.npz", "corpus.npz", "documents.parquet", "vocabulary.tsv")]
    write_scan(*files, [folder / "w.yaml"], folder / "out.parquet")


def estimate(folder):
    files = [folder / name for name in ("batch.npz", "x.npz", "corpus.npz", "vocabulary.tsv", "w.yaml")]
    made = folder / "out.parquet", folder / "ends.tsv"
    write_gradient(files[:1], *files[1:4], files[4:], InfluenceParameters(), *made)


def test_the_steps_write_what_the_functions_return(files, x, corpus, batches, tmp_path):
    weat = WeatIndices("w", *np.split(np.arange(8), 4), ("S", "T", "A", "B"), {})
    scan(files)
    np.testing.assert_array_equal(
        read_parquet(tmp_path / "out.parquet")["ppmi"], differential_bias(x, *corpus, weat)
    )
    read = (batches[0], tmp_path / "x.npz", tmp_path / "vocabulary.tsv", [tmp_path / "w.yaml"])
    made = (tmp_path / f"{name}.tsv" for name in "sc")
    write_comparison(*read, *made, seed=1, count=20, contexts=15)
    expected = compare_word_sets(batches[0], x, random_word_sets(x, (3, 2, 2, 2), 20, 15, 1), VOCABULARY)
    assert read_tsv(tmp_path / "s.tsv")["ppmi"].to_numpy() == pytest.approx(expected["ppmi"].to_numpy())
    assert read_tsv(tmp_path / "c.tsv")["n_sets"].item() == 20


def test_files_of_different_corpora_are_refused(files, tmp_path):
    write_tsv(tmp_path / "vocabulary.tsv", pd.DataFrame({"word": WORDS[:-1], "count": 20}))
    problem = r"x\.npz: counts of 40 words, but .*vocabulary\.tsv has 39; name the files of one corpus"
    with pytest.raises(InputError, match=problem):
        scan(files)
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("step", [scan, estimate])
def test_the_vocabulary_of_another_corpus_of_as_many_words_is_refused(files, corpus, tmp_path, step):
    counts = np.bincount(corpus[0])
    counts[0] += 3
    write_tsv(tmp_path / "vocabulary.tsv", pd.DataFrame({"word": WORDS, "count": counts}))
    problem = f"corpus.npz: the word 'w0' is there {counts[0] - 3} times, by the vocabulary {counts[0]} times"
    with pytest.raises(InputError, match=problem) as error:
        step(files)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out.parquet").exists()
