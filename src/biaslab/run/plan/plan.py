"""Plan a run from the configuration and the available data."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from biaslab.core.settings import merge
from biaslab.run import FAILED
from biaslab.run.area import ALL, Area, Given, Made, Unit, Units, expand, load_area
from biaslab.run.areas import AREAS
from biaslab.run.data.datasets import Dataset, dataset_name, load_registry, verified_copy
from biaslab.run.data.fetching import ABSENT, PENDING, fetch_wanted, source_file, status
from biaslab.run.extras import missing_extra
from biaslab.run.plan import config as configuration
from biaslab.run.plan.jobs import VARIABLE
from biaslab.run.record.taken import check_taken, read_taken

CLAIMS = Path("workflow/resources/claims")
_LISTED = 3  # maximum number of results in a line


@dataclass(frozen=True)
class Plan:
    """The plan of a run."""

    config: Mapping[str, Any]  # the complete configuration
    root: Path  # the repository
    registry: Mapping[str, Dataset]  # the registered datasets
    areas: tuple[Area, ...]  # the areas that run, in their order
    units: Mapping[str, Units]  # the units of each area
    # Registered datasets that the run would use but that are not available, with the reason.
    absent: Mapping[str, str]
    # Messages for the user: omitted parts with reasons, and pending downloads.
    notices: tuple[str, ...]
    # Unavailable datasets with results taken from another run: no step reads these datasets.
    unreadable: frozenset[str] = frozenset()

    def has(self, area: Area) -> bool:
        """Return whether an area has units in this run."""
        return bool(self.units[area.name].chosen)

    @property
    def lost(self) -> dict[str, str]:
        """The result files that are lost to failed steps, relative to the results, with the reason."""
        return {file: reason for reason, files in self.config[FAILED].items() for file in files}

    def not_made(self) -> list[str]:
        """Return the result files lost to failed steps, including dependent tables and figures."""
        files = set(self.lost)
        for area in self.areas if files else ():
            units = [replace(unit, lacks={}) for unit in self.units[area.name].chosen]
            files |= {f"{area.name}/{file}" for item in expand(area.items, units) for file in item.files}
            files -= {name.removeprefix("results/") for name in self.report_files(area.name)}
        return sorted(files)

    def area(self, name: str) -> Area:
        """Return an area of this run by its name."""
        return next(area for area in self.areas if area.name == name)

    def source(self, source: str) -> str:
        """Return the file or folder of a source in the configuration."""
        return source_file(source, self.registry, self.config["datasets"])

    def checksum(self, source: str) -> str:
        """Return the checksum of a source with a verified copy; "" for other sources."""
        name = dataset_name(source)
        is_copy = bool(name) and self.source(source) == verified_copy(self.registry[name])
        return self.registry[name].sha256 if is_copy else ""

    def copy(self, dataset: str) -> str:
        """Return the path of the verified copy of a registered dataset."""
        return verified_copy(self.registry[dataset])

    def described(self, area: Area, made: Sequence[Made]) -> list[dict[str, Any]]:
        """Return the unit properties on which tables and figures of an area depend, for their step.

        Other changes of a unit are omitted, so that they rerun no table or figure.
        """
        keys = ("name", "tests", "options", "files", "marks")
        files = {file for entry in made for file in entry.item.files}
        units = [unit for unit in self.units[area.name].chosen if any(unit in entry.units for entry in made)]

        def lacks_any(unit: Unit, pattern: str) -> bool:
            return not all(map(replace(unit, lacks={pattern: ""}).has, files))

        return [
            {key: getattr(unit, key) for key in keys}
            | {"lacks": {pattern: "" for pattern in unit.lacks if lacks_any(unit, pattern)}}
            for unit in units
        ]

    def made(self, area: Area) -> list[Made]:
        """Return the tables and figures of an area in this run."""
        items = expand(area.items, self.units[area.name].chosen)
        return [item for item in items if not any(f"{area.name}/{file}" in self.lost for file in item.files)]

    def reports(self, area: Area) -> dict[tuple[str, ...], list[Made]]:
        """Return the tables and figures of an area, by the parts of the name of their job.

        Items of all units are one job, and items of each unit another. Items with sentences of a corpus are
        separate jobs, because no crate contains them.
        """
        jobs: dict[tuple[str, ...], list[Made]] = {}
        for made in self.made(area):
            unit = () if made.item.per == ALL else (made.units[0].name,)
            shows_texts = any(area.holds_texts(file) for file in made.inputs(area))
            jobs.setdefault(unit + ("showing_texts",) * shows_texts, []).append(made)
        return jobs

    def report_inputs(self, area: Area, made: Sequence[Made]) -> list[str]:
        """Return the distinct input files of tables and figures of an area."""
        return list(dict.fromkeys(file for item in made for file in item.inputs(area)))

    def report_files(self, area: str) -> list[str]:
        """Return all files of the tables and figures of an area."""
        made = self.made(self.area(area))
        return [f"results/{area}/{file}" for item in made for file in item.files]

    def record(self) -> dict[str, Any]:
        """Return the part of the configuration that determines the results, without data locations."""
        record = {"seed": self.config["seed"], "areas": self.config["areas"]}
        for units in self.units.values():
            record = merge(record, units.record)
        return record | ({FAILED: self.config[FAILED]} if self.lost else {})

    def audited(self) -> dict[str, Any]:
        """Return the units that ran, omitted units and lost results, for the audit."""
        absent: dict[str, str] = {}
        for units in self.units.values():
            absent = dict(units.left_out) | absent
        made_up = [(area, u.name) for area, units in self.units.items() for u in units.chosen if u.is_made_up]
        lacking = {
            f"{area.name}/{unit.name}": files
            for area in self.areas
            for unit in self.units[area.name].chosen
            if (files := self._lacking(area, unit))
        }
        return {
            "setups": {area.name: self.units[area.name].names for area in self.areas if self.has(area)},
            "absent": absent,
            "made_up": made_up,
            "lacking": lacking,
        }

    def _lacking(self, area: Area, unit: Unit) -> dict[str, list[str]]:
        """Return the missing results of a unit, as patterns relative to the results, by reason."""
        folder = area.folder(unit.name, "")[1:]
        reasons = {f"{folder}/{pattern}": reason for pattern, reason in unit.lacks.items()}
        stems = {entry.stem for entry in self.made(area) if unit in entry.units}
        for entry in expand(area.items, [replace(unit, lacks={})]):
            if entry.stem not in stems:
                files = [f"{area.name}/{file}" for file in entry.files]
                why = [self.lost.get(file) for file in files]
                why += [unit.why_without(file, entry.test) for file in entry.item.files]
                tables = (file for file in files if file.endswith(".tsv"))  # no claim reads an image
                reasons |= dict.fromkeys(tables, next(filter(None, why), ""))
        by_reason: dict[str, list[str]] = {}
        for file, reason in reasons.items():
            by_reason.setdefault(reason, []).append(file)
        return by_reason

    def inputs(self) -> dict[str, str]:
        """Return the input files of the run for the manifest, except files lost to failed steps."""
        files: dict[str, str] = {}
        for units in self.units.values():
            files |= units.files
        if self.lost:
            files = {name: file for name, file in files.items() if Path(file).exists()}
        known = self.known_inputs()
        return {name: file for name, file in files.items() if name not in known}

    def known_inputs(self) -> dict[str, str]:
        """Return the sha256 of the inputs that are verified copies, which may be absent."""
        digests = {verified_copy(dataset): dataset.sha256 for dataset in self.registry.values()}
        files = [pair for units in self.units.values() for pair in units.files.items()]
        return {name: digests[file] for name, file in files if file in digests}


def make_plan(
    raw: Mapping, root: Path, deploys: bool = False, download: Callable[[str], None] | None = None
) -> Plan:
    """Check a configuration and plan a run.

    With `deploys`, steps run in separate environments with the extras of the areas. With `download`, data are
    copied, downloads without an earlier attempt are made, and `download` receives lines of progress.
    """
    config = configuration.load(raw, root)
    registry = load_registry(root / configuration.REGISTRY)
    areas, notices, taken = [], [], read_taken(Path("results"))
    for area in chosen_areas(config):
        if not deploys and (reason := missing_extra(area.extra, taken.extras)):
            notices.append(f"the area {area.name} is omitted: {reason}")
        else:
            areas.append(area)
    names = wanted(config, areas)
    states = {name: status(registry[name], config["datasets"], taken.datasets) for name in names}
    if download:
        fetched = [
            name
            for name in names
            if states[name].state != ABSENT and taken.datasets.get(name) != registry[name].sha256
        ]
        fetch_wanted(fetched, registry, config["datasets"], download)
        states |= {name: status(registry[name], config["datasets"]) for name in fetched}
    absent = {name: state.reason for name, state in states.items() if state.state == ABSENT}
    unreadable = frozenset(
        name
        for name in taken.datasets.keys() & states.keys() - absent.keys()
        if status(registry[name], config["datasets"]).state == ABSENT
    )
    units: dict[str, Units] = {}
    others: dict[str, Unit] = {}
    for area in areas:
        chosen = area.choose(Given(config, raw, registry, root, absent, others, taken.extras))
        units[area.name] = _without(area, chosen, config[FAILED])
        others |= {unit.name: unit for unit in units[area.name].chosen}
        notices += [f"{area.name} skips {n}: {why}" for n, why in units[area.name].left_out.items()]
    notices += [f"skips {listed(files)}: {reason}" for reason, files in config[FAILED].items()]
    notices += [
        f"{name} is not available and its results were taken: results with its texts are omitted"
        for name in sorted(unreadable)
    ]
    notices += [
        f"{name} must be downloaded first ({state.reason})"
        for name, state in states.items()
        if state.state == PENDING
    ]
    plan = Plan(config, root, registry, tuple(areas), units, absent, tuple(notices), unreadable)
    if VARIABLE not in os.environ:  # a list of jobs may be of another run's configuration
        check_taken(taken, config)
    return plan


def _without(area: Area, units: Units, failed: Mapping[str, Sequence[str]]) -> Units:
    """Return the units of an area with the results of failed steps marked as missing."""

    def mark_lost(unit: Unit) -> Unit:
        folder = area.folder(unit.name, "")[1:] + "/"
        lost = {
            file.removeprefix(folder): reason
            for reason, files in failed.items()
            for file in files
            if file.startswith(folder)
        }
        return replace(unit, lacks={**unit.lacks, **lost}) if lost else unit

    return replace(units, chosen=tuple(map(mark_lost, units.chosen)))


def listed(files: Sequence[str]) -> str:
    """List the first files, and the number of the remaining files."""
    more = f" and {len(files) - _LISTED} more results" if len(files) > _LISTED else ""
    return ", ".join(files[:_LISTED]) + more


def wanted(config: Mapping, areas: Sequence[Area] | None = None) -> list[str]:
    """Return the sorted registered datasets for a run of areas, by default all areas."""
    chosen = chosen_areas(config) if areas is None else areas
    return sorted(set().union(*(area.wanted(config) for area in chosen)))


def chosen_areas(config: Mapping) -> list[Area]:
    """Return the areas of a configuration, in the order of `AREAS`."""
    return [load_area(name) for name in AREAS if name in config["areas"]]
