"""Train recurrent classifiers of texts: weighted cross entropy, Adam, shuffled batches.

The paper does not state the settings of this training (Zhang et al. 2021, Section 5.1).
"""

import numpy as np
import pandas as pd
from pydantic.dataclasses import dataclass

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.core.settings import PYDANTIC
from biaslab.text import _recurrent_training_kernels as kernels
from biaslab.text.recurrent import Recurrent, check_words, checked_labels, gate_shift, pack, unpack
from biaslab.text.scores import precision_recall_f1
from biaslab.text.settings import NegativeWeight, RecurrentTraining
from biaslab.text.words import Texts

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
"""Adam's decay rates of the means of gradients and squared gradients, and the ε of its divisor."""
COLUMNS = "epoch", "loss", "validation_loss", "validation_f1", "is_kept"

Labelled = tuple[Texts, np.ndarray]


@dataclass(frozen=True, config=PYDANTIC)
class TrainingSettings(RecurrentTraining):
    """How a recurrent network is trained."""

    negative_weight: NegativeWeight = 1.0


def train_recurrent(
    start: Recurrent,
    texts: Texts,
    labels: np.ndarray,
    settings: TrainingSettings,
    seed: int,
    validation: Labelled | None = None,
) -> tuple[Recurrent, pd.DataFrame]:
    """Train a network on texts of both labels, 0 and 1; return the network and a table of epochs.

    Equal seeds give equal networks with any number of threads. With `validation`, the network of the (first)
    epoch with the least validation loss is kept, otherwise the last network. Losses are weighted means.
    """
    labels = checked_labels(texts, labels)
    if len(np.unique(labels)) < 2:
        raise InputError(
            f"{len(texts)} texts to train on do not have both labels; supply texts of label 0 and 1"
        )
    weights = np.where(labels == 1, 1.0, settings.negative_weight)
    if validation is not None:
        validation = validation[0], checked_labels(*validation)
        check_words(validation[0], start.vectors)
    check_words(texts, start.vectors)
    (parameters, flat), (gradients, flat_gradients) = pack(start), pack(start)
    means, step = (np.zeros_like(flat), np.zeros_like(flat)), 0
    rows, best, least = [], start, np.inf
    for epoch in range(1, settings.epochs + 1):
        order = stream(seed, "recurrent training", epoch).permutation(len(texts))
        step, loss = kernels.train_batches(
            start.vectors,
            texts.ids,
            texts.offsets,
            labels,
            weights,
            order,
            settings.batch_size,
            gate_shift(start.kind, parameters),
            flat,
            parameters,
            flat_gradients,
            gradients,
            *means,
            step,
            settings.learning_rate,
            BETA1,
            BETA2,
            EPSILON,
        )
        if not np.isfinite(flat).all():
            raise InputError(f"training diverged in epoch {epoch}; lower learning_rate")
        network = start.with_weights(*unpack(start, parameters))
        validation_loss, f1 = _validate(network, *validation, settings) if validation else (np.nan, np.nan)
        rows.append((epoch, loss, validation_loss, f1))
        if validation is None or validation_loss < least:
            best, best_epoch, least = network, epoch, validation_loss
    return best, pd.DataFrame([(*row, row[0] == best_epoch) for row in rows], columns=COLUMNS)


def _validate(
    network: Recurrent, texts: Texts, labels: np.ndarray, settings: TrainingSettings
) -> tuple[float, float]:
    """Return the weighted mean cross entropy, and F1 of label 1 (0 if it is never true or predicted)."""
    z = network.logits(texts).astype(np.float64)
    gaps = np.where(labels == 1, z[:, 1] - z[:, 0], z[:, 0] - z[:, 1])
    weights = np.where(labels == 1, 1.0, settings.negative_weight)
    *_, f1 = precision_recall_f1(z[:, 1] > z[:, 0], labels)
    return float(np.average(np.logaddexp(0.0, -gaps), weights=weights)), f1
