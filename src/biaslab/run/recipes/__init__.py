"""Recipes: how a registered dataset is made of public files that hold the same in another form.

A recipe is a function of the downloaded files, in the order of their addresses, and of the file to write.
What it makes is checked against the registered checksum, so the files themselves need none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path


@dataclass(frozen=True)
class Recipe:
    """One transformation by a function (files, target), whose module is imported when it is used."""

    function: str  # MODULE:NAME
    max_bytes: int  # the most that one of the public files may have

    def make(self, files: Sequence[Path], target: Path) -> None:
        """Write a dataset."""
        module, _, name = self.function.partition(":")
        getattr(import_module(module), name)(files, target)


RECIPES = {
    "compas": Recipe("biaslab.run.recipes.compas:write_table", 2**24),
    "kmeans-labels": Recipe("biaslab.run.recipes.clusters:write_labels", 2**20),
    "news-identity": Recipe("biaslab.run.recipes.news:draw_sentences", 2**29),
    "stormfront": Recipe("biaslab.run.recipes.stormfront:keep_sentences", 2**26),
    "tensorflow-layers": Recipe("biaslab.classifiers.tensorflow_bundle:write_weights", 2**20),
}
"""By the name that the registry gives."""
