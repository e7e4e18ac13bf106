"""Adapt classifiers of the user: folders of transformers, or any function from texts to probabilities."""

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
from biaslab.text.reading import (
    MULTI_LABEL,
    BertFolder,
    Lengths,
    count_in_batches,
    describe_positive,
    keeps_case,
    load_bert_folder,
)
from biaslab.text.variants import text_batches

if TYPE_CHECKING:
    from biaslab.text.tokens import Tokens

BATCH = 256  # number of texts in one call of a function

Progress = Callable[[int, int], None]  # receives the number of texts done and the number of all texts


class TextClassifier(Protocol):
    """A binary classifier of texts."""

    @property
    def class_names(self) -> Sequence[str]:
        """Names of the classes; empty if unknown."""

    @property
    def reading(self) -> str:
        """A sentence on the positive class, the output, and how the classifier reads a text."""

    def lengths(self, texts: Sequence[str]) -> Lengths | None:
        """Return the lengths of texts and the limit that is read of each; None if unknown."""

    def scores(self, texts: Sequence[str], progress: Progress = lambda done, n: None) -> np.ndarray:
        """Return the logit of the positive class of each text, (n,) float64: positive when above 0.

        A probability p has the logit ln p - ln (1 - p), which is infinite for 0 and 1.
        """


def load_classifier_of(
    reference: str, device: str = "auto", positive: str | None = None, option: str = "--positive"
) -> TextClassifier:
    """Return the classifier of a folder, or of ``MODULE:NAME``; `option` sets `positive`, for messages."""
    if Path(reference).is_dir():
        if is_plain_bert(Path(reference)):
            return load_folder(reference, device, positive, option)
        from biaslab.hate_speech.pretrained import load_pretrained

        return load_pretrained(Path(reference), device, positive, option)
    module, colon, name = reference.partition(":")
    if not (module and colon and name):
        raise InputError(
            f"{reference}: no such folder; name the folder of a classifier of transformers, or MODULE:NAME"
            " of a function from texts to probabilities"
        )
    target = import_object(reference)
    function = getattr(target, "predict_proba", target)
    if not callable(function):
        raise InputError(
            f"{reference}: a {type(target).__name__} is not a classifier; name a function that takes a list"
            " of texts and returns probabilities, or an object with predict_proba"
        )
    return CallableClassifier(function, reference, classes_of(target) or (), positive, option)


def is_plain_bert(folder: Path) -> bool:
    """Return whether a folder has an uncased BERT of two labels, which is read strictly and supports SOC."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        model_type, labels = config.get("model_type", "bert"), config.get("id2label") or (0, 1)
        if model_type != "bert" or len(labels) != 2 or config.get("problem_type") == MULTI_LABEL:
            return False
        if not (folder / "vocab.txt").is_file():
            return not (folder / "tokenizer.json").is_file()
        tokens = (folder / "vocab.txt").read_text(encoding="utf-8").split()
        if keeps_case(folder):
            return False
    except (OSError, ValueError, AttributeError, TypeError):
        return True  # reading it raises an error
    return all(token == token.lower() or token.startswith("[") for token in tokens)


def load_folder(
    folder: str | Path, device: str = "auto", positive: str | None = None, option: str = "--positive"
) -> "FolderClassifier":
    """Return the classifier in a folder, which reads as much of a text as in training or as its files say."""
    return FolderClassifier(**vars(load_bert_folder(Path(folder), device, positive, option)))


class FolderClassifier(BertFolder):
    """A BERT with a classifier of two labels, 1 being positive; a `TextClassifier`."""

    @property
    def reading(self) -> str:
        """See `TextClassifier`."""
        removed = f", {len(self.removed)} word pieces removed" if self.removed else ""
        return f"{super().reading}, in lower case without accents{removed}."

    def lengths(self, texts: Sequence[str]) -> Lengths:
        """See `TextClassifier`."""
        return Lengths(count_in_batches(self.tokenizer.count, texts), self.max_length)

    def tokens(self, texts: Sequence[str]) -> "Tokens":
        """Return the tokens of texts as the classifier sees them."""
        return self.tokenizer.encode(texts, self.max_length).without(self.removed)

    def scores(self, texts: Sequence[str], progress: Progress = lambda done, n: None) -> np.ndarray:
        """Return the logit of the positive class; see `TextClassifier`."""
        from biaslab.text.encoder import predict

        scores = predict(self.model, self.tokens(texts), self.tokenizer.pad, progress)
        return scores.astype(np.float64)


@dataclass(frozen=True)
class CallableClassifier:
    """A function from texts to probabilities; a `TextClassifier`."""

    # from n texts to the probability of the positive class, (n,), or of both classes, (n, 2)
    function: Callable[[list[str]], Any]
    name: str  # in messages
    class_names: Sequence[str] = ()  # of the columns of the output, required for (n, 2)
    positive: str | None = None  # one of `class_names`; None for 1 or True
    option: str = "--positive"  # named in the message if `positive` is no class

    @property
    def reading(self) -> str:
        """See `TextClassifier`."""
        sentence = "its answer is the probability of the positive class"
        positive_names = [name for name in (self.positive, "1", "True") if name in self.class_names]
        if positive_names and len(self.class_names) == 2:
            sentence = describe_positive(self.class_names, list(self.class_names).index(positive_names[0]))
        return f"{sentence}; its treatment of case and long texts is unknown."

    def lengths(self, texts: Sequence[str]) -> None:
        """See `TextClassifier`."""

    def scores(self, texts: Sequence[str], progress: Progress = lambda done, n: None) -> np.ndarray:
        """Return the logit of the positive class; see `TextClassifier`."""
        scores, done = np.empty(len(texts)), 0
        for batch in text_batches(texts, BATCH):
            answer = ask(self.name, f"{len(batch)} texts", "a list of texts", self.function, batch)
            scores[done : done + len(batch)] = self._logits(numbers(answer, self.name), len(batch), done)
            done += len(batch)
            progress(done, len(texts))
        return scores

    def _logits(self, p: np.ndarray, n: int, start: int) -> np.ndarray:
        if p.ndim == 2 and len(p) == n and p.shape[1] > 2:
            raise InputError(
                f"{self.name} returned {p.shape[1]} classes; return the probability of the positive class,"
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
        column = positive_column(self.name, self.class_names or None, self.positive, self.option)
        with np.errstate(divide="ignore"):
            return np.log(p[:, column]) - np.log(p[:, 1 - column])
