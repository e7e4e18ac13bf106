"""Prepare folders of BERT encoders, load them strictly as classifiers of two labels, and save them.

A folder has the Hugging Face layout: ``config.json``, ``vocab.txt`` and ``model.safetensors``. No file is
downloaded from a hub or unpickled. transformers draws missing tensors at random and continues; this module
raises an error for a missing tensor, a wrong shape or a surplus tensor.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from biaslab.core.errors import InputError
from biaslab.core.files import atomic_path, write_json
from biaslab.core.rng import stream
from biaslab.core.settings import validate
from biaslab.text import packing
from biaslab.text.bert import BertClassifier, BertSettings
from biaslab.text.devices import without_values
from biaslab.text.tokens import Tokenizer, Tokens

NEEDED = "config.json, vocab.txt and model.safetensors"
N_LABELS = 2
BATCH_TOKENS = 4096  # tokens of a batch, with padding. Another number changes scores by float32 rounding


@dataclass(frozen=True)
class EncoderFiles:
    """The paths of the three files of an encoder."""

    config: Path
    vocabulary: Path
    weights: Path | None  # None: no weights, so that only a random encoder is possible

    @classmethod
    def of_folder(cls, folder: str | os.PathLike) -> "EncoderFiles":
        """Return the files of a folder in the Hugging Face layout."""
        folder = Path(folder)
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder; name the folder of a BERT with {NEEDED}")
        for name in ("config.json", "vocab.txt"):
            if not (folder / name).is_file():
                raise InputError(f"{folder}: {name} is missing; name the folder of a BERT with {NEEDED}")
        weights = folder / "model.safetensors"
        return cls(folder / "config.json", folder / "vocab.txt", weights if weights.is_file() else None)


def prepare_encoder(
    files: EncoderFiles,
    out_folder: str | os.PathLike,
    layers: int | None = None,
    weights: str = "pretrained",
    seed: int = 1,
) -> None:
    """Write an encoder folder with the first `layers` of another encoder (default: all).

    `weights` is "pretrained" or "random", as BERT is initialized (Devlin et al. 2019).
    """
    out_folder = Path(out_folder)
    settings = _read_settings(files)
    n = settings["num_hidden_layers"]
    if layers is not None and not 1 <= layers <= n:
        raise InputError(f"layers: {layers}: {files.config} has {n}; write a number from 1 to {n}")
    cut = settings | {"num_hidden_layers": layers or n}
    blank = _blank(cut)
    expected = _shapes(blank)
    if weights == "random":
        tensors = {
            name: _initial(name, shape, blank.config, stream(seed, "encoder", name))
            for name, shape in expected.items()
            if not name.startswith("classifier.")
        }
    elif weights == "pretrained":
        tensors = {k: v for k, v in _read_weights(files, settings).items() if k in expected}
    else:
        raise InputError(f"weights '{weights}' are unknown; write pretrained or random")
    _write_folder(out_folder, cut, files.vocabulary, tensors)


def load_classifier(folder: str | os.PathLike, seed: int | None = None) -> BertClassifier:
    """Load an encoder folder with a classification head of two labels.

    The model is float32, on the CPU, in evaluation mode. Heads of other tasks are ignored. If the file lacks
    the head or the pooler, `seed` draws it. torch's global random state is neither used nor changed.
    """
    files = EncoderFiles.of_folder(folder)
    settings = _read_settings(files)
    tensors = _read_weights(files, settings)
    model = _blank(settings)
    for name, shape in _shapes(model).items():
        if name not in tensors:
            if seed is None:
                raise InputError(f"{files.weights}: {name} is missing; train the classifier first")
            tensors[name] = _initial(name, shape, model.config, stream(seed, name.split(".")[0]))
    model.load_state_dict({_full_name(k): v for k, v in tensors.items()}, strict=True, assign=True)
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    return model.eval()


def put_positive_second(model: BertClassifier, positive: int) -> BertClassifier:
    """Swap the labels of a classifier if its positive label is 0, so that scores refer to that label."""
    if positive == 0:
        with torch.no_grad():
            for parameter in (model.classifier.weight, model.classifier.bias):
                parameter.copy_(parameter.flip(0))
    return model


def save_classifier(
    model: BertClassifier, folder: str | os.PathLike, vocabulary_file: str | os.PathLike
) -> None:
    """Write a classifier and its encoder's ``vocab.txt`` for `load_classifier` and transformers to read."""
    tensors = {_plain_name(k): v.detach().cpu().contiguous() for k, v in model.state_dict().items()}
    _write_folder(Path(folder), asdict(model.config), Path(vocabulary_file), tensors)


def predict(
    model: BertClassifier,
    tokens: Tokens,
    pad: int,
    progress: Callable[[int, int], None] = lambda done, n: None,
) -> np.ndarray:
    """Return the scores of texts, (n,) float32, without dropout; the model's mode stays as it is.

    s(x) is the logit of label 1 minus that of label 0 (Kennedy et al. 2020, Section 4). Texts are read by
    length, without padding (`biaslab.text.packing`).
    """
    length, limit = int(tokens.lengths.max(initial=0)), model.config.max_position_embeddings
    if length > limit:
        raise InputError(
            f"a text has {length} tokens, the encoder reads {limit}; shorten the texts to {limit}"
        )
    return fill_by_length(np.empty(len(tokens), np.float32), packing.score, model, tokens, pad, progress)


def fill_by_length(
    out: np.ndarray,
    answer: Callable[[BertClassifier, torch.Tensor, torch.Tensor], torch.Tensor],
    model: BertClassifier,
    tokens: Tokens,
    pad: int,
    progress: Callable[[int, int], None] = lambda done, n: None,
) -> np.ndarray:
    """Fill a row of `out` for each text with ``answer(model, ids, mask)``, without dropout."""
    done = 0
    with evaluating(model), torch.no_grad():
        for rows in batches_by_length(tokens.lengths, BATCH_TOKENS):
            ids, mask = (torch.from_numpy(a).to(model.device) for a in tokens.padded(rows, pad))
            out[rows] = answer(model, ids, mask).float().cpu().numpy()
            done += len(rows)
            progress(done, len(tokens))
    return out


@contextmanager
def evaluating(model: torch.nn.Module) -> Iterator[None]:
    """Switch dropout off inside the block; restore the model's mode afterwards."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)


def batches_by_length(lengths: np.ndarray, batch_tokens: int) -> Iterator[np.ndarray]:
    """Yield rows of similar length, longest first; a batch with padding fits in `batch_tokens`."""
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        stop = start + max(1, batch_tokens // max(1, int(lengths[order[start]])))
        yield order[start:stop]
        start = stop


def _read_settings(files: EncoderFiles) -> dict[str, Any]:
    """Return the keys of `BertSettings` that a configuration has, checked against the vocabulary."""
    path = files.config
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name the configuration of a BERT") from error
    except ValueError as error:
        raise InputError(f"{path}: not valid JSON ({error}); name the configuration of a BERT") from error
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind != "bert":
        raise InputError(f"{path}: model_type is {kind!r}, not 'bert'; choose the folder of a BERT")
    if config.get("position_embedding_type", "absolute") != "absolute" or config.get("is_decoder"):
        raise InputError(
            f"{path}: relative positions or a decoder; choose the folder of a plain BERT encoder"
        )
    keys = [field.name for field in fields(BertSettings) if config.get(field.name) is not None]
    settings = validate(BertSettings, {key: config[key] for key in keys}, str(path))
    n_tokens = len(Tokenizer.load(files.vocabulary).vocabulary)
    if n_tokens != settings.vocab_size:
        raise InputError(
            f"{files.vocabulary}: {n_tokens} tokens, but vocab_size in {path.name} is"
            f" {settings.vocab_size}; use files of one encoder"
        )
    if settings.pad_token_id >= n_tokens:
        raise InputError(
            f"{path}: pad_token_id is {settings.pad_token_id}; write a line of vocab.txt, from 0"
        )
    if settings.hidden_size % settings.num_attention_heads:
        raise InputError(
            f"{path}: hidden_size is not a multiple of the number of attention heads; correct it"
        )
    return {key: getattr(settings, key) for key in keys}


def _blank(settings: dict[str, Any]) -> BertClassifier:
    """Return a classifier with tensor shapes but no values."""
    with without_values():
        return BertClassifier(BertSettings(**settings), N_LABELS)


def _shapes(model: BertClassifier) -> dict[str, tuple[int, ...]]:
    return {_plain_name(name): tuple(tensor.shape) for name, tensor in model.state_dict().items()}


def _plain_name(name: str) -> str:
    """Return a tensor's name without prefix, with gamma and beta of early BERTs renamed."""
    name = name.removeprefix("bert.")
    if name.endswith(("LayerNorm.gamma", "LayerNorm.beta")):
        name = name.replace("gamma", "weight").replace("beta", "bias")
    return name


def _full_name(name: str) -> str:
    return name if name.startswith("classifier.") else f"bert.{name}"


def _read_weights(files: EncoderFiles, settings: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Return the tensors of a classifier that the file has, float32, by their plain names.

    Missing or surplus tensors of the encoder are an error; pooler and head may be absent.
    """
    path, folder = files.weights, files.config.parent
    if path is None:
        if pickled := sorted(folder.glob("*.bin")):
            raise InputError(f"{pickled[0]}: pickled weights are not read; convert them to model.safetensors")
        raise InputError(f"{folder}: model.safetensors is missing; name the folder of a BERT with {NEEDED}")
    expected = _shapes(_blank(settings))
    try:
        with safe_open(path, framework="pt") as file:
            names = {_plain_name(name): name for name in file.keys()}  # noqa: SIM118 (it is no dictionary)
            for name in expected:
                if name not in names and not name.startswith(("pooler.", "classifier.")):
                    raise InputError(f"{path}: {name} is missing; use weights and config.json of one encoder")
            for name in names:
                is_left_over = name.startswith(("embeddings.", "encoder.")) and name not in expected
                # position_ids: saved by earlier releases of transformers
                if is_left_over and name != "embeddings.position_ids":
                    raise InputError(
                        f"{path}: the model has no parameter {name}; use weights and config.json of one"
                        " encoder"
                    )
            tensors = {plain: file.get_tensor(name) for plain, name in names.items() if plain in expected}
    except (SafetensorError, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: not a readable safetensors file ({reason}); download it again") from error
    for name, tensor in tensors.items():
        if tuple(tensor.shape) != expected[name] or not tensor.is_floating_point():
            raise InputError(
                f"{path}: {name} is {tensor.dtype} of shape {tuple(tensor.shape)}, {files.config.name} needs"
                f" floats of shape {expected[name]}; use files of one encoder of {N_LABELS} labels"
            )
    # Copy: a memory-mapped file may change during a long training.
    return {name: tensor.to(torch.float32, copy=True) for name, tensor in tensors.items()}


def _initial(
    name: str, shape: tuple[int, ...], settings: BertSettings, rng: np.random.Generator
) -> torch.Tensor:
    """Return BERT's initial tensor: ones for scales, zeros for biases and [PAD], else normal values."""
    if name.endswith("LayerNorm.weight"):
        return torch.ones(shape)
    if name.endswith(".bias"):
        return torch.zeros(shape)
    values = rng.standard_normal(shape, np.float32) * np.float32(settings.initializer_range)
    if name.endswith("word_embeddings.weight"):
        values[settings.pad_token_id] = 0
    return torch.from_numpy(values)


def _write_folder(
    folder: Path, settings: dict[str, Any], vocabulary: Path, tensors: dict[str, torch.Tensor]
) -> None:
    kind = {"model_type": "bert", "architectures": ["BertForSequenceClassification"]}
    write_json(folder / "config.json", settings | kind)
    with atomic_path(folder / "vocab.txt") as temporary:
        shutil.copyfile(vocabulary, temporary)
    with atomic_path(folder / "model.safetensors") as temporary:
        save_file({_full_name(k): v for k, v in tensors.items()}, temporary, metadata={"format": "pt"})
