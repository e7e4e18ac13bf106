"""Labelled texts in files: CSV, TSV, JSON lines or plain lines, each perhaps compressed by gzip."""

import csv
import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError, number_of, one_line, suggest
from biaslab.core.files import CUT, parse_json_object, separator_hint
from biaslab.core.values import find_doubtful

MAX_LINE_BYTES = 2**24
"""The longest line that is read."""

MIN_EXAMPLES = 2
"""The fewest examples of a label with which a classifier can be trained and tested."""

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_JSON_LINES = ".jsonl"
_PLAIN = ".txt"
_GZIP = ".gz"
_BINARY = ("0", "1")

EMPTY, UNLABELLED = "with an empty text", "without a label"
"""Why a row of a table is left out."""

UNDECIDED = ("relation", "idk/skip")
"""Labels of sentences that decide nothing by themselves (Stormfront, de Gibert et al. 2018)."""

Record = tuple[int, dict[str, Any]]
"""The line on which a row begins, and its fields by column."""


@dataclass(frozen=True)
class LeftOut:
    """Rows that a reader leaves out: why, and the text of each; and what it changes of the others."""

    rows: list[tuple[str, str]] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)  # a sentence each

    def add(self, why: str, text: str) -> None:
        """Add a row."""
        self.rows.append((why, text))

    def counts(self) -> dict[str, int]:
        """Return how many rows are left out, by the reason."""
        return dict(Counter(why for why, _ in self.rows))

    def sentence(self, name: str | os.PathLike) -> str:
        """Return how many rows of a file are left out and why; empty where all are used."""
        if not self.rows:
            return ""
        parts = ", ".join(f"{n:,} {why}" for why, n in self.counts().items())
        verb = "is" if len(self.rows) == 1 else "are"
        return f"{Path(name).name}: {number_of(len(self.rows), 'row')} {verb} left out: {parts}."


@dataclass(frozen=True)
class _Row:
    number: int  # in the file, from 0
    line: int
    text: str
    label: str
    group: str | None


def read_labelled(
    path: str | os.PathLike,
    text: str = "text",
    label: str = "label",
    group: str | None = None,
    positive: str | None = None,
    negative: str | None = None,
    classes: Collection[str] = (),
    left_out: LeftOut | None = None,
) -> pd.DataFrame:
    """Read a table of texts with one of two labels each: ``.csv``, ``.tsv`` or ``.jsonl``, perhaps ``.gz``.

    Parameters
    ----------
    path
        The file.
    text, label, group
        Columns of the file; `group` says which texts belong together, such as the post of a sentence.
    positive
        The positive label; without it labels are 0 and 1.
    negative
        The negative label; texts with a third label are then left out.
    classes
        What a classifier calls its classes. Labels 0 and 1 stay as they are where `positive` is a class.
    left_out
        Collects the rows that are left out: without a label, with an empty text, or with a label that decides
        nothing. Without it such a row is an error.

    Returns
    -------
    pandas.DataFrame
        Columns ``text``, ``label`` (int8, 1 = positive), ``group`` (str, where `group` is given) and ``row``
        (int64, the row of the file from 0), in the order of the file.
    """
    columns = (text, label) if group is None else (text, label, group)
    rows: list[_Row] = []
    n_trimmed = 0
    for number, (line, fields) in enumerate(read_records(path, columns, needs_end=True)):
        where, kept = f"{path}:{line}", left_out is None
        if not kept and _is_empty(fields[text]):
            left_out.add(EMPTY, "")
        elif not kept and _is_empty(fields[label]):
            left_out.add(UNLABELLED, checked_text(fields[text], where))
        else:
            words, name = checked_text(fields[text], where), _name(fields[label], f"{where}: the label")
            n_trimmed += isinstance(fields[label], str) and fields[label] != name
            together = None if group is None else _name(fields[group], f"{where}: the {group}")
            rows.append(_Row(number, line, words, name, together))
    _some([row.text for row in rows], path)
    if n_trimmed and left_out is not None:
        left_out.changes.append(
            f"{Path(path).name}: {number_of(n_trimmed, 'label')} with blanks around, which are trimmed."
        )
    if left_out is not None:
        rows = _decided(rows, positive, negative, left_out)
    labels, lines = [row.label for row in rows], [row.line for row in rows]
    if positive is not None and positive not in labels and positive in classes and {*labels} <= {*_BINARY}:
        positive = None
    columns = {"text": [row.text for row in rows], "label": _codes(labels, positive, path, lines, classes)}
    if group is not None:
        columns["group"] = [row.group for row in rows]
    return _numbered(columns, [row.number for row in rows])


def read_texts(path: str | os.PathLike, text: str = "text", left_out: LeftOut | None = None) -> pd.DataFrame:
    """Read texts whose labels are not known: ``text`` and ``row`` (int64, from 0), in the order of the file.

    A ``.txt`` has one text a line, where empty lines are left out; other tables have a column `text`, of
    which an empty one is an error. `left_out` collects either.
    """
    if _suffix(path) == _PLAIN:
        lines = [line.strip() for _, line in _lines(Path(path))]
        texts = [line for line in lines if line]
        for _ in range(len(lines) - len(texts) if left_out is not None else 0):
            left_out.add(EMPTY, "")
        return _numbered({"text": _some(texts, path)}, range(len(texts)))
    texts, numbers = [], []
    for number, (line, fields) in enumerate(read_records(path, (text,), needs_end=True)):
        if left_out is not None and _is_empty(fields[text]):
            left_out.add(EMPTY, "")
        else:
            texts.append(checked_text(fields[text], f"{path}:{line}"))
            numbers.append(number)
    return _numbered({"text": _some(texts, path)}, numbers)


def read_records(
    path: str | os.PathLike, columns: Sequence[str], needs_end: bool = False
) -> Iterator[Record]:
    """Yield the rows of a table of texts, each with the line on which it begins, from 1.

    `needs_end` refuses a ``.csv`` or ``.tsv`` whose last line has no end, so that its last field may be cut.
    """
    suffix = _suffix(path)
    lines = _lines(Path(path), needs_end and suffix in _DELIMITERS)
    if suffix == _JSON_LINES:
        return _objects(lines, path, columns)
    if suffix in _DELIMITERS:
        return delimited(lines, _DELIMITERS[suffix], path, columns)
    known = ", ".join([*_DELIMITERS, _JSON_LINES])
    raise InputError(f"{path}: unknown kind of table; use a file {known}, or one of these with {_GZIP}")


def delimited(
    lines: Iterable[tuple[int, str]], delimiter: str, name: str | os.PathLike, columns: Sequence[str]
) -> Iterator[Record]:
    """Yield the rows of numbered lines with a header, quoted as in CSV; blank lines are skipped."""
    # strict: a quote that is not closed is refused, where the rows up to the next one would become one text
    reader = csv.reader((line for _, line in lines), delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        begin = reader.line_num + 1
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise InputError(
                f"{name}:{begin}: not a row of fields ({error}); quote a field with quotes, doubling them"
            ) from error
        if fields is None:
            break
        if not fields:
            continue
        if not header:
            header = [field.strip() for field in fields]
            _check_header(header, columns, name, delimiter)
        elif len(fields) != len(header):
            raise InputError(
                f"{name}:{begin}: {len(fields)} fields for {len(header)} columns; quote fields that have a "
                "delimiter in them"
            )
        else:
            yield begin, dict(zip(header, fields, strict=True))
    if not header:
        raise InputError(f"{name}: is empty; write a header and one text a line")


def checked_text(value: Any, where: str) -> str:
    """Return a text after making sure that it is one."""
    if not isinstance(value, str):
        raise InputError(f"{where}: the text is {json.dumps(value)[:40]}, not a text; put it in quotes")
    if not value.strip():
        raise InputError(f"{where}: the text is empty; write one or delete the row")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:  # JSON may escape one half of a pair of surrogates
        raise InputError(f"{where}: the text has half a character (a lone surrogate); fix it") from error
    return value


def _suffix(path: str | os.PathLike) -> str:
    path = Path(path)
    return (path.with_suffix("") if path.suffix == _GZIP else path).suffix


def _lines(path: Path, needs_end: bool = False) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with (gzip.open if path.suffix == _GZIP else open)(path, "rb") as file:
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    raise InputError(
                        f"{path}:{number}: the line is longer than {MAX_LINE_BYTES} bytes; break it"
                    )
                if needs_end and not line.endswith((b"\n", b"\r")):
                    raise InputError(f"{path}:{number}: {CUT}")
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}:{number}: not UTF-8 text; save the file as UTF-8") from error
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path") from error
    except (OSError, EOFError, zlib.error) as error:
        reason = one_line(error)
        raise InputError(f"{path}: cannot be read ({reason}); check the file") from error


def _objects(
    lines: Iterable[tuple[int, str]], path: str | os.PathLike, columns: Sequence[str]
) -> Iterator[Record]:
    for number, line in lines:
        if not line.strip():
            continue
        where = f"{path}:{number}"
        record = parse_json_object(line, where)
        _check_header(record, columns, where)
        yield number, record


def _check_header(
    header: Iterable[str], columns: Sequence[str], where: str | os.PathLike, delimiter: str = ""
) -> None:
    names = list(header)
    for name in columns:
        if name not in names:
            hint = separator_hint(names, delimiter) if delimiter else ""
            near = hint or suggest(name, names) or f" (it has {', '.join(names) or 'none'})"
            raise InputError(f"{where}: column '{name}' is missing{near}")
        if names.count(name) > 1:
            raise InputError(f"{where}: column '{name}' is there twice; rename one")


def _name(value: Any, what: str) -> str:
    """Return a label or a group as text."""
    if value is None or isinstance(value, dict | list):
        value = ""
    name = value.strip() if isinstance(value, str) else json.dumps(value)
    if not name:
        raise InputError(f"{what} is missing; write one or delete the row")
    return name


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _decided(rows: list[_Row], positive: str | None, negative: str | None, left_out: LeftOut) -> list[_Row]:
    """Return the rows of two labels; the others are left out where they are named or decide nothing."""
    seen = dict.fromkeys(row.label for row in rows)
    if negative is not None:
        kept = {positive or _BINARY[1], negative}
    elif len(seen) > 2:
        kept = {*seen} - {*UNDECIDED} - {*find_doubtful(seen).missing}
    else:
        return rows
    if len(kept) == 2:
        for row in rows:
            if row.label not in kept:
                left_out.add(f"labelled '{row.label}'", row.text)
        rows = [row for row in rows if row.label in kept]
    return rows


def _codes(
    labels: Sequence[str],
    positive: str | None,
    path: str | os.PathLike,
    lines: Sequence[int],
    classes: Collection[str] = (),
) -> np.ndarray:
    """Return labels as (n,) int8, 1 for the positive one."""
    seen = list(dict.fromkeys(labels))
    if similar := find_doubtful(seen).similar:
        raise InputError(
            f"{path}: the labels {' and '.join(map(repr, similar[0]))} differ by case, blanks or a final stop"
            " alone; write each label in one way"
        )
    if len(seen) > 2:
        raise InputError(
            f"{path}:{lines[labels.index(seen[2])]}: '{seen[2]}' is a third label beside '{seen[0]}' and "
            f"'{seen[1]}'; keep two, or name them with --positive and --negative to leave out the others"
        )
    if positive is None:
        for name in seen:
            if name not in _BINARY:
                raise InputError(
                    f"{path}:{lines[labels.index(name)]}: the label '{name}' is neither 0 nor 1; write "
                    "these, or name the positive label"
                )
        positive = _BINARY[1]
    elif positive not in seen:
        near = suggest(positive, [*seen, *classes]) or f" (there are {', '.join(seen)})"
        nor = f", nor is it a class of the classifier ({', '.join(classes)})" if classes else ""
        raise InputError(f"{path}: no label is '{positive}'{nor}{near}; name the positive label")
    codes = np.array([name == positive for name in labels], np.int8)
    for code, what in ((1, "positive"), (0, "negative")):
        n = int((codes == code).sum())
        if n < MIN_EXAMPLES:
            raise InputError(
                f"{path}: {n} of {len(codes)} examples {'is' if n == 1 else 'are'} {what}; add some, "
                f"{MIN_EXAMPLES} of each label are needed"
            )
    return codes


def _some(texts: list[str], path: str | os.PathLike) -> list[str]:
    if not texts:
        raise InputError(f"{path}: has no texts; write one a line")
    return texts


def _numbered(columns: dict[str, Any], rows: Sequence[int]) -> pd.DataFrame:
    return pd.DataFrame({**columns, "row": np.asarray(rows, np.int64)})
