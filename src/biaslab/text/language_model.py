"""A recurrent language model that samples the words around a phrase (Kennedy et al. 2020; published code).

It has two GRUs of one layer, each with a softmax. The forward GRU reads a text from its start and predicts
the next token. The backward GRU reads it from its end and predicts the previous token. Texts are rows of
`Tokens`, including [CLS] and [SEP]. Each direction starts with its own token, GO, which is never predicted.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn.functional import cross_entropy, linear, pad
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from biaslab.core.errors import InputError
from biaslab.core.files import atomic_path
from biaslab.core.rng import stream
from biaslab.text.devices import without_values
from biaslab.text.settings import LanguageModel
from biaslab.text.tokens import Tokenizer, Tokens

LOGITS_AT_ONCE = 1 << 24  # maximum number of logits in memory while scoring texts or drawing tokens (64 MB)
BLOCK = 64  # number of tokens of a block; see `_draw_token`


@dataclass(frozen=True, kw_only=True)
class LanguageModelSettings(LanguageModel):
    """Settings of a language model; the best epoch on validation texts is kept."""

    batch_size: int = 32


class Direction(nn.Module):
    """One direction: a GRU that starts with row `go` of the embedding, and its softmax over known tokens."""

    def __init__(self, go: int, embedding: int, hidden: int, n_tokens: int) -> None:
        super().__init__()
        self.go = go
        self.gru = nn.GRU(embedding, hidden, batch_first=True)
        self.softmax = nn.Linear(hidden, n_tokens)


class BiGRU(nn.Module):
    """A forward and a backward GRU over one embedding; `initialize` or a file sets its values.

    `token_ids`, (V',), has the encoder's ids of the known tokens, ascending. `unk`, one of them, is the id of
    [UNK], which replaces every other token.
    """

    def __init__(self, token_ids: np.ndarray, n_encoder: int, unk: int, embedding: int, hidden: int) -> None:
        super().__init__()
        ids = np.asarray(token_ids, np.int64)
        index = np.full(n_encoder, np.searchsorted(ids, unk))
        index[ids] = np.arange(len(ids))
        self.register_buffer("token_ids", torch.from_numpy(ids.copy()))
        self.register_buffer("index", torch.from_numpy(index))
        with without_values():
            self.embedding = nn.Embedding(len(ids) + 2, embedding)
            self.forwards = Direction(len(ids), embedding, hidden, len(ids))
            self.backwards = Direction(len(ids) + 1, embedding, hidden, len(ids))
        for module in (self.embedding, self.forwards, self.backwards):
            module.to_empty(device="cpu")

    @property
    def device(self) -> torch.device:
        """The device of the parameters."""
        return self.token_ids.device

    def initialize(self, seed: int) -> "BiGRU":
        """Draw all parameters as torch does: embeddings normal, others uniform in ±1/√hidden; return self."""
        bound = self.forwards.gru.hidden_size**-0.5
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                rng = stream(seed, "language_model", name)
                if name == "embedding.weight":
                    values = rng.standard_normal(parameter.shape, np.float32)
                else:
                    values = rng.uniform(-bound, bound, parameter.shape).astype(np.float32)
                parameter.copy_(torch.from_numpy(values))
        return self

    def save(self, path: str | os.PathLike) -> None:
        """Write the model as one safetensors file, atomically."""
        tensors = {name: tensor.detach().cpu() for name, tensor in self.state_dict().items()}
        with atomic_path(path) as temporary:
            save_file(tensors, temporary, metadata={"format": "pt"})

    @classmethod
    def load(cls, path: str | os.PathLike) -> "BiGRU":
        """Read a model that `save` wrote."""
        try:
            tensors = load_file(path)
        except (SafetensorError, OSError) as error:
            reason = " ".join(str(error).split())
            raise InputError(
                f"{path}: not a readable safetensors file ({reason}); train the language model"
            ) from error
        try:
            model = cls(
                tensors["token_ids"].numpy(),
                len(tensors["index"]),
                0,
                tensors["embedding.weight"].shape[1],
                tensors["forwards.gru.weight_hh_l0"].shape[1],
            )
            model.load_state_dict(tensors, strict=True)
        except (KeyError, IndexError, RuntimeError, ValueError) as error:
            raise InputError(f"{path}: no language model; train one and name its file") from error
        return model.eval()


def train_language_model(
    tokens: Tokens,
    validation: Tokens,
    tokenizer: Tokenizer,
    settings: LanguageModelSettings,
    seed: int,
    progress: Callable[[int, int], None] = lambda done, n: None,
    device: torch.device | str = "cpu",
) -> tuple[BiGRU, pd.DataFrame]:
    """Train a language model; return the model after its best epoch on `validation`, and the history.

    The history has the negative log-likelihood of a token in nats, mean of both directions: train_nll over
    the epoch's steps, while parameters change, and validation_nll after it.
    """
    if not len(tokens) or not len(validation):
        raise InputError(
            "a language model needs texts for training and validation; supply at least one of each"
        )
    model = BiGRU(
        known_tokens(tokens, tokenizer),
        len(tokenizer.vocabulary),
        tokenizer.unk,
        settings.width,
        settings.width,
    ).initialize(seed)
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate, fused=True)
    rows, best, best_state = [], np.inf, {}
    for epoch in range(1, settings.epochs + 1):
        order = stream(seed, "language_model", "order", epoch).permutation(len(tokens))
        train_nll = _epoch(model, optimizer, tokens, order, settings.batch_size)
        nll = negative_log_likelihood(model, validation)
        validation_nll = float(np.average(nll, weights=validation.lengths))
        rows.append((epoch, train_nll, validation_nll))
        if validation_nll < best:
            best = validation_nll
            best_state = {k: v.detach().clone() for k, v in model.state_dict().items()}
        progress(epoch, settings.epochs)
    if not best_state:
        raise InputError(
            f"the language model did not learn in {settings.epochs} epochs at learning_rate"
            f" {settings.learning_rate:g}; raise epochs above 0 or lower the learning rate"
        )
    model.load_state_dict(best_state)
    return model.eval(), pd.DataFrame(rows, columns=["epoch", "train_nll", "validation_nll"])


def known_tokens(tokens: Tokens, tokenizer: Tokenizer) -> np.ndarray:
    """Return the ids of the tokens of these texts and the special tokens, ascending, int64.

    The authors' code uses all tokens of the encoder; the cost of the softmax grows with their number.
    """
    special = [tokenizer.pad, tokenizer.unk, tokenizer.cls, tokenizer.sep, tokenizer.mask]
    return np.union1d(tokens.ids, special).astype(np.int64)


def negative_log_likelihood(model: BiGRU, tokens: Tokens) -> np.ndarray:
    """Return the negative log-likelihood of a token of each text in nats, (n,) float64.

    It is the mean over all tokens of a text, including [CLS] and [SEP], and over both directions:
    -1/(2n) Σᵢ [ln p(xᵢ | x₁ … xᵢ₋₁) + ln p(xᵢ | xᵢ₊₁ … xₙ)].
    """
    nll = np.empty(len(tokens))
    order = np.argsort(-tokens.lengths, kind="stable")  # packed texts need no padding
    batch = np.cumsum(tokens.lengths[order]) // max(1, LOGITS_AT_ONCE // len(model.token_ids))
    with torch.no_grad():
        for rows in np.split(order, np.flatnonzero(np.diff(batch)) + 1):
            texts, lengths = _read(model, tokens, rows)
            total = sum(
                pad_packed_sequence(_token_nll(model, direction, ids, lengths), batch_first=True)[0].sum(1)
                for direction, ids in texts
            )
            nll[rows] = (total.double().cpu() / (2 * lengths)).numpy()
    return nll


@torch.no_grad()
def sample(
    model: BiGRU,
    texts: torch.Tensor,
    n_tokens: int,
    samples: int,
    generator: torch.Generator,
    exclude: np.ndarray | None,
    lengths: torch.Tensor,
    is_left: bool = False,
) -> torch.Tensor:
    """Draw the tokens after prefixes, or with `is_left` before suffixes, one by one, at temperature 1.

    The result has encoder ids in reading order, (k, samples, n_tokens) int64. Every text is read once; its
    samples continue from copies of one state. `texts`, (k, L), has the encoder ids of prefixes from the
    beginning of a text, or of suffixes to the end of a text, `lengths` of each row; ids beyond have no
    influence. The encoder ids in `exclude`, (V,) bool, have probability zero.
    """
    direction = model.backwards if is_left else model.forwards
    ids, k = model.index[texts], len(texts)
    if is_left:
        ids = _reverse(ids, lengths)
    candidates = torch.arange(len(model.token_ids), device=model.device)
    if exclude is not None:
        candidates = candidates[~torch.from_numpy(exclude).to(model.device)[model.token_ids]]
    if not len(candidates):
        raise ValueError("every token that the language model knows is excluded")
    # Rows of probability zero fill the last block; see _draw_token.
    filling = -len(candidates) % BLOCK
    weight = pad(direction.softmax.weight[candidates], (0, 0, 0, filling))
    bias = pad(direction.softmax.bias[candidates], (0, filling), value=-torch.inf)
    drawn = torch.empty((k * samples, n_tokens), dtype=torch.int64, device=model.device)
    begin = torch.full((k, 1), direction.go, device=model.device)
    _, state = direction.gru(_embed(model, torch.cat([begin, ids], 1), lengths.cpu() + 1))
    state = state.repeat_interleave(samples, 1)
    for i in range(n_tokens):
        if i:
            _, state = direction.gru(model.embedding(drawn[:, i - 1 : i]), state)
        drawn[:, i] = candidates[_draw_token(state[0], weight, bias, generator)]
    drawn = model.token_ids[drawn].view(k, samples, n_tokens)
    return drawn.flip(2) if is_left else drawn


def _epoch(
    model: BiGRU, optimizer: torch.optim.Optimizer, tokens: Tokens, order: np.ndarray, batch_size: int
) -> float:
    total = 0.0
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        texts, lengths = _read(model, tokens, rows)
        loss = torch.stack(
            [_token_nll(model, direction, ids, lengths).data.mean() for direction, ids in texts]
        ).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += float(loss.detach()) * int(lengths.sum())
    return total / len(tokens.ids)


def _read(
    model: BiGRU, tokens: Tokens, rows: np.ndarray
) -> tuple[list[tuple[Direction, torch.Tensor]], torch.Tensor]:
    """Return rows as indexes of known tokens, (k, L), for each direction, and their lengths on the CPU."""
    ids, mask = tokens.padded(rows, 0)
    ids, lengths = model.index[torch.from_numpy(ids).to(model.device)], torch.from_numpy(mask.sum(axis=1))
    return [(model.forwards, ids), (model.backwards, _reverse(ids, lengths))], lengths


def _reverse(ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Reverse every row within its length; ids beyond are arbitrary."""
    place = lengths.to(ids.device)[:, None] - 1 - torch.arange(ids.shape[1], device=ids.device)
    return ids.gather(1, place.clamp(min=0))


def _token_nll(
    model: BiGRU, direction: Direction, ids: torch.Tensor, lengths: torch.Tensor
) -> PackedSequence:
    """Return -ln p of every token given the tokens that the direction has read before, without padding."""
    begin = torch.full((len(ids), 1), direction.go, device=ids.device)
    states, _ = direction.gru(_embed(model, torch.cat([begin, ids[:, :-1]], 1), lengths))
    targets = pack_padded_sequence(ids, lengths, batch_first=True, enforce_sorted=False)
    nll = cross_entropy(direction.softmax(states.data), targets.data, reduction="none")
    return targets._replace(data=nll)


def _embed(model: BiGRU, ids: torch.Tensor, lengths: torch.Tensor) -> PackedSequence:
    packed = pack_padded_sequence(ids, lengths, batch_first=True, enforce_sorted=False)
    return packed._replace(data=model.embedding(packed.data))


def _draw_token(
    states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, generator: torch.Generator
) -> torch.Tensor:
    """Draw a row of the softmax's weight for each state, (rows,): first its block, then the row in the block.

    A running total over blocks costs far less than a total over all tokens. All uniform numbers are drawn
    first, so that the number of states in a part does not change the outcome.
    """
    u = torch.rand(len(states), generator=generator, dtype=torch.float64, device=states.device)
    rows = max(1, LOGITS_AT_ONCE // len(weight))
    drawn = []
    for part, share in zip(states.split(rows), u.split(rows), strict=True):
        p = linear(part, weight, bias).softmax(1).view(len(part), -1, BLOCK)
        block, share = _invert(p.sum(2), share)
        within, _ = _invert(p[torch.arange(len(p), device=p.device), block], share)
        drawn.append(block * BLOCK + within)
    return torch.cat(drawn)


def _invert(p: torch.Tensor, u: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the position where each row's running total of `p` exceeds the share `u`, and the share within.

    The position has p > 0, because the point stays below the total even after rounding.
    """
    total = p.cumsum(1, dtype=torch.float64)
    point = u.clamp(max=1 - 2**-40)[:, None] * total[:, -1:]
    position = torch.searchsorted(total, point, right=True)
    size = p.gather(1, position).double()
    share = (point - total.gather(1, position) + size) / size
    return position[:, 0], share[:, 0].clamp(min=0)
