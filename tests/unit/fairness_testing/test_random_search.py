import numpy as np
import pytest
import scipy.stats

from biaslab.core.errors import InputError
from biaslab.core.jit import set_threads
from biaslab.fairness_testing.testers import trails
from biaslab.fairness_testing.testers.contract import collect
from biaslab.fairness_testing.testers.discrimination import check, uniform_fairness
from biaslab.fairness_testing.testers.registry import TESTERS
from fairness_data import blind, make_subject, make_task, random_network, small_domain


def draw(subject, n, seed=1):
    return collect(TESTERS["random"].search(make_task(subject, n_seeds=1, n_drawn=n, seed=seed), None))


@pytest.mark.parametrize("columns", [(1,), (1, 4)])
def test_every_sample_is_checked(columns):
    subject = make_subject(random_network(8), columns)
    trail = draw(subject, 300).joined()
    assert subject.domain.contains(trail.samples).all()
    assert (trail.discriminatory == check(subject, trail.samples).discriminatory).all()
    assert trail.discriminatory.any()
    assert trail.seed.tolist() == list(range(300))
    assert (trail.queries == len(subject.protected.values)).all()


def test_fewer_samples_are_the_first_ones_at_any_number_of_threads():
    subject = make_subject(random_network(8), (1,))
    many = draw(subject, 20_000).joined()
    set_threads(1)
    few = draw(subject, 9_000).joined()
    set_threads(64)
    assert (many.samples[:9_000] == few.samples).all()
    assert (many.discriminatory[:9_000] == few.discriminatory).all()


def test_samples_are_uniform():
    domain = small_domain()
    trail = draw(make_subject(random_network(8), (1,)), 50_000, seed=2).joined()
    for column, low, high in zip(trail.samples.T, domain.low, domain.high, strict=True):
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


def test_a_blind_network_is_fair():
    subject = make_subject(blind(random_network(8), (1,)), (1,))
    share, low, high = uniform_fairness(subject, n=100, seed=3)
    assert (share, low) == (0, 0)
    assert high == pytest.approx(1 - 0.025 ** (1 / 100))
    assert not trails.count(draw(subject, 100, seed=3).joined(), subject.protected).n_discriminatory


@pytest.mark.parametrize("measure", [draw, uniform_fairness])
@pytest.mark.parametrize(
    ("n", "sizes", "message"), [(0, (5, 3, 2), "at least one"), (10, (4, 3, 2), "attributes")]
)
def test_bad_input(measure, n, sizes, message):
    with pytest.raises(InputError, match=message):
        measure(make_subject(random_network(1, sizes), (1,)), n=n, seed=1)
