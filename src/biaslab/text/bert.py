"""BERT with a classification head (Devlin et al. 2019), its tensors named as in the Hugging Face layout.

Tests compare this module with the reference, transformers' ``BertForSequenceClassification``. It loads in a
third of the time, which matters for an experiment of hundreds of short steps.
"""

import contextlib
import functools
from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np
import torch
from annotated_types import Le
from pydantic.dataclasses import dataclass
from torch import nn
from torch.nn.functional import gelu, relu, scaled_dot_product_attention, silu

from biaslab.core.settings import PYDANTIC, Count, Natural, NotNegative

_TANH_GELU = functools.partial(gelu, approximate="tanh")
ACTIVATIONS = {
    "gelu": gelu,
    "gelu_new": _TANH_GELU,
    "gelu_pytorch_tanh": _TANH_GELU,
    "relu": relu,
    "silu": silu,
}
_Dropout = Annotated[NotNegative, Le(1)]


@dataclass(frozen=True, config=PYDANTIC)
class BertSettings:
    """The keys of a ``config.json`` that define a BERT, with BERT's defaults."""

    vocab_size: Count
    hidden_size: Count
    num_hidden_layers: Count
    num_attention_heads: Count
    intermediate_size: Count
    max_position_embeddings: Count
    type_vocab_size: Count = 2
    hidden_act: Literal[tuple(ACTIVATIONS)] = "gelu"
    hidden_dropout_prob: _Dropout = 0.1
    attention_probs_dropout_prob: _Dropout = 0.1
    classifier_dropout: _Dropout | None = None
    initializer_range: NotNegative = 0.02
    layer_norm_eps: NotNegative = 1e-12
    pad_token_id: Natural = 0


class Embeddings(nn.Module):
    """Normalized sum of the embeddings of token, position and segment (always the first segment)."""

    def __init__(self, settings: BertSettings) -> None:
        super().__init__()
        width = settings.hidden_size
        self.word_embeddings = nn.Embedding(settings.vocab_size, width, padding_idx=settings.pad_token_id)
        self.position_embeddings = nn.Embedding(settings.max_position_embeddings, width)
        self.token_type_embeddings = nn.Embedding(settings.type_vocab_size, width)
        self.LayerNorm = nn.LayerNorm(width, eps=settings.layer_norm_eps)
        self.dropout = nn.Dropout(settings.hidden_dropout_prob)

    def forward(self, input_ids: torch.Tensor, position_ids: torch.Tensor | None = None) -> torch.Tensor:
        """Return (n, L, d) for ids (n, L); positions count from 0 by default."""
        if position_ids is None:
            position_ids = torch.arange(input_ids.shape[1], device=input_ids.device)[None]
        segment = self.token_type_embeddings.weight[0]
        total = self.word_embeddings(input_ids) + segment + self.position_embeddings(position_ids)
        return self.dropout(self.LayerNorm(total))


class SelfAttention(nn.Module):
    """Scaled dot product attention with several heads."""

    def __init__(self, settings: BertSettings) -> None:
        super().__init__()
        width = settings.hidden_size
        self.num_attention_heads = settings.num_attention_heads
        self.scaling = (width // settings.num_attention_heads) ** -0.5
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.dropout = nn.Dropout(settings.attention_probs_dropout_prob)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the context, (n, L, d), of states (n, L, d); they attend to tokens with mask (n, L) True."""
        heads = (
            part(hidden).unflatten(2, (self.num_attention_heads, -1)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        context = scaled_dot_product_attention(
            *heads,
            attn_mask=mask[:, None, None, :],
            dropout_p=self.dropout.p if self.training else 0.0,
            scale=self.scaling,
        )
        return context.transpose(1, 2).flatten(2)


class Output(nn.Module):
    """A projection with residual connection and layer norm."""

    def __init__(self, width_in: int, settings: BertSettings) -> None:
        super().__init__()
        self.dense = nn.Linear(width_in, settings.hidden_size)
        self.LayerNorm = nn.LayerNorm(settings.hidden_size, eps=settings.layer_norm_eps)
        self.dropout = nn.Dropout(settings.hidden_dropout_prob)

    def forward(self, hidden: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        """Return LayerNorm(before + dense(hidden))."""
        return self.LayerNorm(self.dropout(self.dense(hidden)) + before)


class Layer(nn.Module):
    """One layer of the encoder."""

    def __init__(self, settings: BertSettings) -> None:
        super().__init__()
        width, wide = settings.hidden_size, settings.intermediate_size
        self.attention = nn.ModuleDict({"self": SelfAttention(settings), "output": Output(width, settings)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, wide)})
        self.activation = ACTIVATIONS[settings.hidden_act]
        self.output = Output(wide, settings)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the next hidden states."""
        context = self.attention.self(hidden, mask)
        return self.feed_forward_chunk(self.attention.output(context, hidden))

    def feed_forward_chunk(self, attended: torch.Tensor) -> torch.Tensor:
        """Return the feed-forward output after attention, token by token."""
        return self.output(self.activation(self.intermediate.dense(attended)), attended)


class Pooler(nn.Module):
    """The state of the first token, projected."""

    def __init__(self, settings: BertSettings) -> None:
        super().__init__()
        self.dense = nn.Linear(settings.hidden_size, settings.hidden_size)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return tanh(dense(first token))."""
        return torch.tanh(self.dense(hidden[:, 0]))


class BertClassifier(nn.Module):
    """BERT and a linear layer over the pooled first token."""

    def __init__(self, settings: BertSettings, n_labels: int) -> None:
        super().__init__()
        self.config = settings
        layers = nn.ModuleList(Layer(settings) for _ in range(settings.num_hidden_layers))
        self.bert = nn.ModuleDict(
            {
                "embeddings": Embeddings(settings),
                "encoder": nn.ModuleDict({"layer": layers}),
                "pooler": Pooler(settings),
            }
        )
        dropout = settings.classifier_dropout
        self.dropout = nn.Dropout(settings.hidden_dropout_prob if dropout is None else dropout)
        self.classifier = nn.Linear(settings.hidden_size, n_labels)

    @property
    def device(self) -> torch.device:
        """The device of the parameters."""
        return self.classifier.weight.device

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the parameters."""
        return self.classifier.weight.dtype

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return logits, (n, labels), of tokens (n, L) int64; only tokens with mask (n, L) True are read."""
        hidden = self.bert.embeddings(ids)
        for layer in self.bert.encoder.layer:
            hidden = layer(hidden, mask.bool())
        return self.classifier(self.dropout(self.bert.pooler(hidden)))


class CompactEmbedding(nn.Module):
    """The rows `used` (ascending) of an embedding, looked up by their ids in the full table; others raise."""

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
    """Train only the rows `used` of a model's word embeddings; restore the full table at the end.

    A vocabulary of 30,522 tokens is half of a small encoder, and a corpus uses only part of it. Adam updates
    every row at every step, with or without a gradient.

    Gradients, and steps of an optimizer without weight decay, equal those of the full table, because other
    rows have no gradient. With decay, these rows would shrink by a factor of rate · decay at every step. Here
    they stay unchanged, so that unseen words keep their published embeddings. `used`, ascending, has the ids
    of all tokens that the model will read, including the padding token.
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
