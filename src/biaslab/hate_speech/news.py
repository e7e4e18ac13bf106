"""Draw news sentences with a group identifier from the articles of Baly et al. 2020.

They replace the unpublished New York Times sentences on which Kennedy et al. 2020 measured their classifiers.
Articles are split into lines, and lines into sentences of 10 to 100 words. For each identifier, up to 500
sentences with this word are drawn without replacement.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from biaslab.core.archives import tar_files
from biaslab.core.errors import InputError, one_line

MAX_UNPACKED_BYTES = 2**30  # maximum unpacked size of the archive; the published archive has 0.5 GB
IDENTIFIERS = (
    *("muslim", "jew", "jews", "white", "islam", "blacks", "muslims", "women", "whites", "gay", "black"),
    *("democrat", "islamic", "allah", "jewish", "lesbian", "transgender", "race", "brown", "woman"),
    *("mexican", "religion", "homosexual", "homosexuality", "africans"),
)
"""The terms of Kennedy et al. 2020, Table 3, in its order."""

_FOLDER = "data/jsons/"
_FIELDS = ("ID", "source", "date", "url", "content_original")
_SENTENCE_END = re.compile(r"""(?<=[.!?])["”’)]*\s+(?=["“‘(]?[A-Z])""")
_MIN_WORDS, _MAX_WORDS = 10, 100
_MAX_SENTENCES = 500
_SEED = 1
_DAY = re.compile(r"20[0-2]\d-\d\d-\d\d")
_AMERICAN_DAY = re.compile(r"(\d{1,2})/(\d{1,2})/(\d\d)")
_DAY_IN_ADDRESS = re.compile(r"/(20[0-2]\d)/(\d\d)/(\d\d)/")

Candidates = dict[str, dict[str, Mapping[str, str]]]
"""For each identifier, the sentences that contain it, each with its first article."""


def draw_sentences(files: Sequence[Path], target: Path) -> None:
    """Draw up to 500 sentences for each identifier; write JSON lines, ordered by identifier and text."""
    (archive,) = files
    candidates = find_sentences(_articles(archive))
    draws = random.Random(_SEED)
    with target.open("w", encoding="utf-8", newline="\n") as lines:
        for identifier, sentences in candidates.items():
            texts = sorted(sentences)
            draws.shuffle(texts)
            for text in sorted(texts[:_MAX_SENTENCES]):
                row = {"identifier": identifier, "text": text, **sentences[text]}
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")


def find_sentences(articles: Iterator[Mapping[str, str]]) -> Candidates:
    """Return the sentences of 10 to 100 words for each identifier."""
    candidates: Candidates = {identifier: {} for identifier in IDENTIFIERS}
    for article in articles:
        about = {"article": article["ID"], "source": article["source"], "date": _date(article)}
        for line in article["content_original"].split("\n"):
            for text in map(str.strip, _SENTENCE_END.split(line)):
                if _MIN_WORDS <= len(text.split()) <= _MAX_WORDS:
                    for identifier in candidates.keys() & re.findall(r"\w+", text.lower()):
                        candidates[identifier].setdefault(text, about)
    return candidates


def _articles(archive: Path) -> Iterator[Mapping[str, str]]:
    for name, data in tar_files(archive, MAX_UNPACKED_BYTES):
        if not name.partition("/")[2].startswith(_FOLDER):
            continue
        where = f"{archive}: {name}"
        try:
            article = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: not JSON ({one_line(error)}); take the published archive") from error
        if not isinstance(article, dict) or not all(isinstance(article.get(field), str) for field in _FIELDS):
            raise InputError(f"{where}: no article ({', '.join(_FIELDS)}); take the published archive")
        yield article


def _date(article: Mapping[str, str]) -> str | None:
    """Return the date of an article, if necessary from its address, as YYYY-MM-DD."""
    date = article["date"]
    if _DAY.fullmatch(date):
        return date
    if match := _AMERICAN_DAY.fullmatch(date):
        month, day, year = map(int, match.groups())
        return f"20{year:02}-{month:02}-{day:02}"
    match = _DAY_IN_ADDRESS.search(article["url"])
    return "-".join(match.groups()) if match else None
