import numpy as np

from biaslab.core.rng import stream


def test_equal_names_give_equal_streams():
    assert np.array_equal(stream(1, "train", 3).random(5), stream(1, "train", 3).random(5))


def test_any_difference_gives_another_stream():
    names = [(1, "train", 3), (2, "train", 3), (1, "train", 4), (1, "train"), (1, "draw", 3), (1, 3, "train")]
    first = {stream(*name).random() for name in names}
    assert len(first) == len(names)
