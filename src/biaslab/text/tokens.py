"""Tokenize texts into WordPieces as BERT's uncased models do, stored in flat arrays."""

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
import tokenizers
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from biaslab.core.errors import InputError
from biaslab.core.files import read_text
from biaslab.text.ragged import Ragged
from biaslab.text.variants import text_batches

# The library's own threads do not survive a fork and ignore the limit on threads.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
TRAINED_LENGTH = 128
"""Word pieces read of a text in training, including [CLS] and [SEP], as in Kennedy et al. 2020's code."""
_BATCH = 1024  # number of texts encoded together, limited because the library returns large objects


@dataclass(frozen=True)
class Tokens(Ragged):
    """The tokens of n texts, one text after the other; every text begins with [CLS] and ends with [SEP].

    `words`, (total,) int32, has the index of each token's word in ``Tokenizer.words`` of the text; -1 for
    [CLS] and [SEP].
    """

    words: np.ndarray

    def padded(self, rows: Sequence[int] | np.ndarray, pad: int) -> tuple[np.ndarray, np.ndarray]:
        """Return texts as a padded matrix, (k, L) int64, and the mask of tokens; L is the greatest length."""
        texts = self.take(rows)
        mask = np.arange(texts.lengths.max(initial=0)) < texts.lengths[:, None]
        ids = np.full(mask.shape, pad, np.int64)
        ids[mask] = texts.ids
        return ids, mask

    def without(self, ids: Collection[int]) -> "Tokens":
        """Return the texts without tokens in `ids` (word removal, after the texts were cut)."""
        kept = ~np.isin(self.ids, np.fromiter(ids, np.int32, len(ids)))
        offsets = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        return Tokens(self.ids[kept], offsets, self.words[kept])


class Tokenizer:
    """BERT's uncased WordPiece: lower case, no accents, split at spaces and punctuation, longest pieces.

    A text never yields a special token: "[SEP]" in a text becomes ordinary tokens. The id of a token is its
    position in the vocabulary. `load` reads and checks a vocabulary file.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary = list(vocabulary)
        index = {token: i for i, token in enumerate(self.vocabulary)}
        self.pad, self.unk, self.cls, self.sep, self.mask = (index[token] for token in SPECIAL)
        self._pieces = tokenizers.Tokenizer(WordPiece(index, unk_token="[UNK]", max_input_chars_per_word=100))
        self._pieces.normalizer = BertNormalizer(lowercase=True)
        self._pieces.pre_tokenizer = BertPreTokenizer()

    @classmethod
    def load(cls, vocab_file: str | os.PathLike) -> "Tokenizer":
        """Read a vocabulary, one token a line."""
        text = read_text(Path(vocab_file), "vocab.txt with one token a line")
        vocabulary, lines = text.removesuffix("\n").split("\n"), {}
        for line, token in enumerate(vocabulary, 1):
            where = f"{vocab_file}, line {line}"
            if not token.strip():
                raise InputError(f"{where}: empty; write one token per line")
            if token in lines:
                raise InputError(f"{where}: '{token}' is also on line {lines[token]}; remove one")
            if token != token.lower() and not token.startswith("["):
                raise InputError(f"{where}: '{token}' has a capital letter; choose an uncased encoder")
            lines[token] = line
        if missing := [token for token in SPECIAL if token not in lines]:
            raise InputError(f"{vocab_file}: token {missing[0]} is missing; name the vocab.txt of a BERT")
        return cls(vocabulary)

    @cached_property
    def is_special(self) -> np.ndarray:
        """Whether an id is no text: the five special tokens and the unused tokens, (V,) bool."""
        return np.array([t in SPECIAL or t.startswith("[unused") for t in self.vocabulary])

    def encode(self, texts: Iterable[str], max_length: int = TRAINED_LENGTH) -> Tokens:
        """Return the tokens of texts, each cut to `max_length` tokens including [CLS] and [SEP]."""
        n_kept, ids, words = max_length - 2, [], []
        for batch in text_batches(texts, _BATCH):
            encodings = self._pieces.encode_batch(batch, add_special_tokens=False)
            ids += [[self.cls, *e.ids[:n_kept], self.sep] for e in encodings]
            words += [[-1, *e.word_ids[:n_kept], -1] for e in encodings]
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in ids], dtype=np.int64)])
        flat_ids, flat_words = (np.fromiter(chain.from_iterable(rows), np.int32) for rows in (ids, words))
        return Tokens(flat_ids, offsets, flat_words)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each uncut text, including [CLS] and [SEP]."""
        return [len(e.ids) + 2 for e in self._pieces.encode_batch(list(texts), add_special_tokens=False)]

    def pieces(self, text: str) -> list[str]:
        """Return the WordPieces of a text, without [CLS] and [SEP]."""
        return self._pieces.encode(text, add_special_tokens=False).tokens

    def words(self, text: str) -> list[str]:
        """Return the words before the split into pieces: lower case, punctuation separate."""
        normal = self._pieces.normalizer.normalize_str(text)
        return [word for word, _ in self._pieces.pre_tokenizer.pre_tokenize_str(normal)]
