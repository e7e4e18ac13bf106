"""Slurs masked in what is published: words known only by their digests are written as ``k**e``."""

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from biaslab.core.errors import InputError
from biaslab.core.files import read_text

SHORT = 3
"""Of a word with so many letters, or fewer, none is kept."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_HISSING = re.compile(r"(s|x|z|ch|sh|o)$")
_CONSONANT_Y = re.compile(r"[^aeiou]y$")


@dataclass(frozen=True)
class Masker:
    """Masks the words of a list, their singulars and plurals, whatever their case; leaves others alone."""

    digests: frozenset[str]  # SHA-256 of each word in lower case, as UTF-8, in hexadecimal

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Masker":
        """Read a list of digests, one a line; empty lines and lines that begin with ``#`` are skipped."""
        lines = read_text(path, "list of digests").splitlines()
        digests = {i: line for i, line in enumerate(lines, 1) if line and not line.startswith("#")}
        for number, line in digests.items():
            if not _DIGEST.fullmatch(line):  # the line itself may be a word that must not be shown
                raise InputError(
                    f"{path}:{number}: not a SHA-256 digest of 64 lower-case digits; fix the line"
                )
        if not digests:
            raise InputError(f"{path}: has no digests; write one a line")
        return cls(frozenset(digests.values()))

    def __call__(self, word: str) -> str:
        """Return the word, or what stands for it: ``k**e``, or stars alone for one of up to three letters."""
        lower = word.lower()
        if not any(digest(form) in self.digests for form in {lower, *variants(lower)}):
            return word
        if len(word) <= SHORT:
            return "*" * len(word)
        return word[0] + "*" * (len(word) - 2) + word[-1]


def masker(digests: str | os.PathLike | None) -> Callable[[str], str]:
    """Return what masks a word by a file of digests; without one all stay as they are."""
    return str if digests is None else Masker.load(digests)


def digest(word: str) -> str:
    """Return the SHA-256 digest of a word, as the list has it."""
    return hashlib.sha256(word.lower().encode("utf-8", "surrogatepass")).hexdigest()


def variants(word: str) -> set[str]:
    """Return what the singular and the plural of an English word in lower case may be, by the plain rules."""
    if _CONSONANT_Y.search(word):
        plurals = {word[:-1] + "ies"}
    else:
        plurals = {word + "s"} | ({word + "es"} if _HISSING.search(word) else set())
    singulars = {word[: -len(end)] + new for end, new in (("s", ""), ("ies", "y")) if word.endswith(end)}
    if word.endswith("es") and _HISSING.search(word[:-2]):
        singulars.add(word[:-2])
    return (plurals | singulars) - {"", word}
