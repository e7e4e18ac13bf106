import numpy as np
import pytest
import scipy.stats

from biaslab.classifiers.domain import Protected
from biaslab.fairness_testing.testers.contract import (
    Trail,
    check,
    discriminatory_share,
    find_partners,
    uniform_fairness,
)
from fairness_data import make_subject, random_network, small_domain
from naive import fairness_testing as naive


def random_trail(domain, n, seed):
    rng = np.random.default_rng(seed)
    samples, is_found = domain.draw(n, rng), rng.random(n) < 0.3
    return Trail(samples, is_found, np.sort(rng.integers(0, 9, n)).astype(np.int32), rng.integers(1, 5, n))


@pytest.mark.parametrize("columns", [(1,), (1, 4)])
@pytest.mark.parametrize("n", [0, 1, 3000])
def test_counts_equal_sets_of_tuples(columns, n):
    domain = small_domain()
    trail = random_trail(domain, n, 3)
    counts = trail.count(Protected.of(domain, columns))
    assert (counts.n_samples, counts.n_discriminatory) == naive.count_trail(
        trail.samples, trail.discriminatory, columns
    )
    assert counts.n_queries == trail.queries.sum()


def test_classes_of_a_domain_larger_than_any_integer():
    rng = np.random.default_rng(4)
    samples = rng.integers(-(2**31), 2**31, size=(400, 6), dtype=np.int32)[rng.integers(0, 400, 2000)]
    domain = small_domain()
    protected = Protected((5,), domain.low[:1, None])
    found, nothing = np.ones(len(samples), bool), np.zeros(len(samples), np.int32)
    counts = Trail(samples, found, nothing, nothing).count(protected)
    assert (counts.n_samples, counts.n_discriminatory) == naive.count_trail(samples, found, (5,))


def test_distinct_discriminatory_samples_come_in_order_of_their_first_visit():
    domain = small_domain()
    protected, trail = Protected.of(domain, (1,)), random_trail(domain, 2000, 5)
    seen, expected = set(), []
    for x, is_found in zip(trail.samples.tolist(), trail.discriminatory, strict=True):
        key = (x[0], *x[2:])
        if is_found and key not in seen:
            seen.add(key)
            expected.append(x)
    assert trail.distinct_discriminatory(protected).tolist() == expected


def test_first_visits_of_a_beginning_are_those_of_the_whole():
    protected, trail = Protected.of(small_domain(), (1,)), random_trail(small_domain(), 1200, 6)
    for whole, part in zip(
        trail.first_visits(protected), trail.take(slice(600)).first_visits(protected), strict=True
    ):
        assert whole[:600].tolist() == part.tolist()
        assert 0 < part.sum() < 600


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
