"""What a step of training differentiates: the classification loss, and explanations or attention besides.

L = L' + α Σ φ(w)² over the identifiers w of a text (Kennedy et al. 2020, Eq. 2), where L' is the cross
entropy of a batch: a mean weighted by class.
"""

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from biaslab.hate_speech import methods
from biaslab.hate_speech.attention_entropy import logits_and_entropy
from biaslab.hate_speech.batches import Batches, Explained, ExplainedBatches
from biaslab.hate_speech.contexts import OC, SOC_REGULARIZATION, ContextSettings
from biaslab.hate_speech.explanations import importance, passes, regularizer
from biaslab.hate_speech.methods import Method
from biaslab.text import packing
from biaslab.text.devices import step_seed
from biaslab.text.language_model import BiGRU
from biaslab.text.tokens import Tokenizer

MAX_TOKENS = 4096
"""Tokens of one pass of the regularizer. More occurrences than fit are differentiated part by part, so that
they need no more memory than a batch of the longest sentences does."""


@dataclass(frozen=True)
class Regularization:
    """What a method needs beside texts and labels."""

    method: Method
    identifier_ids: Mapping[str, int]  # in the order of their list; they are removed or regularized
    context_settings: ContextSettings = SOC_REGULARIZATION  # but for the method's quirks, see `contexts_of`
    language_model: BiGRU | None = None  # samples the contexts; SOC needs it

    @property
    def contexts(self) -> ContextSettings:
        """How contexts are sampled."""
        return contexts_of(self.method, self.context_settings)


def contexts_of(method: Method, settings: ContextSettings = SOC_REGULARIZATION) -> ContextSettings:
    """Return the contexts in which a method explains: none for OC; the settings with its quirks for SOC."""
    if method.kind == methods.OC:
        return OC
    return dataclasses.replace(
        settings,
        chained=methods.INDEPENDENT not in method.quirks,
        exclude_specials=methods.PAD not in method.quirks,
    )


class Objective:
    """The loss of a method, which batches are differentiated by; the weight of class 1 is 1."""

    def __init__(
        self,
        model: torch.nn.Module,
        batches: Batches,
        labels: np.ndarray,
        tokenizer: Tokenizer,
        method: Method,
        regularization: Regularization | None,
        negative_weight: float,
        seed: int,
    ) -> None:
        self._model, self._batches, self._labels, self._pad = model, batches, labels, tokenizer.pad
        self._method, self._seed = method, seed
        self._class_weights = torch.tensor([negative_weight, 1.0], dtype=model.dtype, device=model.device)
        if method.explains:
            self._explained = ExplainedBatches(
                batches,
                set(regularization.identifier_ids.values()),
                regularization.contexts,
                regularization.language_model,
                tokenizer,
                seed,
                model.device,
            )

    def backward(self, step: int) -> tuple[float, float]:
        """Add the gradient of a step's loss L; return L' and, without its factor α, what is added to it.

        All random numbers follow from the seed and the step: a step can be taken without those before.
        """
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
                functools.partial(packing.score, self._model),
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
