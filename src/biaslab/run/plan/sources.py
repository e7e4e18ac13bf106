"""Sources in a configuration: files of the user, or ``dataset:NAME`` for registered datasets."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from biaslab.core.errors import suggest
from biaslab.core.files import locate, not_found, read_yaml
from biaslab.run.area import Given
from biaslab.run.areas import SETUPS
from biaslab.run.data.datasets import Dataset, dataset_name, unregistered, verified_copy

MISSING = "is missing; name the file"
CHOICES = ("run", "otherwise")
"""The keys of a section for units: those to run, and those to run if none of these is available."""


def file_of(source: str, registry: Mapping[str, Dataset], root: Path) -> str:
    """Return the file of a source: a verified copy, or the user's own file."""
    dataset = dataset_name(source)
    return verified_copy(registry[dataset]) if dataset else str(locate(source, root))


def comes_along(source: str, root: Path) -> bool:
    """Return whether a source is a file shipped with biaslab; data among these files are made up."""
    shipped = (root / "workflow/resources").resolve()
    return not dataset_name(source) and locate(source, root).resolve().is_relative_to(shipped)


def source_problem(source: str | None, given: Given) -> str:
    """Return the problem of a source in one clause; "" for no problem and for None."""
    if source == "":
        return MISSING
    if source is None:
        return ""
    dataset = dataset_name(source)
    return unregistered(dataset, given.registry) if dataset else not_found(source, given.root, or_folder=True)


def datasets_of(sources: Iterable[str | None]) -> list[str]:
    """Return the registered datasets among sources, in order."""
    return [name for name in map(dataset_name, sources) if name]


def setups_of(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the corpora with embeddings in a configuration, by name."""
    area, key = SETUPS
    return config[area][key]


def unknown_test(weat: str, known: Mapping[str, str], key: str) -> str:
    """Return the problem of an association test that has no file under `key`; "" for a known test."""
    near = suggest(weat, known) or f"; name its file under {key}"
    return "" if weat in known else f"unknown test '{weat}' (defined: {', '.join(known)}){near}"


def word_sets_problem(weat: str, file: str, root: Path) -> str:
    """Return the problem of a test's file: missing, or with another test name; "" for no problem."""
    if problem := not_found(file, root):
        return problem
    name = read_yaml(locate(file, root)).get("name")
    return "" if name == weat else f"{file} holds the test '{name}'; use the same name in both places"


def choose_available(
    section: Mapping[str, Any],
    needed: Callable[[str], Sequence[str]],
    absent: Mapping[str, str],
    prefix: str = "",
) -> tuple[list[str], dict[str, str]]:
    """Return the available names in ``run``, or else in ``otherwise``, and why other units are left out.

    `needed` returns the datasets of a name. Units have the prefix; the first missing dataset is the reason.
    """
    chosen, left_out = [], {}
    for key in CHOICES:
        lacking = {name: [d for d in needed(name) if d in absent] for name in section[key]}
        chosen = [name for name, missing in lacking.items() if not missing]
        left_out |= {prefix + name: absent[missing[0]] for name, missing in lacking.items() if missing}
        if chosen:
            break
    return chosen, left_out
