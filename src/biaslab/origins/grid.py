"""What a setup expands to: perturbation sets, batches of trainings, and the files they are in.

Brunet et al. 2019, Appendix C: baselines, targeted sets per test and size, random sets, retrainings.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from biaslab.bias.names import PERTURBATION_SETS
from biaslab.core.errors import InputError
from biaslab.origins.sets import (
    BASELINE,
    PPMI,
    RANDOM,
    TARGETED_KINDS,
    by_ppmi,
    is_by_ppmi,
    is_single,
    random_sets,
    single_set,
    targeted_sets,
)

ESTIMATORS = ("influence", "newton", "gradient")
"""The three approximations of a retrained embedding, the paper's own (its Equation 8) first."""

RANKINGS = (*ESTIMATORS, PPMI, RANDOM)
"""What ranks the documents whose removal shall flip the sign of a test, the null last."""

TEST_WORD_COUNTS = ["n_S", "n_T", "n_A", "n_B"]
"""The columns of a document's differential bias that count the words of each set of the test in it."""

RANDOMISED_KINDS = ("untrained", "shuffled")
"""Embeddings that know nothing (`biaslab.origins.checks.randomised.analysis`)."""

SETS = f"{PERTURBATION_SETS}.parquet"
"""Which documents are in which set."""

RESULTS = (
    "documents.parquet",
    "vocabulary.tsv",
    "training.tsv",
    "analogies.tsv",
    "baseline.tsv",
    SETS,
    "predictions.tsv",
    "observed.tsv",
    "perturbations.tsv",
    "correlation.tsv",
    "cross_fitting.tsv",
    "seed_stability.tsv",
    "projections.tsv",
    "axis_frequency.tsv",
    "ppmi/baseline.tsv",
    "ppmi/word_sets.tsv",
    "ppmi/correlation.tsv",
    "word2vec/analogies.tsv",
    "word2vec/word_sets.tsv",
    "word2vec/correlation.tsv",
    "transfer/changes.tsv",
    "transfer/responses.tsv",
    f"{PPMI}/{SETS}",
    "ppmi/observed.tsv",
    "single_documents/documents.tsv",
    "single_documents/correlation.tsv",
    "single_documents/auc.tsv",
)
"""What a setup measures, next to the tables of each test."""

LDS = "lds"
"""The mark of a setup with random subsets, and the folder of their results."""

BRITTLENESS = "brittleness"
"""The mark of a setup that retrains without what shall flip a sign, and the folder of the results."""

PLANTED = "planted"
"""The mark of a setup with planted documents, and the folder of their results."""

RANDOMISED = "randomised"
"""The mark of a setup that estimates by embeddings that know nothing, and the folder of their results."""

RELATIVE = "relative_influence"
"""The mark of a setup that measures relative influence, and the folder of its results."""

PLANTED_TABLES = ("differential_bias", "ppmi", RELATIVE)
"""The folders of the tables of each test, in that of a corpus with planted documents."""

MARKED_RESULTS = {
    LDS: (f"{LDS}/removals.tsv", f"{LDS}/scores.tsv"),
    PLANTED: (f"{PLANTED}/recall.tsv", f"{PLANTED}/pairs.tsv"),
    RANDOMISED: (f"{RANDOMISED}/comparison.tsv",),
    RELATIVE: (f"{RELATIVE}/comparison.tsv",),
    BRITTLENESS: tuple(f"{BRITTLENESS}/{name}.tsv" for name in ("numbers", "paths", "outcomes", "brackets")),
}
"""What a setup measures if it bears a mark (`marks`)."""

_OF_WEATS = ("differential_bias", "ppmi", "bias_gradient")


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
    return targeted + random_sets(perturbations["random_sizes"], perturbations["random_sets"])


def largest_sets(setup: Mapping) -> list[str]:
    """Return the names of the largest increase and decrease set of every test of a setup's configuration."""
    return targeted_sets(setup["bias"]["weats"], [max(setup["perturbations"]["sizes"])])


def ppmi_sets(setup: Mapping) -> list[str]:
    """Return the names of the sets that the PPMI baseline finds, of a setup's first test (Table 5)."""
    return targeted_sets([by_ppmi(setup["bias"]["weats"][0])], setup["ppmi_sets"]["sizes"])


def single_sets(setup: Mapping) -> list[str]:
    """Return the names of the sets of one document each, of a setup's first test."""
    single, weat = setup["single_documents"], setup["bias"]["weats"][0]
    counts = {**dict.fromkeys(TARGETED_KINDS, single["tails"]), RANDOM: single["random"]}
    return [single_set(weat, kind, rank) for kind, count in counts.items() for rank in range(count)]


def retrained_sets(setup: Mapping) -> list[str]:
    """Return the names of all sets without which a setup trains GloVe."""
    return [*perturbation_sets(setup), *ppmi_sets(setup), *single_sets(setup)]


def sets_file(set_name: str) -> str:
    """Return the file with the documents of a set, relative to the setup's folder."""
    if is_single(set_name):
        return "single_documents/sets.parquet"
    return f"{PPMI}/{SETS}" if is_by_ppmi(set_name) else SETS


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
    if is_single(set_name):
        return setup["single_documents"]["trainings"]
    own, compared = setup["perturbations"]["retrainings"], setup["ppmi_sets"]["retrainings"]
    if is_by_ppmi(set_name):
        return compared
    return max(own, compared) if by_ppmi(set_name) in ppmi_sets(setup) else own


def batches_of(set_name: str, setup: Mapping) -> list[Batch]:
    """Return the batches a setup trains for a set."""
    return batches(trainings_of(set_name, setup), setup["trainings_per_job"])


def subset_batches(setup: Mapping) -> list[Batch]:
    """Return the batches of random subsets that a setup retrains, as many subsets as trainings in a job."""
    count = setup["lds"]["subsets"] * len(setup["lds"]["shares"])
    return batches(count, setup["trainings_per_job"])


def subset_trainings(setup: Mapping) -> int:
    """Return how many embeddings a setup trains on random subsets."""
    return sum(batch.count for batch in subset_batches(setup)) * setup["lds"]["retrainings"]


def doses(setup: Mapping) -> list[str]:
    """Return the shares of planted words, as the folders of the corpora with planted documents are called."""
    return [f"{dose:g}" for dose in setup["planted"]["doses"]] if setup["planted"]["documents"] else []


def planted_batches(setup: Mapping) -> list[Batch]:
    """Return the batches of embeddings that a setup trains on each corpus with planted documents."""
    return batches(setup["planted"]["baselines"], setup["trainings_per_job"])


def planted_trainings(setup: Mapping) -> int:
    """Return how many embeddings a setup trains on corpora with planted documents."""
    return len(doses(setup)) * setup["planted"]["baselines"]


def flip_batches(setup: Mapping) -> list[Batch]:
    """Return the batches of sets that shall flip a sign, of as many as there can be."""
    wanted = setup["brittleness"]
    n_sets = len(setup["bias"]["weats"]) * len(RANKINGS) * len(wanted["multiples"])
    return batches(n_sets if wanted["retrainings"] else 0, setup["trainings_per_job"])


def flip_trainings(setup: Mapping) -> int:
    """Return how many embeddings a setup trains, at most, without sets that shall flip a sign."""
    return sum(batch.count for batch in flip_batches(setup)) * setup["brittleness"]["retrainings"]


def marks(setup: Mapping) -> tuple[str, ...]:
    """Return what a setup measures beyond the rest, each with results of its own (`MARKED_RESULTS`)."""
    wanted = {LDS: setup["lds"]["subsets"] > 0}
    wanted |= {PLANTED: setup["planted"]["documents"] > 0, RANDOMISED: setup["randomised"]["embeddings"] > 0}
    wanted |= {RELATIVE: setup["bias"]["relative"]}
    wanted |= {BRITTLENESS: setup["brittleness"]["retrainings"] > 0}
    return tuple(mark for mark, is_wanted in wanted.items() if is_wanted)


def embedding_files(folder: str, set_names: Sequence[str], setup: Mapping) -> list[str]:
    """Return the files that hold the embeddings of the given sets, `BASELINE` or perturbation sets."""
    return [
        f"{folder}/embeddings/{name}/batch-{batch.index}.npz"
        for name in set_names
        for batch in batches_of(name, setup)
    ]


def result_files(folder: str, setups: Mapping[str, Mapping]) -> list[str]:
    """Return the files of each setup that tables, figures and claims are drawn from."""
    return [
        f"{folder}/{name}/{file}"
        for name, setup in setups.items()
        for file in (
            *RESULTS,
            *(file for mark in marks(setup) for file in MARKED_RESULTS[mark]),
            *(f"{kind}/{weat}.parquet" for kind in _OF_WEATS for weat in setup["bias"]["weats"]),
        )
    ]


def summary(name: str, setup: Mapping) -> str:
    """Say in one line what a setup will train."""
    perturbations, weats = setup["perturbations"], setup["bias"]["weats"]
    n_targeted = len(targeted_sets(weats, perturbations["sizes"]))
    sets, by_ppmi, singles = perturbation_sets(setup), ppmi_sets(setup), single_sets(setup)
    removed = f"{n_targeted} targeted and {len(sets) - n_targeted} random sets"
    removed += f", {len(by_ppmi)} sets by PPMI" if by_ppmi else ""
    removed += f", {len(singles)} single documents" if singles else ""
    n_subsets = sum(batch.count for batch in subset_batches(setup))
    removed += f", {n_subsets} random subsets" if n_subsets else ""
    n_trainings = sum(trainings_of(set_name, setup) for set_name in retrained_sets(setup))
    n_trainings += subset_trainings(setup)
    removed += f", {len(doses(setup))} corpora with planted documents" if doses(setup) else ""
    n_trainings += planted_trainings(setup)
    n_flips = sum(batch.count for batch in flip_batches(setup))
    removed += f", up to {n_flips} sets to flip a sign" if n_flips else ""
    n_trainings += flip_trainings(setup)
    return f"{name}: {setup['baselines']} baselines, {removed}, {n_trainings} retrainings"


def of_test(files: Sequence[Path], weat: str) -> Path:
    """Return the file of a test among those that were given, a file for each test."""
    by_test = {path.stem: path for path in files}
    if weat not in by_test:
        raise InputError(f"{weat}: no table of this test among {', '.join(by_test)}; give one for each test")
    return by_test[weat]
