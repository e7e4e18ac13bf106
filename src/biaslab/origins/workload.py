"""What the jobs of the area are counted by, to project what a full grid would take."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biaslab.origins import grid, sets
from biaslab.run.resources import ONCE, Work, size_of

TEST, CORPUS, BASELINE, SET = "test", "corpus", "baseline training", "retraining"
SUBSET = "subset retraining"
FLIP = "flip retraining"
"""What a job is counted by, if not by itself: the test or corpus (whole, or without a set) it is for, or its
trainings."""

_BATCH = "batch-"
_BASELINES, _RETRAININGS = _GLOVE_RULES = ("train_baseline", "train_without_set")


def settings(config: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the settings of every unit that a configuration runs, by name."""
    return {name: config["setups"][name] for name in config["run"]}


def work(parts: tuple[str, ...], setup: Mapping[str, Any]) -> Work:
    """Return what a job is counted by.

    Parameters
    ----------
    parts : tuple of str
        Those of the path of its benchmark file after the rule.
    setup : mapping
        The settings of its setup.
    """
    if not parts:
        return ONCE
    if not parts[-1].startswith(_BATCH):
        is_test, is_corpus = parts[0] in setup["bias"]["weats"], parts[0] in _corpora(setup)
        return Work(TEST, 1) if is_test else Work(CORPUS, 1) if is_corpus else ONCE
    name = parts[0] if len(parts) > 1 else sets.BASELINE
    index = int(parts[-1].removeprefix(_BATCH))
    if name == sets.SUBSETS:
        batches = grid.subset_batches(setup)
        count = batches[index].count if index < len(batches) else setup["trainings_per_job"]
        return Work(SUBSET, count * setup["lds"]["retrainings"])
    if name == sets.FLIPS:
        batches = grid.flip_batches(setup)
        count = batches[index].count if index < len(batches) else setup["trainings_per_job"]
        return Work(FLIP, count * setup["brittleness"]["retrainings"])
    batches = grid.batches_of(name, setup)
    count = batches[index].count if index < len(batches) else setup["trainings_per_job"]
    return Work(BASELINE if name == sets.BASELINE else SET, count)


def grid_work(setup: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Return how many units and jobs of each kind a rule of a setup has.

    Parameters
    ----------
    setup : mapping
        Its settings.
    """
    n_tests, n_corpora = len(setup["bias"]["weats"]), len(_corpora(setup))
    counts = {ONCE.kind: (1, 1), TEST: (n_tests, n_tests), CORPUS: (n_corpora, n_corpora)}
    counts[SUBSET] = (grid.subset_trainings(setup), len(grid.subset_batches(setup)))
    counts[FLIP] = (grid.flip_trainings(setup), len(grid.flip_batches(setup)))
    for kind, names in ((BASELINE, [sets.BASELINE]), (SET, grid.retrained_sets(setup))):
        trainings = sum(grid.trainings_of(name, setup) for name in names)
        counts[kind] = (trainings, sum(len(grid.batches_of(name, setup)) for name in names))
    return counts


def factor(rule: str, measured: Mapping[str, Any], full: Mapping[str, Any]) -> float:
    """Return how much more a unit of a rule costs in a full grid: by the epochs of GloVe's trainings."""
    is_training = rule in (*_GLOVE_RULES, "retrain_subsets", "retrain_flips")
    return full["glove"]["epochs"] / measured["glove"]["epochs"] if is_training else 1.0


def disk_bytes(rule: str, folder: Path) -> float:
    """Return the size of the embeddings that a rule trains with GloVe; NaN for other rules.

    Parameters
    ----------
    rule : str
    folder : path
        Results of a setup.
    """
    if rule not in _GLOVE_RULES:
        return float("nan")
    baselines = size_of(folder / "embeddings" / sets.BASELINE)
    return baselines if rule == _BASELINES else size_of(folder / "embeddings") - baselines


def _corpora(setup: Mapping[str, Any]) -> list[str]:
    return [sets.BASELINE, *grid.perturbation_sets(setup)]
