"""Find doubtful values in a column of groups or labels: spelling variants, and probable missing values."""

import shlex
from collections.abc import Iterable
from typing import NamedTuple

from biaslab.core.errors import InputError

EXACT_OPTION = "--exact-values"  # the command-line option that keeps doubtful values as written

EXACT_HELP = (
    "Keep values as they are written: apart where case, blanks or a final stop alone differ, and values such"
    " as nan, NA, None, ? or - as groups of their own."
)

_MISSING = frozenset(
    {"", "?", "-", "--", ".", "nan", "NaN", "NAN", "-nan", "-NaN", "NA", "<NA>", "#N/A", "#NA", "N/A", "n/a"}
    | {"null", "NULL", "None"}
)  # not "none" or "na", which may be labels or abbreviations
_SHOWN = 4  # maximum number of further sets of similar values in a message


class DoubtfulValues(NamedTuple):
    """Doubtful values of a column."""

    similar: tuple[tuple[str, ...], ...]  # sets of values that differ by blanks, case or a final stop
    missing: tuple[str, ...]  # values that probably stand for a missing value


def find_doubtful(values: Iterable[str]) -> DoubtfulValues:
    """Return the doubtful values of a column; probably missing values are in no set of similar values."""
    distinct = sorted(set(values))
    missing = tuple(value for value in distinct if value.strip() in _MISSING)
    spellings: dict[str, list[str]] = {}
    for value in distinct:
        if value not in missing:
            folded = " ".join(value.split()).casefold().removesuffix(".").rstrip()
            spellings.setdefault(folded, []).append(value)
    return DoubtfulValues(tuple(tuple(group) for group in spellings.values() if len(group) > 1), missing)


def check_values(place: str, values: Iterable[str], unknown_option: str | None = None) -> None:
    """Refuse doubtful values of the column at `place`; `unknown_option` declares a value as missing."""
    similar, missing = find_doubtful(values)
    problems, remedies = [], []
    if similar:
        first, *rest = map(_listed, similar)
        others = f" (likewise {'; '.join(rest[:_SHOWN])}{'; …' * (len(rest) > _SHOWN)})" if rest else ""
        problems.append(f"{first}{others} differ by case, blanks or a final stop alone")
        remedies.append("write each value in one way in the file")
    if missing:
        verb = "stands" if len(missing) == 1 else "stand"
        problems.append(f"{_listed(missing)} probably {verb} for a missing value")
        remedies.append("leave missing values empty")
        if unknown_option:
            options = " ".join(f"{unknown_option} {shlex.quote(value)}" for value in missing)
            remedies[-1] = f"name missing values ({options})"
    if problems:
        raise InputError(
            f"{place}: {'; '.join(problems)}; {' and '.join(remedies)}, or keep all values as they are"
            f" ({EXACT_OPTION})"
        )


def _listed(values: tuple[str, ...]) -> str:
    *rest, last = (f"'{value}'" for value in values)
    return f"{', '.join(rest)} and {last}" if rest else last
