"""Whether a printed number stands in a paper's text near the item that is said to print it."""

import functools
import re
from collections.abc import Iterator
from decimal import Decimal

CAPTION, MENTION = 4000, 1000
"""Characters each way of a caption (a table may be that long) and of another mention."""
SHORT = 20_000
"""A text of fewer characters, such as slides, may be searched as a whole where an item has no name in it."""

_NAMED = re.compile(
    r"(Table|Figure|Section|Appendix|Example|Observation)s?\s+"
    r"([A-Z0-9.]+)(?: \([\w ]+\))?(?:\s+and\s+([A-Z0-9.]+))?"
)
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?|\.\d+")
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def printed_numbers(published: str) -> list[str]:
    """Return the numbers that a published text prints; what stands in round brackets is a remark of ours."""
    return _NUMBER.findall(_outside_brackets(published))


def is_number(published: str) -> bool:
    """Return whether a published text is a number with a unit of one word at most, not a title."""
    words = re.findall(r"[^\W\d_]{2,}", _outside_brackets(published))
    return len(words) <= 1 and bool(printed_numbers(published))


def is_near(number: str, item: str, text: str) -> bool:
    """Return whether a number stands in a text near an item."""
    wanted = number_of(number)
    return any(wanted in values or _is_spelt(wanted, window) for window, values in _searched(item, text))


def misses(number: str, item: str, text: str) -> list[str]:
    """Return those of the numbers with one digit changed that stand in the text near the item as well."""
    return [other for other in one_digit_off(number) if is_near(other, item, text)]


def one_digit_off(number: str) -> list[str]:
    """Return a number with one of its digits changed, once for each digit."""
    places = [n for n, c in enumerate(number) if c.isdigit()]
    return [number[:n] + str((int(number[n]) + 4) % 9 + 1) + number[n + 1 :] for n in places]


def _outside_brackets(published: str) -> str:
    return re.sub(r"\([^)]*\)", " ", published)


@functools.cache
def _searched(item: str, text: str) -> list[tuple[str, set[Decimal]]]:
    """Return the parts of a text around what an item names, each with the numbers that stand there.

    They are the entire text where it is short and names none of the item.
    """
    windows = list(_windows(item, text)) or [text] * (len(text) < SHORT)
    return [(window, set(map(number_of, _NUMBER.findall(window)))) for window in windows]


def _windows(item: str, text: str) -> Iterator[str]:
    if "Abstract" in item:
        yield text[: _start(r"^1\.?\s+Introduction", text, default=5000)]
    for kind, *names in _NAMED.findall(item):
        for name in filter(None, (name.strip(".") for name in names)):
            if kind in ("Section", "Appendix"):
                yield from _sections(name, text)
            else:
                yield from _mentions(kind, name, text)


def _sections(name: str, text: str) -> Iterator[str]:
    """Yield the sections of a number or letter, each up to the heading that follows it or one above it."""
    following = "|".join(re.escape(heading) for heading in _following(name))
    for start in re.finditer(rf"^(?:Appendix )?{re.escape(name)}[.:]?\s+[A-Z]", text, flags=re.M):
        rest = text[start.end() :]
        yield rest[: _start(rf"^(?:Appendix )?(?:{following})[.:]?\s+[A-Z]\w+", rest, default=len(rest))]


def _following(name: str) -> list[str]:
    """Return the names of the sections that may follow one: after 5.2 come 6 and 5.3."""
    parts = name.split(".")
    after = [chr(ord(part) + 1) if part.isalpha() else str(int(part) + 1) for part in parts]
    return [".".join([*parts[:depth], after[depth]]) for depth in range(len(parts))]


def _mentions(kind: str, name: str, text: str) -> Iterator[str]:
    short = {"Figure": "(?:Figure|Fig\\.)"}.get(kind, kind)
    for found in re.finditer(rf"(^)?\b{short}\s*{re.escape(name)}(?![\w])", text, flags=re.M | re.I):
        width = CAPTION if found[1] is not None else MENTION
        yield text[max(found.start() - width, 0) : found.end() + width]


def _start(pattern: str, text: str, default: int) -> int:
    found = re.search(pattern, text, flags=re.M)
    return found.start() if found else default


def _is_spelt(wanted: Decimal, window: str) -> bool:
    """Return whether a number stands there as a word, or as part of a formula."""
    if wanted in range(len(_WORDS)) and re.search(rf"\b{_WORDS[int(wanted)]}\b", window, flags=re.I):
        return True
    # Formulas are written three times over where the text was taken from a page: 25 becomes 252525.
    return re.search(rf"(?<![\d.])(?:{re.escape(str(wanted))}){{3}}(?!\d)", window) is not None


def number_of(number: str) -> Decimal:
    return Decimal(number.replace(",", ""))
