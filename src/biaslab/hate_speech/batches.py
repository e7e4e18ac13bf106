"""Batches of a training, and the contexts in which the identifiers of coming batches are explained."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from biaslab.core.rng import stream
from biaslab.hate_speech.contexts import ContextSettings, Occurrences, fill_contexts
from biaslab.hate_speech.explanations import find_occurrences
from biaslab.text.devices import generator
from biaslab.text.language_model import BiGRU
from biaslab.text.tokens import Tokenizer, Tokens

STEPS_AT_ONCE = 32
"""Steps whose contexts are drawn together, for a language model takes as long for one row as for several."""


class Batches:
    """Sentences of every step: each epoch has all, in an order by a random stream of its own."""

    def __init__(self, tokens: Tokens, size: int, seed: int) -> None:
        self.tokens, self._size, self._per_epoch = tokens, size, -(-len(tokens) // size)
        self._order = lru_cache(maxsize=2)(
            lambda epoch: stream(seed, "order", epoch).permutation(len(tokens))
        )

    def rows(self, step: int) -> np.ndarray:
        """Return the sentences of a step, (k,) int64."""
        epoch, number = divmod(step, self._per_epoch)
        return self._order(epoch)[number * self._size : (number + 1) * self._size]


@dataclass(frozen=True)
class Explained:
    """Sentences with identifiers, and the contexts of these."""

    ids: torch.Tensor  # padded, (n, L) int64
    mask: torch.Tensor  # where there is a token, (n, L) bool
    occurrences: Occurrences  # k identifiers in them
    filled: torch.Tensor  # their contexts, (k, m, L) int64, see `fill_contexts`


class ExplainedBatches:
    """The identifiers of each batch in their contexts; what is drawn together has one random stream."""

    def __init__(
        self,
        batches: Batches,
        identifier_ids: Collection[int],
        settings: ContextSettings,
        language_model: BiGRU | None,
        tokenizer: Tokenizer,
        seed: int,
        device: torch.device,
    ) -> None:
        self._batches, self._tokenizer, self._device = batches, tokenizer, device
        tokens = batches.tokens
        found = np.isin(tokens.ids, np.fromiter(identifier_ids, np.int64, len(identifier_ids)))
        self._has = np.diff(np.concatenate([[0], np.cumsum(found)])[tokens.offsets]) > 0
        self._identifier_ids, self._settings = identifier_ids, settings
        self._language_model, self._seed = language_model, seed
        self._drawn = lru_cache(maxsize=1)(self._draw)

    def at(self, step: int) -> Explained | None:
        """Return the identifiers of a step's batch in their contexts; nothing where there is none."""
        explained, bounds = self._drawn(step // STEPS_AT_ONCE)
        begin, end = bounds[step % STEPS_AT_ONCE : step % STEPS_AT_ONCE + 2]
        if begin == end:
            return None
        width = int(explained.mask[begin:end].sum(dim=1).max())
        which = slice(*np.searchsorted(explained.occurrences.row, (begin, end)))
        some = explained.occurrences.part(which)
        return Explained(
            explained.ids[begin:end, :width],
            explained.mask[begin:end, :width],
            Occurrences(some.row - begin, some.start, some.end),
            explained.filled[which, :, :width],
        )

    def _draw(self, number: int) -> tuple[Explained, np.ndarray]:
        """Return what is explained in some steps, and where each step's sentences begin and end in it."""
        steps = range(number * STEPS_AT_ONCE, (number + 1) * STEPS_AT_ONCE)
        rows = [batch[self._has[batch]] for batch in map(self._batches.rows, steps)]
        ids, mask = self._batches.tokens.padded(np.concatenate(rows), self._tokenizer.pad)
        occurrences = find_occurrences(ids, self._identifier_ids)
        ids, mask = (torch.from_numpy(a).to(self._device) for a in (ids, mask))
        random = generator(self._seed, "contexts", number, device=self._device)
        filled = fill_contexts(
            ids, mask, occurrences, self._settings, self._language_model, self._tokenizer, random
        )
        return Explained(ids, mask, occurrences, filled), np.cumsum([0, *map(len, rows)])
