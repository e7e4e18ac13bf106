"""Word vectors in the formats of other tools: word2vec text, word2vec binary and GloVe text."""

import codecs
import itertools
import os
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from gensim import utils
from gensim.models import KeyedVectors

from biaslab.core.errors import InputError, number_of, suggest
from biaslab.core.files import CUT, atomic_path

__all__ = ["FORMATS", "keyed_vectors", "read_embedding", "write_embedding"]

FORMATS = ("word2vec", "word2vec-binary", "glove")

# Limits of any file of word vectors: they prevent other files from filling the memory.
_LONGEST_LINE = 2**22
_LONGEST_WORD = 2**12
_MOST_DIMENSIONS = 2**17
_CHUNK_BYTES = 2**18
_SAMPLED_LINES = 1000  # rows whose fields are counted if no header announces the dimensions
_N_EXAMPLES = 3
_MOST_DIGITS = 9  # digits that distinguish any two 32-bit numbers
_FOREIGN = {
    b"\x80": (
        "the file is a pickle of gensim, which is never opened because a pickle can run code; export the"
        " vectors with gensim: KeyedVectors.load(FILE).save_word2vec_format('vectors.bin', binary=True), or"
        " for a model Word2Vec.load(FILE).wv.save_word2vec_format(...)"
    ),
    b"\xba\x16\x4f\x2f": "the file is a fastText model; give its vectors (.vec)",
    b"\x93NUMPY": "the file is an array without words; give a file of words and vectors",
    b"PK\x03\x04": "the file is an archive; unpack it and give the file of vectors",
    b"\x1f\x8b": "the file is compressed by gzip; add .gz to its name",
}
"""First bytes of files in unsupported formats, and advice for each."""


def read_embedding(
    path: str | os.PathLike, format: str | None = None, say: Callable[[str], None] = warnings.warn
) -> tuple[list[str], np.ndarray]:
    """Read word vectors; reading never executes code of the file.

    Parameters
    ----------
    path : path-like
        The file; it may be compressed (``.gz``, ``.bz2``). Blanks or tabs separate the numbers of a text
        file. Its words may contain blanks: the last numbers of a row are the vector.
    format : {"word2vec", "word2vec-binary", "glove"}, optional
        By default the content determines the format. word2vec files begin with a line of two integers; those
        that continue with control characters are binary. Detection can fail only for a file of a few bytes,
        or for a one-dimensional GloVe file whose first word is a number.
    say : callable
        Receives a line, with the count, for each type of difference from the file: repeated words (the first
        row counts), words that contain blanks, a header that announces another number of rows, a byte order
        mark, and numbers that exceed 32-bit precision. By default each line is a Python warning.

    Returns
    -------
    words : list of str
        Distinct words, in the order of the file.
    vectors : (V, D) float32
        The vectors of the words.

    Raises
    ------
    InputError
        When the file is missing, empty, truncated or malformed, contains a value that is not finite, or is a
        pickle such as gensim's ``.kv`` and ``.model``.
    """
    path = Path(path)
    try:
        if format:
            _check_format(format)
        detected = _detect(path)
        format = format or detected
        rows = _read_binary(path) if format == "word2vec-binary" else _read_text(path, format == "word2vec")
    except FileNotFoundError as error:
        raise InputError(f"{path}: the file of word vectors does not exist; check the path") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: the file is not readable ({error}); download it again") from error
    words, values = list(rows.words), np.frombuffer(rows.values, dtype="<f4")
    vectors = values.reshape(len(words), -1).astype(np.float32, copy=False)
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        row = int(finite.argmin())
        raise InputError(
            f"{path}: the vector of '{words[row]}' is not finite in 32 bits (word {row + 1} of the file);"
            " remove or repair it"
        )
    for note in rows.notes():
        say(f"{path}: {note}")
    return words, vectors


def write_embedding(path: str | os.PathLike, words: list[str], vectors: np.ndarray, format: str) -> None:
    """Write word vectors, atomically; `read_embedding` returns the same words and 32-bit numbers.

    Parameters
    ----------
    path : path-like
        The file to write.
    words : list of str
        Distinct words without spaces and line breaks.
    vectors : (V, D) float32
        The vectors of the words.
    format : {"word2vec", "word2vec-binary", "glove"}
        Format of the file.

    Raises
    ------
    InputError
        When the format is unknown or cannot represent the words, or the file cannot be written.
    """
    _check_format(format)
    try:
        keyed = keyed_vectors(words, vectors)
    except InputError as error:
        raise InputError(f"cannot write {path}: {error}") from error
    for i, word in enumerate(words):
        if not word or " " in word or "\n" in word:
            raise InputError(
                f"cannot write {path}: word {i}, {word!r}, is empty or contains a space; remove the word"
            )
    with atomic_path(path) as temporary:
        keyed.save_word2vec_format(
            str(temporary), binary=format == "word2vec-binary", write_header=format != "glove"
        )


def keyed_vectors(words: Sequence[str], vectors: np.ndarray) -> KeyedVectors:
    """Convert word vectors to gensim's class.

    Parameters
    ----------
    words : sequence of str
        Distinct words; their order is kept.
    vectors : (V, D) float32
        The vectors of the words.

    Returns
    -------
    gensim.models.KeyedVectors
        With the words in the given order.

    Raises
    ------
    InputError
        When a word is repeated, or the numbers of words and vectors differ.
    """
    if len(words) != len(vectors):
        raise InputError(
            f"expected {number_of(len(words), 'vector')}, found {len(vectors)}; give one vector for each word"
        )
    if len(set(words)) < len(words):
        raise InputError("a word is repeated; give each word once")
    keyed = KeyedVectors(vectors.shape[1])
    keyed.add_vectors(list(words), vectors)
    keyed.expandos["count"] = np.arange(len(words), 0, -1)  # gensim writes words by decreasing count
    return keyed


def _check_format(format: str) -> None:
    if format not in FORMATS:
        raise InputError(f"unknown format '{format}'{suggest(format, FORMATS)} (known: {', '.join(FORMATS)})")


def _detect(path: Path) -> str:
    """Detect the format of a file; raise InputError for unsupported formats of other tools."""
    with utils.open(path, "rb") as file:
        first = file.readline(_LONGEST_LINE)
        sample = file.read(4096)
    for start, problem in _FOREIGN.items():
        if first.startswith(start):
            raise InputError(f"{path}: {problem}")
    first = first.removeprefix(codecs.BOM_UTF8)
    if _parse_header(first) is None:
        return "glove"
    return "word2vec" if _is_text(sample) else "word2vec-binary"


def _is_text(sample: bytes) -> bool:
    """Return whether bytes are UTF-8 (possibly truncated within a character) without control characters."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return not any(character < " " and character not in "\t\r\n" for character in text)


def _parse_header(line: bytes) -> tuple[int, int] | None:
    """Return the numbers of words and dimensions of a word2vec header, None if `line` is not a header."""
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields):
        return None
    return int(fields[0]), int(fields[1])


def _require_header(path: Path, line: bytes) -> tuple[int, int]:
    """Return the numbers of a word2vec header; raise InputError unless both are positive and possible."""
    header = _parse_header(line)
    if header is None or 0 in header or header[1] > _MOST_DIMENSIONS:
        raise InputError(
            f"{path}, line 1: expected the header of a word2vec file (number of words, dimensions);"
            " correct the line or name the format"
        )
    return header


class _Rows:
    """The rows of a file during reading: distinct words with their vectors, and facts to report."""

    def __init__(self) -> None:
        self.words: dict[str, None] = {}
        self.n_rows = 0
        self.announced: int | None = None
        self.has_mark = False
        self.n_rounded = 0  # number of the first rows with more digits than 32 bits hold
        self.values = bytearray()  # of the vectors
        self._repeated: list[str] = []

    def add(self, word: str, vector: bytes) -> None:
        """Add a word, unless repeated, and the bytes of its vector."""
        self.n_rows += 1
        if word in self.words:
            self._repeated.append(word)
        else:
            self.words[word] = None
            self.values += vector

    def notes(self) -> list[str]:
        """Return a line for each difference of words and vectors from the file."""
        notes = []
        if self.has_mark:
            notes.append("the byte order mark at the beginning is ignored")
        if self.n_rounded:
            notes.append(
                f"numbers are rounded to 32 bits (about 7 digits); {self.n_rounded:,} of the first"
                f" {number_of(min(self.n_rows, _SAMPLED_LINES), 'row')} have more digits"
            )
        if self.announced is not None and self.announced not in (self.n_rows, len(self.words)):
            announced = number_of(self.announced, "word")
            notes.append(f"line 1 announces {announced} and the file has {self.n_rows:,}; all words are read")
        if self._repeated:
            rows, verb = (
                number_of(len(self._repeated), "row"),
                "repeats" if len(self._repeated) == 1 else "repeat",
            )
            notes.append(
                f"{rows} {verb} a word of an earlier row ({list_examples(self._repeated)}); the first"
                " row of a word is used"
            )
        if words := [word for word in self.words if " " in word]:
            notes.append(
                f"the word of {number_of(len(words), 'row')} contains blanks ({list_examples(words)}); the"
                " last numbers of a row are its vector"
            )
        return notes


def list_examples(words: Sequence[str]) -> str:
    """Return the first few distinct words, in quotes."""
    distinct = list(dict.fromkeys(words))
    more = ", ..." if len(distinct) > _N_EXAMPLES else ""
    return ", ".join(f"'{word}'" for word in distinct[:_N_EXAMPLES]) + more


def _read_text(path: Path, has_header: bool) -> _Rows:
    """Read rows of a word and its numbers, after a word2vec header or without a header (GloVe)."""
    with utils.open(path, "rb") as file:
        if not has_header:
            return _read_rows(path, file, first_line=1, n_dimensions=_count_dimensions(path))
        header = file.readline(_LONGEST_LINE)
        n_words, n_dimensions = _require_header(path, header.removeprefix(codecs.BOM_UTF8))
        rows = _read_rows(path, file, first_line=2, n_dimensions=n_dimensions)
    rows.announced, rows.has_mark = n_words, header.startswith(codecs.BOM_UTF8)
    return rows


def _count_dimensions(path: Path) -> int:
    """Return the most common count of numbers at the end of the first rows, at most all fields but one.

    Words may contain blanks. If most rows have such words, blanks do not separate the numbers: return 0.
    """
    counts: Counter[int] = Counter()
    n_plain: Counter[int] = Counter()
    with utils.open(path, "rb") as file:
        for line in itertools.islice(iter(lambda: file.readline(_LONGEST_LINE), b""), _SAMPLED_LINES):
            fields = line.split()
            if len(line) == _LONGEST_LINE or not fields:
                continue
            n = min(_count_numbers(fields), len(fields) - 1)
            counts[n] += 1
            n_plain[n] += n == len(fields) - 1
    if not counts:
        return 1
    n, n_rows = counts.most_common(1)[0]
    return n if 2 * n_plain[n] > n_rows else 0


def _count_numbers(fields: Sequence[bytes]) -> int:
    """Return the count of numbers at the end of a row."""
    return sum(1 for _ in itertools.takewhile(_is_number, reversed(fields)))


def _is_number(field: bytes) -> bool:
    return _parses(field) and any(digit in field for digit in b"0123456789")


def _read_rows(path: Path, file: BinaryIO, first_line: int, n_dimensions: int) -> _Rows:
    """Read rows of a word and `n_dimensions` numbers; 0 dimensions raise InputError at the first row."""
    rows = _Rows()
    for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), first_line):
        where = f"{path}, line {number}"
        if len(line) == _LONGEST_LINE:
            raise InputError(
                f"{where}: the line is longer than {_LONGEST_LINE} bytes; give a file of word vectors"
            )
        if number == 1 and line.startswith(codecs.BOM_UTF8):
            rows.has_mark, line = True, line.removeprefix(codecs.BOM_UTF8)
        word, numbers = _split_row(where, line, n_dimensions)
        if not line.endswith(b"\n"):
            raise InputError(f"{where}: {CUT}")
        vector = _parse_numbers(where, numbers)
        if rows.n_rows < _SAMPLED_LINES:
            rows.n_rounded += any(map(_is_rounded, numbers, vector.tolist()))
        rows.add(_decode(where, word), vector.tobytes())
    if not rows.n_rows:
        raise InputError(f"{path}: the file contains no word vectors; download it again")
    return rows


def _split_row(where: str, line: bytes, n_dimensions: int) -> tuple[bytes, list[bytes]]:
    """Return the word of a row, which may contain blanks or be a blank, and its numbers as text."""
    fields = line.split()
    if not fields:
        raise InputError(f"{where}: the line is empty; delete it")
    if len(fields) > n_dimensions > 0:
        word, *numbers = line.rsplit(None, n_dimensions)
        word = word.lstrip()
        if len(fields) == n_dimensions + 1 or not _is_number(word.split()[-1]):
            return word, numbers
    if len(fields) == n_dimensions and line[:1] in b" \t":
        return b" ", fields
    raise InputError(f"{where}: {_row_problem(where, line, fields, n_dimensions)}")


def _row_problem(where: str, line: bytes, fields: list[bytes], n_dimensions: int) -> str:
    """Return the problem of a row with too few or too many numbers, and advice."""
    for mark, name in ((b",", "commas"), (b";", "semicolons")):
        if line.count(mark) >= max(1, n_dimensions - 1, len(fields) - 1):
            return f"the numbers contain {name}; write numbers as 0.5, separated by blanks"
    if where.endswith("line 1") and len(fields) > 1 and all(field.isdigit() for field in fields):
        return (
            "expected a word2vec header of 2 numbers (number of words, dimensions), found"
            f" {len(fields)} numbers; correct or delete the line"
        )
    _decode(where, line)
    if not n_dimensions:
        return "expected a word and its numbers, separated by blanks; give a file of word vectors"
    n_numbers = min(_count_numbers(fields), len(fields) - 1)
    advice = "repair the row" if n_numbers > n_dimensions else "download the file again or repair the row"
    plural = "s" * (n_dimensions != 1)
    return f"expected {n_dimensions} number{plural} after the word, found {n_numbers}; {advice}"


def _decode(where: str, text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: the text is not UTF-8; convert the file or name its format") from error


def _parse_numbers(where: str, fields: list[bytes]) -> np.ndarray:
    """Return the numbers of a row, (D,) float32; too large numbers become infinite."""
    try:
        numbers = np.array(list(map(float, fields)))
    except ValueError as error:
        bad = next(field for field in fields if not _parses(field))
        raise InputError(f"{where}: '{_decode(where, bad)}' is not a number; repair the row") from error
    with np.errstate(over="ignore"):
        return numbers.astype("<f4")


def _is_rounded(field: bytes, number: float) -> bool:
    """Return whether a number with more digits than 32 bits hold changed by rounding."""
    digits = re.split(rb"[eE]", field)[0].replace(b".", b"").lstrip(b"+-0")
    return len(digits) > _MOST_DIGITS and float(field) != number


def _parses(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _read_binary(path: Path) -> _Rows:
    """Read word2vec's binary format; memory grows with the rows read, not with the number in the header."""
    rows = _Rows()
    with utils.open(path, "rb") as file:
        n_words, n_dimensions = _require_header(path, file.readline(_LONGEST_LINE))
        rows.announced = n_words
        for number, (word, vector) in enumerate(_binary_rows(path, file, n_dimensions), 1):
            where = f"{path}, row {number}"
            if not word:
                raise InputError(f"{where}: the word is missing; delete or repair the row")
            rows.add(_decode(where, word), vector)
    if not rows.n_rows:
        raise InputError(f"{path}: the file contains no word vectors; download it again")
    return rows


def _binary_rows(path: Path, file: BinaryIO, n_dimensions: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield the word and the bytes of the vector of each row: a word, a space, float32 numbers."""
    n_bytes = 4 * n_dimensions
    buffer, start = b"", 0
    for row in itertools.count(1):
        end = buffer.find(b" ", start)
        while end < 0 or len(buffer) < end + 1 + n_bytes:
            if max(end, len(buffer) if end < 0 else 0) - start > _LONGEST_WORD:
                raise InputError(
                    f"{path}, row {row}: no word found at the expected place, so the file is damaged;"
                    " download it again"
                )
            more = file.read(_CHUNK_BYTES)
            if not more:
                if not buffer[start:].strip(b"\n"):
                    return
                raise InputError(
                    f"{path}: the file ends within row {row} ({n_dimensions} dimensions according to line 1);"
                    " download the file again"
                )
            buffer, start = buffer[start:] + more, 0
            end = buffer.find(b" ")
        yield buffer[start:end].lstrip(b"\n"), buffer[end + 1 : end + 1 + n_bytes]
        start = end + 1 + n_bytes
