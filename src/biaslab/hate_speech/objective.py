"""Define the training objective: the classification loss, plus regularization of explanations or attention.

L = L' + α Σ φ(w)² over the identifiers w of a text (Kennedy et al. 2020, Eq. 2), where L' is the cross
entropy of a batch: a mean weighted by class.

Entropy-based attention regularization (EAR, Attanasio et al. 2022) needs no list of words. Words that a model
overfits attend to few others. EAR adds −α H to the loss, where H is the entropy of attention, averaged over
the sentences of a batch::

    a'ᵢⱼ = softmaxⱼ (1/h Σₖ aₖᵢⱼ)
    Hᵢ = −Σⱼ a'ᵢⱼ log a'ᵢⱼ
    H = Σ over layers of the mean of Hᵢ over tokens i

aₖᵢⱼ is the attention weight of head k (of h) from token i to token j, including [CLS] and [SEP]. As in the
authors' code, the softmax is applied to weights that already are probabilities, and in training the weights
are taken after dropout.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import numpy as np
import torch
from torch import nn

from biaslab.core.rng import stream
from biaslab.hate_speech import methods
from biaslab.hate_speech.contexts import OC, SOC_REGULARIZATION, ContextSettings, Occurrences, fill_contexts
from biaslab.hate_speech.explanations import find_occurrences, importance, passes, regularizer
from biaslab.hate_speech.methods import Method
from biaslab.hate_speech.metrics import holding
from biaslab.text import packing
from biaslab.text.devices import generator, step_seed
from biaslab.text.language_model import BiGRU
from biaslab.text.tokens import Tokenizer, Tokens

STEPS_AT_ONCE = 32
"""Number of steps with jointly drawn contexts; a language model needs the same time for one row or many."""
MAX_TOKENS = 4096
"""Tokens of one pass of the regularizer. More occurrences are differentiated in parts, so that they need no
more memory than a batch of the longest sentences."""


class Batches:
    """Sentences of every step: each epoch has all sentences, in the order of its own random stream."""

    def __init__(self, tokens: Tokens, size: int, seed: int) -> None:
        self.tokens, self._size, self._per_epoch = tokens, size, -(-len(tokens) // size)
        self._order = lru_cache(maxsize=2)(
            lambda epoch: stream(seed, "order", epoch).permutation(len(tokens))
        )

    def rows(self, step: int) -> np.ndarray:
        """Return the sentences of a step, (k,) int64."""
        epoch, number = divmod(step, self._per_epoch)
        return self._order(epoch)[number * self._size : (number + 1) * self._size]


@dataclass(frozen=True)
class Explained:
    """Sentences with identifiers, and the contexts of the identifiers."""

    ids: torch.Tensor  # padded, (n, L) int64
    mask: torch.Tensor  # whether a position has a token, (n, L) bool
    occurrences: Occurrences  # k identifiers in them
    filled: torch.Tensor  # their contexts, (k, m, L) int64, see `fill_contexts`


class ExplainedBatches:
    """The identifiers of each batch in their contexts; jointly drawn contexts share a random stream."""

    def __init__(
        self,
        batches: Batches,
        regularization: "Regularization",
        tokenizer: Tokenizer,
        seed: int,
        device: torch.device,
    ) -> None:
        self._batches, self._tokenizer, self._device = batches, tokenizer, device
        self._regularization, self._seed = regularization, seed
        ids = list(regularization.identifier_ids.values())
        self._has = holding(batches.tokens, ids).any(axis=1)
        self._drawn = lru_cache(maxsize=1)(self._draw)

    def at(self, step: int) -> Explained | None:
        """Return the identifiers of a step's batch in their contexts; None if the batch has none."""
        explained, bounds = self._drawn(step // STEPS_AT_ONCE)
        begin, end = bounds[step % STEPS_AT_ONCE : step % STEPS_AT_ONCE + 2]
        if begin == end:
            return None
        width = int(explained.mask[begin:end].sum(dim=1).max())
        phrases = slice(*np.searchsorted(explained.occurrences.row, (begin, end)))
        occurrences = explained.occurrences.part(phrases)
        return Explained(
            explained.ids[begin:end, :width],
            explained.mask[begin:end, :width],
            Occurrences(occurrences.row - begin, occurrences.start, occurrences.end),
            explained.filled[phrases, :, :width],
        )

    def _draw(self, number: int) -> tuple[Explained, np.ndarray]:
        """Return the explained sentences of `STEPS_AT_ONCE` steps, and the bounds of each step in them."""
        steps = range(number * STEPS_AT_ONCE, (number + 1) * STEPS_AT_ONCE)
        rows = [batch[self._has[batch]] for batch in map(self._batches.rows, steps)]
        ids, mask = self._batches.tokens.padded(np.concatenate(rows), self._tokenizer.pad)
        regularization = self._regularization
        occurrences = find_occurrences(ids, regularization.identifier_ids.values())
        ids, mask = (torch.from_numpy(a).to(self._device) for a in (ids, mask))
        random = generator(self._seed, "contexts", number, device=self._device)
        settings, language_model = regularization.contexts, regularization.language_model
        filled = fill_contexts(ids, mask, occurrences, settings, language_model, self._tokenizer, random)
        return Explained(ids, mask, occurrences, filled), np.cumsum([0, *map(len, rows)])


@dataclass(frozen=True)
class Regularization:
    """A method with its inputs in addition to texts and labels."""

    method: Method
    identifier_ids: Mapping[str, int] = field(default_factory=dict)  # in order; removed or regularized
    context_settings: ContextSettings = SOC_REGULARIZATION  # before the method's quirks, see `contexts`
    language_model: BiGRU | None = None  # samples the contexts; SOC needs it

    @property
    def contexts(self) -> ContextSettings:
        """The settings for sampling contexts: none for OC, `context_settings` with the quirks for SOC."""
        if self.method.kind == methods.OC:
            return OC
        return replace(
            self.context_settings,
            chained=methods.INDEPENDENT not in self.method.quirks,
            exclude_specials=methods.PAD not in self.method.quirks,
        )


class Objective:
    """The loss of a method on batches, and its gradient; the weight of class 1 is 1."""

    def __init__(
        self,
        model: torch.nn.Module,
        batches: Batches,
        labels: np.ndarray,
        tokenizer: Tokenizer,
        regularization: Regularization,
        negative_weight: float,
        seed: int,
    ) -> None:
        self._model, self._batches, self._labels, self._pad = model, batches, labels, tokenizer.pad
        self._method, self._seed = regularization.method, seed
        self._class_weights = torch.tensor([negative_weight, 1.0], dtype=model.dtype, device=model.device)
        if self._method.explains:
            self._explained = ExplainedBatches(batches, regularization, tokenizer, seed, model.device)

    def backward(self, step: int) -> tuple[float, float]:
        """Accumulate the gradient of a step's loss L; return L' and the added term without its factor α."""
        torch.manual_seed(step_seed(self._seed, "dropout", step))
        self._model.train()
        rows = self._batches.rows(step)
        ids, mask = self._batches.tokens.padded(rows, self._pad)
        is_attending = self._method.kind == methods.EAR and self._method.alpha > 0
        if is_attending:
            logits, entropy = logits_and_entropy(self._model, ids, mask)
        else:
            logits, entropy = packing.logits(self._model, ids, mask), 0.0
        target = torch.as_tensor(self._labels[rows], dtype=torch.int64, device=logits.device)
        loss = torch.nn.functional.cross_entropy(logits, target, weight=self._class_weights)
        (loss - self._method.alpha * entropy).backward()
        if is_attending:
            return loss.item(), -entropy.item()
        explained = self._explained.at(step) if self._method.explains else None
        return loss.item(), self._explain(explained, len(rows)) if explained else 0.0

    def _explain(self, explained: Explained, n_sentences: int) -> float:
        """Differentiate α times the regularizer of the identifiers in a batch; return the regularizer."""
        has_dropout = methods.DROPOUT in self._method.quirks
        reduction = "sum" if methods.SUM in self._method.quirks else "mean"
        self._model.train(has_dropout)
        total = 0.0
        for part in passes(explained.filled, MAX_TOKENS):
            phi = importance(
                partial(packing.score, self._model),
                explained.ids,
                explained.mask,
                explained.occurrences.part(part),
                explained.filled[part],
                self._pad,
                share=not has_dropout,
            )
            value = regularizer(phi, n_sentences, reduction)
            (self._method.alpha * value).backward()
            total += value.item()
        return total


def logits_and_entropy(
    model: nn.Module, ids: np.ndarray, mask: np.ndarray
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the logits of a classifier, (n, classes), and the entropy H of its attention."""
    entropies = []

    def attend(
        attention: nn.Module,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        groups: packing.Groups,
    ) -> torch.Tensor:
        contexts = []
        for q, k, v in packing.split_heads(attention, query, key, value, groups):
            weights = attention.dropout((q @ k.transpose(2, 3) * attention.scaling).softmax(dim=-1))
            logarithms = weights.mean(dim=1).log_softmax(dim=-1)
            of_tokens = -(logarithms.exp() * logarithms).sum(dim=-1)  # Hᵢ, (n, t)
            entropies.append(of_tokens.mean(dim=1).sum())
            contexts.append(weights @ v)
        return packing.join_heads(contexts)

    logits = packing.logits(model, ids, mask, attend=attend, whole=True)
    return logits, torch.stack(entropies).sum() / len(ids)
