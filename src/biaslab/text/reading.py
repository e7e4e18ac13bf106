"""How a BERT in a folder reads texts: how much of them, and whether it keeps their case; needs no torch."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from biaslab.text.batches import text_batches

TRAINING_FILE = "training.json"
"""What the folder of a classifier that was trained here has besides: how it was trained."""
TRAINED_LENGTH = 128
"""Word pieces of a text that a classifier read in training here, [CLS] and [SEP] among them."""
NO_LIMIT = 10**6
"""Above it a tokenizer says that it knows no greatest length."""
_BATCH = 256


@dataclass(frozen=True)
class Lengths:
    """How long texts are, and how much of each a classifier reads."""

    tokens: np.ndarray  # (n,) of each text
    limit: int
    unit: str = "word pieces"

    @property
    def is_cut(self) -> np.ndarray:
        """Which texts are longer than what is read, (n,) bool."""
        return self.tokens > self.limit

    def sentence(self, groups: Callable[[np.ndarray], str] = lambda chosen: "") -> str:
        """Return how many texts are longer than what is read; `groups` names those of chosen texts."""
        n, cut = len(self.tokens), self.is_cut
        if n == 1 and not cut.any():
            return "The text is read to the end."
        if not cut.any():
            return f"All {n:,} texts are read to the end."
        unread = int((self.tokens[cut] - self.limit).sum())
        share = f"{unread / self.tokens.sum():.1%} of all {self.unit}"
        return (
            f"{int(cut.sum()):,} of {n:,} texts{groups(cut)} are longer than the {self.limit:,} {self.unit}"
            f" that the classifier reads; their ends, {share}, are not read."
        )


def reading_length(folder: Path, places: int) -> int:
    """Return how many word pieces of a text a BERT in a folder reads, of as many as it has places for.

    That is 128 for a classifier that was trained here, else what its tokenizer_config.json says.
    """
    if (folder / TRAINING_FILE).is_file():
        return min(TRAINED_LENGTH, places)
    known = _read_json(folder / "tokenizer_config.json").get("model_max_length")
    return min(int(known), places) if isinstance(known, int | float) and 2 < known < NO_LIMIT else places


def keeps_case(folder: Path) -> bool:
    """Tell whether a BERT's tokenizer keeps capitals or accents, by its own files."""
    config = _read_json(folder / "tokenizer_config.json")
    normalizer = _read_json(folder / "tokenizer.json").get("normalizer")
    given = [config.get("do_lower_case"), config.get("strip_accents")]
    if isinstance(normalizer, dict) and normalizer.get("type") == "BertNormalizer":
        given += [normalizer.get("lowercase"), normalizer.get("strip_accents")]
    return False in given


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def count_in_batches(count: Callable[[list[str]], list[int]], texts: Sequence[str]) -> np.ndarray:
    """Return the numbers of tokens of texts, (n,), counted some texts at a time."""
    return np.array([n for batch in text_batches(texts, _BATCH) for n in count(batch)], np.int64)
