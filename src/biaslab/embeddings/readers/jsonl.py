"""JSON lines: one object a document."""

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator

from biaslab.core.errors import InputError, number_of, suggest
from biaslab.core.files import parse_json
from biaslab.embeddings.readers.common import Document, read_lines


def read_json_lines(
    path: str | os.PathLike, say: Callable[[str], None] = warnings.warn
) -> Iterator[Document]:
    """Read a file with one JSON object a line.

    `id` (text or number) and `text` are required, `title` defaults to the id; all other keys with text, a
    number or a truth value are metadata. `say` receives what is left out: blank lines, and keys with lists,
    objects or null.
    """
    left_out: Counter[str] = Counter()
    n_blank = 0
    for number, line in read_lines(path):
        if line.strip():
            yield _document(line, f"{path}:{number}", left_out)
        else:
            n_blank += 1
    if n_blank:
        say(f"{path}: {number_of(n_blank, 'blank line')} left out")
    for key, n in sorted(left_out.items()):
        say(
            f"{path}: the key '{key}' of {number_of(n, 'document')} is left out, because it has a list, an"
            " object or null"
        )


def _document(line: str, where: str, left_out: Counter[str]) -> Document:
    try:
        record = parse_json(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({error}); write one object a line") from error
    if not isinstance(record, dict):
        raise InputError(f"{where}: not a JSON object; write one object a line with id, title and text")
    identifier = str(_take(record, "id", (str, int), where))
    text = _take(record, "text", (str,), where)
    title = _take({"title": identifier} | record, "title", (str,), where)
    others = {key: value for key, value in record.items() if key not in ("id", "title", "text")}
    metadata = {key: str(value) for key, value in others.items() if isinstance(value, str | int | float)}
    left_out.update(others.keys() - metadata.keys())
    return Document(identifier, title, text, metadata, where)


def _take(record: dict, key: str, types: tuple[type, ...], where: str) -> str | int:
    if key not in record:
        raise InputError(f"{where}: key '{key}' is missing{suggest(key, record)}")
    if not isinstance(record[key], types) or isinstance(record[key], bool):
        raise InputError(f"{where}: key '{key}' is {type(record[key]).__name__}, not {types[0].__name__}")
    return record[key]
