import numpy as np
import pytest
import scipy.stats

from biaslab.classifiers.domain import Protected
from biaslab.fairness_testing.testers.contract import (
    check,
    discriminatory_share,
    find_partners,
    uniform_fairness,
)
from fairness_data import make_subject, random_network, small_domain
from naive import fairness_testing as naive


@pytest.mark.parametrize("columns", [(1,), (4,), (1, 4)])
def test_check_equals_the_definition(columns):
    domain, network = small_domain(), random_network(11)
    X = domain.draw(200, np.random.default_rng(12))
    X[::5, 1] = 7  # outside the domain, as in the census file
    found = check(make_subject(network, columns), X)
    expected = [
        naive.is_discriminatory(lambda v: int(network.labels(np.array([v], np.int32))[0]), x, domain, columns)
        for x in X
    ]
    assert found.discriminatory.tolist() == expected
    assert 0 < sum(expected) < len(X)
    for x, partner, is_found in zip(X, found.partners, expected, strict=True):
        assert (partner >= 0) == is_found
        if is_found:
            other = x.copy()
            other[list(columns)] = Protected.of(domain, columns).values[partner]
            assert network.labels(np.array([other]))[0] != network.labels(np.array([x]))[0]


def test_answers_do_not_depend_on_the_batch(monkeypatch):
    subject = make_subject(random_network(15), (1,))
    X = subject.domain.draw(777, np.random.default_rng(16))
    found = check(subject, X)
    finds = X[found.discriminatory]
    others = finds.copy()
    others[:, 1] = subject.protected.values[found.partners[found.discriminatory], 0]
    for batch in (1, 100, 8192):
        monkeypatch.setattr("biaslab.fairness_testing.testers.contract.BATCH", batch)
        assert discriminatory_share(subject, X) == found.discriminatory.mean()
        partners, labels, other_labels = find_partners(subject, finds)
        assert (partners == others).all()
        assert (labels == subject.model.labels(finds)).all()
        assert (other_labels == subject.model.labels(others)).all()


def test_samples_are_uniform():
    domain = small_domain()
    X = domain.draw(50_000, np.random.default_rng(2))
    for column, low, high in zip(X.T, domain.low, domain.high, strict=True):
        counts = np.bincount(column - low, minlength=high - low + 1)
        assert scipy.stats.chisquare(counts).pvalue > 1e-4


def test_fairness_is_the_share_of_the_whole_domain():
    domain, network = small_domain(), random_network(8)
    n = 20_000
    ranges = [np.arange(low, high + 1) for low, high in zip(domain.low, domain.high, strict=True)]
    everything = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, 5).astype(np.int32)
    labels = network.labels(everything).reshape([len(r) for r in ranges])
    exact = (labels != labels[:, :1]).any(axis=1).mean()
    share, low, high = uniform_fairness(make_subject(network, (1,)), n=n, seed=3)
    assert low < share < high
    assert low < exact < high
    k = round(share * n)
    assert low == pytest.approx(scipy.stats.beta.ppf(0.025, k, n - k + 1))
    assert high == pytest.approx(scipy.stats.beta.ppf(0.975, k + 1, n - k))
