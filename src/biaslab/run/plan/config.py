"""Merge configuration files, check them, and fill in defaults.

The keys are fields of dataclasses: `Common`, and `Area.settings` for the keys of areas. Each area checks
rules that types and bounds cannot express.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, make_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic.dataclasses import dataclass

from biaslab.core.errors import InputError, suggest
from biaslab.core.files import parse_json, read_text, read_yaml
from biaslab.core.settings import ONE_OR_MORE, PYDANTIC, SEED, Count, Seed, complete, default_of, merge
from biaslab.run import REGISTRY
from biaslab.run.area import Given, load_area
from biaslab.run.areas import AREAS
from biaslab.run.data.datasets import Dataset, load_registry, unregistered


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Datasets:
    """Where registered input data lie (see workflow/resources/datasets.tsv)."""

    mirror: Annotated[
        str | None,
        "folder that is searched for registered files before anything is downloaded (the default may be"
        " missing); null for none",
    ] = "../shared/data"
    paths: Annotated[
        dict[str, Annotated[str, "a file or folder"]],
        "own copies of registered data, as dataset name to file or folder",
    ] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Cluster:
    """What no step asks for more than, however much it would like; results do not depend on it."""

    max_threads: Annotated[Count | None, "threads of a step; null for as many as it can use, at most 8"] = (
        None
    )
    max_memory: Annotated[
        Count | None,
        "megabytes that a node of the cluster has; null for as many as a step needs, and twice that at a"
        " retry",
    ] = None
    max_runtime: Annotated[
        Count | None, "minutes that the cluster lets a job run; null for as many as a step could take"
    ] = None


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Common:
    """The keys that no area owns; those of the areas follow `areas`."""

    seed: Seed = SEED
    areas: Annotated[
        tuple[Annotated[Literal[AREAS], "an area"], ...],
        "list of the areas to run; by default all areas",
        *ONE_OR_MORE,
    ] = AREAS
    failed: Annotated[
        dict[str, Annotated[tuple[Annotated[str, "a result"], ...], "files below results/"]],
        "results that a run skips because a step failed before, by failed step;"
        " biaslab run sets this value for the audit of the available results; leave it empty",
    ] = field(default_factory=dict)
    datasets: Datasets = Datasets()
    cluster: Cluster = Cluster()


PRESETS = Path("workflow/presets")
CONFIG = "config.yaml"
"""The complete configuration of the repository, or the user's own in a working directory."""


@functools.cache
def settings() -> type:
    """Return the dataclass of the complete configuration: common keys, and keys of every area."""
    areas = [load_area(area) for area in AREAS]
    common = _rows(Common)
    rows = {key: common.pop(key) for key in ("seed", "areas")}
    for area in areas:
        rows |= _rows(area.shared) if area.shared else {}
    rows |= {area.name: (area.name, area.settings, field(default_factory=area.settings)) for area in areas}
    kind = make_dataclass("Settings", (rows | common).values(), frozen=True)
    return dataclass(kind, frozen=True, config=PYDANTIC)


def _rows(group: type) -> dict[str, tuple[str, Any, Any]]:
    return {
        f.name: (f.name, f.type, field(default_factory=functools.partial(default_of, f)))
        for f in fields(group)
    }


def load_files(files: Sequence[Path], root: Path) -> dict[str, Any]:
    """Merge YAML files, with precedence for later files, and `load` the result."""
    return load(read_files(files), root)


def read_files(files: Sequence[Path]) -> dict[str, Any]:
    """Merge YAML files, with precedence for later files, without defaults."""
    config: dict[str, Any] = {}
    for file in files:
        overlay = read_written(file)
        if not overlay:  # Snakemake cannot read an empty file
            raise InputError(
                f"{file}: the file has no settings; write lines of the form 'key: value', or remove it"
            )
        complete(settings(), overlay, str(file))
        config = merge(config, overlay)
    return config


def read_written(file: Path) -> dict[str, Any]:
    """Read a file with settings: YAML, or the JSON of a run, in which 5e-05 is a number and not a text."""
    if file.suffix != ".json":
        return read_yaml(file)
    try:
        value = parse_json(read_text(file, "configuration"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: not valid JSON ({error}); name the configuration of a run") from error
    if not isinstance(value, dict):
        raise InputError(f"{file}: contains no mapping; name the configuration of a run")
    return value


def load(raw: Mapping, root: Path) -> dict[str, Any]:
    """Check a configuration, and return a deep copy with every key.

    `root` is the repository. Files that the working directory lacks are looked up there.
    """
    config = complete(settings(), raw, "config")
    given = Given(config, raw, load_registry(root / REGISTRY), root)
    for area in config["areas"]:
        for problem in load_area(area).check(given):
            raise InputError(f"config: {problem}")
    _check_datasets(config["datasets"], given.registry)
    return config


def overlays(preset: str | None, files: Sequence[Path] | None, root: Path) -> list[Path]:
    """Return the files to merge into config.yaml: the file of a preset, then the user's files."""
    for file in files or []:
        if file.exists() and not file.is_file():
            raise InputError(
                f"{file}: not a regular file, and settings are read more than once; write the settings"
                " to a file and name the file"
            )
    if not preset:
        return [*(files or [])]
    folder = root / PRESETS
    presets = sorted(path.stem for path in folder.glob("*.yaml"))
    if preset not in presets:
        problem = f"there is no preset '{preset}' (in {folder}: {', '.join(presets)})"
        raise InputError(f"{problem}{suggest(preset, presets)}")
    return [folder / f"{preset}.yaml", *(files or [])]


def _check_datasets(datasets: Mapping, registry: Mapping[str, Dataset]) -> None:
    """Refuse missing copies and mirrors of the user; only the default mirror may be missing."""
    for dataset, path in datasets["paths"].items():
        if problem := unregistered(dataset, registry):
            raise InputError(f"config: datasets.paths: {problem}")
        if not Path(path).exists():
            raise InputError(
                f"config: datasets.paths.{dataset}: no such file or folder: {path}; correct the path"
            )
    mirror = datasets["mirror"]
    if mirror not in (None, Datasets.mirror) and not Path(mirror).is_dir():
        raise InputError(
            f"config: datasets.mirror: no such folder: {mirror}; correct the path, or write null"
        )
