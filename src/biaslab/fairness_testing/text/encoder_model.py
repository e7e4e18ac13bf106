"""A BERT with its classifier as `TextModel`; words are split into its WordPieces.

The vector of a word is the mean of the input vectors of its pieces. Changing this vector by δ changes every
piece by δ, so that the gradient is the sum of the pieces' gradients.
"""

import numpy as np
import torch
from scipy.special import expit
from torch import nn

from biaslab.core.errors import InputError
from biaslab.fairness_testing.text.discrimination import BATCH_WORDS, rows_of_length
from biaslab.text import encoder
from biaslab.text.ragged import gather
from biaslab.text.reading import BertFolder, Lengths
from biaslab.text.tokens import Tokenizer, Tokens
from biaslab.text.words import Lexicon, Texts


class EncoderTextModel:
    """A BERT with a classifier of two labels; a `TextModel`.

    Words after the last piece that the encoder reads have no effect and no gradient. The lexicon's vectors
    are not used. In other batches, sums may be rounded differently.
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
        device = self._model.device
        seen: list[torch.Tensor] = []
        embedding = self._model.bert.embeddings.word_embeddings
        hook = embedding.register_forward_hook(lambda module, inputs, output: seen.append(output))
        try:
            tokens = torch.as_tensor(ids.astype(np.int64), device=device)
            with torch.enable_grad():
                logits = self._model(tokens, torch.ones_like(tokens, dtype=torch.bool))
                targets = torch.as_tensor(np.asarray(labels, np.int64), device=device)
                loss = nn.functional.cross_entropy(logits, targets, reduction="sum")
                (gradient,) = torch.autograd.grad(loss, seen)
        finally:
            hook.remove()
        return gradient.cpu().numpy()

    def lengths(self, texts: Texts) -> Lengths:
        """Return the number of word pieces of texts, and how many are read."""
        _, offsets = gather(self._pieces.offsets, texts.ids)
        return Lengths(np.diff(offsets[texts.offsets]) + 2, self.max_length)

    def _tokens(self, texts: Texts) -> Tokens:
        """Return [CLS], the pieces of all words and [SEP] of each text, cut to the encoder's length."""
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


def _pieces(tokenizer: Tokenizer, lexicon: Lexicon) -> Texts:
    """Return the pieces of each word as a text; [UNK] for a word without pieces."""
    tokens = tokenizer.encode(lexicon.words, max_length=2**31)
    rows = [tokens.row(i)[1:-1] for i in range(len(tokens))]
    return Texts.of([row if len(row) else [tokenizer.unk] for row in rows])


def _refuse_infinite(values: np.ndarray) -> None:
    if not np.isfinite(values).all():
        raise InputError("the BERT's outputs are not finite; train the BERT again or check model.safetensors")
