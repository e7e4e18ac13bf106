"""What a run will do, decided from the configuration and the data that are there; nothing is fetched here."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from biaslab.core.schema import merge
from biaslab.run import FAILED
from biaslab.run import config as configuration
from biaslab.run.area import ALL, Area, Given, Made, Unit, Units, expand, load_area
from biaslab.run.areas import AREAS
from biaslab.run.datasets import Dataset, dataset_name, load_registry, places, verified_copy
from biaslab.run.extras import missing_extra
from biaslab.run.fetching import ABSENT, PENDING, Status, fetch_wanted, source_file, status
from biaslab.run.taken import check_taken, read_taken

CLAIMS = Path("workflow/resources/claims")
_LISTED = 3  # results that a line names


@dataclass(frozen=True)
class Plan:
    """What a run will do."""

    config: Mapping[str, Any]  # the complete configuration
    root: Path  # the repository
    registry: Mapping[str, Dataset]  # the registered datasets
    areas: tuple[Area, ...]  # those that run, in their order
    units: Mapping[str, Units]  # what each of them works on
    # Registered datasets that a run would use and that cannot be had, each with the reason.
    absent: Mapping[str, str]
    # What the user must know: what is left out and why, what is yet to be downloaded.
    notices: tuple[str, ...]
    # Of those that cannot be had, those whose results were taken from another run: nothing is read of them.
    unreadable: frozenset[str] = frozenset()

    def has(self, area: Area) -> bool:
        """Tell whether an area has something to work on."""
        return bool(self.units[area.name].chosen)

    @property
    def lost(self) -> dict[str, str]:
        """The result files that steps that failed cost, relative to the results, each with the reason."""
        return {file: reason for reason, files in self.config[FAILED].items() for file in files}

    def not_made(self) -> list[str]:
        """Return the result files that steps that failed cost, with the tables and figures behind them."""
        files = set(self.lost)
        for area in self.areas if files else ():
            units = [replace(unit, lacks={}) for unit in self.units[area.name].chosen]
            files |= {f"{area.name}/{file}" for one in expand(area.items, units) for file in one.files}
            files -= {name.removeprefix("results/") for name in self.report_files(area.name)}
        return sorted(files)

    def area(self, name: str) -> Area:
        """Return one of the areas that run."""
        return next(area for area in self.areas if area.name == name)

    def source(self, source: str) -> str:
        """Return the file or folder that a source of the configuration is read from."""
        return source_file(source, self.registry, self.config["datasets"])

    def checksum(self, source: str) -> str:
        """Return the checksum of a source that is read from a verified copy; "" for others."""
        name = dataset_name(source)
        is_copy = bool(name) and self.source(source) == verified_copy(self.registry[name])
        return self.registry[name].sha256 if is_copy else ""

    def copy(self, dataset: str) -> str:
        """Return the verified copy of a registered dataset."""
        return verified_copy(self.registry[dataset])

    def dataset_places(self, wildcards: Any) -> dict[str, str | None]:
        """Return where a dataset is looked for."""
        return places(wildcards.dataset, self.config["datasets"])

    def dataset_checksum(self, wildcards: Any) -> str:
        """Return the registered checksum of a dataset."""
        return self.registry[wildcards.dataset].sha256

    def described(self, area: Area, made: Sequence[Made]) -> list[dict[str, Any]]:
        """Return what some tables and figures of an area depend on of units, for the step that makes them.

        It names only what they are made of, so that what else a unit gains or loses makes none of them again.
        """
        keys = ("name", "tests", "options", "files", "marks")
        read = {file for one in made for file in one.item.files}
        units = [unit for unit in self.units[area.name].chosen if any(unit in one.units for one in made)]
        return [
            {key: getattr(unit, key) for key in keys} | {"lacks": dict.fromkeys(_lacking_of(unit, read), "")}
            for unit in units
        ]

    def made(self, area: Area) -> list[Made]:
        """Return the tables and figures of an area in this run."""
        found = expand(area.items, self.units[area.name].chosen)
        return [one for one in found if not any(f"{area.name}/{file}" in self.lost for file in one.files)]

    def reports(self, area: Area) -> dict[tuple[str, ...], list[Made]]:
        """Return the tables and figures of an area, by the parts of the name of the job that makes them.

        Those of all units are one job, those of each unit another. What shows sentences of a corpus is apart,
        since no crate has these.
        """
        found: dict[tuple[str, ...], list[Made]] = {}
        for made in self.made(area):
            unit = () if made.item.per == ALL else (made.units[0].name,)
            shows_texts = any(area.holds_texts(file) for file in made.inputs(area))
            found.setdefault(unit + ("showing_texts",) * shows_texts, []).append(made)
        return found

    def report_inputs(self, area: Area, made: Sequence[Made]) -> list[str]:
        """Return the files that some tables and figures of an area are made of."""
        return list(dict.fromkeys(file for one in made for file in one.inputs(area)))

    def report_files(self, area: str) -> list[str]:
        """Return all files of the tables and figures of an area."""
        made = self.made(self.area(area))
        return [f"results/{area}/{file}" for one in made for file in one.files]

    def record(self) -> dict[str, Any]:
        """Return what decides the results: the configuration without where data lie and what is not run."""
        record = {"seed": self.config["seed"], "areas": self.config["areas"]}
        for units in self.units.values():
            record = merge(record, units.record)
        return record | ({FAILED: self.config[FAILED]} if self.lost else {})

    def audited(self) -> dict[str, Any]:
        """Return what was run, what was left out and what failed steps cost, for the audit."""
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
        """Return the results that a unit does without, as patterns relative to the results, by the reason."""
        folder = area.folder(unit.name, "")[1:]
        reasons = {f"{folder}/{pattern}": reason for pattern, reason in unit.lacks.items()}
        made = {one.stem for one in self.made(area) if unit in one.units}
        for one in expand(area.items, [replace(unit, lacks={})]):
            if one.stem not in made:
                files = [f"{area.name}/{file}" for file in one.files]
                why = [self.lost.get(file) for file in files]
                why += [unit.why_without(file, one.test) for file in one.item.files]
                tables = (file for file in files if file.endswith(".tsv"))  # no claim reads a picture
                reasons |= dict.fromkeys(tables, next(filter(None, why), ""))
        by_reason: dict[str, list[str]] = {}
        for file, reason in reasons.items():
            by_reason.setdefault(reason, []).append(file)
        return by_reason

    def inputs(self) -> dict[str, str]:
        """Return the input files of the run, for the manifest; a step that failed may have cost some."""
        files: dict[str, str] = {}
        for units in self.units.values():
            files |= units.files
        if self.lost:
            files = {name: file for name, file in files.items() if Path(file).exists()}
        known = self.known_inputs()
        return {name: file for name, file in files.items() if name not in known}

    def known_inputs(self) -> dict[str, str]:
        """Return the sha256 of the input files that are verified copies, which need not be here."""
        digests = {verified_copy(dataset): dataset.sha256 for dataset in self.registry.values()}
        files = [pair for units in self.units.values() for pair in units.files.items()]
        return {name: digests[file] for name, file in files if file in digests}


def make_plan(
    raw: Mapping, root: Path, deploys: bool = False, download: Callable[[str], None] | None = None
) -> Plan:
    """Check a configuration and decide what a run will do.

    `deploys`: steps run in environments of their own, which have the extras that areas need. `download`:
    data are copied now, those that nobody has tried to download are downloaded, and this function is called
    with progress.
    """
    config = configuration.load(raw, root)
    registry = load_registry(root / configuration.REGISTRY)
    areas, notices, taken = [], [], read_taken(Path("results"))
    for area in chosen_areas(config):
        if not deploys and (reason := missing_extra(area.extra, taken.extras)):
            notices.append(f"the area {area.name} is left out: {reason}")
        else:
            areas.append(area)
    names = wanted(config, areas)
    states = {name: status(registry[name], registry, config["datasets"], taken.datasets) for name in names}
    if download:
        fetched = [
            name
            for name in names
            if states[name].state != ABSENT and taken.datasets.get(name) != registry[name].sha256
        ]
        fetch_wanted(fetched, registry, config["datasets"], download)
        states |= {name: status(registry[name], registry, config["datasets"]) for name in fetched}
    absent = {name: state.reason for name, state in states.items() if state.state == ABSENT}
    unreadable = frozenset(
        name
        for name in taken.datasets.keys() & states.keys() - absent.keys()
        if status(registry[name], registry, config["datasets"]).state == ABSENT
    )
    units: dict[str, Units] = {}
    others: dict[str, Unit] = {}
    for area in areas:
        chosen = area.choose(Given(config, raw, registry, root, absent, others, taken.extras))
        units[area.name] = _without(area, chosen, config[FAILED])
        others |= {unit.name: unit for unit in units[area.name].chosen}
        notices += [f"{area.name} goes without {n}: {why}" for n, why in units[area.name].left_out.items()]
    notices += [f"goes without {listed(files)}: {reason}" for reason, files in config[FAILED].items()]
    notices += [
        f"{name} cannot be had, and its results were taken: what holds its texts is left out"
        for name in sorted(unreadable)
    ]
    notices += _to_download(states)
    plan = Plan(config, root, registry, tuple(areas), units, absent, tuple(notices), unreadable)
    check_taken(taken, config)
    return plan


def _lacking_of(unit: Unit, files: Collection[str]) -> list[str]:
    """Return the patterns of what a unit lacks that are of some files."""
    return [one for one in unit.lacks if not all(map(replace(unit, lacks={one: ""}).has, files))]


def _without(area: Area, units: Units, failed: Mapping[str, Sequence[str]]) -> Units:
    """Return the units of an area without the results that steps which failed cost."""

    def whole(unit: Unit) -> Unit:
        folder = area.folder(unit.name, "")[1:] + "/"
        lost = {
            file.removeprefix(folder): reason
            for reason, files in failed.items()
            for file in files
            if file.startswith(folder)
        }
        return replace(unit, lacks={**unit.lacks, **lost}) if lost else unit

    return replace(units, chosen=tuple(map(whole, units.chosen)))


def listed(files: Sequence[str]) -> str:
    """Return the first of some files, and how many more there are."""
    more = f" and {len(files) - _LISTED} more results" if len(files) > _LISTED else ""
    return ", ".join(files[:_LISTED]) + more


def wanted(config: Mapping, areas: Sequence[Area] | None = None) -> list[str]:
    """Return the registered datasets that a run of some areas, by default all, would use, sorted."""
    chosen = chosen_areas(config) if areas is None else areas
    return sorted(set().union(*(area.wanted(config) for area in chosen)))


def chosen_areas(config: Mapping) -> list[Area]:
    """Return the areas of a configuration in the order of the list of areas, however they are written."""
    return [load_area(name) for name in AREAS if name in config["areas"]]


def _to_download(states: Mapping[str, Status]) -> list[str]:
    """Say which data are not here yet: of a run that only looks."""
    return [
        f"{name} is to be downloaded first ({state.reason})"
        for name, state in states.items()
        if state.state == PENDING
    ]
