import numpy as np
import pandas as pd
import pytest

from biaslab.bias.weat import effect_size
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.glove import GloveParameters, write_trainings
from biaslab.embeddings.retraining import train_replicates
from biaslab.embeddings.vocabulary import digest_words
from biaslab.origins.attribution.scanner import InfluenceParameters, Scanner
from biaslab.origins.attribution.tables import (
    count_test_words,
    document_table,
    set_table,
)
from biaslab.origins.sets.selection import select_sets

N_WORDS, D, N_DOCUMENTS = 30, 4, 40
WORDS = [f"w{i}" for i in range(N_WORDS)]
WEAT = WeatIndices("w", *np.array([[3, 10], [7, 11], [0, 2], [1, 5]]), ("S", "T", "A", "B"), {})


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(5)
    offsets = np.arange(0, 40 * N_DOCUMENTS + 1, 40).astype(np.int64)
    return rng.permutation(np.arange(offsets[-1]) % N_WORDS).astype(np.int32), offsets  # ids by falling count


@pytest.fixture(scope="module")
def scanner(corpus, tmp_path_factory):
    x = cooccurrence.count(*corpus, N_WORDS, 8)
    path = tmp_path_factory.mktemp("baseline") / "batch-0.npz"
    trained = train_replicates(x, GloveParameters(D, 3), "baseline", [0, 1, 2], 1, path, 1e9)
    write_trainings(path, [0, 1, 2], trained, True, digest_words(WORDS))
    return Scanner([path], x, *corpus, WORDS, InfluenceParameters(), 1), trained


def documents():
    numbers = np.arange(N_DOCUMENTS)
    return pd.DataFrame({"document": numbers, "id": numbers.astype(str), "title": "a title"})


def test_document_table(scanner):
    table = document_table(scanner[0], WEAT, documents())
    seeds = table[[f"newton_seed{s}" for s in range(3)]].to_numpy()
    np.testing.assert_allclose(table["newton_mean"], seeds.mean(axis=1))
    np.testing.assert_allclose(table["newton_sd"], seeds.std(axis=1, ddof=1))
    assert list(table.columns[:5]) == ["document", "id", "title", "influence_mean", "influence_sd"]


def test_the_words_of_a_test_are_counted_in_every_document(corpus):
    tokens, offsets = corpus
    table = count_test_words(tokens, offsets, WEAT)
    assert list(table) == [f"{what}_{name}" for what in ("n", "rarest") for name in "STAB"]
    for number, words in enumerate(tokens.reshape(N_DOCUMENTS, -1).tolist()):
        assert table["n_S"][number] == words.count(3) + words.count(10)
        assert table["rarest_S"][number] == words.count(10)
        assert table["rarest_B"][number] == words.count(5)
    assert (table["n_T"] == 0).any()
    empty = count_test_words(np.array([5, 5], np.int32), np.array([0, 0, 2]), WEAT)
    assert empty["n_B"].tolist() == [0, 2]


def test_set_table_predicts_the_bias_after_removal(scanner):
    scan, trained = scanner
    means = document_table(scan, WEAT, documents())["influence_mean"].to_numpy()
    sets = select_sets({"w": means, "other": means}, [1, 4], [3], 2, 1)
    table = set_table(scan, [WEAT], sets)
    assert len(table) == (4 + 2) * 3 * 3  # the other test's sets are not predicted for this one
    one = table.query("set == 'w-decrease-1' and estimator == 'influence'")
    assert one["seed"].tolist() == [0, 1, 2]
    before = [effect_size(e.W, WEAT) for e in trained]
    np.testing.assert_allclose(before - one["predicted"].to_numpy(), _seeds(scan, means.argmax()), rtol=1e-9)
    assert set(table.query("kind == 'random'")["weat"]) == {"w"}


def _seeds(scan, document):
    return [e.values[document, 0] for e in scan.scan(WEAT)]


def test_another_vocabulary(scanner, corpus):
    scan, _ = scanner
    with pytest.raises(InputError, match="X has 30 words and the vocabulary 29"):
        Scanner(scan.batches, scan.x, *corpus, WORDS[1:], InfluenceParameters(), 1)


def test_documents_of_another_corpus(scanner):
    with pytest.raises(InputError, match="39 documents listed, 40 in the corpus"):
        document_table(scanner[0], WEAT, documents()[1:])
