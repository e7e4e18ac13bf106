"""What a setup expands to: perturbation sets, batches of trainings, and the files they are in.

Brunet et al. 2019, Appendix C: baselines, targeted sets per test and size, random sets, retrainings.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from biaslab.bias.names import PERTURBATION_SETS
from biaslab.core.errors import InputError
from biaslab.origins.sets import BASELINE, by_ppmi, is_by_ppmi, is_random, random_sets, targeted_sets

TEST_WORD_COUNTS = ["n_S", "n_T", "n_A", "n_B"]
"""The columns of a document's differential bias that count the words of each set of the test in it."""

BATCH = "batch-"
"""How the files of a job begin that runs several trainings."""

SETS = f"{PERTURBATION_SETS}.parquet"
"""Which documents are in which set."""


class Batch(NamedTuple):
    """Trainings that one job runs in a row: replicates ``first`` to ``first + count - 1`` of a set."""

    index: int
    first: int
    count: int


def baseline_sets(setup: Mapping) -> list[str]:
    """Return the name of the whole corpus as a set, of which nothing is left out."""
    return [BASELINE]


def perturbation_sets(setup: Mapping) -> list[str]:
    """Return the names of all sets of documents that a setup (complete with defaults) removes."""
    perturbations = setup["perturbations"]
    targeted = targeted_sets(setup["bias"]["weats"], perturbations["sizes"])
    n_random = perturbations["random_sets"] if _random_retrainings(setup) else 0
    return targeted + random_sets(perturbations["random_sizes"], n_random)


def _random_retrainings(setup: Mapping) -> int:
    """Return how many embeddings a setup trains without each random set."""
    own = setup["perturbations"]["random_retrainings"]
    return setup["perturbations"]["retrainings"] if own is None else own


def largest_sets(setup: Mapping) -> list[str]:
    """Return the names of the largest increase and decrease set of every test of a setup's configuration."""
    return targeted_sets(setup["bias"]["weats"], [max(setup["perturbations"]["sizes"])])


def ppmi_sets(setup: Mapping) -> list[str]:
    """Return the names of the sets that the PPMI baseline finds, of a setup's first test (Table 5)."""
    return targeted_sets([by_ppmi(setup["bias"]["weats"][0])], setup["ppmi_sets"]["sizes"])


def batches(trainings: int, per_job: int) -> list[Batch]:
    """Deal `trainings` replicates into jobs of at most `per_job`."""
    starts = range(0, trainings, per_job)
    return [Batch(index, first, min(per_job, trainings - first)) for index, first in enumerate(starts)]


def trainings_of(set_name: str, setup: Mapping) -> int:
    """Return how many embeddings a setup trains for a set (`BASELINE` for the whole corpus).

    Sets that Table 5 compares are trained equally often, and never less often than the others.
    """
    if set_name == BASELINE:
        return setup["baselines"]
    if is_random(set_name):
        return _random_retrainings(setup)
    own, compared = setup["perturbations"]["retrainings"], setup["ppmi_sets"]["retrainings"]
    if is_by_ppmi(set_name):
        return compared
    return max(own, compared) if by_ppmi(set_name) in ppmi_sets(setup) else own


def batches_of(set_name: str, setup: Mapping) -> list[Batch]:
    """Return the batches a setup trains for a set."""
    return batches(trainings_of(set_name, setup), setup["trainings_per_job"])


@dataclass(frozen=True)
class Retrainings:
    """Embeddings that an analysis trains without sets of its own, several of these sets a job."""

    phrase: str  # what a summary calls the sets, after their number
    n_sets: Callable[[Mapping], int]  # of a setup
    each: Callable[[Mapping], int]  # embeddings without each set

    def batches(self, setup: Mapping) -> list[Batch]:
        """Return the batches of sets, as many as trainings in a job."""
        return batches(self.n_sets(setup), setup["trainings_per_job"])

    def describe(self, setup: Mapping) -> tuple[str, int]:
        """Return what a setup leaves out, "" for nothing, and how many embeddings it trains, at most."""
        n_sets = self.n_sets(setup)
        return self.phrase.format(n_sets) if n_sets else "", n_sets * self.each(setup)


def embedding_files(folder: str, set_names: Sequence[str], setup: Mapping) -> list[str]:
    """Return the files that hold the embeddings of the given sets, `BASELINE` or perturbation sets."""
    return [
        f"{folder}/embeddings/{name}/batch-{batch.index}.npz"
        for name in set_names
        for batch in batches_of(name, setup)
    ]


def of_test(files: Sequence[Path], weat: str) -> Path:
    """Return the file of a test among those that were given, a file for each test."""
    by_test = {path.stem: path for path in files}
    if weat not in by_test:
        raise InputError(f"{weat}: no table of this test among {', '.join(by_test)}; give one for each test")
    return by_test[weat]
