"""Classifiers of the user's: folders of transformers, or any function from texts to probabilities."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.special import logit

from biaslab.classifiers.foreign import (
    ask,
    check_probabilities,
    classes_of,
    import_object,
    numbers,
    positive_column,
)
from biaslab.core.errors import InputError
from biaslab.text.label_names import MULTI_LABEL, label_names

if TYPE_CHECKING:
    import torch

    from biaslab.text.tokens import Tokenizer, Tokens

TRAINING_FILE = "training.json"
"""What the folder of a classifier that was trained here has besides: how it was trained."""
REMOVED = "removed"
"""Key of that file: the word pieces that the classifier never sees (word removal)."""
BATCH = 256
"""Texts of one call of a function."""
MAX_LENGTH = 128
"""Word pieces of a text that a BERT reads at most, as in training."""

Progress = Callable[[int, int], None]
"""Takes how many texts are done, and how many there are."""


class TextClassifier(Protocol):
    """What tells positive texts from negative ones."""

    def scores(self, texts: Sequence[str], progress: Progress = lambda done, n: None) -> np.ndarray:
        """Return the logit of the positive class of each text, (n,) float64: positive when above 0.

        A probability p has the logit ln p - ln (1 - p), so that 0 and 1 have infinite ones.
        """


def load_classifier_of(reference: str, device: str = "auto", positive: str | None = None) -> TextClassifier:
    """Return the classifier that a user names: a folder, or ``MODULE:NAME`` of a function or object.

    The object, in the current folder or installed, takes a list of texts or has ``predict_proba``. `positive`
    is what the texts call the positive class, by default 1.
    """
    if Path(reference).is_dir():
        if is_plain_bert(Path(reference)):
            return load_folder(reference, device, positive)
        from biaslab.hate_speech.pretrained import load_pretrained

        return load_pretrained(Path(reference), device, positive)
    module, colon, name = reference.partition(":")
    if not (module and colon and name):
        raise InputError(
            f"{reference}: no such folder; name the folder of a classifier of transformers, or MODULE:NAME"
            " of a function that takes texts and returns probabilities"
        )
    found = import_object(reference)
    function = getattr(found, "predict_proba", found)
    if not callable(function):
        raise InputError(
            f"{reference}: a {type(found).__name__} is no classifier; name a function that takes a list of"
            " texts and returns probabilities, or an object with predict_proba"
        )
    return CallableClassifier(function, reference, classes_of(found), positive)


def is_plain_bert(folder: Path) -> bool:
    """Tell whether a folder has an uncased BERT of two labels, which is read strictly, and explained by SOC.

    One that cannot be read is taken for one, and refused by who reads it.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        kind, labels = config.get("model_type", "bert"), config.get("id2label") or (0, 1)
        if kind != "bert" or len(labels) != 2 or config.get("problem_type") == MULTI_LABEL:
            return False
        if not (folder / "vocab.txt").is_file():
            return not (folder / "tokenizer.json").is_file()
        tokens = (folder / "vocab.txt").read_text(encoding="utf-8").split()
    except (OSError, ValueError, AttributeError, TypeError):
        return True
    return all(token == token.lower() or token.startswith("[") for token in tokens)


def load_folder(folder: str | Path, device: str = "auto", positive: str | None = None) -> "FolderClassifier":
    """Return the classifier in a folder, which has the layout of Hugging Face.

    Its positive label is the one that its configuration calls `positive`, else the label 1.
    """
    from biaslab.text.devices import choose_device
    from biaslab.text.encoder import load_classifier, put_positive_second
    from biaslab.text.tokens import Tokenizer

    folder = Path(folder)
    model = put_positive_second(load_classifier(folder), label_names(folder).get(positive, 1))
    tokenizer = Tokenizer.load(folder / "vocab.txt")
    removed = _removed(folder / TRAINING_FILE, tokenizer)
    return FolderClassifier(model.to(choose_device(device)), tokenizer, removed)


@dataclass(frozen=True)
class FolderClassifier:
    """A BERT with a classifier of two labels, of which 1 is the positive one; a `TextClassifier`."""

    model: "torch.nn.Module"
    tokenizer: "Tokenizer"
    removed: frozenset[int] = frozenset()  # word pieces that are taken out of every text

    @property
    def max_length(self) -> int:
        """Word pieces of a text that are read, [CLS] and [SEP] among them."""
        return min(MAX_LENGTH, self.model.config.max_position_embeddings)

    def tokens(self, texts: Sequence[str]) -> "Tokens":
        """Return what the classifier sees of texts."""
        return self.tokenizer.encode(texts, self.max_length).without(self.removed)

    def scores(self, texts: Sequence[str], progress: Progress = lambda done, n: None) -> np.ndarray:
        """Return the logit of the positive class; see `TextClassifier`."""
        from biaslab.text.encoder import predict

        scores = predict(self.model, self.tokens(texts), self.tokenizer.pad, progress=progress)
        return scores.astype(np.float64)


@dataclass(frozen=True)
class CallableClassifier:
    """A function from texts to probabilities; a `TextClassifier`."""

    # from n texts to the probability of the positive class, (n,), or of both classes, (n, 2)
    function: Callable[[list[str]], Any]
    name: str  # what messages call it
    classes: Sequence[str] | None = None  # of the columns of its answers, which (n, 2) needs
    positive: str | None = None  # one of them; without it, 1 or True

    def scores(self, texts: Sequence[str], progress: Progress = lambda done, n: None) -> np.ndarray:
        """Return the logit of the positive class; see `TextClassifier`."""
        scores = np.empty(len(texts))
        for start in range(0, len(texts), BATCH):
            batch = list(texts[start : start + BATCH])
            answer = ask(self.name, f"{len(batch)} texts", "a list of texts", self.function, batch)
            scores[start : start + len(batch)] = self._logits(numbers(answer, self.name), len(batch), start)
            progress(start + len(batch), len(texts))
        return scores

    def _logits(self, p: np.ndarray, n: int, start: int) -> np.ndarray:
        """Return the logits, (n,), of what the function answered for the texts from number `start` on."""
        if p.ndim == 2 and len(p) == n and p.shape[1] > 2:
            raise InputError(
                f"{self.name} returned {p.shape[1]} classes; return the probability of the positive one,"
                f" ({n},)"
            )
        if p.shape not in ((n,), (n, 2)):
            raise InputError(
                f"{self.name} returned the shape {p.shape} for {n} texts; return the probability of the"
                f" positive class, ({n},), or of both classes, ({n}, 2), in the order of its classes_"
            )
        check_probabilities(p, self.name, "text", start)
        if p.ndim == 1:
            return logit(p)
        column = positive_column(self.name, self.classes, self.positive)
        with np.errstate(divide="ignore"):
            return np.log(p[:, column]) - np.log(p[:, 1 - column])


def _removed(path: Path, tokenizer: "Tokenizer") -> frozenset[int]:
    """Return the word pieces that a classifier never sees; none for those that were not trained here."""
    if not path.is_file():
        return frozenset()
    try:
        pieces = json.loads(path.read_text(encoding="utf-8"))[REMOVED]
        return frozenset(tokenizer.vocabulary.index(piece) for piece in pieces)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path}: does not say which of the word pieces are {REMOVED} ({error}); train the classifier"
            " again, or remove the file if it is none of `hate-speech train`"
        ) from error
