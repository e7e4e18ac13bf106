"""Vectors of sentences by a BERT encoder, and how similar two sentences are by them.

As sentence encoders of the kind of all-MiniLM-L6 compute them (Reimers and Gurevych 2019): the mean of the
last hidden states of all tokens, [CLS] and [SEP] among them, at unit length. The encoder of Zhang et al.
2021, Section 5.2 (Cer et al. 2018) is another one, with 512 dimensions.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from biaslab.text.bert import BertClassifier
from biaslab.text.encoder import fill_by_length, load_classifier
from biaslab.text.tokens import Tokenizer

MAX_LENGTH = 256
"""Tokens of a sentence, [CLS] and [SEP] among them, as published for all-MiniLM-L6-v2."""


@dataclass(frozen=True)
class SentenceEncoder:
    """A BERT, of which only embeddings and layers are used, that turns sentences into vectors."""

    model: BertClassifier
    tokenizer: Tokenizer

    @classmethod
    def load(cls, folder: str | os.PathLike, device: torch.device | str = "cpu") -> "SentenceEncoder":
        """Load an encoder folder."""
        model = load_classifier(folder, seed=0)  # draws what the file may lack and nothing here reads
        return cls(model.to(device), Tokenizer.load(Path(folder) / "vocab.txt"))

    def vectors(
        self,
        sentences: Sequence[str],
        batch_tokens: int = 4096,
        progress: Callable[[int, int], None] | None = None,
    ) -> np.ndarray:
        """Return the vectors of sentences, (n, d) float32, of length 1.

        Of the tokens of a long sentence the first are read, as many as the encoder has positions for and
        `MAX_LENGTH` at most. Another `batch_tokens` (tokens of a batch at most, padding included) changes
        vectors by rounding in single precision only. `progress` is called after every batch with the
        sentences that are done and all of them.
        """
        config = self.model.config
        tokens = self.tokenizer.encode(sentences, min(MAX_LENGTH, config.max_position_embeddings))
        found = np.empty((len(tokens), config.hidden_size), np.float32)
        return fill_by_length(found, _pooled, self.model, tokens, self.tokenizer.pad, batch_tokens, progress)


def similarity(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the cosines, (n,) float64, of vectors of length 1 in pairs."""
    return np.einsum("ij,ij->i", a, b, dtype=np.float64)


def _pooled(model: BertClassifier, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the mean of the last hidden states of tokens that are read, (n, d), at unit length."""
    hidden = model.bert.embeddings(ids)
    for layer in model.bert.encoder.layer:
        hidden = layer(hidden, mask)
    weights = mask[:, :, None].to(hidden.dtype)
    mean = (hidden * weights).sum(dim=1) / weights.sum(dim=1)
    return torch.nn.functional.normalize(mean, dim=1)
