import re

import numpy as np
import pytest

from biaslab.classifiers.tensorflow_bundle import load_bundle
from biaslab.core.errors import InputError
from fairness_data import random_network, small_domain
from recipe_files import checkpoint

SIZES = (5, 64, 8, 2)
NOT_WHOLE = "not a complete bundle of one network in one data file"


def variables(network):
    """The variables of a network, with what the optimiser keeps."""
    arrays = {}
    for layer, (w, b) in enumerate(zip(network.weights, network.biases, strict=True)):
        name = f"linear_{layer}" if layer else "linear"
        arrays |= {
            f"{name}/{part}{slot}": a for part, a in (("kernel", w), ("bias", b)) for slot in ("", "/Adam")
        }
    return arrays | {"beta1_power": np.array(0.5, np.float32)}


def write(folder, index, data):
    (folder / "test.model.index").write_bytes(index)
    (folder / "test.model.data-00000-of-00001").write_bytes(data)
    return folder / "test.model"


@pytest.mark.parametrize("sizes", [SIZES, (5, *[4] * 11, 2)])
def test_network_of_a_bundle_is_the_one_written(tmp_path, sizes):
    """Also of more than ten layers, which come by number."""
    network = random_network(1, sizes)
    again = load_bundle(write(tmp_path, *checkpoint(variables(network))))
    X = small_domain().draw(100, np.random.default_rng(2))
    assert np.array_equal(again.logits(X), network.logits(X))


def test_files_cut_short_anywhere_are_refused(tmp_path):
    index, data = checkpoint(variables(random_network(4, (5, 3, 2))))
    for length in range(0, len(index), 5):
        with pytest.raises(InputError, match=r"test\.model\.index: .* again"):
            load_bundle(write(tmp_path, index[:length], data))
    for length in range(0, len(data) - 4 * 5, 31):  # the last slots of the optimiser are not read
        with pytest.raises(InputError, match=NOT_WHOLE):
            load_bundle(write(tmp_path, index, data[:length]))


def test_a_flipped_byte_is_no_crash(tmp_path):
    index, data = checkpoint(variables(random_network(5, (5, 3, 2))))
    rng = np.random.default_rng(6)
    n_refused = 0
    for place in rng.permutation(len(index))[:150]:
        wrong = bytearray(index)
        wrong[place] ^= rng.integers(1, 256)
        try:
            load_bundle(write(tmp_path, bytes(wrong), data))
        except InputError:
            n_refused += 1
    assert n_refused > 50


@pytest.mark.parametrize(
    ("options", "lacking", "problem"),
    [
        ({"n_files": 2}, (), "it is not one little-endian data file"),
        ({"dtype": 2}, (), "not one whole array of 32-bit floats"),
        ({"shard": 1}, (), "not one whole array of 32-bit floats"),
        ({"size": 2**40}, (), "cannot reshape array"),
        ({"offset": 2**62}, (), "cannot reshape array"),
        ({"compression": 1}, (), "the index is compressed"),
        ({"magic": b"PK" * 4}, (), "the last bytes are not those of an index"),
        ({}, ["linear_1/bias"], "the variables are not NAME/kernel"),
        ({}, ["linear/kernel", "linear/bias"], "the variables are not NAME/kernel"),
    ],
)
def test_other_bundles_are_refused(tmp_path, options, lacking, problem):
    given = {k: v for k, v in variables(random_network(7, SIZES)).items() if k not in lacking}
    with pytest.raises(InputError, match=re.escape(problem)):
        load_bundle(write(tmp_path, *checkpoint(given, **options)))


def test_layers_that_do_not_fit_and_large_and_missing_files_are_refused(tmp_path):
    given = variables(random_network(9, SIZES))
    with pytest.raises(InputError, match=r"index: layer 0: weights"):
        load_bundle(write(tmp_path, *checkpoint(given | {"linear/bias": np.zeros((2, 2), np.float32)})))
    index, data = checkpoint(given | {"z" * 300: np.zeros(1, np.float32)})
    with pytest.raises(InputError, match="a key has more than 256 bytes"):
        load_bundle(write(tmp_path, index, data))
    with pytest.raises(InputError, match=r"more than 262144 bytes"):
        load_bundle(write(tmp_path, bytes(2**18 + 1), data))
    with pytest.raises(InputError, match=r"absent\.index: cannot be read .No such file"):
        load_bundle(tmp_path / "absent")
