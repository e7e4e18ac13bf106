"""Word embeddings of the tokens in use alone, while a model is trained.

A vocabulary of 30,522 tokens is half of a small encoder, and the texts of a corpus use a part of it. Adam
moves every row at every step, whether it has a gradient or not.
"""

import contextlib
from collections.abc import Iterator

import numpy as np
import torch
from torch import nn


class CompactEmbedding(nn.Module):
    """Some rows of an embedding, looked up by the ids in the whole table, `used`, ascending; others raise."""

    def __init__(self, table: nn.Embedding, used: np.ndarray) -> None:
        super().__init__()
        rows = torch.as_tensor(used, dtype=torch.int64, device=table.weight.device)
        position = torch.full((table.num_embeddings,), len(rows), device=rows.device)
        position[rows] = torch.arange(len(rows), device=rows.device)
        self.register_buffer("position", position, persistent=False)
        self.padding_idx = None if table.padding_idx is None else int(position[table.padding_idx])
        self.weight = nn.Parameter(table.weight.detach()[rows].clone())

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return embeddings, (..., d), of ids, (...) int64."""
        return nn.functional.embedding(self.position[ids], self.weight, self.padding_idx)


@contextlib.contextmanager
def compact_embeddings(model: nn.Module, used: np.ndarray) -> Iterator[None]:
    """Keep only some rows of a model's word embeddings in training; put the whole table back at the end.

    Gradients, and steps of an optimizer without weight decay, are those of the whole table: other rows have
    no gradient. With decay these would shrink by rate · decay of themselves at every step, at most by rate ·
    decay · steps in all. Here they stay as they were, so that words which training never saw keep their
    published embeddings.

    `used`, ascending, are the ids of all tokens that the model will be given, the padding token among them.
    The parameter of the `CompactEmbedding` has the name that it had in the table.
    """
    embeddings = model.bert.embeddings
    table = embeddings.word_embeddings
    compact = embeddings.word_embeddings = CompactEmbedding(table, used)
    try:
        yield
    finally:
        embeddings.word_embeddings = table
        with torch.no_grad():
            table.weight[torch.as_tensor(used, device=table.weight.device)] = compact.weight
