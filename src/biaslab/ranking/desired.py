"""The desired distribution of each list: predefined (Geyik et al. 2019, Section 3), or shares from a file.

With A the attribute, Y = 1 a qualified candidate and Ŷ = 1 a candidate in the top, the paper defines two
aims:

- *equal opportunity*: P(Ŷ = 1 | A = a, Y = 1) is the same for all a. A top of qualified candidates satisfies
  it if its shares are the shares of the values among the qualified candidates of the list.
- *demographic parity*: P(Ŷ = 1 | A = a), and so P(Ŷ = 0 | A = a), is the same for all a. The top satisfies it
  if its shares are the shares of the values in the entire population, qualified or not.
"""

import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError, suggest
from biaslab.core.files import check_whole, read_yaml
from biaslab.ranking.lists import ListFile
from biaslab.ranking.pools import UNKNOWN, Groups, Pools

UNIFORM, OBSERVED, EQUAL_OPPORTUNITY, DEMOGRAPHIC_PARITY = KINDS = (
    "uniform",
    "observed",
    "equal-opportunity",
    "demographic-parity",
)
"""Predefined distributions: equal shares of the values of the list, the shares among its candidates, the
shares among its qualified candidates, and the shares among all candidates of the file."""

SUM_TOLERANCE = 1e-6
"""The largest distance of the sum of the shares in a file from one; the shares are divided by their sum."""

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_YAML = (".yaml", ".yml")


def _shares_of_all(desired: str, source: ListFile) -> dict[str, float] | None:
    """Return the desired shares by value for all lists; None if each list has its own distribution."""
    if desired == DEMOGRAPHIC_PARITY:
        lists = source.lists
        counts = np.bincount(lists.values[lists.values != UNKNOWN], minlength=len(lists.names)).tolist()
        return {name: count / sum(counts) for name, count in zip(lists.names, counts, strict=True)}
    if desired == EQUAL_OPPORTUNITY and source.columns.qualified is None:
        raise InputError(
            f"{EQUAL_OPPORTUNITY}: the column of qualifications is missing; name it with --qualified"
        )
    if desired in KINDS:
        return None
    if Path(desired).suffix.lower() not in (*_DELIMITERS, *_YAML):
        raise InputError(
            f"unknown desired distribution '{desired}' (known: {', '.join(KINDS)}, or a .csv, .tsv or .yaml"
            f" file){suggest(desired, KINDS)}"
        )
    return read_shares(desired)


def read_shares(path: str | os.PathLike) -> dict[str, float]:
    """Read desired shares (numbers or fractions), divided by their sum (near one) and sorted by value."""
    path = Path(path)
    if path.suffix.lower() in _YAML:
        mapping = read_yaml(path)
        for value in mapping:
            if not isinstance(value, str | int):
                raise InputError(f"{path}: the value {value} is not text; write it in quotes")
            if isinstance(value, bool):
                raise InputError(f"{path}: the value {value} is yes or no in YAML; write it in quotes")
        entries = [(str(path), str(value), str(share)) for value, share in mapping.items()]
    else:
        entries = _read_table(path)
    shares: dict[str, float] = {}
    for where, value, text in entries:
        if value in shares:
            raise InputError(f"{where}: the value '{value}' is repeated; keep one line")
        try:
            shares[value] = float(Fraction(text.strip()))
        except (ValueError, ZeroDivisionError):
            shares[value] = -1.0
        if not 0 <= shares[value] <= 1:
            raise InputError(
                f"{where}: the share '{text}' of '{value}' is not a number from 0 to 1; correct it"
            )
    total = sum(shares.values())
    if abs(total - 1) > SUM_TOLERANCE:
        raise InputError(
            f"{path}: the shares sum to {total:.10g}, not to 1 (within {SUM_TOLERANCE:g}); correct them"
        )
    return {value: share / total for value, share in sorted(shares.items())}


def read_pools(source: ListFile, desired: str) -> Pools:
    """Read lists with the desired shares of their values; `desired` is one of `KINDS` or a file of shares."""
    shares, lists = _shares_of_all(desired, source), source.lists
    n_lists = len(lists.queries)
    is_known = lists.values != UNKNOWN
    list_of_row = np.repeat(np.arange(n_lists), np.diff(lists.offsets))[is_known]
    rows = np.full(len(is_known), UNKNOWN)
    if shares is None:
        pairs = list_of_row * len(lists.names) + lists.values[is_known]
        unique_pairs, rows[is_known], counts = np.unique(pairs, return_inverse=True, return_counts=True)
        list_of_group, values = np.divmod(unique_pairs, max(1, len(lists.names)))
        list_groups = np.searchsorted(list_of_group, np.arange(n_lists + 1))
        weights = np.ones(len(counts)) if desired == UNIFORM else counts.astype(np.float64)
        if desired == EQUAL_OPPORTUNITY:
            weights = np.bincount(rows[is_known], lists.qualified[is_known], minlength=len(counts))
        totals = np.bincount(list_of_group, weights, n_lists)
        empty = list_of_group[totals[list_of_group] == 0]  # no candidate is qualified
        if len(empty):
            raise InputError(
                f"{source.where(int(lists.offsets[empty[0]]))}: no candidate of the list that begins here is"
                " qualified; remove the list, or name another desired distribution"
            )
        groups = Groups(list_groups, lists.names, values, rows, counts, weights / totals[list_of_group])
        return Pools(lists.offsets, groups, lists.scores)
    names = list(shares)
    for number, name in enumerate(lists.names):
        if name not in shares:
            row = int((lists.values == number).argmax())
            raise InputError(
                f"{source.where(row)}: the value '{name}' has no desired share (values with a share:"
                f" {', '.join(names)}); add one, which may be 0{suggest(name, names)}"
            )
    places = np.array([names.index(name) for name in lists.names], dtype=np.int64)
    rows[is_known] = list_of_row * len(names) + places[lists.values[is_known]]
    groups = Groups.of_all_values(names, rows, np.tile(list(shares.values()), (n_lists, 1)))
    return Pools(lists.offsets, groups, lists.scores)


def _read_table(path: Path) -> list[tuple[str, str, str]]:
    try:
        check_whole(path)
        table = pd.read_csv(
            path,
            sep=_DELIMITERS[path.suffix.lower()],
            dtype=str,
            keep_default_na=False,
            skip_blank_lines=False,
        )
    except FileNotFoundError as error:
        raise InputError(f"{path}: the file of desired shares does not exist; check the path") from error
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: not a table of shares ({str(error).splitlines()[0]}); repair it"
        ) from error
    for column in ("value", "share"):
        if column not in table:
            raise InputError(f"{path}: the column '{column}' is missing; write the columns value and share")
    lines = table[["value", "share"]].itertuples()
    return [(f"{path}:{line + 2}", value, share) for line, value, share in lines if value or share]
