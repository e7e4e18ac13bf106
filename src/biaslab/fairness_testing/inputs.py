"""Which classifiers a run tests, where their files come from, and why the others are left out."""

from collections.abc import Mapping
from dataclasses import dataclass

DATASET = "dataset:"
TRAIN = "train"
"""Instead of a file with a network: train one on the data."""
_FILES = ("data", "network", "clusters")


@dataclass(frozen=True)
class Inputs:
    """What a run of the area works on.

    Attributes
    ----------
    classifiers : dict of str to dict
        The sections of the configuration of those that are run; ``network`` is None where it is to be trained, and
        ``clusters`` None where the rows are to be clustered.
    left_out : dict of str to str
        Classifiers that cannot be run, each with the reason.
    """

    classifiers: dict[str, dict[str, str | None]]
    left_out: dict[str, str]


def wanted_datasets(config: Mapping) -> set[str]:
    """Return the registered datasets that a run would use.

    Parameters
    ----------
    config : mapping
        The complete configuration.
    """
    return {dataset for name in _names(config) for dataset in _datasets(_section(config, name))}


def choose_inputs(config: Mapping, absent: Mapping[str, str]) -> Inputs:
    """Say what a run works on.

    Parameters
    ----------
    config : mapping
        The complete configuration.
    absent : mapping of str to str
        Those of `wanted_datasets` that cannot be had, each with the reason.
    """
    chosen, left_out = {}, {}
    for name in _names(config):
        section = _section(config, name)
        missing = [dataset for dataset in _datasets(section) if dataset in absent]
        if missing:
            left_out[name] = absent[missing[0]]
        else:
            chosen[name] = {**section, "network": None if section["network"] == TRAIN else section["network"]}
    return Inputs(chosen, left_out)


def _names(config: Mapping) -> list[str]:
    return config["fairness_testing"]["run"]


def _section(config: Mapping, name: str) -> Mapping[str, str | None]:
    return config["fairness_testing"]["classifiers"][name]


def _datasets(section: Mapping[str, str | None]) -> list[str]:
    """Return the registered datasets among the files of a classifier."""
    files = [section[key] or "" for key in _FILES]
    return [file.removeprefix(DATASET) for file in files if file.startswith(DATASET)]
