"""Scores of a BERT classifier without padding: several sentences in one row, and one token in the last layer.

In a batch of sentences most of the padded matrix is padding, and the classifier reads one token of the last
layer alone. Here sentences are laid end to end in rows of one width; tokens attend to their own sentence
only, and have the positions that they had. Masked tokens are left out, since nothing attends to them in the
padded form either. The last layer is computed for the first token of every sentence. Scores equal those of
the padded form up to rounding; with dropout they have the same distribution.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

ROW = 64
"""Least width of a row: what longer rows waste on attention between sentences, shorter ones waste on gaps."""


@dataclass(frozen=True)
class Packing:
    """Sentences laid end to end in rows.

    Attributes
    ----------
    ids, positions : (r, w) int64
        Tokens and their positions in their sentences.
    sentences : (r, w) int64
        The sentence of each token, -1 in gaps.
    first : (n, 2) int64
        Row and column of each sentence's first token.
    """

    ids: np.ndarray
    positions: np.ndarray
    sentences: np.ndarray
    first: np.ndarray


def pack(ids: np.ndarray, mask: np.ndarray) -> Packing:
    """Lay the tokens that are not masked end to end, the longest sentence first, each where it first fits.

    Parameters
    ----------
    ids : (n, L) int64
    mask : (n, L) bool
        The first token of every sentence is not masked.
    """
    lengths = mask.sum(axis=1)
    width = max(ROW, int(lengths.max()))
    first = np.zeros((len(ids), 2), np.int64)
    ends = np.zeros(len(ids), np.int64)
    for i in np.argsort(-lengths, kind="stable"):
        row = int(np.argmax(ends + lengths[i] <= width))  # rows that are not begun are empty: one always fits
        first[i] = row, ends[row]
        ends[row] += lengths[i]
    sentence, position = np.nonzero(mask)
    within = np.arange(len(sentence)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    row, column = first[sentence, 0], first[sentence, 1] + within
    shape = (int(first[:, 0].max()) + 1, width)
    packed = Packing(np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.full(shape, -1), first)
    packed.ids[row, column] = ids[sentence, position]
    packed.positions[row, column] = position
    packed.sentences[row, column] = sentence
    return packed


def logits(model: nn.Module, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the logits of a classifier, (n, classes), as the model itself does for padded sentences.

    Parameters
    ----------
    model : BertForSequenceClassification
        With ``sdpa`` attention.
    ids : (n, L) int64
        Tokens of sentences, padded.
    mask : (n, L) bool
        Tokens that are seen. The first of every sentence is.
    """
    packing = pack(_array(ids), _array(mask).astype(bool))
    device = model.device
    sentences = torch.from_numpy(packing.sentences).to(device)
    rows, columns = torch.from_numpy(packing.first).to(device).unbind(1)
    hidden = embed(model, packing)
    same = (sentences[:, :, None] == sentences[:, None, :])[:, None]
    *layers, last = model.bert.encoder.layer
    for layer in layers:
        hidden = layer(hidden, same)
    own = sentences[rows] == torch.arange(len(rows), device=device)[:, None]
    return classify(model, _first_token(last, hidden[rows, columns], hidden, rows, own))


def score(model: nn.Module, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return s(x), the second logit less the first one, (n,), of sentences given as for `logits`."""
    z = logits(model, ids, mask)
    return z[:, 1] - z[:, 0]


def embed(model: nn.Module, packing: Packing) -> torch.Tensor:
    """Return the embeddings of packed tokens, (r, w, d)."""
    ids, positions = (torch.from_numpy(a).to(model.device) for a in (packing.ids, packing.positions))
    return model.bert.embeddings(input_ids=ids, position_ids=positions)


def classify(model: nn.Module, first: torch.Tensor) -> torch.Tensor:
    """Return logits, (n, classes), of the last hidden states of first tokens, (n, d)."""
    return model.classifier(model.dropout(model.bert.pooler(first[:, None])))


def _first_token(
    layer: nn.Module, first: torch.Tensor, hidden: torch.Tensor, rows: torch.Tensor, own: torch.Tensor
) -> torch.Tensor:
    """Return what a layer makes of first tokens, (n, d), which attend to `own` ones, (n, w), of their rows."""
    attention = layer.attention.self
    heads, size = attention.num_attention_heads, attention.attention_head_size
    query = attention.query(first).view(len(first), heads, 1, size)
    key, value = (
        part(hidden).view(*hidden.shape[:2], heads, size).transpose(1, 2)[rows]
        for part in (attention.key, attention.value)
    )
    context = nn.functional.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=own[:, None, None, :],
        dropout_p=attention.dropout.p if layer.training else 0.0,
        scale=attention.scaling,
    )
    return layer.feed_forward_chunk(layer.attention.output(context.flatten(1), first))


def _array(values: torch.Tensor | np.ndarray) -> np.ndarray:
    return values.cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)
