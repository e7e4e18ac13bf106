"""Networks from Keras' HDF5 files, read without TensorFlow and without trusting the file.

Such a file describes its layers in JSON (attribute ``model_config``) and has the weights as arrays in the
group ``model_weights``. h5py, which is optional, reads them; nothing in the file is run or unpickled, and
nothing outside it is opened.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biaslab.classifiers.networks import Network
from biaslab.core.errors import InputError

if TYPE_CHECKING:
    import h5py

__all__ = ["load_keras"]

SUFFIXES = (".h5", ".hdf5")
"""How the names of such files end."""
_MAX_FILE, _MAX_ARRAY, _MAX_LAYERS = 2**26, 2**22, 64
"""Bytes of a file, numbers of an array, layers: a hundred times what a network for tables takes."""
_IGNORED = ("InputLayer", "Dropout")
"""Layers that change nothing when a network answers."""
_RELU, _LINEAR, _SIGMOID, _SOFTMAX = "relu", "linear", "sigmoid", "softmax"


def load_keras(path: Path) -> Network:
    """Read a sequential network of dense layers, saved whole with ``model.save("NAME.h5")``.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    Network
        One sigmoid output z becomes the two logits 0 and z.

    Raises
    ------
    InputError
        When h5py is not installed, the file is missing, larger than any such network, damaged or of another
        kind, or has a layer other than dense ones with ReLU between them.
    """
    try:
        import h5py
    except ImportError as error:
        raise InputError(
            f"{path}: reading it needs h5py; install it with: pip install 'biaslab[keras]'"
        ) from error
    _check_size(path)
    try:
        with h5py.File(path, "r", locking=False) as file:
            return _network(file)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path}: is no whole Keras network in HDF5 ({type(error).__name__}); save it with"
            " model.save('NAME.h5')"
        ) from error


def _check_size(path: Path) -> None:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    if size > _MAX_FILE:
        raise InputError(f"{path}: {size} bytes, too large for a network for tables")


def _network(file: "h5py.File") -> Network:
    layers = list(_dense_layers(file))
    if not layers:
        raise InputError("has no dense layer; save a sequential network")
    for name, _, _, activation in layers[:-1]:
        if activation != _RELU:
            raise InputError(
                f"the layer '{name}' has the activation {activation}; only relu is supported there"
            )
    weights, biases = [w for _, w, _, _ in layers], [b for _, _, b, _ in layers]
    name, activation, n_outputs = layers[-1][0], layers[-1][3], weights[-1].shape[-1]
    if activation == _SIGMOID and n_outputs == 1:
        weights[-1] = np.column_stack([np.zeros_like(weights[-1]), weights[-1]])
        biases[-1] = np.append(np.float32(0), biases[-1])
    elif activation not in (_SOFTMAX, _LINEAR):
        raise InputError(
            f"the last layer '{name}' has {n_outputs} outputs with the activation {activation}; it needs"
            " softmax, or one output with sigmoid"
        )
    return Network(weights, biases)


def _dense_layers(file: "h5py.File") -> Iterator[tuple[str, np.ndarray, np.ndarray, str]]:
    pending = None
    for layer in _described(file):
        kind, config = layer["class_name"], layer["config"]
        if kind == "Dense":
            if pending:
                yield pending
            pending = (config["name"], *_arrays(file, config), _activation(config))
        elif kind in ("Activation", "ReLU", "Softmax") and pending and pending[3] == _LINEAR:
            applied = _activation(config) if kind == "Activation" else kind.lower()
            pending = (*pending[:3], applied)
        elif kind not in _IGNORED:
            raise InputError(
                f"the layer '{config['name']}' is of the kind {kind}; only Dense ones are supported"
            )
    if pending:
        yield pending


def _described(file: "h5py.File") -> list[Mapping[str, Any]]:
    text = file.attrs.get("model_config")
    if text is None:
        raise InputError(
            "has weights, but no model_config; save the whole network with model.save('NAME.h5')"
        )
    described = json.loads(text)
    if described["class_name"] != "Sequential":
        raise InputError(f"is a {described['class_name']} network; only Sequential ones are supported")
    config = described["config"]
    layers = config if isinstance(config, list) else config["layers"]
    if len(layers) > _MAX_LAYERS:
        raise InputError(f"has {len(layers)} layers, more than {_MAX_LAYERS}")
    return layers


def _activation(config: Mapping[str, Any]) -> str:
    name = config.get("activation", _LINEAR)
    return name if isinstance(name, str) else str(name["config"])


def _arrays(file: "h5py.File", config: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and biases of a dense layer."""
    folder = _follow(file, f"model_weights/{config['name']}")
    names = [name if isinstance(name, str) else name.decode() for name in folder.attrs["weight_names"]]
    arrays = [_read(_follow(folder, name), name) for name in names]
    n_expected = 1 + bool(config.get("use_bias", True))
    if len(arrays) != n_expected:
        raise InputError(f"the layer '{config['name']}' has {len(arrays)} arrays and not {n_expected}")
    if n_expected == 1:
        arrays.append(np.zeros(arrays[0].shape[-1], np.float32))
    return arrays[0], arrays[1]


def _follow(folder: "h5py.Group", path: str) -> Any:
    """Return what a path leads to, step by step; never by a link to elsewhere."""
    import h5py

    for step in filter(None, path.split("/")):
        link = folder.get(step, getlink=True)
        if link is None:
            raise InputError(f"'{path}' is missing; save the whole network with model.save('NAME.h5')")
        if not isinstance(link, h5py.HardLink):
            raise InputError(f"'{path}' is a link to elsewhere; save the network again")
        folder = folder[step]
    return folder


def _read(array: "h5py.Dataset", name: str) -> np.ndarray:
    """Return an array of numbers that lies in the file itself."""
    if array.external or array.is_virtual:
        raise InputError(f"'{name}' has its numbers in another file; save the network again")
    if array.dtype.kind != "f" or array.ndim not in (1, 2) or array.size > _MAX_ARRAY:
        raise InputError(
            f"'{name}' is no array of weights of a network for tables ({array.dtype}, {array.shape})"
        )
    return array[()].astype(np.float32)
