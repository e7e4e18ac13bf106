"""Determine how a BERT in a folder reads texts: maximum length and letter case; needs no torch."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from biaslab.text.variants import text_batches

TRAINING_FILE = "training.json"
"""File with the training settings in the folder of a classifier that biaslab trained."""
TRAINED_LENGTH = 128
"""Word pieces read of a text in biaslab's training, including [CLS] and [SEP]."""
NO_LIMIT = 10**6
"""A larger maximum length of a tokenizer means that there is no limit."""
_BATCH = 256


@dataclass(frozen=True)
class Lengths:
    """Lengths of texts, and the maximum length that a classifier reads."""

    tokens: np.ndarray  # (n,) of each text
    limit: int
    unit: str = "word pieces"

    @property
    def is_cut(self) -> np.ndarray:
        """Whether each text is longer than the limit, (n,) bool."""
        return self.tokens > self.limit

    def sentence(self, groups: Callable[[np.ndarray], str] = lambda chosen: "") -> str:
        """Return a sentence on the texts beyond the limit; `groups` describes the groups of chosen texts."""
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
    """Return the number of word pieces that a BERT in a folder reads of a text, at most `places`."""
    if (folder / TRAINING_FILE).is_file():
        return min(TRAINED_LENGTH, places)
    limit = _read_json(folder / "tokenizer_config.json").get("model_max_length")
    return min(int(limit), places) if isinstance(limit, int | float) and 2 < limit < NO_LIMIT else places


def keeps_case(folder: Path) -> bool:
    """Return whether a BERT's tokenizer keeps capitals or accents, according to its files."""
    config = _read_json(folder / "tokenizer_config.json")
    normalizer = _read_json(folder / "tokenizer.json").get("normalizer")
    flags = [config.get("do_lower_case"), config.get("strip_accents")]
    if isinstance(normalizer, dict) and normalizer.get("type") == "BertNormalizer":
        flags += [normalizer.get("lowercase"), normalizer.get("strip_accents")]
    return False in flags


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def count_in_batches(count: Callable[[list[str]], list[int]], texts: Sequence[str]) -> np.ndarray:
    """Return the numbers of tokens of texts, (n,), counted in batches."""
    return np.array([n for batch in text_batches(texts, _BATCH) for n in count(batch)], np.int64)
