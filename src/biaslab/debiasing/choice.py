"""Which embeddings, benchmarks and lists of the authors a run has, and why the others are left out."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

BENCHMARKS = {"rg65": None, "wordsim353": "wordsim353", "msr": "msr-syntax"}
"""The registered dataset of each benchmark; None for a file of the repository."""
AUTHORS = {
    "occupations": "debiaswe-occupations",
    "equalize": "debiaswe-equalize",
    "specific": "debiaswe-specific",
    "seeds": "debiaswe-specific-seed",
}
"""The registered datasets of the authors' word lists, each of which may be missing."""


@dataclass(frozen=True)
class Inputs:
    """What a run of the area works on.

    Attributes
    ----------
    embeddings : dict of str to (str or None)
        The registered dataset of each embedding; None for the first baseline of the setup of its name.
    benchmarks : dict of str to (str or None)
        The registered dataset of each benchmark; None for a file of the repository.
    authors : dict of str to str
        The registered dataset of each list of the authors that is there. They are for registered embeddings.
    left_out : dict of str to str
        What the configuration names and the run lacks, each with the reason.
    """

    embeddings: dict[str, str | None]
    benchmarks: dict[str, str | None]
    authors: dict[str, str]
    left_out: dict[str, str]

    @property
    def questions(self) -> list[str]:
        """The benchmarks of analogies; the others are of rated pairs."""
        return [name for name in self.benchmarks if name == "msr"]


def wanted_datasets(config: Mapping) -> set[str]:
    """Return the registered datasets that a run would use.

    Parameters
    ----------
    config : mapping
        The complete configuration.
    """
    section = config["debiasing"]
    embeddings = {name for name in section["embeddings"] if name not in config["setups"]}
    benchmarks = {BENCHMARKS[name] for name in section["benchmarks"]} - {None}
    return embeddings | benchmarks | (set(AUTHORS.values()) if embeddings else set())


def choose_inputs(config: Mapping, setups: Collection[str], absent: Mapping[str, str]) -> Inputs:
    """Say what a run works on.

    Parameters
    ----------
    config : mapping
        The complete configuration.
    setups : collection of str
        The setups that are run.
    absent : mapping of str to str
        Those of `wanted_datasets` that cannot be had, each with the reason.

    Returns
    -------
    Inputs
        Of an area without any embedding left, nothing but the reasons.
    """
    section = config["debiasing"]
    embeddings = {name: None if name in config["setups"] else name for name in section["embeddings"]}
    benchmarks = {name: BENCHMARKS[name] for name in section["benchmarks"]}
    named = {**embeddings, **benchmarks}
    left_out = {name: absent[dataset] for name, dataset in named.items() if dataset in absent}
    left_out |= {
        name: f"the setup {name} is not run"
        for name, dataset in embeddings.items()
        if dataset is None and name not in setups
    }
    return Inputs(
        {name: dataset for name, dataset in embeddings.items() if name not in left_out},
        {name: dataset for name, dataset in benchmarks.items() if name not in left_out},
        {key: dataset for key, dataset in AUTHORS.items() if dataset not in absent},
        left_out,
    )
