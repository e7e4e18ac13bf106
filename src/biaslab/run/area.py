"""What an area is to the workflow: a paper that plugs in.

``biaslab/<area>/area.py`` defines one `Area` called ``AREA``. It is read whenever the workflow is parsed and
therefore light: neither it nor what it imports needs numpy, pandas or torch.
"""

import functools
import importlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal

TABLE, FIGURE = "table", "figure"
SUFFIXES = {TABLE: (".tsv", ".md", ".tex"), FIGURE: (".svg", ".pdf", ".png", ".tsv")}
"""The files of an item by its kind; the first is the one that a report shows."""

CLAIMS = "claims"
"""The key in `Unit.files` of the registry of claims, which holds the numbers that a paper prints."""

ALL, UNIT, TEST = "all", "unit", "test"
"""What there is one item for: all units of a run together, each unit, each test of each unit."""


@dataclass(frozen=True)
class Item:
    """A table or figure of an area."""

    stem: str  # name of its files without suffix; a test adds ``_TEST``
    kind: Literal["table", "figure"]
    label: str  # what a report calls it, for example ``"Figure 2"``
    # The function that makes it, ``"biaslab.AREA.report.MODULE:FUNCTION"``. It gets the units (`ALL`), a
    # unit (`UNIT`), or a unit and the name of a test (`TEST`), each as the area's reader has opened it.
    # Of a table it returns a `biaslab.core.tables.Table`; of a figure it gets the path without suffix
    # last, and writes the files there.
    make: str
    # The result files that it reads, relative to the folder of the unit; ``{test}`` stands for the test,
    # or for each test of the unit where the item has none.
    files: tuple[str, ...]
    per: Literal["all", "unit", "test"] = ALL
    caption: str = ""  # stem of its caption in ``workflow/report``; by default its own stem
    optional: tuple[str, ...] = ()  # those of `files` without which it is made, too, for units that lack them
    of: str = ""  # the item is made of units with this mark alone (`Unit.marks`); by default of every one

    @property
    def caption_file(self) -> str:
        """The caption's file name."""
        return f"{self.caption or self.stem}.rst"


def item_makers(area: str, prefix: str, **options: Any) -> tuple[Callable[..., Item], Callable[..., Item]]:
    """Return what makes the tables of an area, and what makes its figures.

    Both take stem, label, ``MODULE:FUNCTION`` of the area's reports and files, ``.tsv`` where they have no
    suffix. A caption is called after prefix and stem, without the number that the item has in the paper.
    """

    def make(kind: Any, stem: str, label: str, function: str, *files: str, caption: str = "", **more: Any):
        caption = f"{prefix}_{caption or re.sub('^(table|figure)[0-9_]+_', '', stem)}"
        files = tuple(file if "." in file else f"{file}.tsv" for file in files)
        given = {"caption": caption} | options | more
        return Item(stem, kind, label, f"biaslab.{area}.report.{function}", files, **given)

    return functools.partial(make, TABLE), functools.partial(make, FIGURE)


@dataclass(frozen=True)
class Unit:
    """One thing that an area measures in a run: a setup, an embedding, a classifier, its only experiment."""

    name: str  # its key in the configuration; the name of the area for the only experiment of one
    tests: tuple[str, ...] = ()  # what it is tested by, where items are made for each test
    # Those keys of the configuration which its tables and figures show.
    options: Mapping[str, Any] = field(default_factory=dict)
    # Files which its tables and figures read besides its results, by what they are for.
    files: Mapping[str, str] = field(default_factory=dict)
    marks: tuple[str, ...] = ()  # what `Item.of` may ask for
    # Result files, as patterns below its folder, which others of the area have and it does without, each with
    # the reason: no item is made of them.
    lacks: Mapping[str, str] = field(default_factory=dict)
    embedding: str = ""  # the file with its first word embedding, where it has one that other areas may take
    is_made_up: bool = False  # whether its data are made up: the audit measures nothing of a paper on them

    def has(self, file: str, test: str = "") -> bool:
        """Tell whether it has a result file, below its folder; ``{test}`` is the test, or each of them."""
        return self.why_without(file, test) is None

    def why_without(self, file: str, test: str = "") -> str | None:
        """Return why it has no such result file; None where it has it."""
        names = {file.format(test=one) for one in ([test] if test else self.tests or ["*"])}
        found = (why for pattern, why in self.lacks.items() if any(fnmatch(name, pattern) for name in names))
        return next(found, None)


@dataclass(frozen=True)
class Units:
    """What a run of an area works on."""

    chosen: tuple[Unit, ...]  # in the order in which tables show them
    # What the configuration names and the run lacks, each with the reason.
    left_out: Mapping[str, str] = field(default_factory=dict)
    # The input files of the run, by name, for the manifest.
    files: Mapping[str, str] = field(default_factory=dict)
    # What of the configuration decides the area's results.
    record: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the units that are run."""
        return [unit.name for unit in self.chosen]


@dataclass(frozen=True)
class Given:
    """What an area checks its section of the configuration against, and chooses its units from."""

    config: Mapping[str, Any]  # the configuration, complete with defaults
    written: Mapping[str, Any]  # the same as the user wrote it
    registry: Mapping[str, Any]  # the registered datasets
    root: Path  # the repository
    # Wanted datasets that cannot be had, each with the reason.
    absent: Mapping[str, str] = field(default_factory=dict)
    # The units of the areas before this one, by name.
    others: Mapping[str, Unit] = field(default_factory=dict)
    # Extras that count as installed, for `biaslab.run.extras.missing_extra`.
    extras: tuple[str, ...] = ()


def claims_of(area: str, root: Path) -> dict[str, str]:
    """Return the file (`Unit.files`) for tables that show printed numbers beside the measured ones."""
    return {CLAIMS: str(root / f"workflow/resources/claims/{area}.tsv")}


@dataclass(frozen=True)
class Area:
    """A paper that plugs into the workflow."""

    name: str  # its folder, its key in the configuration and its folder of results
    paper: str  # its heading in the report
    settings: type  # its section of the configuration, a dataclass; see `biaslab.core.settings`
    # Yields what is wrong in its section and no schema can say, each as ``"key: problem; remedy"``.
    check: Callable[[Given], Iterable[str]]
    # Takes the configuration; returns the registered datasets that a run would use.
    wanted: Callable[[Mapping[str, Any]], set[str]]
    choose: Callable[[Given], Units]  # says what a run works on
    # Takes the configuration; says, a line each, what the experiments will do.
    summaries: Callable[[Mapping[str, Any]], Sequence[str]]
    items: Sequence[Item]  # its tables and figures
    labels: tuple[str, str] = ("unit", "test")  # what a report calls a unit and a test
    # The class, ``"MODULE:CLASS"``, that opens a unit for `Item.make`; see `biaslab.run.reports.Results`.
    reader: str = "biaslab.run.reports:Results"
    extra: str = ""  # the optional dependencies that it needs, for example ``"neural"``
    shared: type | None = None  # keys beside the sections, a dataclass, which areas may share
    # Keys of earlier versions, with where they are now; NAME stands for any.
    moved: Mapping[str, str] = field(default_factory=dict)
    # Keys of earlier versions that are gone, in the same way: an archived run may still have them.
    removed: Sequence[str] = ()
    # Its tables that hold sentences of a corpus, as patterns below its folder: no crate gets them.
    texts: tuple[str, ...] = ()
    # Large tables of what single trainings say, in the same way: a crate has them with the embeddings.
    by_training: tuple[str, ...] = ()
    # The functions of its steps, ``"MODULE:FUNCTION"``, by the names that its rules call them.
    steps: Mapping[str, str] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """Its name as a sub-command of ``biaslab``."""
        return self.name.replace("_", "-")

    def folder(self, unit: str, results: str = "results") -> str:
        """Return the folder of a unit's results; the only experiment of an area has the area's own."""
        return f"{results}/{self.name}" if unit == self.name else f"{results}/{self.name}/{unit}"

    def holds_texts(self, file: str) -> bool:
        """Tell whether one of its results (`folder`) holds sentences of a corpus."""
        return any(fnmatch(file, f"results/{self.name}/{pattern}") for pattern in self.texts)


@dataclass(frozen=True)
class Made:
    """An item of a run: what it is made of, where it lies, and what a report says of it."""

    item: Item
    units: tuple[Unit, ...]  # one, but of items for all units
    test: str  # empty but of items for a test
    stem: str  # path without suffix, relative to the results of the area

    @property
    def files(self) -> list[str]:
        """Its files, relative to the results of the area; the first is the one that a report shows."""
        return [f"{self.stem}{suffix}" for suffix in SUFFIXES[self.item.kind]]

    def inputs(self, area: Area) -> list[str]:
        """Return the files that it is made of."""
        own = [
            f"{area.folder(unit.name)}/{file.format(test=test)}"
            for unit in self.units
            for file in self.item.files
            if unit.has(file, self.test)
            for test in ((self.test,) if self.test or "{test}" not in file else unit.tests)
        ]
        return [*own, *(file for unit in self.units for file in unit.files.values())]

    def report(self, area: Area) -> dict[str, Any]:
        """Return where a report shows it, with which caption and labels."""
        labels = {"item": self.item.label}
        if any(item.per != ALL for item in area.items):
            labels[area.labels[0]] = ALL if self.item.per == ALL else self.units[0].name
        if any(item.per == TEST for item in area.items):
            labels[area.labels[1]] = self.test or ALL
        return {
            "subcategory": f"{self.item.kind.capitalize()}s",
            "caption": f"../report/{self.item.caption_file}",
            "labels": labels,
        }


def expand(items: Sequence[Item], units: Sequence[Unit]) -> list[Made]:
    """Return the items that a run makes of its units: none where there are no units."""
    made = []
    for item in items:
        needed = [file for file in item.files if file not in item.optional]
        has_mark = [unit for unit in units if not item.of or item.of in unit.marks]
        of = tuple(unit for unit in has_mark if all(map(unit.has, needed)))
        folder = f"{item.kind}s"
        if item.per == ALL:
            made += [Made(item, of, "", f"{folder}/{item.stem}")] if of else []
        elif item.per == UNIT:
            made += [Made(item, (unit,), "", f"{unit.name}/{folder}/{item.stem}") for unit in of]
        else:
            made += [
                Made(item, (unit,), test, f"{unit.name}/{folder}/{item.stem}_{test}")
                for unit in has_mark
                for test in unit.tests
                if all(unit.has(file, test) for file in needed)
            ]
    return made


@functools.cache
def load_area(name: str) -> Area:
    """Return an area by its name."""
    return importlib.import_module(f"biaslab.{name}.area").AREA
