"""Recipes that build a registered dataset from public files with the same content in another format.

A recipe is a function of the downloaded files, in the order of their addresses, and of the target file.
Its output is checked against the registered checksum, so the public files need no checksum.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path


@dataclass(frozen=True)
class Recipe:
    """A transformation by a function (files, target) in a module that is imported when needed."""

    function: str  # MODULE:NAME
    max_bytes: int  # maximum size of each public file

    def make(self, files: Sequence[Path], target: Path) -> None:
        """Write the dataset to `target`."""
        module, _, name = self.function.partition(":")
        getattr(import_module(module), name)(files, target)


RECIPES = {
    "compas": Recipe("biaslab.run.recipes.compas:write_table", 2**24),
    "kmeans-labels": Recipe("biaslab.run.recipes.clusters:write_labels", 2**20),
    "news-identity": Recipe("biaslab.run.recipes.news:draw_sentences", 2**29),
    "stormfront": Recipe("biaslab.run.recipes.stormfront:keep_sentences", 2**26),
    "tensorflow-layers": Recipe("biaslab.classifiers.tensorflow_bundle:write_weights", 2**20),
}
"""Recipes by their names in the registry."""
