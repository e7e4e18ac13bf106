"""Target words on the bias axis before and after a removal (Brunet et al. 2019, Sections 5.4 and 5.5)."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.directions import project_targets
from biaslab.bias.word_sets import WordSets, in_vocabulary
from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.core.stats import fit_columns
from biaslab.embeddings.batches import read_trainings
from biaslab.embeddings.vocabulary import Vocabulary
from biaslab.origins.sets import BASELINE, TARGETED_KINDS, weat_and_kind

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))
PROJECTIONS = COLUMNS["projections"]
TEXTS = ("weat", "kind", "set", "symbol", "word")
"""Text columns of projections, also if all words look like numbers."""


def project_words(
    batches: Sequence[str | os.PathLike], vocabulary: Vocabulary, word_sets: Sequence[WordSets]
) -> pd.DataFrame:
    """Project the target words of every test onto its axis, in every embedding.

    Each embedding has its own axis, from its vectors of the attribute words (`biaslab.bias.directions`). A
    retrained embedding is measured only with the test that selected its documents; other sets have no rows.
    """
    tests = {test.name: in_vocabulary(test, vocabulary.ids) for test in word_sets}
    parts = []
    for training in read_trainings(batches, vocabulary, "projections"):
        name, kind = weat_and_kind(training.set) or ("", BASELINE)
        for weat in tests.values() if training.set == BASELINE else filter(None, [tests.get(name)]):
            ids = np.concatenate([weat.S, weat.T])
            symbols = np.repeat(["S", "T"], [len(weat.S), len(weat.T)])
            words, counts = [vocabulary.words[i] for i in ids], vocabulary.counts[ids]
            keys = weat.name, kind, training.set, training.replicate
            values = *keys, symbols, words, counts, project_targets(training.W, weat)
            parts.append(pd.DataFrame(dict(zip(PROJECTIONS, values, strict=True))))
    return pd.concat(parts) if parts else pd.DataFrame(columns=list(PROJECTIONS))


def join_projections(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Join the tables of `project_words` for batches of embeddings: ``projections.tsv``."""
    joined = pd.concat(tables)
    if joined.empty:
        raise InputError("the tables have no projections; give the tables of the baselines and of the sets")
    sets = joined[["weat", "kind", "set"]].drop_duplicates()
    for weat in sets["weat"].unique():
        for kind in (BASELINE, *TARGETED_KINDS):
            names = sorted(sets.loc[(sets["weat"] == weat) & (sets["kind"] == kind), "set"])
            if len(names) != 1:
                raise InputError(
                    f"{weat}: expected {kind} embeddings of one set, found {', '.join(names) or 'none'}; give"
                    " the embeddings of one set"
                )
    return joined.sort_values(["weat", "kind", "seed"], kind="stable", ignore_index=True)


def word_shifts(projections: pd.DataFrame) -> pd.DataFrame:
    """Return the shift of each target word by removals of documents: weat, word, count, shift.

    The relative position of a word is its projection in standard deviations (ddof 1) from the mean of the
    target words of its test in the same embedding. Its shift is the absolute difference of the mean relative
    positions of a set and the baseline, averaged over the increase and the decrease set.
    """
    by_embedding = projections.groupby(["weat", "set", "seed"])["projection"]
    spread = by_embedding.transform("std")
    position = (projections["projection"] - by_embedding.transform("mean")) / spread.where(spread > 0)
    keys = ["weat", "word", "count", "kind"]
    means = projections.assign(position=position).groupby(keys)["position"].mean().unstack("kind")
    shift = means[list(TARGETED_KINDS)].sub(means[BASELINE], axis=0).abs().mean(axis=1, skipna=False)
    return shift.rename("shift").reset_index()


def fit_frequency(projections: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Regress the shifts of words on the base-10 logarithm of their frequency: ``axis_frequency.tsv``."""
    rows = []
    for weat, part in word_shifts(projections).groupby("weat"):
        x, y = np.log10(part["count"].to_numpy()), part["shift"].to_numpy()
        fit = fit_columns(x, y, stream(seed, "axis", str(weat)))
        rows.append({"weat": weat, "n_words": len(part), **fit})
    return pd.DataFrame(rows, columns=COLUMNS["axis_frequency"])
