"""Expand a setup to its perturbation sets, batches of trainings, and their files.

Brunet et al. 2019, Appendix C: baselines, targeted sets per test and size, random sets, retrainings.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from biaslab.core.errors import InputError
from biaslab.origins.sets import BASELINE, by_ppmi, is_by_ppmi, is_random, random_set, targeted_sets

SETS = "perturbation_sets.parquet"  # the table of the documents of each set


class Batch(NamedTuple):
    """Trainings that one job runs in a row: replicates ``first`` to ``first + count - 1`` of a set."""

    first: int
    count: int


def baseline_sets(setup: Mapping) -> list[str]:
    """Return the set name of the entire corpus."""
    return [BASELINE]


def perturbation_sets(setup: Mapping) -> list[str]:
    """Return the names of all sets of documents that a setup (complete with defaults) removes."""
    perturbations = setup["perturbations"]
    targeted = targeted_sets(setup["bias"]["weats"], perturbations["sizes"])
    n_random = perturbations["random_sets"] if _random_retrainings(setup) else 0
    return targeted + [random_set(n, k) for n in perturbations["random_sizes"] for k in range(n_random)]


def _random_retrainings(setup: Mapping) -> int:
    """Return the number of embeddings that a setup trains without each random set."""
    n_random = setup["perturbations"]["random_retrainings"]
    return setup["perturbations"]["retrainings"] if n_random is None else n_random


def largest_sets(setup: Mapping) -> list[str]:
    """Return the names of the largest increase and decrease set of every test of a setup's configuration."""
    return targeted_sets(setup["bias"]["weats"], [max(setup["perturbations"]["sizes"])])


def ppmi_sets(setup: Mapping) -> list[str]:
    """Return the names of the sets selected by the PPMI baseline for a setup's first test (Table 5)."""
    return targeted_sets([by_ppmi(setup["bias"]["weats"][0])], setup["ppmi_sets"]["sizes"])


def batches(trainings: int, per_job: int) -> list[Batch]:
    """Deal `trainings` replicates into jobs of at most `per_job`."""
    return [Batch(first, min(per_job, trainings - first)) for first in range(0, trainings, per_job)]


def trainings_of(set_name: str, setup: Mapping) -> int:
    """Return the number of embeddings that a setup trains for a set (`BASELINE` for the entire corpus).

    Estimator sets of Table 5 have at least as many retrainings as their PPMI sets and as other sets.
    """
    if set_name == BASELINE:
        return setup["baselines"]
    if is_random(set_name):
        return _random_retrainings(setup)
    n, n_ppmi = setup["perturbations"]["retrainings"], setup["ppmi_sets"]["retrainings"]
    if is_by_ppmi(set_name):
        return n_ppmi
    return max(n, n_ppmi) if by_ppmi(set_name) in ppmi_sets(setup) else n


def word2vec_trainings_of(set_name: str, setup: Mapping) -> int:
    """Return the number of word2vec embeddings that a setup trains for a set (`BASELINE`: entire corpus)."""
    n = setup["word2vec"]["trainings"]
    return min(n, _random_retrainings(setup)) if is_random(set_name) else n


def batches_of(set_name: str, setup: Mapping) -> list[Batch]:
    """Return the batches of trainings of a set."""
    return batches(trainings_of(set_name, setup), setup["trainings_per_job"])


def doses(setup: Mapping) -> list[str]:
    """Return the shares of planted words, as in the folder names of the corpora with planted documents."""
    return [f"{dose:g}" for dose in setup["planted"]["doses"]] if setup["planted"]["documents"] else []


def embedding_files(folder: str, set_names: Sequence[str], setup: Mapping) -> list[str]:
    """Return the embedding files of the given sets, `BASELINE` or perturbation sets."""
    return [
        f"{folder}/embeddings/{name}/batch-{number}.npz"
        for name in set_names
        for number in range(len(batches_of(name, setup)))
    ]


def of_test(files: Sequence[Path], weat: str) -> Path:
    """Return the file of a test from `files`, one for each test."""
    by_test = {path.stem: path for path in files}
    if weat not in by_test:
        raise InputError(
            f"{weat}: the tables ({', '.join(by_test)}) do not include this test; give one table for each"
            " test"
        )
    return by_test[weat]
