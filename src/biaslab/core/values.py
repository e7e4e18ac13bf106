"""Find doubtful values in a column of groups or labels: spelling variants, and probable missing values."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from biaslab.core.errors import InputError

EXACT_OPTION = "--exact-values"
"""The command-line option that keeps doubtful values as written."""

EXACT_HELP = (
    "Keep values as they are written: apart where case, blanks or a final stop alone differ, and values such"
    " as nan, NA, None, ? or - as groups of their own."
)

_MISSING = frozenset(
    {"", "?", "-", "--", ".", "nan", "NaN", "NAN", "-nan", "-NaN", "NA", "<NA>", "#N/A", "#NA", "N/A", "n/a"}
    | {"null", "NULL", "None"}
)  # not "none" or "na", which may be labels or abbreviations
_SHOWN = 4  # maximum number of further sets of similar values in a message


@dataclass(frozen=True)
class DoubtfulValues:
    """Doubtful values of a column."""

    similar: tuple[
        tuple[str, ...], ...
    ]  # sets of values that are equal after normalizing blanks, case and a final stop
    missing: tuple[str, ...]  # values that probably stand for a missing value

    def __bool__(self) -> bool:
        """Return whether any value is doubtful."""
        return bool(self.similar or self.missing)

    def sentences(self) -> list[str]:
        """Return a sentence on similar values, and a sentence on values that are probably missing."""
        sentences = []
        if self.similar:
            first, *rest = map(_listed, self.similar)
            others = f" (likewise {'; '.join(rest[:_SHOWN])}{'; …' * (len(rest) > _SHOWN)})" if rest else ""
            sentences.append(f"{first}{others} differ by case, blanks or a final stop alone")
        if self.missing:
            verb = "stands" if len(self.missing) == 1 else "stand"
            sentences.append(f"{_listed(self.missing)} probably {verb} for a missing value")
        return sentences


def find_doubtful(values: Iterable[str]) -> DoubtfulValues:
    """Return the doubtful values of a column.

    Parameters
    ----------
    values
        Values as written; repeated values count once. A value that probably stands for a missing value
        is in no set of similar values.

    Returns
    -------
    DoubtfulValues
        False if no value is doubtful.
    """
    distinct = sorted(set(values))
    missing = tuple(value for value in distinct if value.strip() in _MISSING)
    spellings: dict[str, list[str]] = {}
    for value in distinct:
        if value not in missing:
            folded = " ".join(value.split()).casefold().removesuffix(".").rstrip()
            spellings.setdefault(folded, []).append(value)
    return DoubtfulValues(tuple(tuple(group) for group in spellings.values() if len(group) > 1), missing)


def check_values(place: str, values: Iterable[str], unknown_option: str | None = None) -> None:
    """Raise an error for doubtful values, with the options that resolve them.

    Parameters
    ----------
    place
        The file and the column, for the message.
    values
        Values as written.
    unknown_option
        Option that declares a value as missing; None if the user must edit the file.
    """
    doubtful = find_doubtful(values)
    if not doubtful:
        return
    remedies = ["write each value in one way in the file"] if doubtful.similar else []
    if doubtful.missing and unknown_option:
        options = " ".join(f"{unknown_option} {shlex.quote(value)}" for value in doubtful.missing)
        remedies.append(f"name missing values ({options})")
    elif doubtful.missing:
        remedies.append("leave missing values empty")
    raise InputError(
        f"{place}: {'; '.join(doubtful.sentences())}; {' and '.join(remedies)}, or keep all values as they"
        f" are ({EXACT_OPTION})"
    )


def _listed(values: tuple[str, ...]) -> str:
    *rest, last = (f"'{value}'" for value in values)
    return f"{', '.join(rest)} and {last}" if rest else last
