"""Train a classifier on the user's own texts, into a folder that transformers reads."""

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from biaslab.core.errors import InputError
from biaslab.core.files import write_json
from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.rng import stream
from biaslab.hate_speech.methods import SOC, Method
from biaslab.hate_speech.metrics import holding
from biaslab.hate_speech.training import Regularization, TrainingData, TrainingSettings, train
from biaslab.text import splits
from biaslab.text.encoder import EncoderFiles, load_classifier, prepare_encoder, save_classifier
from biaslab.text.identifiers import Identifiers, identifier_ids
from biaslab.text.language_model import BiGRU, LanguageModelSettings, train_language_model
from biaslab.text.reading import REMOVED, TRAINING_FILE, Lengths, count_in_batches
from biaslab.text.tokens import TRAINED_LENGTH, Tokenizer, Tokens

WEIGHTS, HISTORY, CHECKPOINT = "model.safetensors", "history.tsv", "checkpoint.safetensors"
LANGUAGE_MODEL = "language_model.safetensors"
_TRAIN, _VALIDATION = "training", "validation"

Progress = Callable[[str, int, int], None]
"""Receives the name of the trained model, the steps done, and the maximum number of steps."""


@dataclass(frozen=True)
class OwnSettings:
    """Settings for training a classifier on the user's texts."""

    training: TrainingSettings
    language_model: LanguageModelSettings  # samples contexts; only for SOC
    layers: int | None = None  # encoder layers to keep, from the first
    validation_share: float = 0.1  # share of texts for choosing the best weights
    limit: int | None = None  # maximum number of texts, drawn with the share of positive texts kept
    seed: int = 1


@dataclass(frozen=True)
class Trained:
    """The results of a training in its folder."""

    description: dict[str, Any]  # content of ``training.json``
    history: pd.DataFrame  # see `biaslab.hate_speech.training.train`
    was_there: bool  # whether the same training was already complete
    lengths: Lengths  # of the texts, and the limit that is read of each


def split(table: pd.DataFrame, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a table for training and for choosing the best weights; groups stay together."""
    if not 0 < share < 1:
        raise InputError(f"the share {share:g} for validation is not between 0 and 1; write 0.1 for instance")
    rng, shares, labels = stream(seed, "split"), (1 - share, share), table["label"].to_numpy()
    if "group" in table:
        parts = splits.split_grouped(table["group"].to_numpy(), shares, rng)
    else:
        parts = splits.split_shares(labels, shares, rng)
    for name, rows in zip((_TRAIN, _VALIDATION), parts, strict=True):
        for label, what in enumerate(("negative", "positive")):
            if not np.any(labels[rows] == label):
                raise InputError(
                    f"the texts for {name} ({len(rows)}) include no {what} text; supply more texts, or set"
                    " another share"
                )
    return parts[0], parts[1]


def train_own(
    table: pd.DataFrame,
    encoder: Path,
    method: Method,
    identifiers: Identifiers,
    settings: OwnSettings,
    out: Path,
    device: torch.device,
    progress: Progress = lambda what, done, n: None,
) -> Trained:
    """Train a classifier on a table of `read_labelled`; resume a training that was interrupted."""
    if not method.is_encoder:
        raise InputError(
            f"method '{method.name}' is a linear model, not an encoder that can be saved; choose vanilla, wr,"
            " oc-0.1, soc-0.1 or ear-0.01"
        )
    table, seed = splits.draw(table, settings.limit, settings.seed), settings.seed
    first, second = split(table, settings.validation_share, seed)
    with _keep_layers(encoder, settings.layers) as folder:
        tokenizer = Tokenizer.load(folder / "vocab.txt")
        lengths = Lengths(count_in_batches(tokenizer.count, list(table["text"])), TRAINED_LENGTH)
        ids = identifier_ids(identifiers, tokenizer)
        tokens, labels = tokenizer.encode(table["text"], TRAINED_LENGTH), table["label"].to_numpy(np.int8)
        data = TrainingData(tokens.take(first), labels[first], tokens.take(second), labels[second], tokenizer)
        description = _describe(data, folder, method, ids, settings, device)
        is_begun = _check_folder(out / TRAINING_FILE, description)
        if is_begun and (out / WEIGHTS).is_file():
            (out / CHECKPOINT).unlink(missing_ok=True)
            return Trained(description, read_tsv(out / HISTORY), was_there=True, lengths=lengths)
        model = load_classifier(folder, seed)  # before anything is written
        write_json(out / TRAINING_FILE, description)
        language_model, path = None, out / LANGUAGE_MODEL
        if method.kind == SOC:
            if not path.is_file():
                language_model, language_history = train_language_model(
                    data.train,
                    data.validation,
                    tokenizer,
                    settings.language_model,
                    seed,
                    lambda done, n: progress("language model", done, n),
                    device,
                )
                write_tsv(path.with_suffix(".tsv"), language_history)
                language_model.save(path)
            language_model = BiGRU.load(path).to(device)
        history = train(
            model,
            data,
            settings.training,
            Regularization(method, ids, language_model=language_model),
            seed,
            device,
            out / CHECKPOINT,
            lambda done, n: progress(method.name, done, n),
        )
        write_tsv(out / HISTORY, history)
        save_classifier(model.to("cpu"), out, folder / "vocab.txt")
    (out / CHECKPOINT).unlink(missing_ok=True)
    return Trained(description, history, was_there=False, lengths=lengths)


@contextmanager
def _keep_layers(encoder: Path, layers: int | None) -> Iterator[Path]:
    """Yield the folder of the encoder, or a temporary folder with its first layers."""
    files = EncoderFiles.of_folder(encoder)
    if layers is None:
        yield encoder
        return
    with tempfile.TemporaryDirectory() as folder:
        prepare_encoder(files, folder, layers)
        yield Path(folder)


def _describe(
    data: TrainingData,
    encoder: Path,
    method: Method,
    ids: dict[str, int],
    settings: OwnSettings,
    device: torch.device,
) -> dict[str, Any]:
    """Return the content of ``training.json``: all inputs of the training, and the numbers of texts."""
    pieces = {term: data.tokenizer.vocabulary[i] for term, i in ids.items()}
    weights, digest = encoder / WEIGHTS, ""  # if they are missing, loading the encoder reports that error
    if weights.is_file():
        with weights.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    description = {
        "method": method.name,
        "seed": settings.seed,
        "device": device.type,
        "encoder": digest,
        "identifiers": pieces if method.removes_words or method.explains else {},
        REMOVED: list(pieces.values()) if method.removes_words else [],
        "texts": {
            _TRAIN: _counts(data.train, data.train_labels, ids),
            _VALIDATION: _counts(data.validation, data.validation_labels, ids),
        },
        "settings": asdict(settings.training),
    }
    if method.kind == SOC:
        description["language_model"] = asdict(settings.language_model)
    return description


def _counts(tokens: Tokens, labels: np.ndarray, ids: dict[str, int]) -> dict[str, Any]:
    content = b"".join(array.tobytes() for array in (tokens.ids, tokens.offsets, labels))
    return {
        "n": len(tokens),
        "n_positive": int(labels.sum()),
        "n_with_identifier": int(holding(tokens, list(ids.values())).any(axis=1).sum()),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _check_folder(path: Path, description: dict[str, Any]) -> bool:
    """Return whether the folder has this training, begun or finished; raise an error for other content."""
    if not path.exists():
        if (path.parent / WEIGHTS).exists():
            raise InputError(
                f"{path.parent}: the folder has a model that was not trained here; choose another folder"
            )
        return False
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not readable as JSON ({error}); choose another folder") from error
    for key, value in _flat(description).items():
        value_there = _flat(stored).get(key)
        if value_there != value:
            raise InputError(
                f"{path.parent}: has a training with {key} = {value_there}, not {value}; choose another"
                " folder, or remove this one"
            )
    return True


def _flat(values: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(values, dict):
        return {prefix: values}
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}.{key}" if prefix else key)
    return flat
