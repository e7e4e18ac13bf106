import numpy as np
import pytest

from biaslab.bias.weat import weat_words
from biaslab.core.errors import InputError
from biaslab.origins.checks.bias_gradient import contributions, pair_table, token_contributions
from naive import embeddings as naive_embeddings
from naive import origins as naive_origins

WINDOW = 8
WORDS = [f"w{i}" for i in range(30)]


@pytest.fixture(scope="module")
def pairs(small):
    return pair_table(small.scanner, small.weat)


@pytest.fixture(scope="module")
def test_words(small):
    return {WORDS[i] for i in weat_words(small.weat)}


def tokens_of(small, document):
    return [WORDS[i] for i in small.texts()[document]]


def test_every_pair_is_there_once_with_its_count(small, pairs, test_words):
    assert set(pairs["word"]) == test_words
    assert not pairs.apply(lambda p: frozenset((p["word"], p["context"])), axis=1).duplicated().any()
    counts = naive_embeddings.cooccurrence(small.texts(), WINDOW)
    expected = {(i, j): x for (i, j), x in counts.items() if WORDS[i] in test_words}
    for pair in pairs.itertuples():
        place = WORDS.index(pair.word), WORDS.index(pair.context)
        assert pair.x == pytest.approx(float(expected[place]))
    unordered = {frozenset(place) for place in expected}
    assert len(pairs) == len(unordered)


def test_gradient_of_a_pair_is_the_sum_of_both_places_over_the_baselines(small, pairs):
    rows, values = small.scanner.gradients(small.weat)
    words = rows.words[rows.rows]
    for pair in pairs.iloc[::17].itertuples():
        i, j = WORDS.index(pair.word), WORDS.index(pair.context)
        places = ((words == i) & (rows.columns == j)) | ((words == j) & (rows.columns == i))
        by_seed = values[:, places].sum(axis=1)
        assert pair.gradient_mean == pytest.approx(by_seed.mean())
        assert pair.gradient_sd == pytest.approx(by_seed.std(ddof=1))
        assert pair.elasticity_mean == pytest.approx(pair.x * by_seed.mean())
        assert pair.elasticity_sd == pytest.approx(pair.x * by_seed.std(ddof=1))


def test_contributions_of_tokens_are_the_naive_ones(small, pairs, test_words):
    rows, values = small.scanner.gradients(small.weat)
    gradient = {}
    for row, column, value in zip(rows.rows, rows.columns, values.mean(axis=0), strict=True):
        gradient.setdefault(WORDS[rows.words[row]], {})[WORDS[column]] = value
    for document in (0, 13):
        tokens = tokens_of(small, document)
        found = token_contributions(contributions(tokens, test_words, pairs, WINDOW), len(tokens))
        np.testing.assert_allclose(
            found, naive_origins.token_contributions(tokens, gradient, WINDOW), atol=1e-12
        )


def test_documents_without_words_of_the_test_contribute_nothing(pairs, test_words):
    tokens = ["w20", "w21", "w22"]
    found = contributions(tokens, test_words, pairs, WINDOW)
    assert found.empty
    assert token_contributions(found, 3).tolist() == [0, 0, 0]
    assert len(token_contributions(contributions([], test_words, pairs, WINDOW), 0)) == 0


def test_pair_without_a_gradient_is_named(pairs, test_words):
    with pytest.raises(InputError, match="'w3' and 'elsewhere' has no gradient; rerun the workflow"):
        contributions(["w3", "elsewhere"], test_words, pairs, WINDOW)
    with pytest.raises(InputError, match="'w3' and 'w20' has no gradient"):
        contributions(["w3", "w20"], test_words, pairs.head(0), WINDOW)
