import numpy as np
import pytest

from biaslab.classifiers.domain import Protected
from biaslab.fairness_testing.testers.contract import Trail, classes
from fairness_data import small_domain
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
    numbers = classes(samples, protected)
    keys = [tuple(x[:5]) for x in samples.tolist()]
    assert len(set(zip(keys, numbers.tolist(), strict=True))) == len(set(keys)) == numbers.max() + 1


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
        trail.first_visits(protected),
        trail.take(slice(600)).first_visits(protected),
        strict=True,
    ):
        assert whole[:600].tolist() == part.tolist()
        assert 0 < part.sum() < 600
