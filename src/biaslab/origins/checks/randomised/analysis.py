"""Whether the estimates depend on what the embeddings have learnt (after Adebayo et al. 2018).

A document's estimate should say something about the trained embedding. The check puts embeddings in its place
that know nothing, and asks whether documents are ranked, and removals predicted, as before:

``untrained``
    The parameters from which a baseline starts, before its first epoch.
``shuffled``
    The parameters of a baseline, dealt out to the words at random: word i gets the vectors and biases of
    word p(i).

What remains of the ranking does not come from the embedding but from the counts: which documents hold words
of the test, how often, and beside which words.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, read_parquet, read_tsv, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval, rank_correlation
from biaslab.embeddings import BASELINE
from biaslab.embeddings.glove import GloveEmbedding, initial_embedding, write_trainings
from biaslab.embeddings.vocabulary import read_digest
from biaslab.origins.attribution.estimates import read_with_seeds, seed_values
from biaslab.origins.attribution.registry import ESTIMATORS
from biaslab.origins.checks.retraining.analysis import compare_sets, correlate
from biaslab.origins.grid.expansion import TEST_WORD_COUNTS, of_test
from biaslab.origins.sets.names import RANDOM

TRAINED = "trained"
KINDS = UNTRAINED, SHUFFLED = ("untrained", "shuffled")

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))["randomised/comparison"]
_RANKED = COLUMNS[: COLUMNS.index("n_sets")]
_SINGLE = COLUMNS[COLUMNS.index("r") :]


def write_embeddings(embeddings: list[Path], kind: str, count: int, seed: int, out: Path) -> None:
    """Make control embeddings: untrained ones, or trained ones whose words are shuffled."""
    names = ("W", "U", "b", "c", "loss")
    trained = [
        GloveEmbedding(**{name: arrays[name][k] for name in names})
        for arrays in (read_npz(path, names) for path in embeddings)
        for k in range(len(arrays["W"]))
    ]
    write_trainings(
        out, list(range(count)), list(randomise(trained, kind, count, seed)), True, read_digest(embeddings[0])
    )


def randomise(
    trained: Sequence[GloveEmbedding], kind: str, count: int, seed: int
) -> Iterator[GloveEmbedding]:
    """Yield control embeddings.

    `untrained` number i starts baseline i, which need not have been trained; `shuffled` takes the
    baselines in turn.
    """
    if kind not in KINDS:
        raise InputError(f"kind: {kind}; choose {UNTRAINED} or {SHUFFLED}")
    n_words, dimension = trained[0].W.shape
    for i in range(count):
        if kind == UNTRAINED:
            yield initial_embedding(n_words, dimension, stream(seed, "train", BASELINE, i))
            continue
        source = trained[i % len(trained)]
        of = stream(seed, "shuffled", i).permutation(n_words)
        yield GloveEmbedding(source.W[of], source.U[of], source.b[of], source.c[of], source.loss)


def compare_rankings(
    weat: str, trained: pd.DataFrame, randomised: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Compare the documents' estimates by other embeddings with those by the trained ones.

    The columns of ``randomised/comparison.tsv`` up to ``spearman_of_means`` (NaN for the trained), of one
    test; `trained` is a table as ``differential_bias/TEST.parquet`` and what each baseline says, `randomised`
    are tables of the latter, by their kind.
    """
    holds = trained[TEST_WORD_COUNTS].sum(axis=1).to_numpy() > 0
    rows = []
    for kind, table in {TRAINED: trained, **randomised}.items():
        if len(table) != len(trained):
            raise InputError(
                f"{weat}, {kind}: {len(table)} documents, the baselines' table {len(trained)}; estimate again"
            )
        for estimator in ESTIMATORS:
            real = seed_values(trained, estimator)[:, holds]
            values = seed_values(table, estimator)[:, holds]
            is_real = kind == TRAINED
            others = [np.delete(real, s, axis=0).mean(axis=0) if is_real else real.mean(axis=0)
                      for s in range(len(values))]  # fmt: skip
            row = [weat, kind, estimator, len(values), int(holds.sum())]
            for scale in (np.asarray, np.abs):
                found = [rank_correlation(scale(v), scale(o)) for v, o in zip(values, others, strict=True)]
                row += [np.mean(found), *mean_interval(found)]
            of_means = np.nan if is_real else rank_correlation(values.mean(axis=0), real.mean(axis=0))
            rows.append([*row, of_means])
    return pd.DataFrame(rows, columns=_RANKED)


def compare_fits(
    baseline: pd.DataFrame, observed: pd.DataFrame, predictions: Mapping[str, pd.DataFrame], seed: int
) -> pd.DataFrame:
    """Fit what was observed without each set to what embeddings predict, the trained ones and others.

    The columns of ``randomised/comparison.tsv`` from ``n_sets`` on; `predictions` holds tables as
    ``predictions.tsv`` by the kind of embeddings. The bootstrap draws sets, the same for all kinds.
    Single embeddings are correlated as well: few sets, of which the smaller are parts of the larger, fit
    well by chance, and with either sign.
    """
    parts = []
    for kind, table in predictions.items():
        sets = compare_sets(baseline, table, observed)
        fits = correlate(sets, seed).assign(embeddings=kind)
        parts.append(fits.merge(_single_fits(table, sets), how="left", on=["weat", "estimator"]))
    return pd.concat(parts, ignore_index=True)


def _single_fits(predictions: pd.DataFrame, sets: pd.DataFrame) -> pd.DataFrame:
    """Return correlations over the targeted sets, means over the embeddings, a row a test and estimator."""
    keys = ["weat", "estimator", "set"]
    targeted = sets.loc[sets["kind"] != RANDOM, [*keys, "observed_mean"]]
    rows = []
    for (weat, estimator), part in predictions.merge(targeted, on=keys).groupby(["weat", "estimator"]):
        found = [np.corrcoef(of["predicted"], of["observed_mean"])[0, 1] for _, of in part.groupby("seed")]
        rows.append([weat, estimator, np.mean(found), *mean_interval(found), np.mean(np.square(found))])
    return pd.DataFrame(rows, columns=["weat", "estimator", *_SINGLE])


def write_comparison(
    differential_bias: list[Path],
    by_seed: list[Path],
    untrained: list[Path],
    shuffled: list[Path],
    predictions: Path,
    untrained_predictions: Path,
    shuffled_predictions: Path,
    baseline: Path,
    observed: Path,
    comparison: Path,
    seed: int,
) -> None:
    """Compare the estimates by control embeddings with those by the baselines."""
    tables = {UNTRAINED: untrained, SHUFFLED: shuffled}
    rankings = []
    for path in differential_bias:
        bias = {kind: read_parquet(of_test(files, path.stem)) for kind, files in tables.items()}
        trained = read_with_seeds(path, of_test(by_seed, path.stem))
        rankings.append(compare_rankings(path.stem, trained, bias))
    files = {TRAINED: predictions, UNTRAINED: untrained_predictions, SHUFFLED: shuffled_predictions}
    predicted = {kind: read_tsv(path) for kind, path in files.items()}
    fits = compare_fits(read_tsv(baseline), read_tsv(observed), predicted, seed)
    keys = ["weat", "embeddings", "estimator"]
    write_tsv(comparison, pd.concat(rankings).merge(fits, how="left", on=keys, validate="1:1"))
