"""Entropy-based attention regularization (EAR, Attanasio et al. 2022), which needs no list of words.

Words that a model overfits attend to few others. EAR adds −α H to the loss, where H is the entropy of
attention, averaged over the sentences of a batch::

    a'ᵢⱼ = softmaxⱼ (1/h Σₖ aₖᵢⱼ)
    Hᵢ = −Σⱼ a'ᵢⱼ log a'ᵢⱼ
    H = Σ over layers of the mean of Hᵢ over tokens i

aₖᵢⱼ are the weights by which head k of h lets token i attend to token j, [CLS] and [SEP] included. As in the
authors' code, the softmax is taken of weights that are probabilities already, and in training the weights are
those after dropout.
"""

import numpy as np
import torch
from torch import nn

from biaslab.text import packing


def logits_and_entropy(
    model: nn.Module, ids: np.ndarray, mask: np.ndarray
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the logits of a classifier, (n, classes), and the entropy H of its attention.

    The padded tokens of n sentences are `ids`, (n, L) int64; `mask`, (n, L) bool, tells which are seen.
    """
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
            entropies.append(token_entropies(weights).mean(dim=1).sum())
            contexts.append(weights @ v)
        return packing.join_heads(contexts)

    logits = packing.logits(model, ids, mask, attend=attend, whole=True)
    return logits, torch.stack(entropies).sum() / len(ids)


def token_entropies(attention: torch.Tensor) -> torch.Tensor:
    """Return the entropy Hᵢ of every token, (n, t), from the weights of attention, (n, heads, t, t)."""
    logarithms = attention.mean(dim=1).log_softmax(dim=-1)
    return -(logarithms.exp() * logarithms).sum(dim=-1)
