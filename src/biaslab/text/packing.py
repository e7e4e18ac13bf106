"""Compute the scores of a BERT classifier without padding.

In a padded batch, most entries are padding, and the classifier reads only one token of the last layer. This
module concatenates the tokens of all sentences, sorted by length. Attention is computed for each length, and
the last layer only for the first token of every sentence. Masked tokens are omitted, because no token attends
to them in the padded form; other tokens keep their positions. Without dropout, tokens with the same id and
position in several sentences pass the embedding and the first projections once.

Scores equal those of the padded form up to rounding; with dropout they have the same distribution.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

Groups = tuple[tuple[int, int], ...]
"""Number of sentences and their length, for each length, in storage order."""
Attend = Callable[[nn.Module, torch.Tensor, torch.Tensor, torch.Tensor, Groups], torch.Tensor]
"""Computes the context of tokens, (q, d), from a layer's self-attention, queries (q, d), keys and values
(t, d) of all sentences, and their groups. There is a query for every token, or one for every sentence."""


def attend(
    attention: nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, groups: Groups
) -> torch.Tensor:
    """Return the context of tokens, (q, d); see `Attend`."""
    contexts = [
        scaled_dot_product_attention(
            *heads, dropout_p=attention.dropout.p if attention.training else 0.0, scale=attention.scaling
        )
        for heads in split_heads(attention, query, key, value, groups)
    ]
    return join_heads(contexts)


def split_heads(
    attention: nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, groups: Groups
) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Return queries, keys and values of each group, (sentences, heads, tokens, head size)."""
    per_sentence = len(query) == sum(count for count, _ in groups)
    parts = []
    for tensor, is_single in ((query, per_sentence), (key, False), (value, False)):
        shapes = [(count, 1 if is_single else length) for count, length in groups]
        split = tensor.split([count * length for count, length in shapes])
        parts.append(
            [
                part.view(*shape, attention.num_attention_heads, -1).transpose(1, 2)
                for part, shape in zip(split, shapes, strict=True)
            ]
        )
    return list(zip(*parts, strict=True))


def join_heads(contexts: list[torch.Tensor]) -> torch.Tensor:
    """Return the contexts of all tokens, (q, d), from the contexts of each group."""
    return torch.cat([context.transpose(1, 2).flatten(2).flatten(0, 1) for context in contexts])


def logits(
    model: nn.Module,
    ids: torch.Tensor | np.ndarray,
    mask: torch.Tensor | np.ndarray,
    attend: Attend = attend,
    whole: bool = False,
) -> torch.Tensor:
    """Return the logits of a classifier, (n, classes), equal to the model's for padded sentences, (n, L).

    `mask` marks the tokens to read, including the first token of every sentence. With `whole`, every token
    attends in the last layer also.
    """
    ids, mask = _array(ids), _array(mask).astype(bool)
    lengths = mask.sum(axis=1)
    order = np.argsort(-lengths, kind="stable")  # of storage: longest sentences first
    sentences, positions = np.nonzero(mask[order])
    negative_lengths, counts = np.unique(-lengths, return_counts=True)
    groups = tuple(zip(counts.tolist(), (-negative_lengths).tolist(), strict=True))
    first = torch.from_numpy(np.cumsum(lengths[order]) - lengths[order]).to(model.device)
    hidden, source = _embed(model, ids[order[sentences], positions], positions)
    layers = model.bert.encoder.layer
    for number, layer in enumerate(layers, 1):
        is_last = number == len(layers) and not whole
        hidden = _pass(layer, hidden, source, first if is_last else None, groups, attend)
        source = None
    if whole:
        hidden = _rows(hidden, first)
    hidden = _rows(hidden, torch.from_numpy(np.argsort(order)).to(model.device))
    return model.classifier(model.dropout(model.bert.pooler(hidden[:, None])))


def score(model: nn.Module, ids: torch.Tensor | np.ndarray, mask: torch.Tensor | np.ndarray) -> torch.Tensor:
    """Return s(x), the second minus the first logit, (n,); arguments as for `logits`."""
    z = logits(model, ids, mask)
    return z[:, 1] - z[:, 0]


def _embed(
    model: nn.Module, ids: np.ndarray, positions: np.ndarray
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return the embeddings of the distinct tokens, (u, d), and each token's row in them, (t,).

    With dropout all tokens differ: there is one embedding for each token, and the second result is None.
    """
    source = None
    if not model.training:
        width = positions.max() + 1
        distinct, source = np.unique(ids * width + positions, return_inverse=True)
        ids, positions = np.divmod(distinct, width)
        source = torch.from_numpy(source).to(model.device)
    ids, positions = (torch.from_numpy(a).to(model.device)[None] for a in (ids, positions))
    return model.bert.embeddings(input_ids=ids, position_ids=positions)[0], source


def _pass(
    layer: nn.Module,
    hidden: torch.Tensor,
    source: torch.Tensor | None,
    rows: torch.Tensor | None,
    groups: Groups,
    attend: Attend,
) -> torch.Tensor:
    """Return the output of a layer for all tokens, (t, d), or for the tokens `rows`, (n, d).

    `hidden` has the states of all tokens or, with `source`, of the distinct tokens.
    """
    attention = layer.attention.self
    key, value = (_rows(part(hidden), source) for part in (attention.key, attention.value))
    if rows is None:
        query, hidden = _rows(attention.query(hidden), source), _rows(hidden, source)
    else:
        hidden = _rows(hidden, rows if source is None else source[rows])
        query = attention.query(hidden)
    context = attend(attention, query, key, value, groups)
    return layer.feed_forward_chunk(layer.attention.output(context, hidden))


def _rows(table: torch.Tensor, source: torch.Tensor | None) -> torch.Tensor:
    """Return rows of a table, or all rows; an embedding sums their gradients fast and in a fixed order."""
    return table if source is None else nn.functional.embedding(source, table)


def _array(values: torch.Tensor | np.ndarray) -> np.ndarray:
    return values.cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)
