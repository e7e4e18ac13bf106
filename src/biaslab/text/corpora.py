"""Read the public corpora from their published files, each optionally compressed by gzip.

All readers return a table with ``text`` (str), ``label`` (int8, 1 = hateful or toxic) and ``row`` (int64, the
row's number in the file). If the corpus has them, further columns are ``identifier``, ``functionality``,
``target`` and ``part`` (str). `left_out` collects the texts that a reader leaves out.
"""

import os
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from biaslab.core.archives import tar_files
from biaslab.core.errors import InputError, one_line, suggest
from biaslab.core.files import DAMAGED_ZIP
from biaslab.text.labelled import EMPTY, LeftOut, checked_text, delimited, read_labelled, read_records
from biaslab.text.settings import FORMATS

MAX_ARCHIVE_BYTES = 2**26
"""Maximum unpacked size of the archive of forum sentences; the published archive has 12 MB."""

MAX_TALK_BYTES = 2**28
"""Maximum unpacked size of a file in the archive of talk comments; the published files are much smaller."""

STORMFRONT_LABELS = ("hate", "noHate", "relation", "idk/skip")
"""Labels of a sentence: hateful, not hateful, hateful only with its neighbours, undecidable."""

_ANNOTATIONS = "annotations_metadata.csv"
_TEXTS = "all_files"
_BITS = {"0": 0, "1": 1}
_HATECHECK_LABELS = {"non-hateful": 0, "hateful": 1}
_TALK_COMMENTS = "toxicity_annotated_comments.tsv"
_TALK_ANNOTATIONS = "toxicity_annotations.tsv"
_TALK_PARTS = {"train": "train", "dev": "validation", "test": "test"}
_TALK_MARKERS = ("NEWLINE_TOKEN", "TAB_TOKEN")
_VOTES = {"0": 0, "1": 1, "0.0": 0, "1.0": 1}
_JIGSAW_LABELS = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
_NOT_SCORED = "-1"

TRAIN, VALIDATION, TEST = PARTS = ("train", "validation", "test")

Fields = Mapping[str, Any]
Draw = Callable[[pd.DataFrame], Sequence[np.ndarray]]  # draws the rows of each of `PARTS` from a table


@dataclass(frozen=True)
class Source:
    """The source files of a labelled corpus."""

    format: str  # one of `READERS`
    train: Path  # all texts, or the training texts if the other two files are named
    validation: Path | None = None
    test: Path | None = None
    positive: str | None = None  # the rule of the format for positive labels

    def __post_init__(self) -> None:
        if bool(self.validation) != bool(self.test):
            present, absent = ("validation", "test") if self.validation else ("test", "validation")
            raise InputError(
                f"{self.train}: texts for {present} are named, but none for {absent}; name both, or none"
            )

    @property
    def is_released_split(self) -> bool:
        """Whether the files define the split."""
        return self.test is not None

    def read(self, file: Path | None = None, say: Callable[[str], None] = lambda _: None) -> pd.DataFrame:
        """Return the texts of a file, by default `train`; `say` receives a sentence on texts left out."""
        file, left_out = file or self.train, LeftOut()
        options = {} if self.positive is None else {"positive": self.positive}
        if options and not FORMATS[self.format][1]:
            raise InputError(f"{file}: 'positive' has no effect on the format {self.format}; remove it")
        if self.format != "table":  # in a user's own table, a bad row is an error
            options["left_out"] = left_out
        table = READERS[self.format](file, **options)
        for sentence in filter(None, [left_out.sentence(file), *left_out.changes]):
            say(sentence)
        return table

    def parts(self, draw: Draw, say: Callable[[str], None] = lambda _: None) -> dict[str, pd.DataFrame]:
        """Return the texts of each of `PARTS`, from the files if all are named, else drawn."""
        if self.is_released_split:
            files = (self.train, self.validation, self.test)
            return {part: self.read(file, say=say) for part, file in zip(PARTS, files, strict=True)}
        table = self.read(say=say)
        return {part: table.iloc[rows] for part, rows in self.drawn(table, draw).items()}

    def drawn(self, table: pd.DataFrame, draw: Draw) -> dict[str, np.ndarray]:
        """Draw the rows of each of `PARTS`; an error names the file."""
        try:
            return dict(zip(PARTS, draw(table), strict=True))
        except InputError as error:
            raise InputError(f"{self.train}: {error}") from error


def read_stormfront(
    archive: str | os.PathLike,
    positive: Literal["not-nohate", "hate"] = "not-nohate",
    left_out: LeftOut | None = None,
) -> pd.DataFrame:
    """Read the sentences of a white supremacist forum (de Gibert et al. 2018), in the order of annotations.

    The repository's archive is read as a stream into memory, and no member is written to disk. With
    "not-nohate", all sentences are used and every label except noHate is positive; this matches the counts of
    Kennedy et al. 2020. With "hate", hate is positive, noHate is negative, and the others are left out.
    """
    _check_rule(positive, ("not-nohate", "hate"))
    left_out = left_out or LeftOut()
    annotations, texts = _unpack(Path(archive))
    name = f"{archive}:{_ANNOTATIONS}"
    records = delimited(enumerate(annotations, 1), ",", name, ("file_id", "label"))
    rows = []
    for row, (line, fields) in enumerate(records):
        where, sentence, label = f"{name}:{line}", fields["file_id"], fields["label"]
        if label not in STORMFRONT_LABELS:
            raise InputError(f"{where}: the label '{label}' is not {', '.join(STORMFRONT_LABELS)}; fix it")
        if sentence not in texts:
            raise InputError(f"{where}: the archive has no {_TEXTS}/{sentence}.txt; use the complete archive")
        if positive == "hate" and label not in ("hate", "noHate"):
            left_out.add(f"labelled '{label}'", texts[sentence])
            continue
        text = checked_text(texts[sentence], f"{archive}:{sentence}.txt")
        rows.append({"text": text, "label": label != "noHate", "row": row})
    return _build_table(rows, archive)


def read_ghc(path: str | os.PathLike, left_out: LeftOut | None = None) -> pd.DataFrame:
    """Read one split of the Gab Hate Corpus (Kennedy et al. 2018), JSON lines; no post is left out.

    A post is hateful if it assaults human dignity (``hd``) or calls for violence (``cv``).
    """
    return _read(
        path,
        ("text", "hd", "cv"),
        lambda fields, where: {
            "text": checked_text(fields["text"], where),
            "label": _code(fields, "hd", _BITS, where) | _code(fields, "cv", _BITS, where),
        },
    )


def read_news(path: str | os.PathLike) -> pd.DataFrame:
    """Read news sentences with an identifier, JSON lines. No sentence is hateful: all labels are 0."""
    return _read(
        path,
        ("identifier", "text"),
        lambda fields, where: {
            "text": checked_text(fields["text"], where),
            "identifier": _word(fields, "identifier", where),
            "label": 0,
        },
    )


def read_hatecheck(path: str | os.PathLike) -> pd.DataFrame:
    """Read HateCheck (Röttger et al. 2021) from its ``test_suite_cases.csv``; a target may be empty."""
    return _read(
        path,
        ("functionality", "test_case", "label_gold", "target_ident"),
        lambda fields, where: {
            "text": checked_text(fields["test_case"], where),
            "label": _code(fields, "label_gold", _HATECHECK_LABELS, where),
            "functionality": _word(fields, "functionality", where),
            "target": fields["target_ident"],
        },
    )


def read_wikipedia_talk(source: str | os.PathLike, left_out: LeftOut | None = None) -> pd.DataFrame:
    """Read the Wikipedia Talk Labels on toxicity (Wulczyn et al. 2017), the comments of Dixon et al. 2018.

    A comment is toxic if more than half of its annotators label it so, as in the published code of Dixon et
    al. Line breaks and tabs, which the release writes as words in capitals, become spaces. Blank comments are
    left out. The source is a folder with both files, or a ``.zip`` of both, read line by line. Column
    ``part`` has the published split.
    """
    source, left_out = Path(source), left_out or LeftOut()
    votes: dict[str, list[int]] = {}
    for where, fields in _talk_records(source, _TALK_ANNOTATIONS, ("rev_id", "toxicity")):
        revision = _word(fields, "rev_id", where).removesuffix(".0")  # with a decimal point in the release
        count = votes.setdefault(revision, [0, 0])
        count[_code(fields, "toxicity", _VOTES, where)] += 1
    rows = []
    n_replaced: Counter[str] = Counter()
    records = _talk_records(source, _TALK_COMMENTS, ("rev_id", "comment", "split"))
    for row, (where, fields) in enumerate(records):
        revision = _word(fields, "rev_id", where).removesuffix(".0")
        part = _code(fields, "split", _TALK_PARTS, where)
        if revision not in votes:
            raise InputError(f"{where}: comment {revision} has no annotations; use both files of the release")
        text = fields["comment"]
        for marker in _TALK_MARKERS:
            n_replaced[marker] += text.count(marker)
            text = text.replace(marker, " ")
        if not text.strip():
            left_out.add(EMPTY, "")
        else:
            n_against, n_for = votes[revision]
            label = n_for > n_against
            rows.append({"text": checked_text(text, where), "label": label, "part": part, "row": row})
    if n_replaced.total():
        counts = " and ".join(f"{marker} ({n:,})" for marker, n in n_replaced.items() if n)
        left_out.changes.append(f"{source.name}: blanks replace {counts}.")
    return _build_table(rows, source)


def read_jigsaw(
    path: str | os.PathLike, positive: Literal["toxic", "any"] = "toxic", left_out: LeftOut | None = None
) -> pd.DataFrame:
    """Read comments of the Jigsaw toxic comment classification challenge.

    The file is ``train.csv``, optionally ``.gz``, or its folder, or ``test.csv``, whose labels may be in
    ``test_labels.csv`` next to it. With "toxic", comments labelled toxic are positive, which matches the size
    of the test set of Zhang et al. 2021. With "any", comments with any label are positive. Unscored comments
    (-1 in ``test_labels.csv``) and blank comments are left out.
    """
    _check_rule(positive, ("toxic", "any"))
    left_out, path = left_out or LeftOut(), Path(path)
    path = _either(path, "train.csv") if path.is_dir() else path
    names = ("toxic",) if positive == "toxic" else _JIGSAW_LABELS
    coded, labels = None, path.with_name("test_labels.csv")
    if path.name == "test.csv" and labels.exists():
        records = read_records(labels, ("id", *_JIGSAW_LABELS))
        coded = {row["id"]: _jigsaw_label(row, names, f"{labels}:{line}") for line, row in records}
    rows = []
    columns = ("id", "comment_text", *(_JIGSAW_LABELS if coded is None else ()))
    for row, (line, fields) in enumerate(read_records(path, columns)):
        where = f"{path}:{line}"
        if coded is not None and fields["id"] not in coded:
            raise InputError(
                f"{where}: {labels} has no labels of '{str(fields['id'])[:40]}'; use both files of one set"
            )
        label = _jigsaw_label(fields, names, where) if coded is None else coded[fields["id"]]
        if label is None:
            left_out.add("that were not scored (-1)", str(fields["comment_text"]))
        elif not str(fields["comment_text"]).strip():
            left_out.add(EMPTY, "")
        else:
            text = checked_text(fields["comment_text"], where)
            rows.append({"text": text, "label": label, "row": row})
    return _build_table(rows, path)


READERS = {
    "stormfront": read_stormfront,
    "ghc": read_ghc,
    "wikipedia": read_wikipedia_talk,
    "jigsaw": read_jigsaw,
    "table": read_labelled,
}
"""The readers of the formats of labelled corpora.

A reader takes a file and `left_out`, and `positive` if `FORMATS` names values of it."""


def _check_rule(rule: str, rules: tuple[str, str]) -> None:
    if rule not in rules:
        raise InputError(
            f"there is no label rule '{rule}'{suggest(rule, rules)}; choose {' or '.join(rules)}"
        )


def _read(
    path: str | os.PathLike, columns: tuple[str, ...], parse: Callable[[Fields, str], dict[str, Any]]
) -> pd.DataFrame:
    records = enumerate(read_records(path, columns))
    return _build_table(
        [{**parse(fields, f"{path}:{line}"), "row": row} for row, (line, fields) in records], path
    )


def _build_table(rows: Sequence[Fields], path: str | os.PathLike) -> pd.DataFrame:
    if not rows:
        raise InputError(f"{path}: the file has no texts; use the published file")
    return pd.DataFrame(rows).astype({"label": np.int8, "row": np.int64})


def _code(fields: Fields, column: str, codes: Mapping[str, Any], where: str) -> Any:
    value = str(fields[column])
    if value not in codes:
        raise InputError(
            f"{where}: {column} is '{value[:40]}', not {' or '.join(codes)}; use the published file"
        )
    return codes[value]


def _word(fields: Fields, column: str, where: str) -> str:
    value = fields[column]
    if not isinstance(value, str) or not value:
        raise InputError(f"{where}: {column} is missing; use the published file")
    return value


def _jigsaw_label(fields: Fields, names: tuple[str, ...], where: str) -> int | None:
    if all(fields[name] == _NOT_SCORED for name in _JIGSAW_LABELS):
        return None
    return max(_code(fields, name, _BITS, where) for name in names)


def _either(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder; the compressed file if only that exists."""
    plain, compressed = folder / name, folder / f"{name}.gz"
    return compressed if compressed.is_file() and not plain.is_file() else plain


def _talk_records(source: Path, name: str, columns: tuple[str, ...]) -> Iterator[tuple[str, Fields]]:
    if source.suffix == ".zip":
        where = f"{source}:{name}"
        records = delimited(_zipped_lines(source, name), "\t", where, columns)
    else:
        where = _either(source, name)
        records = read_records(where, columns)
    return ((f"{where}:{line}", fields) for line, fields in records)


def _zipped_lines(path: Path, name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file in an archive with their numbers from 1; ignore the file's folder."""
    try:
        with zipfile.ZipFile(path) as archive:
            member = next((m for m in archive.infolist() if m.filename.rpartition("/")[2] == name), None)
            if member is None:
                raise InputError(f"{path}: has no {name}; use the published archive")
            if member.file_size > MAX_TALK_BYTES:  # zipfile never unpacks more than the declared size
                raise InputError(
                    f"{path}: {name} unpacks to more than {MAX_TALK_BYTES} bytes; use the published archive"
                )
            with archive.open(member) as file:
                for number, line in enumerate(file, 1):
                    yield number, _decode(line, f"{path}:{name}:{number}")
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path") from error
    except (OSError, *DAMAGED_ZIP) as error:
        reason = one_line(error)
        raise InputError(f"{path}: not a readable .zip ({reason}); use the published archive") from error


def _unpack(path: Path) -> tuple[list[str], dict[str, str]]:
    """Return the lines of the annotations, and the texts by file name without ``.txt``."""
    members: dict[str, bytes] = {}
    for full_name, data in tar_files(path, MAX_ARCHIVE_BYTES):
        name = full_name.partition("/")[2]  # below the folder named after the commit
        if name == _ANNOTATIONS or name.startswith(f"{_TEXTS}/"):
            if name in members:
                raise InputError(f"{path}: has {name!r} twice; use the published archive")
            members[name] = data
    if _ANNOTATIONS not in members:
        raise InputError(f"{path}: has no {_ANNOTATIONS}; use the published archive")
    annotations = _decode(members.pop(_ANNOTATIONS), f"{path}:{_ANNOTATIONS}").splitlines(keepends=True)
    files = {name.removeprefix(f"{_TEXTS}/"): data for name, data in members.items()}
    return annotations, {n.removesuffix(".txt"): _decode(data, f"{path}:{n!r}") for n, data in files.items()}


def _decode(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 text; use the published archive") from error
