"""Labelled corpora under the configuration key ``corpora``, which areas use with their own settings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biaslab.core.errors import suggest
from biaslab.core.settings import plain
from biaslab.run.area import Given
from biaslab.run.plan.sources import source_problem

TEXTS = ("source", "validation", "test")  # the keys of a corpus for files with its texts


def corpora_of(config: Mapping[str, Any], section: Mapping[str, Any], own: type) -> dict[str, dict[str, Any]]:
    """Return all corpora, each merged with its settings in a section, or with the defaults of `own`."""
    needs = section["corpora"]
    return {name: corpus | needs.get(name, plain(own())) for name, corpus in config["corpora"].items()}


def named_in(section: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    """Return the distinct corpora that a section names under the given keys."""
    return list(dict.fromkeys(name for key in keys for name in section[key]))


def check_corpora(section: Mapping[str, Any], keys: Sequence[str], place: str, given: Given) -> Iterator[str]:
    """Yield the problems of named corpora: undefined names and missing texts."""
    corpora = given.config["corpora"]
    for key in (*keys, "corpora"):
        for name in section[key]:
            if name not in corpora:
                listed = f"(defined under corpora: {', '.join(corpora)}){suggest(name, corpora)}"
                yield f"{place}.{key}: there is no corpus '{name}' {listed}"
    for name in (name for name in named_in(section, keys) if name in corpora):
        for key in TEXTS:
            if problem := source_problem(corpora[name][key], given):
                yield f"corpora.{name}.{key}: {problem}"
        parts = [key for key in TEXTS[1:] if corpora[name][key]]
        if len(parts) == 1:
            problem = "names only one of validation and test; name both, or write null for both"
            yield f"corpora.{name}.{parts[0]}: {problem}"


def part_of(config: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the corpora that determine an area's results, for its record."""
    return {"corpora": {name: config["corpora"][name] for name in names}}
