"""What the jobs of the area are counted by, to project what a full grid would take."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biaslab.embeddings import BASELINE as WHOLE
from biaslab.origins.grid import analyses, expansion
from biaslab.run.resources import ONCE, Work, size_of

TEST, WORD2VEC, BASELINE, SET = "test", "word2vec training", "baseline training", "retraining"
"""What a job is counted by, if not by itself: the test it is for, or its trainings."""

_BASELINES, _RETRAININGS = _GLOVE_RULES = ("train_baseline", "train_without_set")


def settings(config: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the settings of every unit that a configuration runs, by name."""
    section = config["origins"]
    return {name: section["setups"][name] for name in section["run"]}


def work(parts: tuple[str, ...], setup: Mapping[str, Any]) -> Work:
    """Return what a job is counted by, from the path of its benchmark file after the rule."""
    if not parts:
        return ONCE
    for jobs in _jobs():
        if found := jobs.work(parts, setup):
            return Work(*found)
    if not parts[-1].startswith(expansion.BATCH):
        if parts[0] in _corpora(setup):
            return Work(WORD2VEC, setup["word2vec"]["trainings"])
        return Work(TEST, 1) if parts[0] in setup["bias"]["weats"] else ONCE
    name = parts[0] if len(parts) > 1 else WHOLE
    count = expansion.n_trainings(expansion.batches_of(name, setup), parts[-1], setup)
    return Work(BASELINE if name == WHOLE else SET, count)


def grid_work(setup: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Return how many units and jobs of each kind a rule of a setup has."""
    n_tests, n_corpora = len(setup["bias"]["weats"]), len(_corpora(setup))
    counts = {ONCE.kind: (1, 1), TEST: (n_tests, n_tests)}
    n_jobs = n_corpora if expansion.has_word2vec(setup) else 0
    counts[WORD2VEC] = (n_corpora * setup["word2vec"]["trainings"], n_jobs)
    for jobs in _jobs():
        counts |= jobs.counts(setup)
    for kind, names in ((BASELINE, [WHOLE]), (SET, expansion.retrained_sets(setup))):
        trainings = sum(expansion.trainings_of(name, setup) for name in names)
        counts[kind] = (trainings, sum(len(expansion.batches_of(name, setup)) for name in names))
    return counts


def factor(rule: str, measured: Mapping[str, Any], full: Mapping[str, Any]) -> float:
    """Return how much more a unit of a rule costs in a full grid: by the epochs of its trainings."""
    if rule == "train_word2vec":
        return full["word2vec"]["epochs"] / measured["word2vec"]["epochs"]
    is_training = rule.startswith(("train_", "retrain_"))
    return full["glove"]["epochs"] / measured["glove"]["epochs"] if is_training else 1.0


def disk_bytes(rule: str, folder: Path) -> float:
    """Return the size of the embeddings that a rule trains with GloVe; NaN for other rules."""
    if rule not in _GLOVE_RULES:
        return float("nan")
    baselines = size_of(folder / "embeddings" / WHOLE)
    return baselines if rule == _BASELINES else size_of(folder / "embeddings") - baselines


def _jobs() -> list[analyses.Jobs]:
    return [analysis.jobs for analysis in analyses.analyses() if analysis.jobs]


def _corpora(setup: Mapping[str, Any]) -> list[str]:
    return [WHOLE, *expansion.perturbation_sets(setup)]
