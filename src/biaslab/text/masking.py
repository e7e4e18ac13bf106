"""Mask slurs in published results: words that are listed only by their digests become ``k**e``."""

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from biaslab.core.errors import InputError
from biaslab.core.files import read_text

SHORT = 3  # words of at most this many letters are masked completely

_DIGEST = re.compile(r"[0-9a-f]{64}")
_HISSING = re.compile(r"(s|x|z|ch|sh|o)$")
_CONSONANT_Y = re.compile(r"[^aeiou]y$")


@dataclass(frozen=True)
class Masker:
    """Mask the words of a list, with their singulars and plurals, in any case; keep other words."""

    digests: frozenset[str]  # SHA-256 of each word in lower case, as UTF-8, in hexadecimal

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Masker":
        """Read a list of digests, one a line; empty lines and lines that begin with ``#`` are skipped."""
        lines = read_text(path, "list of digests").splitlines()
        digests = {i: line for i, line in enumerate(lines, 1) if line and not line.startswith("#")}
        for number, line in digests.items():
            if not _DIGEST.fullmatch(line):  # do not print the line: it may be a slur
                raise InputError(
                    f"{path}:{number}: not a SHA-256 digest of 64 lower-case digits; correct the line"
                )
        if not digests:
            raise InputError(f"{path}: the file has no digests; write one per line")
        return cls(frozenset(digests.values()))

    def __call__(self, word: str) -> str:
        """Return the word, or its mask: ``k**e``, or only stars for a word of up to three letters."""
        lower = word.lower()
        if not any(digest(form) in self.digests for form in {lower, *variants(lower)}):
            return word
        if len(word) <= SHORT:
            return "*" * len(word)
        return word[0] + "*" * (len(word) - 2) + word[-1]


def masker(digests: str | os.PathLike | None) -> Callable[[str], str]:
    """Return a function that masks words by a file of digests; without a file it changes no word."""
    return str if digests is None else Masker.load(digests)


def digest(word: str) -> str:
    """Return the SHA-256 digest of a word in lower case, as in the list."""
    return hashlib.sha256(word.lower().encode("utf-8", "surrogatepass")).hexdigest()


def variants(word: str) -> set[str]:
    """Return possible singulars and plurals of a lower-case English word, by the regular rules."""
    if _CONSONANT_Y.search(word):
        plurals = {word[:-1] + "ies"}
    else:
        plurals = {word + "s"} | ({word + "es"} if _HISSING.search(word) else set())
    singulars = {word[: -len(end)] + new for end, new in (("s", ""), ("ies", "y")) if word.endswith(end)}
    if word.endswith("es") and _HISSING.search(word[:-2]):
        singulars.add(word[:-2])
    return (plurals | singulars) - {"", word}
