"""Compute vectors of sentences with a BERT encoder, and their similarities.

A vector is the mean of the last hidden states of all tokens, including [CLS] and [SEP], scaled to unit
length, as in sentence encoders such as all-MiniLM-L6 (Reimers and Gurevych 2019). Zhang et al. 2021 (Section
5.2) use a different encoder with 512 dimensions (Cer et al. 2018).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from biaslab.text.bert import BertClassifier
from biaslab.text.encoder import fill_by_length
from biaslab.text.tokens import Tokenizer

MAX_LENGTH = 256
"""Maximum number of tokens of a sentence, including [CLS] and [SEP], as published for all-MiniLM-L6-v2."""


@dataclass(frozen=True)
class SentenceEncoder:
    """A BERT that maps sentences to vectors; only its embeddings and layers are used."""

    model: BertClassifier
    tokenizer: Tokenizer

    def vectors(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the vectors of sentences, (n, d) float32, of length 1; the end of a long one is not read."""
        config = self.model.config
        tokens = self.tokenizer.encode(sentences, min(MAX_LENGTH, config.max_position_embeddings))
        out = np.empty((len(tokens), config.hidden_size), np.float32)
        return fill_by_length(out, _pool, self.model, tokens, self.tokenizer.pad)


def similarity(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the pairwise cosines, (n,) float64, of vectors of length 1."""
    return np.einsum("ij,ij->i", a, b, dtype=np.float64)


def _pool(model: BertClassifier, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the mean of the last hidden states of the tokens in the mask, (n, d), at unit length."""
    hidden = model.bert.embeddings(ids)
    for layer in model.bert.encoder.layer:
        hidden = layer(hidden, mask)
    weights = mask[:, :, None].to(hidden.dtype)
    mean = (hidden * weights).sum(dim=1) / weights.sum(dim=1)
    return torch.nn.functional.normalize(mean, dim=1)
