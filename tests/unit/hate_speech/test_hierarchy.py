"""Agglomeration, against the literal code of ACD."""

from itertools import pairwise

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.hate_speech.hierarchy import agglomerate, collapse
from naive import hate_speech_explanations as naive


def scorer(seed, n_words):
    """Return scores of all phrases: of their words, and something of their own."""
    rng = np.random.default_rng(seed)
    words, own = rng.normal(size=n_words), rng.normal(size=(n_words + 1, n_words + 1))

    def phi(start, end):
        return words[start:end].sum() + 0.7 * own[start, end] * (end - start > 1)

    return phi


def batched(phi, asked=None):
    def score(spans):
        if asked is not None:
            asked.append(list(spans))
        return np.array([phi(*span) for span in spans])

    return score


CASES = [(n_words, seed) for n_words in (1, 2, 3, 7, 20, 41) for seed in range(10)]


@pytest.mark.parametrize(("n_words", "seed"), CASES)
def test_phrases_are_those_of_the_published_code(n_words, seed):
    phi = scorer(seed, n_words)
    found = agglomerate(batched(phi), n_words)
    lists = naive.agglomerate(lambda first, last: phi(first, last + 1), n_words)
    assert found.n_words == n_words
    assert found.levels == naive.levels(*lists)
    assert collapse(found.levels) == naive.collapse_tree(*lists, published=False)


@pytest.mark.parametrize(("n_words", "seed"), CASES)
def test_levels_contain_those_below(n_words, seed):
    levels = agglomerate(batched(scorer(seed, n_words)), n_words).levels
    assert [span[:2] for span in levels[0]] == [(i, i + 1) for i in range(n_words)]
    assert 2 <= len(levels) <= 6
    for below, above in pairwise(levels[1:]):
        for start, end, _ in below:
            assert sum(a <= start and end <= b for a, b, _ in above) == 1
        assert sum(b - a for a, b, _ in above) > sum(b - a for a, b, _ in below)
    for level in levels[1:]:
        assert all(a[1] < b[0] for a, b in pairwise(level))  # a gap between components


def test_a_tree_shows_every_phrase_once_above_what_it_was_made_from():
    n_collapsed = n_hidden = 0
    for seed in range(40):
        phi = scorer(seed, 20)
        levels = agglomerate(batched(phi), 20).levels
        tree = collapse(levels)
        shown = [span[:2] for level in tree[1:] for span in level]
        phrases = {span[:2] for level in levels for span in level if span[1] - span[0] > 1}
        assert sorted(shown) == sorted(phrases)
        for height, level in enumerate(tree[2:], start=2):
            for start, end, _ in level:
                assert any(start <= a and b <= end for a, b, _ in tree[height - 1])
        n_collapsed += sum(map(len, levels[1:])) > len(shown)
        lists = naive.agglomerate(lambda first, last, phi=phi: phi(first, last + 1), 20)
        n_hidden += sum(map(len, naive.collapse_tree(*lists)[1:])) < len(shown)
    assert n_collapsed
    assert n_hidden  # the quirk of the published code: a phrase of new words alone is shown nowhere


def test_a_phrase_is_scored_once_and_a_step_is_one_call():
    asked = []
    hierarchy = agglomerate(batched(scorer(3, 20), asked), 20)
    spans = [span for call in asked for span in call]
    assert len(spans) == len(set(spans))
    assert len(asked) <= len(hierarchy.levels)
    assert asked[0] == [(i, i + 1) for i in range(20)]


def test_a_negation_joins_its_verb():
    """Two words that only matter together: the strong word takes its neighbour before another strong one."""
    weights = [0.0, 0.1, 2.0, 0.0, 0.5, 0.0]

    def phi(start, end):
        return sum(weights[start:end]) - 3 * (start <= 1 and end >= 3) + 3 * (start <= 2 and end >= 4)

    levels = agglomerate(batched(phi), 6).levels
    assert [span[:2] for span in levels[1]] == [(2, 3)]
    assert [span[:2] for span in levels[2]] == [(2, 4)]
    assert levels[2][0][2] == 5.0


def test_a_sentence_without_words_is_refused():
    with pytest.raises(InputError, match="no words"):
        agglomerate(batched(scorer(1, 1)), 0)


def test_levels_read_from_json_collapse_alike():
    levels = agglomerate(batched(scorer(2, 20)), 20).levels
    assert collapse([[list(span) for span in level] for level in levels]) == collapse(levels)
    assert collapse([]) == []
