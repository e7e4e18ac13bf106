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
from biaslab.hate_speech.contexts import OC, SOC_REGULARIZATION, ContextSettings, Occurrences, fill_contexts
from biaslab.hate_speech.explanations import find_occurrences, importance, regularizer
from biaslab.hate_speech.methods import Method
from biaslab.text import packing
from biaslab.text.devices import generator, step_seed
from biaslab.text.language_model import BiGRU
from biaslab.text.tokens import Tokenizer

MAX_TOKENS = 4096
"""Tokens of one pass of the regularizer. More occurrences than fit are differentiated part by part, so that
they need no more memory than a batch of the longest sentences does."""


@dataclass(frozen=True)
class Regularization:
    """What a method needs beside texts and labels.

    Attributes
    ----------
    method : Method
    identifier_ids : mapping of str to int
        The token of every identifier, in the order of their list. They are removed or regularized.
    context_settings : ContextSettings or None
        How contexts are sampled; None stands for those of the method, see `contexts_of`.
    language_model : BiGRU or None
        What samples them; SOC needs it.
    """

    method: Method
    identifier_ids: Mapping[str, int]
    context_settings: ContextSettings | None = None
    language_model: BiGRU | None = None

    @property
    def contexts(self) -> ContextSettings:
        """How contexts are sampled."""
        return self.context_settings or contexts_of(self.method)


def contexts_of(method: Method) -> ContextSettings:
    """Return the contexts in which a method explains: none for OC; A.3's, changed by its quirks, for SOC."""
    if method.kind == methods.OC:
        return OC
    return dataclasses.replace(
        SOC_REGULARIZATION,
        chained=methods.INDEPENDENT not in method.quirks,
        exclude_specials=methods.PAD not in method.quirks,
    )


class Objective:
    """The loss of a method, which batches are differentiated by.

    Parameters
    ----------
    model : BertForSequenceClassification
    tokenizer : Tokenizer
    method : Method
    regularization : Regularization or None
        Needed by methods that explain.
    negative_weight : float
        Weight of class 0; that of class 1 is 1.
    seed : int
    """

    def __init__(
        self,
        model: torch.nn.Module,
        tokenizer: Tokenizer,
        method: Method,
        regularization: Regularization | None,
        negative_weight: float,
        seed: int,
    ) -> None:
        self._model, self._tokenizer, self._method = model, tokenizer, method
        self._regularization, self._seed = regularization, seed
        self._class_weights = torch.tensor([negative_weight, 1.0], dtype=model.dtype, device=model.device)
        identifiers = regularization.identifier_ids if regularization else {}
        self._regularized = set(method.regularized(identifiers).values())

    def backward(
        self, ids: np.ndarray, mask: np.ndarray, labels: np.ndarray, step: int
    ) -> tuple[float, float]:
        """Add the gradient of a batch's loss to those of the parameters.

        All random numbers follow from the seed and the step: a step can be taken without those before.

        Parameters
        ----------
        ids : (n, L) int64
            Tokens of sentences, padded.
        mask : (n, L) bool
            Where there is a token.
        labels : (n,) int
            0 or 1.
        step : int

        Returns
        -------
        loss : float
            The classification loss, L'.
        regularizer : float
            What is added to it, but for its factor α.
        """
        torch.manual_seed(step_seed(self._seed, "dropout", step))
        self._model.train()
        if not self._method.alpha:
            return self._classify(ids, mask, labels), 0.0
        if self._method.kind == methods.EAR:
            return self._attend(ids, mask, labels)
        return self._classify(ids, mask, labels), self._explain(ids, mask, step)

    def _classify(self, ids: np.ndarray, mask: np.ndarray, labels: np.ndarray) -> float:
        loss = self._cross_entropy(packing.logits(self._model, ids, mask), labels)
        loss.backward()
        return loss.item()

    def _attend(self, ids: np.ndarray, mask: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
        logits, entropy = logits_and_entropy(self._model, ids, mask)
        loss = self._cross_entropy(logits, labels)
        (loss - self._method.alpha * entropy).backward()
        return loss.item(), -entropy.item()

    def _cross_entropy(self, logits: torch.Tensor, labels: np.ndarray) -> torch.Tensor:
        target = torch.as_tensor(labels, dtype=torch.int64, device=logits.device)
        return torch.nn.functional.cross_entropy(logits, target, weight=self._class_weights)

    def _explain(self, ids: np.ndarray, mask: np.ndarray, step: int) -> float:
        """Differentiate the regularizer of all occurrences of identifiers in a batch; return it."""
        found = find_occurrences(ids, self._regularized)
        if not len(found):
            return 0.0
        rows, row = np.unique(found.row, return_inverse=True)
        occurrences = Occurrences(row, found.start, found.end)
        width = mask[rows].sum(axis=1).max()
        device = self._model.device
        ids_of, mask_of = (torch.from_numpy(a[rows, :width]).to(device) for a in (ids, mask))
        filled = self._fill(ids_of, mask_of, occurrences, step)
        has_dropout = methods.DROPOUT in self._method.quirks
        self._model.train(has_dropout)
        reduction = "sum" if methods.SUM in self._method.quirks else "mean"
        total, score = 0.0, functools.partial(packing.score, self._model)
        for part in _parts(len(occurrences), 2 * filled.shape[1] * int(width)):
            phi = importance(
                score,
                ids_of,
                mask_of,
                occurrences.part(part),
                filled[part],
                self._tokenizer.pad,
                share=not has_dropout,
            )
            value = regularizer(phi, len(ids), reduction)
            (self._method.alpha * value).backward()
            total += value.item()
        return total

    def _fill(
        self, ids: torch.Tensor, mask: torch.Tensor, occurrences: Occurrences, step: int
    ) -> torch.Tensor:
        regularization = self._regularization
        random = generator(self._seed, "contexts", step, device=ids.device)
        return fill_contexts(
            ids,
            mask,
            occurrences,
            regularization.contexts,
            regularization.language_model,
            self._tokenizer,
            random,
        )


def _parts(n: int, tokens_each: int) -> list[slice]:
    """Split n occurrences into parts of at most `MAX_TOKENS` tokens, one occurrence at least."""
    size = max(1, MAX_TOKENS // tokens_each)
    return [slice(start, start + size) for start in range(0, n, size)]
