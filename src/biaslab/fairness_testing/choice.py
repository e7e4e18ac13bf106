"""Which classifiers a run tests, where their files come from, and why the others are left out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from biaslab.run.config import dataset_name

TRAIN = "train"
"""Instead of a file with a network: train one on the data."""
_FILES = ("data", "network", "clusters")


@dataclass(frozen=True)
class Inputs:
    """What a run of the area works on.

    Attributes
    ----------
    classifiers : dict of str to dict
        The sections of the configuration of those that are run; ``network`` is None if one is to be trained,
        and ``clusters`` None where the rows are to be clustered.
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
    section = config["fairness_testing"]
    names = [*section["run"], *section["otherwise"]]
    return {dataset for name in names for dataset in _datasets(section["classifiers"][name])}


def choose_inputs(config: Mapping, absent: Mapping[str, str]) -> Inputs:
    """Say what a run works on: what is there of ``run``, or else of ``otherwise``.

    Parameters
    ----------
    config : mapping
        The complete configuration.
    absent : mapping of str to str
        Those of `wanted_datasets` that cannot be had, each with the reason.
    """
    section = config["fairness_testing"]
    chosen, left_out = _choose(section, section["run"], absent)
    if not chosen:
        chosen, further = _choose(section, section["otherwise"], absent)
        left_out |= further
    return Inputs(chosen, left_out)


def _choose(
    section: Mapping, names: Iterable[str], absent: Mapping[str, str]
) -> tuple[dict[str, dict[str, str | None]], dict[str, str]]:
    """Return those of some classifiers that can be had, and why the others cannot."""
    chosen, left_out = {}, {}
    for name in names:
        files = section["classifiers"][name]
        missing = [dataset for dataset in _datasets(files) if dataset in absent]
        if missing:
            left_out[name] = absent[missing[0]]
        else:
            chosen[name] = {**files, "network": None if files["network"] == TRAIN else files["network"]}
    return chosen, left_out


def _datasets(classifier: Mapping[str, str | None]) -> list[str]:
    """Return the registered datasets among the files of a classifier."""
    names = [dataset_name(classifier[key] or "") for key in _FILES]
    return [name for name in names if name]
