"""Read how a BERT in a folder reads texts: its labels, the maximum length and letter case; needs no torch."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biaslab.core.errors import InputError, one_line
from biaslab.text.variants import text_batches

if TYPE_CHECKING:
    from biaslab.text.bert import BertClassifier
    from biaslab.text.tokens import Tokenizer

TRAINING_FILE = "training.json"
"""File with the training settings in the folder of a classifier that biaslab trained."""
REMOVED = "removed"
"""Key of `TRAINING_FILE` with the word pieces that the classifier never sees (word removal)."""
NO_LIMIT = 10**6  # a larger maximum length of a tokenizer means that there is no limit
MULTI_LABEL = "multi_label_classification"  # name in a configuration of labels that do not exclude each other
_BATCH = 256
_NO_NAME = re.compile(r"label[_ ]?\d+|\d+", re.IGNORECASE)


@dataclass(frozen=True)
class BertFolder:
    """A BERT with a classifier of two labels, 1 being positive."""

    model: "BertClassifier"
    tokenizer: "Tokenizer"
    max_length: int  # word pieces read of a text, including [CLS] and [SEP]
    removed: frozenset[int] = frozenset()  # word pieces removed from every text
    class_names: Sequence[str] = ()  # of its labels, in their order
    number: int = 1  # of the positive label in its files

    @property
    def reading(self) -> str:
        """A phrase on the positive class, the output, and how far a text is read."""
        return (
            f"{describe_positive(self.class_names, self.number)}, by softmax over 2 labels; reads"
            f" {self.max_length:,} word pieces of a text at most"
        )


def load_bert_folder(
    folder: Path, device: str = "auto", positive: str | None = None, option: str = "--positive"
) -> BertFolder:
    """Read the classifier in a folder; `positive` is the name of its positive label, see `positive_label`."""
    from biaslab.text.devices import choose_device
    from biaslab.text.encoder import load_classifier, put_positive_second
    from biaslab.text.tokens import TRAINED_LENGTH, Tokenizer

    model = load_classifier(folder)
    number, names = positive_label(folder, positive, option)
    model = put_positive_second(model, number)
    tokenizer = Tokenizer.load(folder / "vocab.txt")
    removed, path, limit = frozenset(), folder / TRAINING_FILE, TRAINED_LENGTH
    if path.is_file():
        try:
            pieces = json.loads(path.read_text(encoding="utf-8"))[REMOVED]
            removed = frozenset(tokenizer.vocabulary.index(piece) for piece in pieces)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}: does not list the word pieces that are {REMOVED} ({error}); train the classifier"
                " again, or remove the file if `hate-speech train` did not write it"
            ) from error
    else:
        limit = _read_json(folder / "tokenizer_config.json").get("model_max_length")
    places = model.config.max_position_embeddings
    is_limited = isinstance(limit, int | float) and 2 < limit < NO_LIMIT
    length = min(int(limit), places) if is_limited else places
    return BertFolder(model.to(choose_device(device)), tokenizer, length, removed, names, number)


def positive_label(
    folder: str | Path, positive: str | None, option: str = "--positive"
) -> tuple[int, list[str]]:
    """Return the number of a BERT's positive label, and the names of its labels, if it has any.

    The number is 1 if the names are only numbers. The error message names `option` if `positive` is no label.
    """
    try:
        names = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8")).get("id2label") or {}
        numbers = {str(name): int(number) for number, name in names.items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise InputError(
            f"{folder}: config.json does not name labels ({one_line(error)}); correct it"
        ) from error
    if numbers and sorted(numbers.values()) != [0, 1]:
        raise InputError(
            f"{folder}: id2label of config.json names {', '.join(numbers)}; a classifier of two labels has"
            " the numbers 0 and 1, each with a name of its own"
        )
    if positive not in numbers and say_more(numbers):
        raise InputError(
            f"{folder}: its labels are {' and '.join(numbers)}; "
            + (f"none is '{positive}': " if positive is not None else "")
            + f"name the positive one with {'--positive' if positive is None else option}"
        )
    return numbers.get(positive, 1), sorted(numbers, key=numbers.get)


def say_more(names: Iterable[str]) -> bool:
    """Return whether names of labels are more than their numbers (LABEL_0 and LABEL_1 are not)."""
    return not all(_NO_NAME.fullmatch(name) for name in names)


def describe_positive(names: Sequence[str], number: int) -> str:
    """Return a phrase on the positive label; `names` has all labels in order, or is empty."""
    if not names:
        return f"positive is label {number}"
    return f"positive is '{names[number]}' of the classes {', '.join(names)}"


@dataclass(frozen=True)
class Lengths:
    """Lengths of texts, and the maximum length that a classifier reads."""

    tokens: np.ndarray  # (n,) of each text
    limit: int
    unit: str = "word pieces"

    def sentence(self, groups: Callable[[np.ndarray], str] = lambda chosen: "") -> str:
        """Return a sentence on the texts beyond the limit; `groups` describes the groups of chosen texts."""
        n, cut = len(self.tokens), self.tokens > self.limit
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
