import numpy as np
import pytest

from biaslab.bias.weat import weat_words
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.glove import GloveParameters, write_trainings
from biaslab.embeddings.retraining import train_replicates
from biaslab.origins.attribution.scanner import InfluenceParameters, Scanner
from biaslab.origins.attribution.tables import document_table
from biaslab.origins.checks.bias_gradient.analysis import contributions, pair_table, token_contributions
from naive import embeddings as naive_embeddings
from naive import origins as naive_origins

N_WORDS, D, N_DOCUMENTS, LENGTH, WINDOW = 30, 4, 40, 40, 8
WORDS = [f"w{i}" for i in range(N_WORDS)]


def ids(*numbers):
    return np.array(numbers, np.int64)


WEAT = WeatIndices("w", ids(3, 10), ids(7, 11), ids(0, 2), ids(1, 5), ("S", "T", "A", "B"), {})
TEST_WORDS = {WORDS[i] for i in weat_words(WEAT)}


@pytest.fixture(scope="module")
def scanner(tmp_path_factory):
    rng = np.random.default_rng(5)
    offsets = np.arange(0, LENGTH * N_DOCUMENTS + 1, LENGTH).astype(np.int64)
    tokens = rng.integers(0, N_WORDS, offsets[-1]).astype(np.int32)
    x = cooccurrence.count(tokens, offsets, N_WORDS, WINDOW)
    path = tmp_path_factory.mktemp("baseline") / "batch-0.npz"
    trained = train_replicates(x, GloveParameters(D, 3), "baseline", [0, 1, 2], 1, path, 1e9)
    write_trainings(path, [0, 1, 2], trained, every_parameter=True)
    return Scanner([path], x, tokens, offsets, WORDS, InfluenceParameters(x_max=20.0), 1)


@pytest.fixture(scope="module")
def pairs(scanner):
    return pair_table(scanner, WEAT)


@pytest.fixture(scope="module")
def scores(scanner):
    import pandas as pd

    numbers = np.arange(N_DOCUMENTS)
    documents = pd.DataFrame({"document": numbers, "id": numbers.astype(str), "title": ""})
    return document_table(scanner, WEAT, documents)


def tokens_of(scanner, document):
    part = scanner.tokens[scanner.offsets[document] : scanner.offsets[document + 1]]
    return [WORDS[i] for i in part]


def test_every_pair_is_there_once_with_its_count(scanner, pairs):
    assert set(pairs["word"]) == TEST_WORDS
    assert not pairs.apply(lambda p: frozenset((p["word"], p["context"])), axis=1).duplicated().any()
    texts = [[WORDS.index(t) for t in tokens_of(scanner, d)] for d in range(N_DOCUMENTS)]
    counts = naive_embeddings.cooccurrence(texts, WINDOW)
    expected = {(i, j): x for (i, j), x in counts.items() if WORDS[i] in TEST_WORDS}
    for pair in pairs.itertuples():
        place = WORDS.index(pair.word), WORDS.index(pair.context)
        assert pair.x == pytest.approx(float(expected[place]))
    unordered = {frozenset(place) for place in expected}
    assert len(pairs) == len(unordered)


def test_gradient_of_a_pair_is_the_sum_of_both_places_over_the_baselines(scanner, pairs):
    rows, values = scanner.gradients(WEAT)
    words = rows.words[rows.rows]
    for pair in pairs.iloc[::17].itertuples():
        i, j = WORDS.index(pair.word), WORDS.index(pair.context)
        places = ((words == i) & (rows.columns == j)) | ((words == j) & (rows.columns == i))
        by_seed = values[:, places].sum(axis=1)
        assert pair.gradient_mean == pytest.approx(by_seed.mean())
        assert pair.gradient_sd == pytest.approx(by_seed.std(ddof=1))
        assert pair.elasticity_mean == pytest.approx(pair.x * by_seed.mean())
        assert pair.elasticity_sd == pytest.approx(pair.x * by_seed.std(ddof=1))


def test_contributions_of_all_tokens_add_up_to_the_documents_score(scanner, pairs, scores):
    for document in range(N_DOCUMENTS):
        tokens = tokens_of(scanner, document)
        found = contributions(tokens, TEST_WORDS, pairs, WINDOW)
        by_token = token_contributions(found, len(tokens))
        score = scores["gradient_mean"][document]
        assert by_token.sum() == pytest.approx(score, rel=1e-9, abs=1e-12)
        assert found["contribution"].sum() == pytest.approx(score, rel=1e-9, abs=1e-12)


def test_contributions_of_tokens_are_the_naive_ones(scanner, pairs):
    rows, values = scanner.gradients(WEAT)
    gradient = {}
    for row, column, value in zip(rows.rows, rows.columns, values.mean(axis=0), strict=True):
        gradient.setdefault(WORDS[rows.words[row]], {})[WORDS[column]] = value
    for document in (0, 13):
        tokens = tokens_of(scanner, document)
        found = token_contributions(contributions(tokens, TEST_WORDS, pairs, WINDOW), len(tokens))
        np.testing.assert_allclose(
            found, naive_origins.token_contributions(tokens, gradient, WINDOW), atol=1e-12
        )


def test_documents_without_words_of_the_test_contribute_nothing(pairs):
    tokens = ["w20", "w21", "w22"]
    found = contributions(tokens, TEST_WORDS, pairs, WINDOW)
    assert found.empty
    assert token_contributions(found, 3).tolist() == [0, 0, 0]
    assert len(token_contributions(contributions([], TEST_WORDS, pairs, WINDOW), 0)) == 0


def test_pair_without_a_gradient_is_named(pairs):
    with pytest.raises(InputError, match="'w3' and 'elsewhere' has no gradient; run the workflow again"):
        contributions(["w3", "elsewhere"], TEST_WORDS, pairs, WINDOW)
    with pytest.raises(InputError, match="'w3' and 'w20' has no gradient"):
        contributions(["w3", "w20"], TEST_WORDS, pairs.head(0), WINDOW)
