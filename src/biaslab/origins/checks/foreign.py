"""Apply the checks of a run's attributions to a user's scores of documents.

A file lists each document of the corpus once, with a number: the decrease of the bias without the document,
in any unit. The scores are compared with the run's attributions on the same subsets, documents and resamples.
They are also compared with scores that do not depend on the test: the lengths of the documents, random
numbers, and influence on another test.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import read_tests
from biaslab.core.errors import InputError
from biaslab.core.files import read_text_table
from biaslab.core.io import read_parquet, read_tsv, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import N_RESAMPLES, central_interval, mean_interval, standard_ranks
from biaslab.embeddings.cooccurrence import read_counted
from biaslab.embeddings.glove import GloveParameters
from biaslab.embeddings.settings import Checkpoints
from biaslab.origins.attribution.estimates import SUM, read_mean
from biaslab.origins.attribution.registry import ATTRIBUTIONS
from biaslab.origins.attribution.scanner import Training, read_scanner
from biaslab.origins.attribution.settings import InfluenceParameters, damping_of
from biaslab.origins.attribution.tables import estimate_documents, estimate_sets
from biaslab.origins.checks.brittleness import candidates
from biaslab.origins.checks.lds import mask, reliability_of_means
from biaslab.origins.checks.planted.recall import pair_table, recall_table
from biaslab.origins.sets import RANDOM, flip_set
from biaslab.origins.subsets import BOUND, DOCUMENTS, OUTCOME, PAIRED_BOUND, check_outcomes, retrain

YOURS, LENGTH = "yours", "length"
"""Names in tables of the user's scores, and of the scores by document length."""

PAIRED = "paired"
"""Value of ``among`` for subsets retrained with the seeds of baselines; these have no ceiling."""

COLUMNS = ["weat", "check", "among", "n_removed", "attribution", "form", "n", "value", "ci_low", "ci_high"]
COLUMNS += ["chance", "ceiling", "of_ceiling", "worth", "worth_ci_low", "worth_ci_high"]
COLUMNS += ["lead", "lead_ci_low", "lead_ci_high"]
"""For a linear datamodeling score: `of_ceiling` is its share of the ceiling; `worth` is the number of
retrainings with the same score (`worth_in_retrainings`); `lead` is the score of the file minus the score of
the row, with a paired interval."""


class Retraining(NamedTuple):
    """The options for training embeddings."""

    word_sets: Path
    parameters: GloveParameters
    trainings: int
    threads: int = 1


def write_scored(
    scores: Path | Mapping[str, np.ndarray],
    results: Path,
    weat: str,
    seed: int,
    out: Path,
    retraining: Retraining | None = None,
) -> pd.DataFrame:
    """Score a file on the measurements of a setup in the folder `results`; write and return the table.

    `scores` can also map names to scores (n_documents,). With `retraining`, embeddings are also trained
    without the first documents of the first scores.
    """
    documents = read_parquet(results / "documents.parquet", ["document", "id", "n_tokens"])
    by_name = _by_name(scores, documents)
    name, first = next(iter(by_name.items()))
    by_name[LENGTH] = documents["n_tokens"].to_numpy(np.float64)
    by_name[RANDOM] = stream(seed, "foreign", "random").standard_normal(len(documents))
    influence = ATTRIBUTIONS[0]
    for path in sorted((results / "differential_bias").glob("*.parquet")):
        if path.stem != weat:
            by_name[f"{influence.name} of {path.stem}"] = read_mean(influence, read_parquet(path))
    tables = []
    if (results / "lds/removals.tsv").exists():
        subsets = read_parquet(results / "lds/subsets.parquet")
        removals = _read_outcomes(
            results / "lds/removals.tsv", subsets, BOUND, "observed_sd", "n_retrainings"
        )
        reliable = read_tsv(results / "lds/scores.tsv", ("weat", "size", "ceiling"))
        tables.append(score_subsets(by_name, removals, subsets, reliable, weat, seed))
        if (results / "lds/paired.tsv").exists():
            outcomes = _read_outcomes(results / "lds/paired.tsv", subsets, PAIRED_BOUND)
            keys = ["set", "weat"]
            means = outcomes.groupby(keys)["effect_size"].mean().rename("observed_mean").reset_index()
            paired = removals.drop(columns="observed_mean").merge(means, on=keys)
            table = score_subsets(by_name, paired, subsets, reliable.assign(ceiling=np.nan), weat, seed)
            tables.append(table.assign(among=PAIRED))
    if retraining:
        tables.append(leave_out(first, name, results, weat, retraining, seed, out))
    tables = [table for table in tables if len(table)]
    if not tables:
        raise InputError(f"{results}: the setup has no retrainings for {weat}; run a setup with lds.subsets")
    return _write_table(tables, weat, out)


def write_recalled(
    scores: Path | Mapping[str, np.ndarray], results: Path, dose: str, weat: str, seed: int, out: Path
) -> pd.DataFrame:
    """Score a file on the corpus with documents planted at a dose; write and return the table."""
    path = results / f"planted/{dose}/documents.parquet"
    if not path.exists():
        doses = ", ".join(sorted(file.parent.name for file in results.glob("planted/*/documents.parquet")))
        raise InputError(
            f"{path}: the setup has no corpus with dose {dose}; choose {doses or 'another setup'}"
        )
    documents = read_parquet(path, ["document", "id", "kind", "weat", "source", "dose"])
    if weat not in set(documents["weat"]):
        raise InputError(f"{path}: the corpus has no planted documents for '{weat}'; name another test")
    by_name = _by_name(scores, documents)
    by_name[RANDOM] = stream(seed, "foreign", "random").standard_normal(len(documents))
    recall, pairs = (
        pd.concat([table, run_table[(run_table["weat"] == weat) & (run_table["dose"] == float(dose))]])
        for table, run_table in (
            (recall_table(documents, weat, by_name, seed), read_tsv(results / "planted/recall.tsv")),
            (pair_table(documents, weat, by_name), read_tsv(results / "planted/pairs.tsv")),
        )
    )
    at_planted = recall[recall["k"] == recall["n_planted"]]
    tables = [_rename_columns(at_planted, "recall"), _rename_columns(pairs.assign(chance=0.5), "pairs")]
    return _write_table(tables, weat, out)


def estimate(
    name: str,
    results: Path,
    word_sets: Path,
    parameters: GloveParameters,
    seed: int,
    threads: int,
    sets: Sequence[np.ndarray] | None = None,
) -> np.ndarray:
    """Return the estimates of an attribution, averaged over baselines: of every document, or of each set."""
    batches = sorted(results.glob("embeddings/baseline/batch-*.npz"), key=lambda p: (len(p.name), p.name))
    if not batches:
        raise InputError(
            f"{results}/embeddings/baseline: the embeddings are missing, but {name} requires them; name the"
            " folder of a run that still has its embeddings"
        )
    influence = InfluenceParameters(
        damping=damping_of(parameters), x_max=parameters.x_max, alpha=parameters.alpha
    )
    files = (results / file for file in ("cooccurrence.npz", "corpus.npz", "vocabulary.tsv"))
    scanner, (test,) = read_scanner(batches, *files, [word_sets], influence, threads)
    scanner.training = Training(parameters, seed)
    estimates = (
        estimate_documents(name, scanner, test) if sets is None else estimate_sets(name, scanner, test, sets)
    )
    return estimates.values.mean(axis=0)


def read_scores(path: Path, documents: pd.DataFrame) -> np.ndarray:
    """Read the columns document (an id, as in documents.parquet) and score: (n_documents,) float64."""
    rows = read_text_table(path, ())
    if not rows or not {"document", "score"} <= set(rows[0][1]):
        raise InputError(
            f"{path}: the columns document and score are missing; write both columns, separated by a tab"
        )
    ids, scores = set(documents["id"].astype(str)), {}
    for line, row in rows:
        document = row["document"]
        if document not in ids:
            raise InputError(
                f"{path}, line {line}: the corpus has no document {document!r}; use the ids of"
                " documents.parquet"
            )
        if document in scores:
            raise InputError(
                f"{path}, line {line}: document {document!r} is repeated; give each document one score"
            )
        scores[document] = pd.to_numeric(row["score"], errors="coerce")
        if not np.isfinite(scores[document]):
            raise InputError(
                f"{path}, line {line}: the score {row['score']!r} is not a finite number; correct the score"
            )
    if missing := sorted(ids - set(scores)):
        raise InputError(
            f"{path}: {len(missing)} of {len(ids)} documents have no score, for example {missing[0]!r}; add"
            " the scores"
        )
    return documents["id"].astype(str).map(scores).to_numpy(np.float64)


def score_subsets(
    scores: Mapping[str, np.ndarray],
    removals: pd.DataFrame,
    subsets: pd.DataFrame,
    reliable: pd.DataFrame,
    weat: str,
    seed: int,
) -> pd.DataFrame:
    """Score `scores` and the run's attributions of a test by their LDS, with the lead of the first one."""
    rows = []
    for size, size_rows in removals[removals["weat"] == weat].groupby("size"):
        outcomes = size_rows.drop_duplicates("set").set_index("set")
        observed, k = outcomes["observed_mean"], int(outcomes["n_retrainings"].iloc[0])
        names, n = list(observed.index), len(observed)
        removed = mask(subsets[subsets["size"] == size], names, len(scores[LENGTH])).astype(np.float64).T
        changes = {(name, SUM): -values @ removed for name, values in scores.items()}
        for key, part in size_rows.groupby(["estimator", "form"], sort=False):
            changes[key] = part.set_index("set")["change"][names].to_numpy()
        draws = np.vstack([np.arange(n), stream(seed, "lds", weat, size).integers(n, size=(N_RESAMPLES, n))])
        target = standard_ranks(observed.to_numpy()[draws])
        rows_of_test = reliable[(reliable["weat"] == weat) & (reliable["size"] == size)]
        ceiling, variances = rows_of_test["ceiling"].iloc[0], outcomes["observed_sd"].to_numpy() ** 2
        reliability = reliability_of_means(observed.to_numpy()[draws], variances[draws], k)
        first = None
        for (name, form), change in changes.items():
            values = (standard_ranks(change[draws]) * target).sum(axis=1)
            first = values if first is None else first
            lead, interval = first - values, central_interval(values[1:])
            row = ["lds", "", size, name, form, n, values[0], *interval, 0, ceiling, values[0] / ceiling]
            worth = _worth_with_interval(values, reliability, k) if np.isfinite(ceiling) else [np.nan] * 3
            rows.append([*row, *worth, lead[0], *central_interval(lead[1:])])
    return pd.DataFrame(rows, columns=COLUMNS[1:])


def worth_in_retrainings(lds: np.ndarray, reliability: np.ndarray, n_retrainings: int) -> np.ndarray:
    """Return the number of retrainings of each subset that predict outcomes as well as an attribution.

    The mean of k retrainings has the reliability r_k = k r / (1 + (k - 1) r) (Spearman 1910; Brown 1910),
    where r is the reliability of one retraining. Its correlation with the outcomes, means of R retrainings,
    is sqrt(r_k r_R). If s is the score, solving for k gives k = R s^2 (1 - r_R) / (r_R (r_R - s^2)). The
    result is 0 for scores of at most 0, infinite for scores of at least the ceiling sqrt(r_R), and NaN if a
    score is NaN or the reliability is 0.
    """
    s, r = np.maximum(lds, 0.0) ** 2, np.asarray(reliability, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = n_retrainings * s * (1 - r) / (r * (r - s))
    return np.where(r > 0, np.where(s >= r, np.inf, worth), np.nan)


def _worth_with_interval(lds: np.ndarray, reliability: np.ndarray, n_retrainings: int) -> list[float]:
    """Return the worth of the first score, with its interval by resamples, the other scores."""
    worth = worth_in_retrainings(lds, reliability, n_retrainings)
    with np.errstate(invalid="ignore"):
        shares = np.where(np.isinf(worth), 1.0, worth / (1 + worth))  # monotone in worth, and finite
    bounds = central_interval(shares[1:])
    return [float(worth[0]), *(math.inf if share >= 1 else share / (1 - share) for share in bounds)]


def reversed_sign(table: pd.DataFrame) -> bool:
    """Return whether the user's scores are significantly below 0 at every size in a `write_scored` table."""
    rows = table[(table["check"] == "lds") & (table["attribution"] == YOURS)]
    return len(rows) > 0 and bool((rows["ci_high"] < 0).all())


def leave_out(
    scores: np.ndarray, name: str, results: Path, weat: str, retraining: Retraining, seed: int, out: Path
) -> pd.DataFrame:
    """Train without the first documents of a ranking; return the bias, with that of the run's rankings.

    The numbers of documents are those that the run removed (`biaslab.origins.checks.brittleness`).
    """
    before = read_tsv(results / "baseline.tsv", ("weat", "effect_size"))
    bias = float(before[before["weat"] == weat]["effect_size"].mean())
    path = results / "brittleness/outcomes.tsv"
    if not path.exists():
        raise InputError(
            f"{path}: the setup has no retrainings of the brittleness check; run a setup with"
            " brittleness.retrainings"
        )
    run_rows, ranked = read_tsv(path), candidates(scores, bias)
    run_rows = run_rows[run_rows["weat"] == weat]
    sizes = [size for size in sorted(run_rows["size"].unique()) if size <= len(ranked)]
    words, *counted = read_counted(
        results / "cooccurrence.npz", results / "corpus.npz", results / "vocabulary.tsv"
    )
    sets = {flip_set(weat, name, size): np.sort(ranked[:size]) for size in sizes}
    tests, pause = read_tests([retraining.word_sets], words.ids), 60 * Checkpoints.checkpoint_minutes
    training = retraining.parameters, retraining.trainings, seed, out, pause, retraining.threads
    retrained = retrain(*counted, sets, tests, *training)
    rows = []
    for size, set_name in zip(sizes, sets, strict=True):
        after = retrained[retrained["set"] == set_name]["effect_size"]
        rows.append([name, size, len(after), after.mean(), *mean_interval(after)])
    columns = ["attribution", "n_removed", "n", "value", "ci_low", "ci_high"]
    old = ["estimator", "size", "n_retrainings", "observed_mean", "observed_ci_low", "observed_ci_high"]
    table = pd.concat([pd.DataFrame(rows, columns=columns), run_rows[old].set_axis(columns, axis=1)])
    return table.sort_values("n_removed", kind="stable").assign(check="flips", chance=bias)


def _read_outcomes(path: Path, subsets: pd.DataFrame, bound: Sequence[str], *more: str) -> pd.DataFrame:
    table = read_tsv(path, ("set", DOCUMENTS, OUTCOME, *bound, *more))
    check_outcomes(path, table, subsets, bound)
    return table


def _by_name(scores: Path | Mapping[str, np.ndarray], documents: pd.DataFrame) -> dict[str, np.ndarray]:
    return dict(scores) if isinstance(scores, Mapping) else {YOURS: read_scores(scores, documents)}


def _rename_columns(table: pd.DataFrame, check: str) -> pd.DataFrame:
    """Convert a table of planted documents to the columns of all checks."""
    share = {"recall": "recall", "pairs": "right"}[check]
    names = {share: "value", f"{share}_ci_low": "ci_low", f"{share}_ci_high": "ci_high"}
    names |= {"order": "among", "kind": "among", "n_planted": "n", "n_differ": "n"}
    return table.rename(columns=names).assign(check=check, n_removed=0)


def _write_table(tables: Sequence[pd.DataFrame], weat: str, out: Path) -> pd.DataFrame:
    joined = pd.concat(
        [table.assign(weat=weat).reindex(columns=COLUMNS) for table in tables], ignore_index=True
    )
    texts = ["among", "form"]
    joined[texts] = joined[texts].astype(object).fillna("")
    write_tsv(out, joined)
    return joined
