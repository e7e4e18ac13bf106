"""Networks from Keras' HDF5 files, made here as Keras lays them out."""

import itertools
import json
import sys

import numpy as np
import pytest

from biaslab.classifiers import keras_h5
from biaslab.classifiers.keras_h5 import load_keras
from biaslab.core.errors import InputError
from naive import classifiers as naive

h5py = pytest.importorskip("h5py")

SIZES = (4, 6, 5, 1)


def dense(name, activation, **more):
    config = {"name": name, "activation": activation, "use_bias": True, **more}
    return {"class_name": "Dense", "config": config}


def described(*layers):
    return {"class_name": "Sequential", "config": {"name": "sequential", "layers": list(layers)}}


def arrays(sizes=SIZES):
    rng = np.random.default_rng(1)
    return [
        (rng.normal(size=(a, b)).astype(np.float32), rng.normal(size=b).astype(np.float32))
        for a, b in itertools.pairwise(sizes)
    ]


def layers(last="sigmoid"):
    return [
        {"class_name": "InputLayer", "config": {"name": "input"}},
        dense("dense", "relu"),
        {"class_name": "Dropout", "config": {"name": "dropout", "rate": 0.5}},
        dense("dense_1", "relu"),
        dense("dense_2", last),
    ]


def write(path, config, weights):
    """Write as Keras 2 does: each array below the name of its layer, twice."""
    with h5py.File(path, "w") as file:
        if config is not None:
            file.attrs["model_config"] = json.dumps(config)
        for number, (w, b) in enumerate(weights):
            name = "dense" + f"_{number}" * (number > 0)
            names = [f"{name}/kernel:0", f"{name}/bias:0"][: 1 + (b is not None)]
            folder = file.create_group(f"model_weights/{name}")
            folder.attrs["weight_names"] = [text.encode() for text in names]
            for text, array in zip(names, (w, b), strict=False):
                folder.create_dataset(text, data=array)
    return path


def test_one_sigmoid_output_becomes_two_logits(tmp_path):
    network = load_keras(write(tmp_path / "model.h5", described(*layers()), arrays()))
    X = np.random.default_rng(2).integers(-5, 6, (50, 4)).astype(np.int32)
    weights, biases = zip(*arrays(), strict=True)
    for x, p in zip(X.tolist(), network.probabilities(X), strict=True):
        (z,) = naive.network_logits(list(weights), list(biases), x)
        assert p == pytest.approx([1 / (1 + np.exp(z)), 1 / (1 + np.exp(-z))], rel=1e-4, abs=1e-7)


def test_several_outputs_and_layers_without_bias(tmp_path):
    made = arrays((4, 6, 5, 3))
    made[0] = (made[0][0], None)
    described_layers = layers("linear")
    described_layers[1] = dense("dense", "linear", use_bias=False)
    described_layers.insert(2, {"class_name": "Activation", "config": {"name": "a", "activation": "relu"}})
    described_layers.append({"class_name": "Softmax", "config": {"name": "s"}})
    network = load_keras(write(tmp_path / "model.h5", described(*described_layers), made))
    assert network.n_classes == 3
    np.testing.assert_array_equal(network.weights[2], made[2][0])
    assert not network.biases[0].any()


def change(**changes):
    """Return layers of which the second dense one is changed."""
    chosen = layers()
    chosen[3]["config"].update(changes)
    return described(*chosen)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (None, "has weights, but no model_config"),
        ({"class_name": "Functional", "config": {}}, "is a Functional network; only Sequential"),
        (described(), "has no dense layer"),
        (described(*layers("tanh")), "the last layer 'dense_2' has 1 outputs with the activation tanh"),
        (change(activation="tanh"), "the layer 'dense_1' has the activation tanh; only relu"),
        (change(name="dense_9"), "'model_weights/dense_9' is missing"),
        (change(use_bias=False), "the layer 'dense_1' has 2 arrays and not 1"),
        (described({"class_name": "Lambda", "config": {"name": "l"}}), "is of the kind Lambda"),
        (described(*[dense("dense", "relu")] * 65), "has 65 layers, more than 64"),
        ([1, 2], "is no whole Keras network in HDF5 (TypeError)"),
        ("text", "is no whole Keras network in HDF5 (TypeError)"),
    ],
)
def test_files_of_another_kind(tmp_path, config, message):
    path = write(tmp_path / "model.h5", config, arrays())
    with pytest.raises(InputError) as caught:
        load_keras(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_links_and_arrays_elsewhere_are_not_followed(tmp_path):
    other = write(tmp_path / "other.h5", described(*layers()), arrays())
    place = "model_weights/dense_1/dense_1/kernel:0"
    linked = write(tmp_path / "linked.h5", described(*layers()), arrays())
    with h5py.File(linked, "r+") as file:
        del file[place]
        file[place] = h5py.ExternalLink(str(other), place)
    outside = write(tmp_path / "outside.h5", described(*layers()), arrays())
    with h5py.File(outside, "r+") as file:
        del file[place]
        file.create_dataset(place, (6, 5), "f4", external=[(str(other), 0, 120)])
    for path, message in ((linked, "is a link to elsewhere"), (outside, "in another file")):
        with pytest.raises(InputError, match=message):
            load_keras(path)


def test_arrays_that_are_no_weights(tmp_path, monkeypatch):
    made = arrays()
    made[1] = (made[1][0].astype("S4"), made[1][1])
    with pytest.raises(InputError, match="is no array of weights"):
        load_keras(write(tmp_path / "text.h5", described(*layers()), made))
    huge = write(tmp_path / "huge.h5", described(*layers()), arrays())
    with h5py.File(huge, "r+") as file:
        del file["model_weights/dense/dense/kernel:0"]
        file.create_dataset("model_weights/dense/dense/kernel:0", (2**20, 2**20), "f4")  # takes no space
    with pytest.raises(InputError, match="is no array of weights"):
        load_keras(huge)
    monkeypatch.setattr(keras_h5, "_MAX_FILE", 10)
    with pytest.raises(InputError, match="too large"):
        load_keras(huge)


def test_damaged_and_missing_files(tmp_path):
    path = write(tmp_path / "model.h5", described(*layers()), arrays())
    whole = path.read_bytes()
    for size in (0, 7, 100, len(whole) // 2):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match="is no whole Keras network"):
            load_keras(path)
    with pytest.raises(InputError, match="cannot be read"):
        load_keras(tmp_path / "none.h5")


def test_without_h5py(tmp_path, monkeypatch):
    path = write(tmp_path / "model.h5", described(*layers()), arrays())
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(InputError, match=r"needs h5py; install it with: pip install 'biaslab\[keras\]'"):
        load_keras(path)
