"""Train encoders as hate speech classifiers (Kennedy et al. 2020, Section 5 and A.3).

``published``: BertAdam with warm-up and decay over all planned epochs. F1 is validated at regular steps. The
learning rate is halved if F1 does not exceed the best, and training stops after a number of halvings.
``modern``: AdamW with warm-up and decay over the steps taken. Both keep the weights of the best validation.

Every random number is determined by the seed and the number of the epoch or step. An interrupted training
therefore resumes from its last checkpoint (one safetensors file) with byte-identical results.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from biaslab.core.errors import InputError
from biaslab.core.files import atomic_path
from biaslab.hate_speech import optimizers
from biaslab.hate_speech.metrics import COLUMNS
from biaslab.hate_speech.objective import Batches, Objective, Regularization
from biaslab.hate_speech.optimizers import Patience, warmup_linear
from biaslab.hate_speech.settings import PUBLISHED, TrainingSettings
from biaslab.text.bert import compact_embeddings
from biaslab.text.encoder import predict
from biaslab.text.language_model import known_tokens
from biaslab.text.scores import precision_recall_f1
from biaslab.text.tokens import Tokenizer, Tokens

HISTORY = COLUMNS["models/METHOD/SEED/history"]  # columns of a history, one row for each validation
HEADER = "training"  # key of a checkpoint's metadata with the identity and the state of the training, as JSON


@dataclass(frozen=True)
class TrainingData:
    """Sentences and their labels, (n,) int8, 0 or 1."""

    train: Tokens
    train_labels: np.ndarray
    validation: Tokens
    validation_labels: np.ndarray
    tokenizer: Tokenizer


def train(
    model: torch.nn.Module,
    data: TrainingData,
    settings: TrainingSettings,
    regularization: Regularization,
    seed: int,
    device: torch.device | str,
    checkpoint: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, n: None,
) -> pd.DataFrame:
    """Train a classifier and return its history, with the columns `HISTORY`.

    The model gets the weights of the best validation, or the last weights if no F1 is above 0. After every
    step, `progress` receives the number of steps done and the maximum number of steps.
    """
    method = regularization.method
    if not method.is_encoder:
        raise InputError(f"method '{method.name}' is a linear model; name an encoder's, such as vanilla")
    if (method.removes_words or method.explains) and not regularization.identifier_ids:
        raise InputError(f"method '{method.name}' needs identifiers; name a list of them")
    model.to(device)
    if method.removes_words:
        ids = list(regularization.identifier_ids.values())
        kept = {"train": data.train.without(ids), "validation": data.validation.without(ids)}
        data = replace(data, **kept)
    identity = _identify(model, data, settings, regularization, seed) if checkpoint else {}
    tokenizer, language_model = data.tokenizer, regularization.language_model
    tokens = [known_tokens(data.train, tokenizer), data.validation.ids]  # all that can occur
    if method.explains and language_model is not None:
        tokens.append(language_model.token_ids.cpu().numpy())
    with compact_embeddings(model, np.unique(np.concatenate(tokens))):
        run = _Run(model, data, settings, regularization, seed)
        if checkpoint:
            run.resume(checkpoint, identity)
        while run.patience.halvings < settings.halvings and run.step < run.validations[-1]:
            run.take_step()
            if run.step in run.validations:
                run.validate()
                if checkpoint:
                    run.save(checkpoint, identity)
            progress(run.step, run.validations[-1])
        run.set_weights(run.best)
    model.eval()
    return pd.DataFrame(run.history, columns=HISTORY)


def validation_steps(n: int, settings: TrainingSettings) -> list[int]:
    """Return the numbers of steps before each validation of a training on `n` sentences, and in all."""
    steps_per_epoch = math.ceil(n / settings.batch_size)
    n_steps = settings.epochs * steps_per_epoch
    every = settings.validate_every if settings.validate_every <= n_steps else steps_per_epoch
    return [*range(every, n_steps, every), n_steps]


def _identify(
    model: torch.nn.Module,
    data: TrainingData,
    settings: TrainingSettings,
    regularization: Regularization,
    seed: int,
) -> dict[str, Any]:
    """Return all values that determine a training, by name, as JSON types."""
    explained_by = regularization if regularization.method.explains else None
    language_model = explained_by.language_model if explained_by else None
    return {
        "method": regularization.method.name,
        "seed": seed,
        **asdict(settings),
        "device": model.device.type,
        "encoder": _digest(parameter.detach().cpu().numpy() for parameter in model.parameters()),
        "train": _digest((data.train.ids, data.train.offsets, data.train_labels)),
        "validation": _digest((data.validation.ids, data.validation.offsets, data.validation_labels)),
        "identifiers": dict(explained_by.identifier_ids) if explained_by else None,
        "contexts": asdict(explained_by.contexts) if explained_by else None,
        "language_model": language_model
        and _digest(t.cpu().numpy() for t in language_model.state_dict().values()),
    }


class _Run:
    """A running training: the model, its optimizer, and the history of validations."""

    def __init__(
        self,
        model: torch.nn.Module,
        data: TrainingData,
        settings: TrainingSettings,
        regularization: Regularization,
        seed: int,
    ) -> None:
        self.validations = validation_steps(len(data.train), settings)
        self.step = 0
        self.history: list[list] = []
        self.best: dict[str, torch.Tensor] = {}  # the weights of the best validation, if there is one
        self._model, self._data, self._settings = model, data, settings
        self._name = regularization.method.name
        make = optimizers.bert_adam if settings.schedule == PUBLISHED else optimizers.adamw
        self._optimizer = make(model.named_parameters())
        batches = Batches(data.train, settings.batch_size, seed)
        self._objective = Objective(
            model, batches, data.train_labels, data.tokenizer, regularization, settings.negative_weight, seed
        )
        self.patience = Patience()
        self._rate, self._losses = 0.0, []

    def take_step(self) -> None:
        losses = self._objective.backward(self.step)
        factor = self.patience.factor * warmup_linear(self.step, self.validations[-1])
        self._rate = self._settings.learning_rate * factor
        self._optimizer.step(self._rate)
        self._losses.append(losses)
        self.step += 1

    def validate(self) -> None:
        """Score the validation sentences; keep the weights if they are the best so far."""
        loss, regularizer = np.mean(self._losses, axis=0).tolist()  # since the last validation
        self._losses = []
        if not math.isfinite(loss + regularizer):
            raise InputError(
                f"{self._name}: the loss is not finite before step {self.step};"
                f" lower the learning rate ({self._settings.learning_rate:g}) or the strength"
            )
        data = self._data
        predicted = predict(self._model, data.validation, data.tokenizer.pad) > 0
        precision, recall, f1 = precision_recall_f1(predicted, data.validation_labels)
        is_best = f1 > max(self.patience.best, 0)
        if is_best:
            self.best = {name: p.detach().clone() for name, p in self._model.named_parameters()}
            for row in self.history:
                row[-1] = False
        self.patience = self.patience.after(f1, halves=self._settings.schedule == PUBLISHED)
        epoch = math.ceil(self.step * self._settings.epochs / self.validations[-1])
        values = [self.step, epoch, self._rate, loss, regularizer]
        self.history.append([*values, precision, recall, f1, self.patience.halvings, is_best])

    def save(self, path: Path, identity: Mapping[str, Any]) -> None:
        state = {"step": self.step, "patience": asdict(self.patience), "history": self.history}
        parts = {
            "model": dict(self._model.named_parameters()),
            "optimizer": self._optimizer.state(),
            "best": self.best,
        }
        tensors = {
            f"{part}.{name}": tensor.detach().cpu().contiguous()
            for part, group in parts.items()
            for name, tensor in group.items()
        }
        header = json.dumps({"identity": dict(identity), "state": state}, sort_keys=True)
        with atomic_path(path) as temporary:
            save_file(tensors, temporary, metadata={HEADER: header})

    def resume(self, path: Path, identity: Mapping[str, Any]) -> None:
        """Resume from a checkpoint, if it exists; refuse the checkpoint of another training."""
        if not path.exists():
            return
        parts: dict[str, dict[str, torch.Tensor]] = {"model": {}, "optimizer": {}, "best": {}}
        try:
            with safe_open(path, framework="pt") as file:
                header = json.loads((file.metadata() or {})[HEADER])
                stored, state = header["identity"], header["state"]
                for name in sorted(stored.keys() | identity.keys()):
                    if stored.get(name) != identity.get(name):
                        raise InputError(
                            f"{path}: checkpoint of a training with {name} = {stored.get(name)}, not"
                            f" {identity.get(name)}; remove it to start over, or train as it was begun"
                        )
                for key in file.keys():  # noqa: SIM118
                    part, _, name = key.partition(".")
                    parts[part][name] = file.get_tensor(key).to(self._model.device)
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: not a readable checkpoint; remove it to start over") from error
        self.step, self.history = state["step"], state["history"]
        self.patience, self.best = Patience(**state["patience"]), parts["best"]
        self._optimizer.load(parts["optimizer"])
        self.set_weights(parts["model"])

    @torch.no_grad()
    def set_weights(self, weights: dict[str, torch.Tensor]) -> None:
        for name, p in self._model.named_parameters():
            p.copy_(weights.get(name, p))


def _digest(arrays: Iterable[np.ndarray]) -> str:
    """Return the first 16 digits of the SHA-256 of arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()[:16]
