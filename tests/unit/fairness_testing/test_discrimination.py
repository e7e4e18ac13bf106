import numpy as np
import pytest

from biaslab.classifiers.domain import Protected
from biaslab.core.errors import InputError
from biaslab.fairness_testing.testers.discrimination import check, discriminatory_share, find_partners
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
        monkeypatch.setattr("biaslab.fairness_testing.testers.discrimination.BATCH", batch)
        assert discriminatory_share(subject, X) == found.discriminatory.mean()
        partners, labels, other_labels = find_partners(subject, finds)
        assert (partners == others).all()
        assert (labels == subject.model.labels(finds)).all()
        assert (other_labels == subject.model.labels(others)).all()


def test_a_share_of_no_samples_is_refused():
    subject = make_subject(random_network(15), (1,))
    with pytest.raises(InputError, match="no sample"):
        discriminatory_share(subject, np.empty((0, 5), np.int32))


def test_queries_are_the_samples_asked():
    subject = make_subject(random_network(15), (1,))
    X = np.array([[0, 0, 1, 0, 0], [0, 7, 1, 0, 0]], np.int32)  # the second's value is none of the three
    assert check(subject, X).queries.tolist() == [3, 4]
