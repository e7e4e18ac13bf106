"""What the caveat of the claims on MinSkew says."""

import numpy as np

from biaslab.core.rng import stream
from biaslab.ranking.algorithms import rerank
from biaslab.ranking.measures import min_skew
from biaslab.ranking.simulation import draw


def test_order_of_min_skew_hangs_on_values_without_candidates():
    """What the caveat of MinSkew says: only with one added to every count DetGreedy is lower."""
    m, n_lists, k = 6, 60, 100
    scores, desired = draw(m, n_lists, k, stream(1, "test of absent values", m))
    attributes = np.repeat(np.arange(m), k)
    found = {
        name: {a: [] for a in ("det_greedy", "det_cons")} for name in ("defined", "present", "ratio", "added")
    }
    for some, p in zip(scores.reshape(n_lists, -1), desired, strict=True):
        for algorithm in ("det_greedy", "det_cons"):
            top = attributes[rerank(some, attributes, p, k, algorithm)]
            counts = np.bincount(top, minlength=m)
            there = counts > 0
            skew = min_skew(top, p, k)
            found["defined"][algorithm].append(skew)
            found["ratio"][algorithm].append(np.exp(skew))
            found["present"][algorithm].append(np.log(counts[there] / k / p[there]).min())
            found["added"][algorithm].append(np.log((counts + 1) / (k + m) / p).min())
    greedy, other = (np.array(found["defined"][a]) for a in ("det_greedy", "det_cons"))
    finite = np.isfinite(greedy) & np.isfinite(other)
    assert 0 < finite.sum() < n_lists
    assert greedy[finite].mean() > other[finite].mean()
    for name in ("present", "ratio"):
        assert np.mean(found[name]["det_greedy"]) > np.mean(found[name]["det_cons"])
    assert np.mean(found["added"]["det_greedy"]) < np.mean(found["added"]["det_cons"])
