"""The public corpora, read from the files in which they are published.

All readers return the same kind of table: ``text`` (str), ``label`` (int8, 1 = hateful or toxic) and, where
the corpus has them, ``group`` (str: the post, article or template that a text is from), ``identifier``,
``functionality`` and ``target`` (str); ``row`` (int64) is the row's number in the file.
"""

import gzip
import os
import tarfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError, suggest
from biaslab.text.labelled import checked_text, delimited, read_records

MAX_ARCHIVE_BYTES = 2**26
"""The most that an archive may unpack to; the published one has 12 MB."""

STORMFRONT_LABELS = ("hate", "noHate", "relation", "idk/skip")
"""Of a sentence: hateful, not, hateful only together with its neighbours, not to be decided."""

_ANNOTATIONS = "annotations_metadata.csv"
_TEXTS = "all_files"
_BITS = {"0": 0, "1": 1}
_TRUTH = {"False": 0, "True": 1}
_HATECHECK_LABELS = {"non-hateful": 0, "hateful": 1}
_MADLIBS_LABELS = {"NOT_BAD": 0, "BAD": 1}

Fields = Mapping[str, Any]


def read_stormfront(
    archive: str | os.PathLike, positive: Literal["not-nohate", "hate"] = "not-nohate"
) -> pd.DataFrame:
    """Read the sentences of a white supremacist forum (de Gibert et al. 2018) from the repository's archive.

    Parameters
    ----------
    archive : path-like
        The ``.tar.gz``. It is read as a stream into memory, and no member is written anywhere.
    positive : {"not-nohate", "hate"}
        Which label is positive: every one but noHate, over all sentences (as Kennedy et al. 2020 count them,
        by the counts that they print); or hate alone, over the sentences that are hate or noHate.

    Returns
    -------
    pandas.DataFrame
        ``text``, ``label``, ``group`` (the post) and ``row``, in the order of the annotations.

    Raises
    ------
    InputError
        When the archive is missing, damaged, too large, has a link in it, or lacks the annotations or a text.
    """
    if positive not in ("not-nohate", "hate"):
        raise InputError(
            f"no label rule is called '{positive}'{suggest(positive, ('not-nohate', 'hate'))}; "
            "there are not-nohate, hate"
        )
    annotations, texts = _unpack(Path(archive))
    name = f"{archive}:{_ANNOTATIONS}"
    records = delimited(enumerate(annotations, 1), ",", name, ("file_id", "label"))
    rows: dict[str, list] = {column: [] for column in ("text", "label", "group", "row")}
    for row, (line, fields) in enumerate(records):
        where, sentence, label = f"{name}:{line}", fields["file_id"], fields["label"]
        if label not in STORMFRONT_LABELS:
            raise InputError(f"{where}: the label '{label}' is not {', '.join(STORMFRONT_LABELS)}; mend it")
        if sentence not in texts:
            raise InputError(f"{where}: the archive has no {_TEXTS}/{sentence}.txt; take the whole archive")
        if positive == "hate" and label not in ("hate", "noHate"):
            continue
        rows["text"].append(checked_text(texts[sentence], f"{archive}:{sentence}.txt"))
        rows["label"].append(label != "noHate")
        rows["group"].append(sentence.split("_")[0])
        rows["row"].append(row)
    return _typed(rows, archive)


def read_ghc(path: str | os.PathLike) -> pd.DataFrame:
    """Read one split of the Gab Hate Corpus (Kennedy et al. 2018): ``text``, ``label`` and ``row``.

    A post is hateful when it assaults human dignity (``hd``) or calls for violence (``cv``).

    Parameters
    ----------
    path : path-like
        JSON lines, perhaps ``.gz``, with ``text``, ``hd`` and ``cv`` (0 or 1).

    Raises
    ------
    InputError
        Naming file and line, when it is no such file.
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
    """Read news sentences with an identifier: ``text``, ``identifier``, ``label``, ``group`` and ``row``.

    None is hateful, so the label is 0 throughout and accuracy is the share that a classifier leaves alone.

    Parameters
    ----------
    path : path-like
        JSON lines, perhaps ``.gz``, with ``identifier``, ``text`` and ``article``, which becomes the group.

    Raises
    ------
    InputError
        Naming file and line, when it is no such file.
    """
    return _read(
        path,
        ("identifier", "text", "article"),
        lambda fields, where: {
            "text": checked_text(fields["text"], where),
            "identifier": _word(fields, "identifier", where),
            "label": 0,
            "group": _word(fields, "article", where),
        },
    )


def read_hatecheck(path: str | os.PathLike) -> pd.DataFrame:
    """Read HateCheck (Röttger et al. 2021): ``text``, ``label``, ``functionality``, ``target`` and ``row``.

    Parameters
    ----------
    path : path-like
        The published ``test_suite_cases.csv``. The target is empty where a case has none.

    Raises
    ------
    InputError
        Naming file and line, when it is no such file.
    """
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


def read_toxicity(path: str | os.PathLike) -> pd.DataFrame:
    """Read Wikipedia talk comments (Dixon et al. 2018), fuzzed or not: ``text``, ``label`` and ``row``.

    Parameters
    ----------
    path : path-like
        CSV, perhaps ``.gz``, with ``comment`` and ``toxic`` (True or False).

    Raises
    ------
    InputError
        Naming file and line, when it is no such file.
    """
    return _read(
        path,
        ("comment", "toxic"),
        lambda fields, where: {
            "text": checked_text(fields["comment"], where),
            "label": _code(fields, "toxic", _TRUTH, where),
        },
    )


def read_madlibs(path: str | os.PathLike) -> pd.DataFrame:
    """Read templates filled with identity terms (Dixon et al. 2018): ``text``, ``label``, ``group``, ``row``.

    Parameters
    ----------
    path : path-like
        CSV, perhaps ``.gz``, with ``Text``, ``Label`` (BAD or NOT_BAD) and ``Template``, the group.

    Raises
    ------
    InputError
        Naming file and line, when it is no such file.
    """
    return _read(
        path,
        ("Text", "Label", "Template"),
        lambda fields, where: {
            "text": checked_text(fields["Text"], where),
            "label": _code(fields, "Label", _MADLIBS_LABELS, where),
            "group": _word(fields, "Template", where),
        },
    )


def _read(
    path: str | os.PathLike, columns: tuple[str, ...], parse: Callable[[Fields, str], dict[str, Any]]
) -> pd.DataFrame:
    """Return a table of what `parse` makes of each row and its place."""
    rows = [parse(fields, f"{path}:{line}") for line, fields in read_records(path, columns)]
    table = {column: [row[column] for row in rows] for column in (rows[0] if rows else ())}
    return _typed({**table, "row": list(range(len(rows)))}, path)


def _typed(columns: dict[str, list], path: str | os.PathLike) -> pd.DataFrame:
    if not columns["row"]:
        raise InputError(f"{path}: has no texts; take the published file")
    return pd.DataFrame(columns).astype({"label": np.int8, "row": np.int64})


def _code(fields: Fields, column: str, codes: Mapping[str, int], where: str) -> int:
    value = str(fields[column])
    if value not in codes:
        raise InputError(
            f"{where}: {column} is '{value[:40]}', not {' or '.join(codes)}; take the published file"
        )
    return codes[value]


def _word(fields: Fields, column: str, where: str) -> str:
    value = fields[column]
    if not isinstance(value, str) or not value:
        raise InputError(f"{where}: {column} is missing; take the published file")
    return value


class _Bounded:
    """A stream that ends with an error when more than so many bytes come out of it."""

    def __init__(self, file: BinaryIO, path: Path):
        self._file, self._path, self._left = file, path, MAX_ARCHIVE_BYTES

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise InputError(
                f"{self._path}: unpacks to more than {MAX_ARCHIVE_BYTES} bytes; take the published archive"
            )
        return data


def _unpack(path: Path) -> tuple[list[str], dict[str, str]]:
    """Return the lines of the annotations, and the texts by the name of their file without ``.txt``."""
    members: dict[str, bytes] = {}
    try:
        with gzip.open(path) as file, tarfile.open(fileobj=_Bounded(file, path), mode="r|") as archive:
            for member in archive:
                if not (member.isfile() or member.isdir()):
                    raise InputError(f"{path}: has a link or a device in it; take the published archive")
                name = member.name.partition("/")[2]  # below the folder that is named after the commit
                if member.isfile() and (name == _ANNOTATIONS or name.startswith(f"{_TEXTS}/")):
                    if name in members:
                        raise InputError(f"{path}: has {name!r} twice; take the published archive")
                    members[name] = archive.extractfile(member).read()
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path") from error
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise InputError(f"{path}: not a readable .tar.gz ({reason}); take the published archive") from error
    if _ANNOTATIONS not in members:
        raise InputError(f"{path}: has no {_ANNOTATIONS}; take the published archive")
    annotations = _decoded(members.pop(_ANNOTATIONS), f"{path}:{_ANNOTATIONS}").splitlines(keepends=True)
    return annotations, _texts(members, path)


def _texts(members: Mapping[str, bytes], path: Path) -> dict[str, str]:
    files: Iterable[tuple[str, bytes]] = (
        (name.removeprefix(f"{_TEXTS}/"), data) for name, data in members.items()
    )
    return {name.removesuffix(".txt"): _decoded(data, f"{path}:{name!r}") for name, data in files}


def _decoded(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 text; take the published archive") from error
