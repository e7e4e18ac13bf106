import numpy as np
import pytest

from biaslab.classifiers.domain import Protected
from biaslab.core.errors import InputError
from biaslab.fairness_testing.testers.discrimination import check, discriminatory_share
from fairness_data import blind, random_network, small_domain
from naive import fairness_testing as naive


@pytest.mark.parametrize("columns", [(1,), (4,), (1, 4)])
def test_check_equals_the_definition(columns):
    domain, network = small_domain(), random_network(11)
    X = domain.draw(200, np.random.default_rng(12))
    X[::5, 1] = 7  # outside the domain, as in the census file
    found = check(network, X, Protected.of(domain, columns))
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


@pytest.mark.parametrize("columns", [(1,), (1, 4)])
def test_network_blind_to_protected_attributes_never_discriminates(columns):
    domain = small_domain()
    network = blind(random_network(13), columns)
    X = domain.draw(500, np.random.default_rng(14))
    protected = Protected.of(domain, columns)
    assert not check(network, X, protected).discriminatory.any()
    assert discriminatory_share(network, X, protected) == 0


def test_share_does_not_depend_on_the_batch():
    domain, network = small_domain(), random_network(15)
    X, protected = domain.draw(777, np.random.default_rng(16)), Protected.of(domain, (1,))
    shares = {discriminatory_share(network, X, protected, batch) for batch in (1, 100, 8192)}
    assert shares == {check(network, X, protected).discriminatory.mean()}
    with pytest.raises(InputError, match="no sample"):
        discriminatory_share(network, X[:0], protected)
