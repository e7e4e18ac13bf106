"""Sources that a configuration names: files of the user, or ``dataset:NAME`` for registered datasets."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from biaslab.core.errors import suggest
from biaslab.core.files import locate, not_found, read_yaml
from biaslab.run.area import Given
from biaslab.run.areas import SETUPS
from biaslab.run.datasets import Dataset, dataset_name, unregistered, verified_copy

MISSING = "is missing; name the file"


def file_of(source: str, registry: Mapping[str, Dataset], root: Path) -> str:
    """Return the file that a source is read from: a verified copy, or the user's own."""
    dataset = dataset_name(source)
    return verified_copy(registry[dataset]) if dataset else str(locate(source, root))


def comes_along(source: str, root: Path) -> bool:
    """Tell whether a source is one of the files that come with biaslab: data among these are made up."""
    shipped = (root / "workflow/resources").resolve()
    return not dataset_name(source) and locate(source, root).resolve().is_relative_to(shipped)


def source_problem(source: str | None, given: Given) -> str:
    """Return what is wrong with a source, in one clause; "" for nothing, and for a source that is None."""
    if source == "":
        return MISSING
    if source is None:
        return ""
    dataset = dataset_name(source)
    return unregistered(dataset, given.registry) if dataset else not_found(source, given.root, or_folder=True)


def datasets_of(sources: Iterable[str | None]) -> list[str]:
    """Return the registered datasets among some sources, in their order."""
    return [name for name in map(dataset_name, sources) if name]


def setups_of(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the corpora with their embeddings that a configuration names, by name."""
    area, key = SETUPS
    return config[area][key]


def unknown_test(weat: str, known: Mapping[str, str], key: str) -> str:
    """Return what is wrong with the name of an association test whose file no `key` says; "" for nothing."""
    near = suggest(weat, known) or f"; name its file under {key}"
    return "" if weat in known else f"there is no test '{weat}' (defined: {', '.join(known)}){near}"


def word_sets_problem(weat: str, file: str, root: Path) -> str:
    """Return what is wrong with the file of a test: it is not there or bears another name; "" if nothing."""
    if problem := not_found(file, root):
        return problem
    name = read_yaml(locate(file, root)).get("name")
    return "" if name == weat else f"{file} holds the test '{name}'; use one name, there and here"


def available(
    needed: Mapping[str, Sequence[str]], absent: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Return which units can be had, and why the others cannot: the reason of the first dataset they lack."""
    lacking = {name: [d for d in datasets if d in absent] for name, datasets in needed.items()}
    chosen = [name for name, lost in lacking.items() if not lost]
    return chosen, {name: absent[lost[0]] for name, lost in lacking.items() if lost}
