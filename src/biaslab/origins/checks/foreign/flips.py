"""Embeddings trained without the documents that scores from elsewhere put first, to flip the sign of a bias.

The numbers of documents are those that the run left out for its own attributions and for random ones
(`biaslab.origins.checks.brittleness`), so that every one has its like; scores of any unit can be asked that.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv
from biaslab.core.stats import mean_interval
from biaslab.embeddings.glove import GloveParameters
from biaslab.embeddings.settings import Checkpoints
from biaslab.origins.attribution.counted import read_counted, read_tests
from biaslab.origins.checks.brittleness.analysis import candidates
from biaslab.origins.checks.lds.subsets import retrain
from biaslab.origins.sets.names import flip_set


class Retraining(NamedTuple):
    """How embeddings are trained."""

    word_sets: Path
    parameters: GloveParameters
    trainings: int
    threads: int = 1


def leave_out(
    scores: np.ndarray, name: str, results: Path, weat: str, how: Retraining, seed: int, out: Path
) -> pd.DataFrame:
    """Train without the first documents of a ranking; return the bias that is left, and what is by the run's.

    Checkpoints of trainings lie beside `out`.
    """
    before = read_tsv(results / "baseline.tsv", ("weat", "effect_size"))
    bias = float(before[before["weat"] == weat]["effect_size"].mean())
    path = results / "brittleness/outcomes.tsv"
    if not path.exists():
        raise InputError(
            f"{path}: nothing was left out to flip a sign; run a setup with brittleness.retrainings"
        )
    own, ranked = read_tsv(path), candidates(scores, bias)
    own = own[own["weat"] == weat]
    sizes = [size for size in sorted(own["size"].unique()) if size <= len(ranked)]
    words, *counted = read_counted(
        results / "cooccurrence.npz", results / "corpus.npz", results / "vocabulary.tsv"
    )
    left = retrain(
        *counted, {flip_set(weat, name, size): np.sort(ranked[:size]) for size in sizes},
        read_tests([how.word_sets], words), how.parameters, how.trainings, seed, out,
        60 * Checkpoints.checkpoint_minutes, how.threads,
    )  # fmt: skip
    rows = []
    for size in sizes:
        after = left[left["set"] == flip_set(weat, name, size)]["effect_size"]
        rows.append([name, size, len(after), after.mean(), *mean_interval(after)])
    columns = ["attribution", "n_removed", "n", "value", "ci_low", "ci_high"]
    run = own[["estimator", "size", "n_retrainings", "observed_mean", "observed_ci_low", "observed_ci_high"]]
    table = pd.concat([pd.DataFrame(rows, columns=columns), run.set_axis(columns, axis=1)])
    return table.sort_values("n_removed", kind="stable").assign(check="flips", chance=bias)
