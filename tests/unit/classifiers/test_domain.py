import numpy as np

from biaslab.classifiers.domain import Protected
from fairness_data import small_domain


def test_clip_moves_values_to_the_nearest_in_the_domain():
    domain = small_domain()
    X = np.array([[-1, 3, 100, -9, 2], [5, 1, 4, 0, 1]], np.int32)
    assert domain.clip(X).tolist() == [[0, 2, 9, -4, 1], [5, 1, 4, 0, 1]]
    assert domain.contains(X).tolist() == [False, True]
    assert domain.contains(domain.clip(X)).all()


def test_variants_have_every_combination_of_protected_values():
    domain = small_domain()
    protected = Protected.of(domain, (1, 4))
    assert protected.values.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
    X = domain.draw(3, np.random.default_rng(2))
    variants = protected.variants(X)
    assert variants.shape == (3, 6, 5)
    assert (variants[:, :, [1, 4]] == protected.values).all()
    assert (variants[:, :, [0, 2, 3]] == X[:, None, [0, 2, 3]]).all()
    assert (protected.values[protected.positions(X)] == X[:, [1, 4]]).all()
    X[0, 1] = 9
    assert protected.positions(X)[0] == -1
    assert protected.others(5).tolist() == [0, 2, 3]
