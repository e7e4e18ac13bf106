"""Write all tables and figures from the units of this run."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from biaslab.core.errors import InputError, suggest
from biaslab.core.files import read_text_table
from biaslab.core.io import read_parquet, read_tsv
from biaslab.core.tables import write_table
from biaslab.run.area import ALL, CLAIMS, TABLE, Area, Made, Unit, expand, load_area


@dataclass(frozen=True)
class Results:
    """The results of one unit, opened for its tables and figures."""

    unit: Unit
    folder: Path

    @property
    def name(self) -> str:
        """The unit's name."""
        return self.unit.name

    def has(self, file: str) -> bool:
        """Return whether this run provides an optional result file of the unit."""
        return self.unit.has(file)

    def option(self, *keys: str) -> Any:
        """Return an option of the unit for the report, e.g. ``option("glove", "window")``."""
        value: Any = self.unit.options
        for key in keys:
            if not isinstance(value, Mapping) or key not in value:
                raise InputError(f"{self.name}: the option {'.'.join(keys)} is missing; let the area name it")
            value = value[key]
        return value

    def file(self, key: str) -> Path:
        """Return a further input file of the report by its key."""
        if key not in self.unit.files:
            near = suggest(key, self.unit.files)
            raise InputError(f"{self.name}: the file '{key}' is missing{near}; let the area name it")
        return Path(self.unit.files[key])

    def table(self, name: str, *columns: str, text: tuple[str, ...] = ()) -> pd.DataFrame:
        """Read ``<name>.tsv`` of this unit, which must have `columns`; those in `text` stay text."""
        return read_tsv(self.folder / f"{name}.tsv", columns, text)

    def parquet(self, name: str, columns: list[str] | None = None) -> pd.DataFrame:
        """Read ``<name>.parquet`` of this unit."""
        return read_parquet(self.folder / f"{name}.parquet", columns)

    def printed(self) -> dict[str, str]:
        """Return the printed values of the paper by claim identifier, for comparison with measured values."""
        rows = read_text_table(self.file(CLAIMS), ["claim_id", "published"])
        return {row["claim_id"]: row["published"] for _, row in rows}


def write_items(
    area: str,
    units: list[Unit],
    results: Path,
    only: Sequence[str] = (),
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Write the tables (.tsv, .md, .tex) and figures (.svg, .pdf, .png, .tsv) of the units of an area."""
    write_report(load_area(area), units, results, only, say)


def write_report(
    area: Area,
    units: Sequence[Unit],
    results: Path,
    only: Sequence[str] = (),
    say: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Write the tables and figures of an area, by default all; return their paths without suffix.

    Tables show the units in their order. The paths are relative to the area's folder in `results`. `only`
    names items by their stems, or single tables and figures by their paths.
    """
    if not units:
        raise InputError(f"no unit to report on; name the units that ran in the area {area.name}")
    made = expand(area.items, units)
    stems = [item.stem for item in area.items]
    for stem in only:
        if stem not in (*stems, *(one.stem for one in made)):
            raise InputError(f"unknown item '{stem}' (known: {', '.join(stems)}){suggest(stem, stems)}")
    opened = {unit.name: open_unit(area, unit, results) for unit in units}
    out = results / area.name
    made = [one for one in made if not only or {one.stem, one.item.stem} & set(only)]
    for number, one in enumerate(made, start=1):
        began = time.monotonic()
        _write(one, opened, out)
        say(f"{number} of {len(made)}: {one.stem} ({time.monotonic() - began:.1f} s)")
    return [one.stem for one in made]


def open_unit(area: Area, unit: Unit, results: Path) -> Results:
    """Open the results of a unit by the reader of the area."""
    return (area.reader or Results)(unit, Path(area.folder(unit.name, str(results))))


def _write(made: Made, opened: Mapping[str, Results], out: Path) -> None:
    units = [opened[unit.name] for unit in made.units]
    arguments = [units] if made.item.per == ALL else [units[0], *([made.test] if made.test else [])]
    make, stem = made.item.make, out / made.stem
    if made.item.kind == TABLE:
        write_table(stem, make(*arguments))
        return
    make(*arguments, stem)
    missing = [file for file in made.files if not (out / file).is_file()]
    if missing:
        name = f"{make.__module__}.{make.__name__}"
        raise InputError(f"{name} did not write {missing[0]}; correct the function")
