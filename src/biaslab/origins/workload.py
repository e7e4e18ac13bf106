"""What the jobs of the area are counted by, to project what a full grid would take."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biaslab.origins import grid, sets
from biaslab.origins.grid import RANDOMISED_KINDS
from biaslab.run.resources import ONCE, Work, size_of

TEST, WORD2VEC, BASELINE, SET = "test", "word2vec training", "baseline training", "retraining"
SUBSET = "subset retraining"
FLIP = "flip retraining"
PLANTED, PLANTED_TEST, PLANTED_TRAINING = "planted corpus", "test of a planted corpus", "planted training"
RANDOMISED, RANDOMISED_TEST = "kind of randomised embeddings", "test of randomised embeddings"
"""What a job is counted by, if not by itself: the test it is for, or its trainings."""

_BATCH = "batch-"
_BASELINES, _RETRAININGS = _GLOVE_RULES = ("train_baseline", "train_without_set")


def settings(config: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the settings of every unit that a configuration runs, by name."""
    section = config["origins"]
    return {name: section["setups"][name] for name in section["run"]}


def work(parts: tuple[str, ...], setup: Mapping[str, Any]) -> Work:
    """Return what a job is counted by, from the path of its benchmark file after the rule."""
    if not parts:
        return ONCE
    if parts[0] in grid.doses(setup):
        return _planted_work(parts[1:], setup)
    if parts[0] in RANDOMISED_KINDS:
        return Work(RANDOMISED_TEST if len(parts) > 1 else RANDOMISED, 1)
    if not parts[-1].startswith(_BATCH):
        if parts[0] in _corpora(setup):
            return Work(WORD2VEC, setup["word2vec"]["trainings"])
        return Work(TEST, 1) if parts[0] in setup["bias"]["weats"] else ONCE
    name = parts[0] if len(parts) > 1 else sets.BASELINE
    index = int(parts[-1].removeprefix(_BATCH))
    if name == sets.SUBSETS:
        kind, batches, trainings = SUBSET, grid.subset_batches(setup), setup["lds"]["retrainings"]
    elif name == sets.FLIPS:
        kind, batches, trainings = FLIP, grid.flip_batches(setup), setup["brittleness"]["retrainings"]
    else:
        kind, batches, trainings = BASELINE if name == sets.BASELINE else SET, grid.batches_of(name, setup), 1
    count = batches[index].count if index < len(batches) else setup["trainings_per_job"]
    return Work(kind, count * trainings)


def grid_work(setup: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Return how many units and jobs of each kind a rule of a setup has."""
    n_tests, n_corpora = len(setup["bias"]["weats"]), len(_corpora(setup))
    counts = {ONCE.kind: (1, 1), TEST: (n_tests, n_tests)}
    counts[WORD2VEC] = (n_corpora * setup["word2vec"]["trainings"], n_corpora)
    counts[SUBSET] = (grid.subset_trainings(setup), len(grid.subset_batches(setup)))
    n_kinds = len(RANDOMISED_KINDS) if setup["randomised"]["embeddings"] else 0
    counts[RANDOMISED] = (n_kinds, n_kinds)
    counts[RANDOMISED_TEST] = (n_kinds * n_tests, n_kinds * n_tests)
    n_planted, n_batches = len(grid.doses(setup)), len(grid.planted_batches(setup))
    counts[PLANTED] = (n_planted, n_planted)
    counts[PLANTED_TEST] = (n_planted * n_tests, n_planted * n_tests)
    counts[PLANTED_TRAINING] = (grid.planted_trainings(setup), n_planted * n_batches)
    counts[FLIP] = (grid.flip_trainings(setup), len(grid.flip_batches(setup)))
    for kind, names in ((BASELINE, [sets.BASELINE]), (SET, grid.retrained_sets(setup))):
        trainings = sum(grid.trainings_of(name, setup) for name in names)
        counts[kind] = (trainings, sum(len(grid.batches_of(name, setup)) for name in names))
    return counts


def factor(rule: str, measured: Mapping[str, Any], full: Mapping[str, Any]) -> float:
    """Return how much more a unit of a rule costs in a full grid: by the epochs of its trainings."""
    if rule == "train_word2vec":
        return full["word2vec"]["epochs"] / measured["word2vec"]["epochs"]
    is_training = rule in (*_GLOVE_RULES, "retrain_subsets", "retrain_flips", "train_planted")
    return full["glove"]["epochs"] / measured["glove"]["epochs"] if is_training else 1.0


def disk_bytes(rule: str, folder: Path) -> float:
    """Return the size of the embeddings that a rule trains with GloVe; NaN for other rules."""
    if rule not in _GLOVE_RULES:
        return float("nan")
    baselines = size_of(folder / "embeddings" / sets.BASELINE)
    return baselines if rule == _BASELINES else size_of(folder / "embeddings") - baselines


def _planted_work(parts: tuple[str, ...], setup: Mapping[str, Any]) -> Work:
    """Return what a job on a corpus with planted documents is counted by."""
    if not parts:
        return Work(PLANTED, 1)
    if not parts[0].startswith(_BATCH):
        return Work(PLANTED_TEST, 1)
    batches, index = grid.planted_batches(setup), int(parts[0].removeprefix(_BATCH))
    return Work(PLANTED_TRAINING, batches[index].count if index < len(batches) else 0)


def _corpora(setup: Mapping[str, Any]) -> list[str]:
    return [sets.BASELINE, *grid.perturbation_sets(setup)]
