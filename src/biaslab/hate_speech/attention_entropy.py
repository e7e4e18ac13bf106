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

import contextlib
from collections.abc import Iterator

import numpy as np
import torch
from torch import nn

from biaslab.text import packing


def logits_and_entropy(
    model: nn.Module, ids: np.ndarray, mask: np.ndarray
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the logits of a classifier, (n, classes), and the entropy H of its attention.

    Parameters
    ----------
    model : BertForSequenceClassification
    ids : (n, L) int64
        Tokens of sentences, padded.
    mask : (n, L) bool
        Tokens that are seen.
    """
    packed = packing.pack(ids, mask)
    sentences = torch.from_numpy(packed.sentences).to(model.device)
    same = sentences[:, :, None] == sentences[:, None, :]
    weight = _weights(sentences, len(ids), model.dtype)
    hidden, total = packing.embed(model, packed), 0.0
    with _eager(model):
        bias = torch.zeros(same.shape, dtype=model.dtype, device=model.device)
        bias.masked_fill_(~same, torch.finfo(model.dtype).min)
        for layer in model.bert.encoder.layer:
            attended, attention = layer.attention(hidden, bias[:, None])
            hidden = layer.feed_forward_chunk(attended)
            total = total + (token_entropies(attention, same) * weight).sum()
    rows, columns = torch.from_numpy(packed.first).to(model.device).unbind(1)
    return packing.classify(model, hidden[rows, columns]), total


def token_entropies(attention: torch.Tensor, same: torch.Tensor) -> torch.Tensor:
    """Return the entropy Hᵢ of every token, (r, w).

    Parameters
    ----------
    attention : (r, heads, w, w)
        Weights by which tokens attend to others.
    same : (r, w, w) bool
        Pairs of tokens of one sentence.
    """
    averaged = attention.mean(dim=1).masked_fill(~same, -torch.inf)
    logarithms = averaged.log_softmax(dim=-1).masked_fill(~same, 0)
    return -(logarithms.exp() * logarithms).sum(dim=-1)


def _weights(sentences: torch.Tensor, n: int, dtype: torch.dtype) -> torch.Tensor:
    """Return what each token, (r, w), weighs in a mean over sentences of means over tokens; 0 in gaps."""
    known = sentences >= 0
    lengths = torch.bincount(sentences[known], minlength=n).to(dtype)
    return torch.where(known, 1 / (n * lengths[sentences.clamp(min=0)]), 0)


@contextlib.contextmanager
def _eager(model: nn.Module) -> Iterator[None]:
    """Let a model compute its attention in steps, for only so are the weights to be had."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        model.set_attn_implementation(before)
