"""Reads the user's own inputs before a run: what is wrong in a file is told within seconds, not by a step.

Each area says in ``inspection.py`` how its inputs are read; the readers are those of its steps. Registered
data are known by their checksum, and files that are large are left to the steps.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biaslab.core.errors import InputError
from biaslab.core.files import locate
from biaslab.run.area import Area
from biaslab.run.datasets import Dataset, dataset_name, verified_copy

MAX_BYTES = 1 << 24
"""The largest file that is read before a run: this takes a second or two."""

Reading = tuple[str, Callable[[], object]]
"""A key of the configuration, and what reads its files or raises `InputError`."""


@dataclass(frozen=True)
class AtHand:
    """The input files that can be read now."""

    registry: Mapping[str, Dataset]
    root: Path

    def own(self, *sources: str | None) -> list[Path]:
        """Return the files of some sources; none where one is registered, a folder or large."""
        files = [locate(source, self.root) for source in sources if source and not dataset_name(source)]
        is_complete = len(files) == sum(bool(source) for source in sources)
        return files if is_complete and all(map(_is_small, files)) else []

    def file(self, source: str) -> Path | None:
        """Return the file of a source that may be a registered dataset, where its copy is there."""
        name = dataset_name(source)
        file = Path(verified_copy(self.registry[name])) if name else locate(source, self.root)
        return file if file.is_file() else None


def inspect(config: Mapping[str, Any], areas: list[Area], at_hand: AtHand) -> None:
    """Read the inputs of areas that are at hand."""
    for module in filter(None, (area.inspection for area in areas)):
        for key, read in importlib.import_module(module).readings(config, at_hand):
            try:
                read()
            except InputError as error:
                raise InputError(f"{key}: {error}") from error


def _is_small(file: Path) -> bool:
    return file.is_file() and file.stat().st_size <= MAX_BYTES
