"""The interface of an area: a paper that plugs into the workflow.

``biaslab/<area>/area.py`` defines one `Area` called ``AREA``. Every parse of the workflow imports the module,
so the module and its imports load neither torch, numba, matplotlib, scikit-learn nor gensim.
"""

import functools
import importlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

TABLE, FIGURE = "table", "figure"
SUFFIXES = {TABLE: (".tsv", ".md", ".tex"), FIGURE: (".svg", ".pdf", ".png", ".tsv")}
"""The file suffixes of an item by its kind; a report shows the first file."""

CLAIMS = "claims"
"""The key in `Unit.files` of the registry of claims, which contains the printed numbers of a paper."""

ALL, UNIT, TEST = "all", "unit", "test"
"""Scope of an item: all units of a run together, each unit, or each test of each unit."""
_NUMBER = re.compile("^(table|figure)[0-9_]+_")


@dataclass(frozen=True)
class Item:
    """A table or figure of an area."""

    stem: str  # file name without suffix; a test adds ``_TEST``
    kind: Literal["table", "figure"]
    label: str  # name in a report, for example ``"Figure 2"``
    # The function of the item. Its arguments are units (`ALL`), a unit (`UNIT`), or a unit and the name of a
    # test (`TEST`), opened by the area's reader. For a table it returns a `biaslab.core.tables.Table`. For a
    # figure its last argument is the path without suffix, and it writes the files there.
    make: Callable[..., Any]
    # The result files that the function reads, relative to the folder of the unit; ``{test}`` stands for the
    # test, or for each test of the unit if the item has no test.
    files: tuple[str, ...]
    per: Literal["all", "unit", "test"] = ALL
    caption: str = ""  # stem of the caption in ``workflow/report``; by default the stem of the item
    optional: tuple[str, ...] = ()  # `files` that a unit may lack
    of: str = ""  # restricts the item to units with this mark (`Unit.marks`); by default all units


def table(stem: str, label: str, *files: str, **options: Any) -> Callable[[Callable], Callable]:
    """Declare that a function makes a table from files (``.tsv`` if without suffix); see `Item`."""
    return functools.partial(_declare, TABLE, stem, label, files, options)


def figure(stem: str, label: str, *files: str, **options: Any) -> Callable[[Callable], Callable]:
    """Declare that a function draws a figure from files; see `table`."""
    return functools.partial(_declare, FIGURE, stem, label, files, options)


def _declare(kind: Any, stem: str, label: str, files: Any, options: Any, function: Any) -> Callable:
    named = tuple(file if "." in file else f"{file}.tsv" for file in files)
    function.item = Item(stem, kind, label, function, named, **options)
    return function


def items_of(*sources: Any) -> tuple[Item, ...]:
    """Return the items of functions, and of all functions of modules, in their order."""
    functions = [f for s in sources for f in (vars(s).values() if isinstance(s, ModuleType) else [s])]
    return tuple(f.item for f in functions if isinstance(getattr(f, "item", None), Item))


@dataclass(frozen=True)
class Unit:
    """The unit of measurement of an area: a setup, an embedding, a classifier, or its only experiment."""

    name: str  # key in the configuration; for the only experiment of an area, the area's name
    tests: tuple[str, ...] = ()  # its tests, if items exist for each test
    # The configuration keys that its tables and figures show.
    options: Mapping[str, Any] = field(default_factory=dict)
    # Further files that its tables and figures read, by purpose.
    files: Mapping[str, str] = field(default_factory=dict)
    marks: tuple[str, ...] = ()  # values for `Item.of`
    # Result files, as patterns below its folder, that only other units of the area have, with the reason. No
    # item reads them.
    lacks: Mapping[str, str] = field(default_factory=dict)
    embedding: str = ""  # file of its first word embedding, if other areas may use it
    is_made_up: bool = False  # whether its data are made up: the audit measures no claim of a paper on them

    def has(self, file: str, test: str = "") -> bool:
        """Return whether it has a result file below its folder; ``{test}`` is `test` or each test."""
        return self.why_without(file, test) is None

    def why_without(self, file: str, test: str = "") -> str | None:
        """Return the reason why the unit lacks a result file; None if it has the file."""
        names = {file.format(test=value) for value in ([test] if test else self.tests or ["*"])}
        causes = (why for pattern, why in self.lacks.items() if any(fnmatch(name, pattern) for name in names))
        return next(causes, None)


@dataclass(frozen=True)
class Units:
    """The units of an area in a run."""

    chosen: tuple[Unit, ...]  # in the order in which tables show them
    # Units of the configuration that are missing in the run, with the reason.
    left_out: Mapping[str, str] = field(default_factory=dict)
    # The input files of the run, by name, for the manifest.
    files: Mapping[str, str] = field(default_factory=dict)
    # The part of the configuration that determines the area's results.
    record: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the units in the run."""
        return [unit.name for unit in self.chosen]


@dataclass(frozen=True)
class Given:
    """The context in which an area checks its section of the configuration and chooses its units."""

    config: Mapping[str, Any]  # the configuration, complete with defaults
    written: Mapping[str, Any]  # the configuration as written by the user
    registry: Mapping[str, Any]  # the registered datasets
    root: Path  # the repository
    # Required datasets that are not available, with the reason.
    absent: Mapping[str, str] = field(default_factory=dict)
    # The units of the areas before this one, by name.
    others: Mapping[str, Unit] = field(default_factory=dict)
    # Extras that count as installed, for `biaslab.run.extras.missing_extra`.
    extras: tuple[str, ...] = ()


def claims_of(area: str, root: Path) -> dict[str, str]:
    """Return the file (`Unit.files`) for tables that compare printed with measured numbers."""
    return {CLAIMS: str(root / f"workflow/resources/claims/{area}.tsv")}


@dataclass(frozen=True)
class Recipe:
    """A recipe that builds a registered dataset from public files with the same content in another format.

    The output is checked against the registered checksum, so the public files need no checksum.
    """

    make: Callable[[Sequence[Path], Path], None]  # arguments: files in the order of their addresses, target
    max_bytes: int  # maximum size of each public file


@dataclass(frozen=True)
class Area:
    """A paper that plugs into the workflow."""

    name: str  # name of its package, its key in the configuration, and its results folder
    paper: str  # heading in the report
    settings: type  # its section of the configuration, a dataclass; see `biaslab.core.settings`
    # Yields problems of its section that a schema cannot express, each as ``"key: problem; remedy"``.
    check: Callable[[Given], Iterable[str]]
    # Returns the registered datasets that a run with this configuration would use.
    wanted: Callable[[Mapping[str, Any]], set[str]]
    choose: Callable[[Given], Units]  # returns the units of a run
    # Describes the experiments of a configuration, one line each.
    summaries: Callable[[Mapping[str, Any]], Sequence[str]]
    items: Sequence[Item]  # its tables and figures
    labels: tuple[str, str] = ("unit", "test")  # names of a unit and a test in a report
    reader: type | None = None  # opens a unit for `Item.make`; by default `biaslab.run.plan.reports.Results`
    captions: str = ""  # prefix of the names of captions, which then omit the number of an item
    extra: str = ""  # required optional dependencies, for example ``"neural"``
    shared: type | None = None  # a dataclass of keys outside the sections, which areas may share
    # Tables with sentences of a corpus, as patterns below its folder: no crate contains them.
    texts: tuple[str, ...] = ()
    # Large tables of single trainings, also as patterns: a crate contains them together with the embeddings.
    by_training: tuple[str, ...] = ()
    # The functions of its steps, ``"MODULE:FUNCTION"``, by the names in its rules.
    steps: Mapping[str, str] = field(default_factory=dict)
    # Recipes of registered datasets, by their names in the registry.
    recipes: Mapping[str, Recipe] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """Name of its sub-command of ``biaslab``."""
        return self.name.replace("_", "-")

    def folder(self, unit: str, results: str = "results") -> str:
        """Return the results folder of a unit; for the only experiment of an area, the area's folder."""
        return f"{results}/{self.name}" if unit == self.name else f"{results}/{self.name}/{unit}"

    def caption(self, item: Item) -> str:
        """Return the file name of the caption of an item."""
        name = item.caption or item.stem
        return f"{self.captions}_{_NUMBER.sub('', name)}.rst" if self.captions else f"{name}.rst"

    def holds_texts(self, file: str) -> bool:
        """Return whether a result file of the area contains sentences of a corpus."""
        return any(fnmatch(file, f"results/{self.name}/{pattern}") for pattern in self.texts)


@dataclass(frozen=True)
class Made:
    """An item of a run: its inputs, its files, and its entry in a report."""

    item: Item
    units: tuple[Unit, ...]  # one unit, except for items of all units
    test: str  # empty except for items of a test
    stem: str  # path without suffix, relative to the results of the area

    @property
    def files(self) -> list[str]:
        """Its files, relative to the results of the area; a report shows the first file."""
        return [f"{self.stem}{suffix}" for suffix in SUFFIXES[self.item.kind]]

    def inputs(self, area: Area) -> list[str]:
        """Return the input files of the item."""
        own = [
            f"{area.folder(unit.name)}/{file.format(test=test)}"
            for unit in self.units
            for file in self.item.files
            if unit.has(file, self.test)
            for test in ((self.test,) if self.test or "{test}" not in file else unit.tests)
        ]
        return [*own, *(file for unit in self.units for file in unit.files.values())]

    def report(self, area: Area) -> dict[str, Any]:
        """Return the subcategory, the caption and the labels of the item in a report."""
        labels = {"item": self.item.label}
        if any(item.per != ALL for item in area.items):
            labels[area.labels[0]] = ALL if self.item.per == ALL else self.units[0].name
        if any(item.per == TEST for item in area.items):
            labels[area.labels[1]] = self.test or ALL
        return {
            "subcategory": f"{self.item.kind.capitalize()}s",
            "caption": f"../report/{area.caption(self.item)}",
            "labels": labels,
        }


def expand(items: Sequence[Item], units: Sequence[Unit]) -> list[Made]:
    """Return the items of a run from its units; without units, there are no items."""
    made = []
    for item in items:
        needed = [file for file in item.files if file not in item.optional]
        has_mark = [unit for unit in units if not item.of or item.of in unit.marks]
        complete = tuple(unit for unit in has_mark if all(map(unit.has, needed)))
        folder = f"{item.kind}s"
        if item.per == ALL:
            made += [Made(item, complete, "", f"{folder}/{item.stem}")] if complete else []
        elif item.per == UNIT:
            made += [Made(item, (unit,), "", f"{unit.name}/{folder}/{item.stem}") for unit in complete]
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
