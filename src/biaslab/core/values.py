"""Values of a column of groups or labels that are doubtful: spelled in two ways, or probably missing."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from biaslab.core.errors import InputError

EXACT_OPTION = "--exact-values"
"""The option of a command that keeps doubtful values as they are written."""

EXACT_HELP = (
    "Keep values as they are written: apart where case, blanks or a final stop alone differ, and values such"
    " as nan, NA, None, ? or - as groups of their own."
)

_MISSING = frozenset(
    {"", "?", "-", "--", ".", "nan", "NaN", "NAN", "-nan", "-NaN", "NA", "<NA>", "#N/A", "#NA", "N/A", "n/a"}
    | {"null", "NULL", "None"}
)  # not "none" or "na", which are labels and abbreviations elsewhere
_SHOWN = 4  # further sets of similar values in a message


@dataclass(frozen=True)
class DoubtfulValues:
    """Doubtful values of a column."""

    similar: tuple[tuple[str, ...], ...]  # each: values equal after trimming, case folding and a final stop
    missing: tuple[str, ...]  # values that probably stand for a missing one

    def __bool__(self) -> bool:
        """Tell whether any value is doubtful."""
        return bool(self.similar or self.missing)

    def sentences(self) -> list[str]:
        """Return a sentence on the similar values, and one on those that are probably missing."""
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
    """Return the doubtful ones of the distinct values of a column.

    Parameters
    ----------
    values
        Values as they are written; repeated ones count once. A value that probably stands for a missing one
        is in no set of similar values.

    Returns
    -------
    DoubtfulValues
        False where no value is doubtful.
    """
    distinct = sorted(set(values))
    missing = tuple(value for value in distinct if value.strip() in _MISSING)
    spellings: dict[str, list[str]] = {}
    for value in distinct:
        if value not in missing:
            folded = " ".join(value.split()).casefold().removesuffix(".").rstrip()
            spellings.setdefault(folded, []).append(value)
    return DoubtfulValues(tuple(tuple(of) for of in spellings.values() if len(of) > 1), missing)


def check_values(place: str, values: Iterable[str], unknown_option: str | None = None) -> None:
    """Raise for doubtful values, with the options that settle them.

    Parameters
    ----------
    place
        The file and the column, as a message names them.
    values
        Values as they are written.
    unknown_option
        Option that names a value as missing; None where the file must be edited.
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
