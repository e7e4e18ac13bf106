"""Certified training of recurrent networks that keep their label (Jia et al. 2019; Zhang et al. 2021, RQ4).

Interval bound propagation: every sensitive word may take every value of its feature, all at once, and lower
and upper bounds are propagated through the layers of the network. The trained loss is (1 - κ) J(clean) + κ
J(worst), where κ and the reach ε of the values (0: the word itself, 1: every value) rise linearly from 0 (Jia
et al. 2019). Values pass the affine map of the first layer individually, and bounds begin after it, as in the
code of Jia et al.; this is never looser than the box around the vectors themselves. If the last step is
affine, the difference of both outputs is bounded instead of each output (Gowal et al. 2018).

A bound covers more than the test for discrimination, which replaces one sensitive word at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import softplus

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing.text.discrimination import TextSubject, have_marked
from biaslab.text.devices import make_deterministic, without_onednn
from biaslab.text.recurrent import Recurrent
from biaslab.text.words import Texts

WINDOW = 8  # batches per window of texts sorted by length, so that a batch has texts of similar length

Labelled = tuple[Texts, np.ndarray]


@dataclass(frozen=True)
class CertifiedSettings:
    """Settings of certified training."""

    epochs: int = 12
    # Initial share of the epochs in which κ and ε rise; only epochs at full κ and ε may be kept.
    ramp: float = 0.6
    kappa: float = 0.8  # final weight of the worst case
    batch: int = 256
    learning_rate: float = 0.01  # of Adam
    clip: float = 1.0  # largest norm of a gradient
    negative_weight: float = 1.0  # weight of a negative text in the loss, relative to a positive text

    def reached(self, epoch: int) -> float:
        """Return the fraction of κ and ε reached in an epoch (from 0), above 0 and up to 1."""
        return min(1.0, (epoch + 1) / (int(self.ramp * self.epochs) + 1))


@without_onednn()
def train_certified(
    subject: TextSubject, train: Labelled, validation: Labelled, settings: CertifiedSettings, seed: int
) -> Recurrent:
    """Train a network, from the subject's own, whose label must not depend on the value of the feature.

    Keep the network of the epoch with the least loss on the validation texts at full κ and ε. From this call
    on, torch uses one thread in this process, so that results are byte-identical.
    """
    make_deterministic(1)  # persists: no numba kernel runs below, whose first run gives torch all threads
    network = _Network(subject.model, torch.float32)
    # Fused Adam has exact square roots; those of MKL depend on the vendor of the processor.
    optimizer = torch.optim.Adam(network.parameters(), lr=settings.learning_rate, fused=True)
    best, kept = np.inf, None
    for epoch in range(settings.epochs):
        reached = settings.reached(epoch)
        rng = stream(seed, "certified training", epoch)
        for batch in _batches(train[0].lengths, settings.batch, rng):
            texts, labels = train[0].take(batch), train[1][batch]
            losses, weights = _losses(network, texts, labels, subject, settings, reached)
            step_loss = losses.sum() / weights.sum()
            if not np.isfinite(step_loss.item()):
                raise InputError("certified training diverged; lower the learning rate")
            optimizer.zero_grad()
            step_loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), settings.clip)
            optimizer.step()
        loss = _validation_loss(network, *validation, subject, settings)
        if reached == 1 and loss < best:
            best, kept = loss, network.trained(subject.model)
    return kept


class _Network(torch.nn.Module):
    """A recurrent network with answers and bounds that torch can differentiate."""

    def __init__(self, start: Recurrent, dtype: torch.dtype) -> None:
        super().__init__()
        self.kind = start.kind
        self.vectors = torch.from_numpy(start.vectors).to(dtype)
        cells = torch.nn.LSTM if self.kind == "lstm" else torch.nn.GRU
        self.cells = cells(self.vectors.shape[1], start.hidden, len(start.layers), dtype=dtype)
        self.out = torch.nn.Linear(start.hidden, 2, dtype=dtype)
        arrays = [array for layer in start.layers for array in layer]
        with torch.no_grad():
            for ours, theirs in zip(self.parameters(), [*arrays, start.W_out, start.b_out], strict=True):
                ours.copy_(torch.from_numpy(theirs))

    def trained(self, start: Recurrent) -> Recurrent:
        """Return the current network; words keep the vectors of `start`."""
        arrays = [tensor.detach().to(torch.float32).numpy().copy() for tensor in self.parameters()]
        return start.with_weights(_by_layer(arrays[:-2]), *arrays[-2:])

    def margins(self, texts: Texts) -> torch.Tensor:
        """Return O_1 - O_0 of each text, (n,)."""
        states, _ = self.cells(self.vectors[torch.from_numpy(_padded(texts))])
        w, b = self._difference()
        return _last(states, texts) @ w + b

    def bounds(self, texts: Texts, is_value: np.ndarray, values: np.ndarray, epsilon: float) -> torch.Tensor:
        """Return lower and upper bounds of O_1 - O_0, (n, 2), for values within the reach ε."""
        ids, layers = _padded(texts), _by_layer(list(self.cells.parameters()))
        words, of_values = (
            self.vectors[torch.from_numpy(rows)] @ layers[0][0].T
            for rows in (ids, np.asarray(values, np.int64))
        )
        ends = torch.cat([of_values.amin(0), of_values.amax(0)])
        own, is_free = words.repeat(1, 1, 2), torch.from_numpy(is_value[ids])[..., None]
        # Bounds of W_ih x, (T, n, 2 G): lower, then upper.
        inputs = torch.where(is_free, own + epsilon * (ends - own), own)
        for number, (_, W_hh, b_ih, b_hh) in enumerate(layers, start=1):
            # A GRU adds b_hh within its reset gate instead.
            inputs = inputs + (b_ih + b_hh if self.kind == "lstm" else b_ih).repeat(2)
            recurrent = _interval_map(W_hh)
            h = c = inputs.new_zeros(inputs.shape[1], 2, W_hh.shape[1])
            steps = []
            for x in inputs:
                if self.kind == "lstm":
                    h, c = _lstm_step(x, h, c, recurrent)
                else:
                    h = _gru_step(x, h, recurrent, b_hh)
                steps.append(h.flatten(1))
            states = torch.stack(steps)  # bounds of the layer's states, (T, n, 2 H)
            if number < len(layers):
                inputs = states @ _interval_map(layers[number][0])
        w, b = self._difference()
        return _last(states, texts) @ _interval_map(w[None]) + b

    def _difference(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the weights (H,) and the bias of O_1 - O_0."""
        return self.out.weight[1] - self.out.weight[0], self.out.bias[1] - self.out.bias[0]


def _losses(
    network: _Network,
    texts: Texts,
    labels: np.ndarray,
    subject: TextSubject,
    settings: CertifiedSettings,
    reached: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (1 - κ) J(clean) + κ J(worst) of each text, weighted, and its weight, (n,) each.

    κ and ε are at the fraction `reached` of their final values.
    """
    kappa = settings.kappa * reached
    signs = torch.from_numpy(2.0 * labels - 1).to(network.vectors.dtype)
    weights = torch.where(signs > 0, torch.ones_like(signs), settings.negative_weight)
    margins = network.margins(texts)
    losses = weights * softplus(-signs * margins)  # cross entropy of two classes
    rows = np.flatnonzero(have_marked(texts, subject.is_value[texts.ids]))
    if kappa > 0 and len(rows):
        bounds = network.bounds(texts.take(rows), subject.is_value, subject.values, reached)
        own = torch.from_numpy(rows)
        least = torch.where(signs[own] > 0, bounds[:, 0], -bounds[:, 1])
        worst = weights[own] * softplus(-least)
        losses = losses.index_add(0, own, kappa * (worst - losses[own]))
    return losses, weights


def _lstm_step(
    x: torch.Tensor, h: torch.Tensor, c: torch.Tensor, recurrent: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return bounds of the next h and c, (n, 2, H): c' = f c + i g and h' = o tanh(c')."""
    n, _, hidden = h.shape
    i, f, g, o = (x + h.flatten(1) @ recurrent).view(n, 2, 4, hidden).unbind(2)
    gates, content = torch.sigmoid(torch.stack([f, i])), torch.stack([c, torch.tanh(g)])
    c = _scaled(gates, content).sum(0)
    return _scaled(torch.sigmoid(o), torch.tanh(c)), c


def _gru_step(x: torch.Tensor, h: torch.Tensor, recurrent: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return bounds of the next h, (n, 2, H): h' = n + z (h - n) increases with n and h, linear in z."""
    n, _, hidden = h.shape
    of_input = x.view(n, 2, 3, hidden)
    of_state = (h.flatten(1) @ recurrent).view(n, 2, 3, hidden) + bias.view(3, hidden)
    r, z = torch.sigmoid(of_input[:, :, :2] + of_state[:, :, :2]).unbind(2)
    new = torch.tanh(of_input[:, :, 2] + _scaled(r, of_state[:, :, 2]))
    return new + _scaled(z, h - new)


def _scaled(gate: torch.Tensor, content: torch.Tensor) -> torch.Tensor:
    """Return bounds of a product with a non-negative first factor; axis -2 has lower and upper bounds."""
    return content * torch.where(content >= 0, gate, gate.flip(-2))


def _interval_map(W: torch.Tensor) -> torch.Tensor:
    """Return the (2 in, 2 out) matrix that maps lower and upper bounds of x to bounds of W x."""
    rising, falling = W.clamp(min=0), W.clamp(max=0)
    return torch.cat([torch.cat([rising, falling], 1), torch.cat([falling, rising], 1)]).T


def _by_layer(arrays: Sequence) -> list[tuple]:
    """Return W_ih, W_hh, b_ih and b_hh of each layer."""
    return [tuple(arrays[i : i + 4]) for i in range(0, len(arrays), 4)]


def _last(states: torch.Tensor, texts: Texts) -> torch.Tensor:
    """Return the states after the last word, (n, .); zeros for an empty text."""
    lengths = torch.from_numpy(texts.lengths)
    last = states[(lengths - 1).clamp(min=0), torch.arange(len(texts))]
    return torch.where((lengths > 0)[:, None], last, 0.0)


def _padded(texts: Texts) -> np.ndarray:
    """Return word ids, (T, n) int64, the first word first, padded at the end."""
    lengths = texts.lengths
    ids = np.zeros((len(texts), max(1, lengths.max(initial=0))), np.int64)
    ids[np.arange(ids.shape[1]) < lengths[:, None]] = texts.ids
    return np.ascontiguousarray(ids.T)


def _batches(lengths: np.ndarray, batch: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield the rows of each batch of an epoch; a batch has texts of similar length."""
    order = rng.permutation(len(lengths))
    batches = []
    for first in range(0, len(order), batch * WINDOW):
        window = order[first : first + batch * WINDOW]
        window = window[np.argsort(lengths[window], kind="stable")]
        batches += [window[i : i + batch] for i in range(0, len(window), batch)]
    return (batches[i] for i in rng.permutation(len(batches)))


def _validation_loss(
    network: _Network, texts: Texts, labels: np.ndarray, subject: TextSubject, settings: CertifiedSettings
) -> float:
    """Return the weighted mean loss at full κ and ε."""
    order, loss, weight = np.argsort(texts.lengths, kind="stable"), 0.0, 0.0
    with torch.no_grad():
        for first in range(0, len(order), settings.batch):
            rows = order[first : first + settings.batch]
            losses, weights = _losses(network, texts.take(rows), labels[rows], subject, settings, 1.0)
            loss, weight = loss + losses.sum().item(), weight + weights.sum().item()
    return loss / weight
