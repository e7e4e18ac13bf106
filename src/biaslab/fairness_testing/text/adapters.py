"""Users' classifiers of texts as `TextModel`: networks, BERT folders, torch modules, other objects.

torch is imported only for a folder; a user who names a torch module has imported torch.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, softmax

from biaslab.classifiers.foreign import (
    ask,
    check_probabilities,
    classes_of,
    import_object,
    numbers,
    positive_column,
)
from biaslab.core.errors import InputError
from biaslab.fairness_testing.text.discrimination import BATCH_WORDS, rows_of_length
from biaslab.text.models import TextModel
from biaslab.text.ragged import gather
from biaslab.text.reading import TRAINING_FILE, BertFolder, Lengths, describe_positive, load_bert_folder
from biaslab.text.words import Lexicon, Texts

if TYPE_CHECKING:
    import torch

    from biaslab.text.tokens import Tokenizer, Tokens

BATCH_TEXTS = 1024  # texts per call of other objects


def load_model(
    reference: str, lexicon: Lexicon, device: str = "auto", positive: str | None = None
) -> TextModel:
    """Return a user's classifier by its reference: ``.npz``, the folder of a BERT, or ``MODULE:NAME``.

    The lexicon must have all words of later queries. A BERT computes on the device, a torch module where its
    parameters are. `positive` is the classifier's name of its positive label, which becomes label 1; it is
    required unless the names are 0 and 1.
    """
    if reference.endswith(".npz"):
        from biaslab.text.recurrent import load_recurrent

        return load_recurrent(Path(reference), lexicon.vectors)
    if Path(reference).is_dir():
        folder = load_bert_folder(Path(reference), device, positive)
        if folder.removed:  # reading these words would test another classifier
            raise InputError(
                f"{Path(reference) / TRAINING_FILE}: the classifier was trained with words removed from all"
                " texts; choose another"
            )
        return EncoderTextModel(folder, lexicon)
    module, colon, name = reference.partition(":")
    if not (module and colon and name):
        raise InputError(
            f"{reference}: no such folder; name a network (.npz), the folder of a BERT with its classifier,"
            " or MODULE:NAME of a torch module or of an object with probabilities and gradients"
        )
    return adapt(import_object(reference), lexicon, reference, positive)


def reads_vectors(model: TextModel) -> bool:
    """Return whether a classifier reads the vectors of the lexicon, instead of words or its own vectors."""
    from biaslab.text.recurrent import Recurrent

    return isinstance(model, TorchTextModel | Recurrent)


def adapt(classifier: object, lexicon: Lexicon, name: str, positive: str | None = None) -> TextModel:
    """Return a user's object as a `TextModel`, by its type; see `TorchTextModel` and `CallableTextModel`."""
    if any(base.__module__.startswith("torch.nn") for base in type(classifier).__mro__):
        classes = classes_of(classifier)
        logit = 1 if classes is None else positive_column(name, classes, positive)
        return TorchTextModel(classifier, lexicon.vectors, name, logit)
    function = getattr(classifier, "probabilities", classifier)
    if hasattr(classifier, "predict_proba"):

        def function(texts: list[list[str]]) -> object:
            return classifier.predict_proba([" ".join(words) for words in texts])

    if not callable(function):
        raise InputError(
            f"{name}: type {type(classifier).__name__} is not a classifier of texts; name a torch module or"
            " an object with predict_proba, or with probabilities(texts) and gradients(texts, labels)"
        )
    gradients = getattr(classifier, "gradients", None)
    classes = classes_of(function) or classes_of(classifier)
    return CallableTextModel(function, gradients, lexicon, name, classes, positive)


class TorchTextModel:
    """A torch module that reads vectors of words; a `TextModel`.

    The module receives the vectors of n texts of L words, (n, L, d) in the type of its parameters, and
    whether they are words, (n, L) bool. It returns logits, (n, 2), with `positive` as the index of label 1.
    All texts of a batch have one length, so that nothing is padded. An empty text has one vector of zeros
    that is not a word. In other batches, a library may round sums differently.
    """

    def __init__(self, module: "torch.nn.Module", vectors: np.ndarray, name: str, positive: int = 1) -> None:
        import torch

        self.vectors, self.name = vectors, name
        self._torch, self._module, self._positive = torch, module.eval(), positive
        self.reading = f"positive is output {positive}, by softmax over 2 logits"
        like = next(module.parameters(), torch.zeros(0))
        self._place = {"dtype": like.dtype, "device": like.device}

    def probabilities(self, texts: Texts) -> np.ndarray:
        """Return the softmax of the logits, (n, 2) float64; see `TextModel`."""
        logits = np.empty((len(texts), 2))
        with self._torch.no_grad():
            for rows in rows_of_length(texts.lengths, BATCH_WORDS):
                inputs, mask = self._inputs(texts.take(rows))
                logits[rows] = self._logits(inputs, mask).cpu().numpy()
        return softmax(logits, axis=1)

    def gradients(self, texts: Texts, labels: np.ndarray) -> np.ndarray:
        """Return the gradient of the cross entropy by backpropagation, (m, d) float32; see `TextModel`."""
        torch = self._torch
        gradients = np.empty((len(texts.ids), self.vectors.shape[1]), np.float32)
        for rows in rows_of_length(texts.lengths, BATCH_WORDS):
            if not texts.lengths[rows[0]]:
                continue
            inputs, mask = self._inputs(texts.take(rows))
            inputs.requires_grad_(True)
            # cuDNN has no backward pass for recurrent networks in evaluation mode
            with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
                logits, gradient = self._logits(inputs, mask), None
                if logits.requires_grad:
                    targets = torch.as_tensor(np.asarray(labels[rows], np.int64), device=logits.device)
                    loss = torch.nn.functional.cross_entropy(logits, targets, reduction="sum")
                    (gradient,) = torch.autograd.grad(loss, inputs, allow_unused=True)
            if gradient is None:
                raise InputError(
                    f"{self.name}: the logits have no gradients by the vectors of words; use torch's"
                    " differentiable functions, or choose --tester rp"
                )
            where = texts.offsets[rows][:, None] + np.arange(inputs.shape[1])
            gradients[where] = _finite(gradient.cpu().numpy(), self.name, "gradients")
        return gradients

    def _inputs(self, texts: Texts) -> tuple["torch.Tensor", "torch.Tensor"]:
        """Return the vectors of n texts of one length, (n, L, d), and whether they are words, (n, L)."""
        n, length = len(texts), int(texts.lengths[0])
        vectors = np.zeros((n, max(length, 1), self.vectors.shape[1]), np.float32)
        if length:
            vectors = self.vectors[texts.ids].reshape(n, length, -1)
        mask = np.full(vectors.shape[:2], length > 0)
        torch, place = self._torch, self._place
        return torch.tensor(vectors, **place), torch.tensor(mask, device=place["device"])

    def _logits(self, inputs: "torch.Tensor", mask: "torch.Tensor") -> "torch.Tensor":
        call = f"vectors of {inputs.shape[2]} numbers, {tuple(inputs.shape)}, and a mask, {tuple(mask.shape)}"
        logits = ask(self.name, call, "such input", self._module, inputs, mask)
        if not isinstance(logits, self._torch.Tensor):
            raise InputError(
                f"{self.name} returned a {type(logits).__name__}; return the logits as a tensor (n, 2)"
            )
        _check_shape(logits.shape, (len(inputs), 2), self.name, "logits")
        _finite(logits.detach().cpu().numpy(), self.name, "logits")
        return logits if self._positive else logits.flip(1)


class CallableTextModel:
    """Functions from texts to probabilities, and to gradients; a `TextModel`.

    `probabilities` receives n texts, each a list of words. It returns the probability of the positive class,
    (n,), or of both, (n, 2), in the order of `classes`, which is then required. The probabilities of a text
    must depend only on its own words.

    `gradients` receives such texts and their labels, (n,) int64: indices in `classes` or, without them, 1 for
    the positive class. It returns for each text the gradient of the cross entropy by the vectors of its
    words, (its words, d), or all gradients as one array, (m, d). Without it, only random strategies can
    search.
    """

    def __init__(
        self,
        probabilities: Callable[[list[list[str]]], Any],
        gradients: Callable[[list[list[str]], np.ndarray], Any] | None,
        lexicon: Lexicon,
        name: str,
        classes: Sequence[str] | None = None,
        positive: str | None = None,
    ) -> None:
        self.vectors, self.name = lexicon.vectors, name
        self._classes, self._positive = classes, positive
        self._lexicon, self._probabilities, self._gradients = lexicon, probabilities, gradients

    @property
    def reading(self) -> str:
        """The positive class, as a text."""
        if self._classes is None or len(self._classes) != 2:
            return "its answer is the probability of the positive class"
        return describe_positive(self._classes, positive_column(self.name, self._classes, self._positive))

    def probabilities(self, texts: Texts) -> np.ndarray:
        """Return the probabilities from the function, (n, 2) float64; see `TextModel`."""
        answers = [np.empty((0, 2))]
        for _, _, words in self._parts(texts):
            answer = ask(self.name, f"{len(words)} texts", "such input", self._probabilities, words)
            p = numbers(answer, self.name)
            is_of_both = p.shape != (len(words),)
            if is_of_both:
                _check_shape(p.shape, (len(words), 2), self.name, "probabilities")
            else:
                p = np.column_stack([1 - p, p])
            check_probabilities(p, self.name, "the text")
            if is_of_both and not positive_column(self.name, self._classes, self._positive):
                p = p[:, ::-1]
            answers.append(p)
        return np.concatenate(answers)

    def gradients(self, texts: Texts, labels: np.ndarray) -> np.ndarray:
        """Return the gradients from the function, (m, d) float32; see `TextModel`."""
        if self._gradients is None:
            raise InputError(
                f"{self.name} has no gradients(texts, labels), which the tester needs; add it, or choose"
                " --tester rp"
            )
        d = self.vectors.shape[1]
        if self._classes is not None and not positive_column(self.name, self._classes, self._positive):
            labels = 1 - labels
        answers = [np.empty((0, d), np.float32)]
        for rows, part, words in self._parts(texts):
            what = f"the gradients of {len(words)} texts"
            answer = ask(self.name, what, "such input", self._gradients, words, labels[rows])
            answers.append(self._checked_gradients(answer, part))
        return np.concatenate(answers)

    def _parts(self, texts: Texts) -> Iterator[tuple[np.ndarray, Texts, list[list[str]]]]:
        """Yield the rows, the texts and the words of each call."""
        for start in range(0, len(texts), BATCH_TEXTS):
            rows = np.arange(start, min(start + BATCH_TEXTS, len(texts)))
            part = texts.take(rows)
            yield rows, part, [self._lexicon.decode(row) for row in part]

    def _checked_gradients(self, answer: Any, texts: Texts) -> np.ndarray:
        """Return gradients, one array per text or one of all words, as (m, d) float32."""
        m, d = len(texts.ids), self.vectors.shape[1]
        if isinstance(answer, list | tuple):
            parts = [numbers(part, self.name) for part in answer]
            lengths = [len(part) if part.ndim == 2 else -1 for part in parts]
            if lengths != texts.lengths.tolist():
                raise InputError(
                    f"{self.name} returned gradients of other lengths than the texts; return (words, {d})"
                    " for each text"
                )
            answer = np.concatenate([part for part in parts if len(part)]) if m else np.empty((0, d))
        gradients = numbers(answer, self.name)
        if gradients.ndim == 2 and len(gradients) == m and gradients.shape[1] != d:
            raise InputError(
                f"{self.name} returned gradients of {gradients.shape[1]} numbers a word, but the vectors have"
                f" {d}; name the classifier's own vectors with --vectors"
            )
        _check_shape(gradients.shape, (m, d), self.name, "gradients")
        return _finite(gradients, self.name, "gradients").astype(np.float32)


def _check_shape(shape: Sequence[int], wanted: tuple[int, int], name: str, what: str) -> None:
    if tuple(shape) == wanted:
        return
    if what != "gradients" and len(shape) == 2 and shape[0] == wanted[0] and shape[1] > 2:
        raise InputError(f"{name} returned {shape[1]} classes; give a classifier with two classes")
    raise InputError(f"{name} returned {what} of the shape {tuple(shape)}; return {wanted}")


def _finite(values: np.ndarray, name: str, what: str) -> np.ndarray:
    if not np.isfinite(values).all():
        raise InputError(f"{name} returned {what} that are not finite; train it again or check its inputs")
    return values


class EncoderTextModel:
    """A BERT with a classifier of two labels, which splits words into its WordPieces; a `TextModel`.

    The vector of a word is the mean of the input vectors of its pieces. Changing this vector by δ changes
    every piece by δ, so that the gradient is the sum of the pieces' gradients. Words after the last piece
    that the encoder reads have no effect and no gradient. The lexicon's vectors are not used. In other
    batches, sums may be rounded differently.
    """

    def __init__(self, folder: BertFolder, lexicon: Lexicon) -> None:
        self._model, self._tokenizer = folder.model, folder.tokenizer
        self.max_length, self.reading = folder.max_length, folder.reading
        self._pieces = _pieces(folder.tokenizer, lexicon)
        table = folder.model.bert.embeddings.word_embeddings.weight.detach().cpu().numpy()
        sums = np.add.reduceat(table[self._pieces.ids], self._pieces.offsets[:-1], axis=0)
        self.vectors = (sums / self._pieces.lengths[:, None]).astype(np.float32)

    def probabilities(self, texts: Texts) -> np.ndarray:
        """Return the logistic function of the score, (n, 2) float64; see `TextModel`."""
        from biaslab.text import encoder

        scores = encoder.predict(self._model, self._tokens(texts), self._tokenizer.pad).astype(np.float64)
        _refuse_infinite(scores)
        return expit(np.column_stack([-scores, scores]))

    def gradients(self, texts: Texts, labels: np.ndarray) -> np.ndarray:
        """Return the gradient of the cross entropy by backpropagation, (m, d) float32; see `TextModel`."""
        tokens = self._tokens(texts)
        of_tokens = np.empty((len(tokens.ids), self.vectors.shape[1]), np.float32)
        for rows in rows_of_length(tokens.lengths, BATCH_WORDS):
            where = tokens.offsets[rows][:, None] + np.arange(tokens.lengths[rows[0]])
            of_tokens[where] = self._gradient(tokens.ids[where], labels[rows])
        _refuse_infinite(of_tokens)
        gradients = np.zeros((len(texts.ids), self.vectors.shape[1]), np.float32)
        in_text = tokens.words >= 0
        begin = np.repeat(texts.offsets[:-1], tokens.lengths)
        np.add.at(gradients, (begin + tokens.words)[in_text], of_tokens[in_text])
        return gradients

    def _gradient(self, ids: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the gradient by the input vectors of texts of one length, (n, L, d)."""
        import torch

        device = self._model.device
        seen: list[torch.Tensor] = []
        embedding = self._model.bert.embeddings.word_embeddings
        hook = embedding.register_forward_hook(lambda module, inputs, output: seen.append(output))
        try:
            tokens = torch.as_tensor(ids.astype(np.int64), device=device)
            with torch.enable_grad():
                logits = self._model(tokens, torch.ones_like(tokens, dtype=torch.bool))
                targets = torch.as_tensor(np.asarray(labels, np.int64), device=device)
                loss = torch.nn.functional.cross_entropy(logits, targets, reduction="sum")
                (gradient,) = torch.autograd.grad(loss, seen)
        finally:
            hook.remove()
        return gradient.cpu().numpy()

    def lengths(self, texts: Texts) -> Lengths:
        """Return the number of word pieces of texts, and how many are read."""
        _, offsets = gather(self._pieces.offsets, texts.ids)
        return Lengths(np.diff(offsets[texts.offsets]) + 2, self.max_length)

    def _tokens(self, texts: Texts) -> "Tokens":
        """Return [CLS], the pieces of all words and [SEP] of each text, cut to the encoder's length."""
        from biaslab.text.tokens import Tokens

        where, piece_offsets = gather(self._pieces.offsets, texts.ids)
        position = np.arange(len(texts.ids)) - np.repeat(texts.offsets[:-1], texts.lengths)
        word = np.repeat(position, np.diff(piece_offsets))
        bounds = piece_offsets[texts.offsets]
        kept = np.minimum(np.diff(bounds), self.max_length - 2)
        offsets = np.concatenate([[0], np.cumsum(kept + 2)])
        ids, words = np.empty(offsets[-1], np.int32), np.full(offsets[-1], -1, np.int32)
        ids[offsets[:-1]], ids[offsets[1:] - 1] = self._tokenizer.cls, self._tokenizer.sep
        index = np.arange(len(where)) - np.repeat(bounds[:-1], np.diff(bounds))
        is_read = index < np.repeat(kept, np.diff(bounds))
        to = (np.repeat(offsets[:-1], np.diff(bounds)) + 1 + index)[is_read]
        ids[to], words[to] = self._pieces.ids[where[is_read]], word[is_read]
        return Tokens(ids, offsets, words)


def _pieces(tokenizer: "Tokenizer", lexicon: Lexicon) -> Texts:
    """Return the pieces of each word as a text; [UNK] for a word without pieces."""
    tokens = tokenizer.encode(lexicon.words, max_length=2**31)
    rows = [tokens.row(i)[1:-1] for i in range(len(tokens))]
    return Texts.of([row if len(row) else [tokenizer.unk] for row in rows])


def _refuse_infinite(values: np.ndarray) -> None:
    if not np.isfinite(values).all():
        raise InputError("the BERT's outputs are not finite; train the BERT again or check model.safetensors")
