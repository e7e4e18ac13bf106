"""Read labelled texts from files: CSV, TSV, JSON lines or plain lines, optionally compressed by gzip."""

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

MIN_EXAMPLES = 2  # minimum number of examples of each label for training and testing a classifier

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_JSON_LINES = ".jsonl"
_PLAIN = ".txt"
_GZIP = ".gz"
_BINARY = ("0", "1")

EMPTY, UNLABELLED = "with an empty text", "without a label"  # reasons for leaving out a row of a table

UNDECIDED = ("relation", "idk/skip")
"""Labels of sentences without a decision of their own (Stormfront, de Gibert et al. 2018)."""

Record = tuple[int, dict[str, Any]]  # the first line of a row, and its fields by column


@dataclass(frozen=True)
class LeftOut:
    """Rows that a reader leaves out, each with reason and text, and changes to the other rows."""

    rows: list[tuple[str, str]] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)  # one sentence each

    def add(self, why: str, text: str) -> None:
        """Add a row."""
        self.rows.append((why, text))

    def counts(self) -> dict[str, int]:
        """Return the number of rows left out, by reason."""
        return dict(Counter(why for why, _ in self.rows))

    def sentence(self, name: str | os.PathLike) -> str:
        """Return a sentence on the rows of a file that are left out and the reasons; "" if there are none."""
        if not self.rows:
            return ""
        parts = ", ".join(f"{n:,} {why}" for why, n in self.counts().items())
        verb = "is" if len(self.rows) == 1 else "are"
        return f"{Path(name).name}: {number_of(len(self.rows), 'row')} {verb} left out: {parts}."


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
    """Read texts with one of two labels each: columns ``text``, ``label`` (int8, 1 = positive) and ``row``.

    The labels are 0 and 1, unless `positive` names the positive one. With `negative`, texts with a third
    label are left out. `group` is a column of texts that belong together, such as the sentences of a post;
    the table then has a column ``group``. If `positive` is one of a classifier's `classes`, labels 0 and 1
    are also accepted. `left_out` collects rows without a label, with an empty text, or with an undecided
    label; without it, such a row is an error.
    """
    columns = (text, label) if group is None else (text, label, group)
    rows, n_trimmed = [], 0
    for number, (line, fields) in enumerate(read_records(path, columns, needs_end=True)):
        where, is_strict = f"{path}:{line}", left_out is None
        if not is_strict and _is_empty(fields[text]):
            left_out.add(EMPTY, "")
        elif not is_strict and _is_empty(fields[label]):
            left_out.add(UNLABELLED, checked_text(fields[text], where))
        else:
            words, name = checked_text(fields[text], where), _name(fields[label], f"{where}: the label")
            n_trimmed += isinstance(fields[label], str) and fields[label] != name
            group_name = None if group is None else _name(fields[group], f"{where}: the {group}")
            rows.append((words, name, group_name, number, line))
    table = pd.DataFrame(_require_texts(rows, path), columns=["text", "label", "group", "row", "line"])
    if n_trimmed and left_out is not None:
        left_out.changes.append(
            f"{Path(path).name}: {number_of(n_trimmed, 'label')} with blanks around, which are trimmed."
        )
    if left_out is not None:
        table = _select(table, positive, negative, left_out)
    labels, lines = table["label"].tolist(), table["line"].tolist()
    if positive is not None and positive not in labels and positive in classes and {*labels} <= {*_BINARY}:
        positive = None
    table = table.assign(label=_codes(labels, positive, path, lines, classes))
    return table.drop(columns=["line"] if group else ["line", "group"]).reset_index(drop=True)


def read_texts(path: str | os.PathLike, text: str = "text", left_out: LeftOut | None = None) -> pd.DataFrame:
    """Read unlabelled texts: the lines of a ``.txt`` that are not empty, or a column of another table.

    The table has columns ``text`` and ``row`` (int64, from 0). An empty text of a table is an error unless
    `left_out` is passed, which collects empty lines and texts.
    """
    if _suffix(path) == _PLAIN:
        records = ((number, {text: line.strip()}) for number, line in _lines(Path(path)))
        left_out = left_out or LeftOut()
    else:
        records = read_records(path, (text,), needs_end=True)
    rows = []
    for number, (line, fields) in enumerate(records):
        if left_out is not None and _is_empty(fields[text]):
            left_out.add(EMPTY, "")
        else:
            rows.append((checked_text(fields[text], f"{path}:{line}"), number))
    return pd.DataFrame(_require_texts(rows, path), columns=["text", "row"])


def read_records(
    path: str | os.PathLike, columns: Sequence[str], needs_end: bool = False
) -> Iterator[Record]:
    """Yield the rows of a table of texts, each with its first line, from 1.

    With `needs_end`, a ``.csv`` or ``.tsv`` without a final line end is an error: its last field may be cut.
    """
    suffix = _suffix(path)
    lines = _lines(Path(path), needs_end and suffix in _DELIMITERS)
    if suffix == _JSON_LINES:
        return _objects(lines, path, columns)
    if suffix in _DELIMITERS:
        return delimited(lines, _DELIMITERS[suffix], path, columns)
    known = ", ".join([*_DELIMITERS, _JSON_LINES])
    raise InputError(f"{path}: unknown format of table; use a file {known}, also with {_GZIP}")


def delimited(
    lines: Iterable[tuple[int, str]], delimiter: str, name: str | os.PathLike, columns: Sequence[str]
) -> Iterator[Record]:
    """Yield the rows of numbered lines with a header, quoted as in CSV; skip blank lines."""
    # strict: an unclosed quote is an error; otherwise all rows up to the next quote would become one text
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
        raise InputError(f"{name}: the file is empty; write a header and one text per line")


def checked_text(value: Any, where: str) -> str:
    """Return a text; raise an error if the value is no valid, non-empty text."""
    if not isinstance(value, str):
        raise InputError(f"{where}: the text is {json.dumps(value)[:40]}, not a text; put it in quotes")
    if not value.strip():
        raise InputError(f"{where}: the text is empty; write one or delete the row")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:  # JSON can escape half of a surrogate pair
        raise InputError(f"{where}: the text has half a character (a lone surrogate); correct it") from error
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
            raise InputError(f"{where}: column '{name}' appears twice; rename one")


def _name(value: Any, what: str) -> str:
    if value is None or isinstance(value, dict | list):
        value = ""
    name = value.strip() if isinstance(value, str) else json.dumps(value)
    if not name:
        raise InputError(f"{what} is missing; write one or delete the row")
    return name


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _select(
    table: pd.DataFrame, positive: str | None, negative: str | None, left_out: LeftOut
) -> pd.DataFrame:
    """Return the rows of two labels; leave out rows with other labels, or with undecided labels."""
    labels = table["label"].unique().tolist()
    kept = {*labels} - {*UNDECIDED} - {*find_doubtful(labels).missing} if len(labels) > 2 else {*labels}
    if negative is not None:
        kept = {positive or _BINARY[1], negative}
    if len(kept) != 2:
        return table
    is_kept = table["label"].isin(kept)
    for label, text in table.loc[~is_kept, ["label", "text"]].itertuples(index=False):
        left_out.add(f"labelled '{label}'", text)
    return table[is_kept]


def _codes(
    labels: Sequence[str],
    positive: str | None,
    path: str | os.PathLike,
    lines: Sequence[int],
    classes: Collection[str] = (),
) -> np.ndarray:
    names = list(dict.fromkeys(labels))
    if similar := find_doubtful(names).similar:
        raise InputError(
            f"{path}: the labels {' and '.join(map(repr, similar[0]))} differ by case, blanks or a final stop"
            " alone; write each label in one way"
        )
    if len(names) > 2:
        raise InputError(
            f"{path}:{lines[labels.index(names[2])]}: '{names[2]}' is a third label, next to '{names[0]}'"
            f" and '{names[1]}'; keep two, or name them with --positive and --negative to skip the others"
        )
    if positive is None:
        for name in names:
            if name not in _BINARY:
                raise InputError(
                    f"{path}:{lines[labels.index(name)]}: the label '{name}' is neither 0 nor 1; write "
                    "these, or name the positive label"
                )
        positive = _BINARY[1]
    elif positive not in names:
        near = suggest(positive, [*names, *classes]) or f" (there are {', '.join(names)})"
        nor = f", nor is it a class of the classifier ({', '.join(classes)})" if classes else ""
        raise InputError(f"{path}: there is no label '{positive}'{nor}{near}; name the positive label")
    codes = np.array([name == positive for name in labels], np.int8)
    for code, label_name in ((1, "positive"), (0, "negative")):
        n = int((codes == code).sum())
        if n < MIN_EXAMPLES:
            raise InputError(
                f"{path}: {n} of {len(codes)} examples {'is' if n == 1 else 'are'} {label_name}; add some, "
                f"{MIN_EXAMPLES} of each label are needed"
            )
    return codes


def _require_texts(texts: list, path: str | os.PathLike) -> list:
    if not texts:
        raise InputError(f"{path}: the file has no texts; write one per line")
    return texts
