"""Read any embedding as unit vectors: files of other tools, and batches of trainings of biaslab."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from biaslab.core.errors import InputError, number_of
from biaslab.embeddings.batches import read_training
from biaslab.embeddings.formats import list_examples, read_embedding
from biaslab.embeddings.vocabulary import AnyCase, read_vocabulary

__all__ = ["UnitEmbedding", "read_unit_embedding"]

BATCH_SUFFIX = ".npz"
_BLOCK = 2**14
_FOLDERS_UP = 3
_MOST_DECIMALS = 6


class UnitEmbedding(NamedTuple):
    """Words and their directions.

    Attributes
    ----------
    words : list of str
        Distinct words.
    vectors : (V, D) float32
        A row of length one for each word.
    lengths : (V,) float32
        Original lengths of the vectors.
    rounding : float
        The last decimal place of the numbers in the file, divided by the median length. 0 if the numbers have
        more than six decimals.
    notes : tuple of str
        A line for each difference from the file.
    zero : frozenset of str
        Words of the file with zero vectors. They have no direction and are omitted.
    """

    words: list[str]
    vectors: np.ndarray
    lengths: np.ndarray
    rounding: float = 0.0
    notes: tuple[str, ...] = ()
    zero: frozenset[str] = frozenset()

    def ids(self) -> AnyCase:
        """Return the row of every word; the mapping finds words in any letter case.

        Returns
        -------
        mapping of str to int
            Row of each word.
        """
        return AnyCase({word: row for row, word in enumerate(self.words)}, self.zero)


def read_unit_embedding(
    path: str | os.PathLike, vocabulary: str | os.PathLike | None = None, replicate: int = 0
) -> UnitEmbedding:
    """Read an embedding and scale its vectors to length one.

    Parameters
    ----------
    path : path-like
        A word2vec or GloVe file, or a batch of trainings (``.npz``).
    vocabulary : path-like, optional
        The words of a batch. By default the nearest ``vocabulary.tsv`` in the folder of the batch or the
        three folders above.
    replicate : int
        Number of the training in a batch.

    Returns
    -------
    UnitEmbedding
        In the order of the file or vocabulary. Its memory is hardly more than that of the 32-bit vectors.

    Raises
    ------
    InputError
        When a file is missing or malformed, a word has a vector that is not finite, or all vectors are zero.
    """
    words, vectors, notes = read_vectors(path, vocabulary, replicate)
    step = _decimal_step(vectors)
    has_direction = np.asarray(vectors.any(axis=1))
    zero = [word for word, is_kept in zip(words, has_direction, strict=True) if not is_kept]
    if zero:
        words = [word for word, is_kept in zip(words, has_direction, strict=True) if is_kept]
        vectors = vectors[has_direction]
        if not words:
            raise InputError(f"{path}: all vectors are zero; give a file of trained vectors")
        notes.append(
            f"{path}: {number_of(len(zero), 'word')} omitted, because the vectors are zero and have no"
            f" direction ({list_examples(zero)})"
        )
    lengths = _normalize(vectors, words, Path(path))
    rounding = step / float(np.median(lengths))
    return UnitEmbedding(words, vectors, lengths, rounding, tuple(notes), frozenset(zero))


def read_vectors(
    path: str | os.PathLike, vocabulary: str | os.PathLike | None = None, replicate: int = 0
) -> tuple[list[str], np.ndarray, list[str]]:
    """Read words, unscaled vectors and notes; see `read_unit_embedding`."""
    path = Path(path)
    notes: list[str] = []
    if path.suffix == BATCH_SUFFIX:
        files = (folder / "vocabulary.tsv" for folder in path.absolute().parents[: _FOLDERS_UP + 1])
        vocabulary = vocabulary or next((file for file in files if file.is_file()), None)
        if vocabulary is None:
            raise InputError(
                f"{path}: the folder and its parents have no vocabulary.tsv; name the vocabulary"
            )
        words = read_vocabulary(vocabulary)
        return words.words, read_training(path, replicate, words).W.astype(np.float32), notes
    return *read_embedding(path, say=notes.append), notes


def _decimal_step(vectors: np.ndarray) -> float:
    """Return the last decimal place of numbers with at most six decimals, else 0."""
    blocks = [vectors[first : first + _BLOCK] for first in range(0, len(vectors), _BLOCK)]
    for decimals in range(1, _MOST_DECIMALS + 1):
        rounded_blocks = (block.astype(np.float64).round(decimals).astype(np.float32) for block in blocks)
        if all((rounded == block).all() for rounded, block in zip(rounded_blocks, blocks, strict=True)):
            return 10.0**-decimals
    return 0.0


def _normalize(vectors: np.ndarray, words: list[str], path: Path) -> np.ndarray:
    """Divide rows by their lengths, in place, and return the lengths, (V,) float32."""
    all_lengths = np.empty(len(vectors), np.float32)
    for first in range(0, len(vectors), _BLOCK):
        block = vectors[first : first + _BLOCK].astype(np.float64)
        lengths = np.linalg.norm(block, axis=1)
        usable = np.isfinite(lengths) & (lengths > 0)
        if not usable.all():
            row = first + int(usable.argmin())
            problem = "zero" if lengths[row - first] == 0 else "not finite"
            raise InputError(
                f"{path}: the vector of '{words[row]}' is {problem} (word {row + 1}), so it has no direction;"
                " remove the word or repair the file"
            )
        vectors[first : first + _BLOCK] = block / lengths[:, None]
        all_lengths[first : first + _BLOCK] = lengths
    return all_lengths
