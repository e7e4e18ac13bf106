"""Classifiers of the user's: the folder of a BERT, or any function from texts to probabilities."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.special import logit

from biaslab.core.errors import InputError

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


def load_classifier_of(reference: str, device: str = "auto") -> TextClassifier:
    """Return the classifier that a user names.

    Parameters
    ----------
    reference : str
        A folder, or ``MODULE:NAME`` of an object in the current folder or installed: a function that takes
        a list of texts, or an object with ``predict_proba``.
    device : {"auto", "cpu", "cuda"}
        Where a BERT computes.

    Raises
    ------
    InputError
        When it is neither, or what it names cannot be loaded.
    """
    if Path(reference).is_dir():
        return load_folder(reference, device)
    module, colon, name = reference.partition(":")
    if not (module and colon and name):
        raise InputError(
            f"{reference}: no such folder; name the folder of a BERT with its classifier, or MODULE:NAME of a"
            " function that takes texts and returns probabilities"
        )
    from biaslab.classifiers.adapters import import_object

    found = import_object(reference)
    function = getattr(found, "predict_proba", found)
    if not callable(function):
        raise InputError(
            f"{reference}: a {type(found).__name__} is no classifier; name a function that takes a list of"
            " texts and returns probabilities, or an object with predict_proba"
        )
    return CallableClassifier(function, reference)


def load_folder(folder: str | Path, device: str = "auto") -> "FolderClassifier":
    """Return the classifier in a folder, which has the layout of Hugging Face.

    Raises
    ------
    InputError
        When a file is missing or wrong, there is no classifier of two labels, or no such device.
    """
    from biaslab.text.devices import choose_device
    from biaslab.text.encoder import load_classifier
    from biaslab.text.tokens import Tokenizer

    folder = Path(folder)
    model = load_classifier(folder).to(choose_device(device))
    tokenizer = Tokenizer.load(folder / "vocab.txt")
    return FolderClassifier(model, tokenizer, _removed(folder / TRAINING_FILE, tokenizer))


@dataclass(frozen=True)
class FolderClassifier:
    """A BERT with a classifier of two labels, of which 1 is the positive one; a `TextClassifier`.

    Attributes
    ----------
    model : BertForSequenceClassification
    tokenizer : Tokenizer
    removed : frozenset of int
        Word pieces that are taken out of every text.
    """

    model: "torch.nn.Module"
    tokenizer: "Tokenizer"
    removed: frozenset[int] = frozenset()

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
    """A function from texts to probabilities; a `TextClassifier`.

    Attributes
    ----------
    function : callable
        Takes a list of n texts and returns the probability of the positive class, (n,), or of the negative
        and the positive one, (n, 2).
    name : str
        What messages call it.
    """

    function: Callable[[list[str]], Any]
    name: str

    def scores(self, texts: Sequence[str], progress: Progress = lambda done, n: None) -> np.ndarray:
        """Return the logit of the positive class; see `TextClassifier`.

        Raises
        ------
        InputError
            When the function fails, or what it returns are no probabilities.
        """
        scores = np.empty(len(texts))
        for start in range(0, len(texts), BATCH):
            batch = list(texts[start : start + BATCH])
            scores[start : start + len(batch)] = _logits(self._ask(batch), len(batch), self.name, start)
            progress(start + len(batch), len(texts))
        return scores

    def _ask(self, texts: list[str]) -> Any:
        try:
            return self.function(texts)
        except InputError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
            raise InputError(
                f"{self.name} failed on {len(texts)} texts ({reason}); call it by hand with a list of texts"
            ) from error


def _logits(answer: Any, n: int, name: str, start: int) -> np.ndarray:
    """Return the logits, (n,), of what a function answered for the texts from number `start` on."""
    p = _numbers(answer, name)
    if p.ndim == 2 and len(p) == n and p.shape[1] > 2:
        raise InputError(
            f"{name} returned {p.shape[1]} classes; return the probability of the positive one, ({n},)"
        )
    if p.shape not in ((n,), (n, 2)):
        raise InputError(
            f"{name} returned the shape {p.shape} for {n} texts; return the probability of the positive"
            f" class, ({n},), or of the negative and the positive one, ({n}, 2)"
        )
    rows = p.reshape(n, -1)
    _refuse(~np.isfinite(rows).all(axis=1), rows, name, start, "not finite; mend it for such a text")
    _refuse(
        ((rows < 0) | (rows > 1)).any(axis=1),
        rows,
        name,
        start,
        "no probability; apply softmax or the logistic function to logits",
    )
    if p.ndim == 1:
        return logit(p)
    apart = ~np.isclose(rows.sum(axis=1), 1, atol=1e-3)
    _refuse(apart, rows, name, start, "whose sum is not 1; return the probabilities of both classes")
    with np.errstate(divide="ignore"):
        return np.log(rows[:, 1]) - np.log(rows[:, 0])


def _numbers(answer: Any, name: str) -> np.ndarray:
    detach = getattr(answer, "detach", None)  # a tensor, perhaps on another device
    try:
        return np.asarray(detach().cpu() if detach else answer, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} returned a {type(answer).__name__} that is no array of numbers; return probabilities"
        ) from error


def _refuse(is_wrong: np.ndarray, rows: np.ndarray, name: str, start: int, what: str) -> None:
    if is_wrong.any():
        i = int(is_wrong.argmax())
        shown = ", ".join(f"{value:g}" for value in rows[i])
        raise InputError(f"{name} returned {shown} for text {start + i + 1}: {what}")


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
