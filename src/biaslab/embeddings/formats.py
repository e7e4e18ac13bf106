"""Word vectors in the formats of other tools: word2vec text, word2vec binary and GloVe text."""

import codecs
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from gensim import utils
from gensim.models import KeyedVectors

from biaslab.core.errors import InputError, suggest
from biaslab.core.files import CUT, atomic_path

__all__ = ["FORMATS", "keyed_vectors", "read_embedding", "write_embedding"]

FORMATS = ("word2vec", "word2vec-binary", "glove")

# What no file of word vectors exceeds: so a file of something else does not fill the memory.
_LONGEST_LINE = 2**22
_LONGEST_WORD = 2**12
_MOST_DIMENSIONS = 2**17
_CHUNK_BYTES = 2**18
_FOREIGN = {
    b"\x80": (
        "a pickle, as gensim saves its own; it can run code when it is opened, so it never is. Export it with"
        " gensim: KeyedVectors.load(FILE).save_word2vec_format('vectors.bin', binary=True), or of a model"
        " Word2Vec.load(FILE).wv.save_word2vec_format(...)"
    ),
    b"\xba\x16\x4f\x2f": "a model of fastText; give the vectors that it saved beside (.vec)",
    b"\x93NUMPY": "an array without words; give a file of words and vectors",
    b"PK\x03\x04": "an archive; unpack it, and give the file of vectors in it",
    b"\x1f\x8b": "compressed by gzip; let its name end with .gz",
}
"""What files begin with that are of no format read here, and what to do about them."""


def read_embedding(path: str | os.PathLike, format: str | None = None) -> tuple[list[str], np.ndarray]:
    """Read word vectors; nothing in the file is ever executed.

    Parameters
    ----------
    path : path-like
        The file; it may be compressed (``.gz``, ``.bz2``), and tabs may stand between the numbers.
    format : {"word2vec", "word2vec-binary", "glove"}, optional
        By default it is told from the content: word2vec files begin with a line of two whole numbers, and
        those that go on with control characters are binary. Only a file of a few bytes, or a GloVe file of
        one dimension with a number as its first word, can be mistaken.

    Returns
    -------
    words : list of str
        In the order of the file, each once.
    vectors : (V, D) float32
        Their vectors.

    Raises
    ------
    InputError
        When the file is missing, empty, truncated or malformed, holds a word twice or a value that is not
        finite, or is a pickle, as gensim's own ``.kv`` and ``.model`` are.
    """
    path = Path(path)
    try:
        kind = _known(format) if format else None
        _refuse_foreign(path)
        kind = kind or _detect(path)
        words, vectors = (
            _read_binary(path) if kind == "word2vec-binary" else _read_text(path, kind == "word2vec")
        )
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file of word vectors; check the path") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: not readable ({error})") from error
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        row = int(finite.argmin())
        raise InputError(
            f"{path}: the vector of '{words[row]}' is not finite in 32 bits (word {row + 1} of the file);"
            " remove or repair it"
        )
    return words, vectors


def write_embedding(path: str | os.PathLike, words: list[str], vectors: np.ndarray, format: str) -> None:
    """Write word vectors, atomically; reading them back gives the same words and the same 32-bit numbers.

    Parameters
    ----------
    path : path-like
        The file to write.
    words : list of str
        Words without spaces and line breaks, each once.
    vectors : (V, D) float32
        Their vectors.
    format : {"word2vec", "word2vec-binary", "glove"}
        What to write.

    Raises
    ------
    InputError
        When the format is unknown or cannot hold the words, or the file cannot be written.
    """
    _known(format)
    try:
        keyed = keyed_vectors(words, vectors)
    except InputError as error:
        raise InputError(f"cannot write {path}: {error}") from error
    for i, word in enumerate(words):
        if not word or " " in word or "\n" in word:
            raise InputError(
                f"cannot write {path}: word {i}, {word!r}, is empty or holds a space; leave it out"
            )
    with atomic_path(path) as temporary:
        keyed.save_word2vec_format(
            str(temporary), binary=format == "word2vec-binary", write_header=format != "glove"
        )


def keyed_vectors(words: Sequence[str], vectors: np.ndarray) -> KeyedVectors:
    """Return word vectors as gensim knows them.

    Parameters
    ----------
    words : sequence of str
        Each once; they keep their order.
    vectors : (V, D) float32
        Their vectors.

    Raises
    ------
    InputError
        When a word is there twice, or words and vectors are not as many.
    """
    if len(words) != len(vectors):
        raise InputError(f"{len(words)} words and {len(vectors)} vectors; give a vector for each word")
    if len(set(words)) < len(words):
        raise InputError("a word is there twice; give every word once")
    keyed = KeyedVectors(vectors.shape[1])
    keyed.add_vectors(list(words), vectors)
    keyed.expandos["count"] = np.arange(len(words), 0, -1)  # gensim writes words by falling count
    return keyed


def _known(format: str) -> str:
    if format not in FORMATS:
        raise InputError(f"unknown format '{format}'{suggest(format, FORMATS)} (known: {', '.join(FORMATS)})")
    return format


def _refuse_foreign(path: Path) -> None:
    with utils.open(path, "rb") as file:
        start = file.read(max(map(len, _FOREIGN)))
    for first, problem in _FOREIGN.items():
        if start.startswith(first):
            raise InputError(f"{path}: {problem}")


def _detect(path: Path) -> str:
    with utils.open(path, "rb") as file:
        first = file.readline(_LONGEST_LINE).removeprefix(codecs.BOM_UTF8)
        sample = file.read(4096)
    if _parse_header(first) is None:
        return "glove"
    return "word2vec" if _is_text(sample) else "word2vec-binary"


def _is_text(sample: bytes) -> bool:
    """Tell whether bytes are UTF-8 (perhaps cut within a character) without control characters."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return not any(character < " " and character not in "\t\r\n" for character in text)


def _parse_header(line: bytes) -> tuple[int, int] | None:
    """Return the numbers of words and dimensions of a word2vec header, or None if `line` is none."""
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields):
        return None
    return int(fields[0]), int(fields[1])


def _require_header(path: Path, line: bytes) -> tuple[int, int]:
    """Return the numbers of a word2vec header, which must be positive and possible."""
    header = _parse_header(line)
    if header is None or 0 in header or header[1] > _MOST_DIMENSIONS:
        raise InputError(f"{path}, line 1: not the header of a word2vec file (number of words, dimensions)")
    return header


def _read_text(path: Path, has_header: bool) -> tuple[list[str], np.ndarray]:
    """Read rows of a word and its numbers, after a word2vec header or without one (GloVe)."""
    with utils.open(path, "rb") as file:
        if not has_header:
            return _read_rows(path, file, first_line=1, n_dimensions=None)
        n_words, n_dimensions = _require_header(
            path, file.readline(_LONGEST_LINE).removeprefix(codecs.BOM_UTF8)
        )
        words, vectors = _read_rows(path, file, first_line=2, n_dimensions=n_dimensions)
    if len(words) != n_words:
        raise InputError(
            f"{path}: line 1 announces {n_words} words, but there are {len(words)}; get the whole file"
        )
    return words, vectors


def _read_rows(
    path: Path, file: BinaryIO, first_line: int, n_dimensions: int | None
) -> tuple[list[str], np.ndarray]:
    """Read rows; the first sets what separates numbers, and how many they are where no header has told it."""
    line_of: dict[str, int] = {}
    values = bytearray()
    separator = None
    for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), first_line):
        where = f"{path}, line {number}"
        if len(line) == _LONGEST_LINE:
            raise InputError(f"{where}: longer than {_LONGEST_LINE} bytes; this is no file of word vectors")
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        text = _decode(where, line).rstrip(" \t\r\n")
        separator = separator or ("\t" if "\t" in text else " ")
        word, *numbers = text.split(separator)
        n_dimensions = n_dimensions or len(numbers)
        if not numbers or len(numbers) != n_dimensions:
            expected = n_dimensions or "at least one"
            raise InputError(
                f"{where}: {len(numbers)} numbers after the word instead of {expected}; get the whole file"
            )
        if not line.endswith(b"\n"):
            raise InputError(f"{where}: {CUT}")
        _add(word, number, line_of, where)
        values += _parse_numbers(where, numbers).tobytes()
    if not line_of:
        raise InputError(f"{path}: no word vectors in it; get the whole file")
    return list(line_of), np.frombuffer(values, dtype=np.float32).reshape(len(line_of), -1)


def _add(word: str, number: int, number_of: dict[str, int], where: str) -> None:
    """Note the line or row of a word, which must be new."""
    if not word:
        raise InputError(f"{where}: no word before the numbers; delete or repair the row")
    if word in number_of:
        raise InputError(
            f"{where}: the word '{word}' is there for the second time (first: {number_of[word]});"
            " delete one of the two"
        )
    number_of[word] = number


def _decode(where: str, text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 text; convert the file, or name its format") from error


def _parse_numbers(where: str, fields: list[str]) -> np.ndarray:
    """Return the numbers of a row as float32 (D,); too large ones become infinite."""
    try:
        numbers = np.array(fields, dtype=np.float64)
    except ValueError as error:
        raise InputError(f"{where}: {str(error).rpartition(': ')[2]} is not a number") from error
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32)


def _read_binary(path: Path) -> tuple[list[str], np.ndarray]:
    """Read word2vec's binary format; memory grows with what is there, not with what the header announces."""
    row_of: dict[str, int] = {}
    values = bytearray()
    with utils.open(path, "rb") as file:
        n_words, n_dimensions = _require_header(path, file.readline(_LONGEST_LINE))
        for word, vector in _binary_rows(path, file, n_words, n_dimensions):
            row = len(row_of) + 1
            where = f"{path}, row {row}"
            _add(_decode(where, word), row, row_of, where)
            values += vector
    vectors = np.frombuffer(values, dtype="<f4").reshape(n_words, n_dimensions)
    return list(row_of), vectors.astype(np.float32, copy=False)


def _binary_rows(
    path: Path, file: BinaryIO, n_words: int, n_dimensions: int
) -> Iterator[tuple[bytes, bytes]]:
    """Yield the word and the bytes of the vector of each row: a word, a space, float32 numbers."""
    n_bytes = 4 * n_dimensions
    buffer, start = b"", 0
    for row in range(1, n_words + 1):
        end = buffer.find(b" ", start)
        while end < 0 or len(buffer) < end + 1 + n_bytes:
            if max(end, len(buffer) if end < 0 else 0) - start > _LONGEST_WORD:
                raise InputError(f"{path}, row {row}: no word where one should be; the file is damaged")
            more = file.read(_CHUNK_BYTES)
            if not more:
                raise InputError(
                    f"{path}: line 1 announces {n_words} words of {n_dimensions} dimensions,"
                    f" but the file ends before, in row {row}; get the whole file"
                )
            buffer, start = buffer[start:] + more, 0
            end = buffer.find(b" ")
        yield buffer[start:end].lstrip(b"\n"), buffer[end + 1 : end + 1 + n_bytes]
        start = end + 1 + n_bytes
    if (buffer[start:] + file.read(_CHUNK_BYTES)).strip(b"\n"):
        raise InputError(f"{path}: goes on after the {n_words} words that line 1 announces; get a sound file")
