"""Which documents matter by most of several scores, and how much of that is chance."""

import numpy as np
import pytest
import scipy.stats

from biaslab.core.errors import InputError
from biaslab.origins.documents import agreement


def test_documents_that_most_scores_name_and_their_correlations():
    draw = np.random.default_rng(1)
    truth = draw.standard_normal(200)
    scores = [truth + draw.normal(0, 0.2, 200), -truth + draw.normal(0, 0.2, 200), draw.standard_normal(200)]
    found = agreement(scores, n=10)
    tops = [set(np.argsort(-np.abs(one))[:10].tolist()) for one in scores]
    votes = [sum(document in top for top in tops) for document in range(200)]
    assert found.votes.tolist() == votes
    assert set(found.most.tolist()) == {d for d, count in enumerate(votes) if count >= 2}
    assert found.votes[found.most[0]] == max(votes)
    ranks = [sorted(range(200), key=lambda d, one=one: -abs(one[d])) for one in scores]
    mean = [np.mean([1 + order.index(d) for order in ranks]) for d in range(200)]
    np.testing.assert_allclose(found.mean_ranks, mean)
    expected = sorted(found.most.tolist(), key=lambda d: (-votes[d], mean[d]))
    assert found.most.tolist() == expected
    for i in range(3):
        for j in range(3):
            expected = scipy.stats.spearmanr(np.abs(scores[i]), np.abs(scores[j])).statistic
            assert found.correlations[i, j] == pytest.approx(expected)
    assert len(found.most) > found.by_chance[2]


def test_scores_that_know_nothing_of_each_other_agree_as_by_chance():
    draw = np.random.default_rng(2)
    inside = []
    for _ in range(20):
        found = agreement(draw.standard_normal((3, 100)), n=10)
        inside.append(found.by_chance[1] <= len(found.most) <= found.by_chance[2])
    # 100 documents named by two of three: 3 x 0.1² x 0.9 + 0.1³ of them
    assert found.by_chance[0] == pytest.approx(100 * (3 * 0.01 * 0.9 + 0.001), rel=0.1)
    assert sum(inside) >= 17


@pytest.mark.parametrize("scores", [[np.ones(20)], [np.ones(20), np.ones(21)], [np.ones(5), np.ones(5)]])
def test_scores_that_do_not_fit_are_refused(scores):
    with pytest.raises(InputError, match="give two of the same or more"):
        agreement(scores, n=10)
