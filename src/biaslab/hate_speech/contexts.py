"""Build the contexts in which a phrase is explained: unchanged, or with sampled neighbours.

Sampling and occlusion (SOC, Jin et al. 2020) averages over samples of a language model in place of the words
around the phrase, x_δ in Eq. 1. Occlusion (OC) replaces no neighbours.
"""

from dataclasses import dataclass

import numpy as np
import pydantic.dataclasses
import torch

from biaslab.core.errors import InputError
from biaslab.core.settings import PYDANTIC, Count, Natural
from biaslab.hate_speech.settings import TrainingContexts
from biaslab.text.language_model import BiGRU, sample
from biaslab.text.tokens import Tokenizer


@dataclass(frozen=True)
class Occurrences:
    """Phrases to explain, each the tokens [start, end) of one row of a batch."""

    row: np.ndarray  # (k,) int64
    start: np.ndarray
    end: np.ndarray

    def __len__(self) -> int:
        return len(self.row)

    def part(self, which: slice) -> "Occurrences":
        """Return a slice of the phrases."""
        return Occurrences(self.row[which], self.start[which], self.end[which])


@pydantic.dataclasses.dataclass(frozen=True, config=PYDANTIC)
class ContextSettings:
    """Settings for drawing the neighbours of a phrase."""

    radius: Natural  # tokens to replace on each side; 0 for none (OC)
    samples: Count  # number of drawn contexts
    add_itself: bool = False  # whether to add the original context
    # Whether the left neighbours are drawn given the right ones. The authors' code draws both sides given
    # only the phrase, so that the sides may not fit together.
    chained: bool = True
    # Whether special tokens have probability zero. The authors' code draws them, and a drawn [CLS] or [SEP]
    # becomes a [PAD] that the classifier attends to.
    exclude_specials: bool = True

    @property
    def n_contexts(self) -> int:
        """Number of contexts of each phrase, m."""
        return self.samples + self.add_itself


OC = ContextSettings(radius=0, samples=1)  # occlusion without sampling
SOC_REGULARIZATION = ContextSettings(**vars(TrainingContexts()), add_itself=True)
"""SOC of the regularizer (A.3; the original context is added as in the authors' script)."""


def fill_contexts(
    ids: torch.Tensor,
    mask: torch.Tensor,
    occurrences: Occurrences,
    settings: ContextSettings,
    language_model: BiGRU | None,
    tokenizer: Tokenizer,
    generator: torch.Generator | None,
) -> torch.Tensor:
    """Return the sentence of every phrase with m samples of its neighbours, (k, m, L) int64.

    The neighbourhood of the tokens i..j of a sentence of `len` tokens is [max(i - radius, 1),
    min(j + radius, len - 2)], so that [CLS] and [SEP] stay. The language model reads [PAD] in place of
    neighbours that are not yet drawn, and draws outwards from the phrase. `mask`, (n, L) bool, is a prefix in
    each row of `ids`, (n, L) int64. A radius above 0 needs a language model and a generator on one device.
    The original context, if included, comes last.
    """
    row, start, end = (
        torch.as_tensor(part, device=ids.device)
        for part in (occurrences.row, occurrences.start, occurrences.end)
    )
    base = ids[row]  # the sentence of every phrase, (k, L)
    if settings.radius == 0 or not len(occurrences):
        return base[:, None].expand(-1, settings.n_contexts, -1)
    if language_model is None:
        raise InputError(
            f"radius: {settings.radius} needs a language model that draws neighbours; train one, or write 0"
        )
    lengths = mask.sum(1)[row]
    position = torch.arange(ids.shape[1], device=ids.device)
    is_left = (position >= (start - settings.radius).clamp(min=1)[:, None]) & (position < start[:, None])
    is_right = (position >= end[:, None]) & (
        position < torch.minimum(end + settings.radius, lengths - 1)[:, None]
    )
    excluded = tokenizer.is_special if settings.exclude_specials else None

    def draw(
        texts: torch.Tensor, neighbours: torch.Tensor, lengths: torch.Tensor, is_left: bool
    ) -> torch.Tensor:
        """Return (k, samples, n) tokens in reading order; `texts` has one row or several for each phrase."""
        n = max(1, int(neighbours.sum(1).max()))  # `gather` needs a column
        n_samples = settings.samples * len(base) // len(texts)
        drawn = sample(language_model, texts, n, n_samples, generator, excluded, lengths, is_left)
        if not settings.exclude_specials:
            is_bound = (drawn == tokenizer.cls) | (drawn == tokenizer.sep)
            drawn = torch.where(is_bound, tokenizer.pad, drawn)
        return drawn.view(len(base), settings.samples, n)

    masked = torch.where(is_left | is_right, tokenizer.pad, base)
    right = draw(masked, is_right, end, is_left=False)
    filled = _put(base, right, position - end[:, None], is_right)
    read = _put(masked, right, position - end[:, None], is_right) if settings.chained else masked[:, None]
    place = (start[:, None] + position).clamp(max=len(position) - 1)
    suffixes = read.gather(2, place[:, None].expand(-1, read.shape[1], -1)).flatten(0, 1)
    left = draw(suffixes, is_left, (lengths - start).repeat_interleave(read.shape[1]), is_left=True)
    filled = _put(filled, left, position - start[:, None] + left.shape[2], is_left)
    return torch.cat([filled, base[:, None]], dim=1) if settings.add_itself else filled


def _put(ids: torch.Tensor, drawn: torch.Tensor, place: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
    """Return ids, (k, samples, L), with drawn token number `place`, (k, L), at positions `where`, (k, L)."""
    index = place.clamp(0, drawn.shape[2] - 1)[:, None].expand(-1, drawn.shape[1], -1)
    ids = ids if ids.dim() == 3 else ids[:, None]
    return torch.where(where[:, None], drawn.gather(2, index), ids)
