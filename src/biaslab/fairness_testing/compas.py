"""Build the table of COMPAS scores (ProPublica 2016), reduced to the columns for tests of fairness.

The rows are those of ProPublica's analysis: screening within 30 days of the arrest, known outcome, not only
an ordinary traffic offence, and a score. Names, dates of birth and case numbers are left out.
"""

import csv
from collections.abc import Sequence
from pathlib import Path

from biaslab.core.errors import InputError

COLUMNS = (
    *("sex", "age", "race", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"),
    *("c_charge_degree", "decile_score", "two_year_recid"),
)
_DAYS = 30
_READ = (*COLUMNS, "days_b_screening_arrest", "is_recid", "score_text")


def write_table(files: Sequence[Path], target: Path) -> None:
    """Write the selected rows and columns unchanged; for duplicate columns, the first."""
    (path,) = files
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            header, rows = next(reader, []), []
            for row in reader:
                if len(row) != len(header):
                    n, line = f"{len(header)} fields, found {len(row)}", reader.line_num
                    raise InputError(f"{path}, line {line}: expected {n}; download the file again")
                rows.append(row)
            if missing := [name for name in _READ if name not in header]:
                raise InputError(f"{path}: has no column '{missing[0]}'; get compas-scores-two-years.csv")
            places = {name: header.index(name) for name in _READ}
            kept = [[row[places[name]] for name in COLUMNS] for row in rows if _is_kept(row, places)]
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: not ProPublica's table ({error}); download it again") from error
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *kept])


def _is_kept(row: Sequence[str], places: dict[str, int]) -> bool:
    days = row[places["days_b_screening_arrest"]]
    return (
        days != ""
        and abs(int(days)) <= _DAYS
        and row[places["is_recid"]] != "-1"
        and row[places["c_charge_degree"]] != "O"
        and row[places["score_text"]] != "N/A"
    )
