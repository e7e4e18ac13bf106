"""Why predictions for small sets miss: what each assumption of the estimate costs, on a finished run.

Usage: python benchmarks/overestimate.py RESULTS OUT [--setup sample] [--jobs 2] ...

The estimate `newton` of `biaslab.origins.attribution` takes the vector w_i of a test's word to the minimum of
its loss without the documents, as if (1) it were at the minimum of the loss with them, (2) the biases b_i and
c_j, (3) the context vectors u_j and (4) the other words' vectors stood still. Embeddings are trained in which
these assumptions fall one after the other. All of a baseline share its initial values and its order of
records, so that two of them differ by what is asked alone. Trainings are kept in OUT and not repeated.
"""

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple

from biaslab.bias.weat import differential_associations, weat_words
from biaslab.bias.word_sets import WeatIndices, in_vocabulary, read_word_sets
from biaslab.core.errors import InputError
from biaslab.core.files import locate
from biaslab.core.io import read_npz, read_parquet, read_tsv, write_npz, write_tsv
from biaslab.core.jit import set_threads
from biaslab.core.plotting import (
    BLACK,
    BLUE,
    DOUBLE_COLUMN,
    GREEN,
    LIGHT_GREY,
    ORANGE,
    VERMILION,
    figure,
    save_with_data,
)
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval
from biaslab.core.tables import Table, text_columns, write_table
from biaslab.embeddings import cooccurrence, glove
from biaslab.embeddings.cooccurrence import Cooccurrence
from biaslab.embeddings.glove import GloveParameters
from biaslab.embeddings.retraining import on_entries_of, without_documents
from biaslab.embeddings.vocabulary import read_vocabulary
from biaslab.origins.sets.selection import members

import numpy as np
import pandas as pd

REPOSITORY = Path(__file__).resolve().parents[1]
PARTS = ("W", "U", "b", "c")
NOTHING = ""  # the set that removes nothing


@dataclass(frozen=True)
class Run:
    """A finished run of a setup."""

    x: Cooccurrence
    tokens: np.ndarray
    offsets: np.ndarray
    tests: dict[str, WeatIndices]
    sets: dict[str, np.ndarray]
    baselines: dict[int, dict[str, np.ndarray]]
    parameters: GloveParameters
    seed: int

    def counts_without(self, name: str, share: float = 1.0) -> np.ndarray:
        """Return the counts at the entries of X when `share` of a set's counts is removed, float64."""
        if name == NOTHING:
            return self.x.counts.astype(np.float64)
        left = without_documents(self.x, self.tokens, self.offsets, self.sets[name])
        return self.x.counts - share * (self.x.counts - on_entries_of(self.x, left).counts)


def read_run(results: Path, setup: str) -> Run:
    """Read what a finished run of a setup left."""
    folder, config = results / "origins" / setup, results / "config.json"
    try:
        settings = json.loads(config.read_text(encoding="utf-8"))
        chosen = settings["origins"]["setups"][setup]
    except (OSError, ValueError, KeyError) as error:
        message = f"{config}: no finished run of the setup '{setup}'; run the workflow first"
        raise InputError(message) from error
    words = read_vocabulary(folder / "vocabulary.tsv")
    files = {name: locate(settings["origins"]["weats"][name], REPOSITORY) for name in chosen["bias"]["weats"]}
    corpus = read_npz(folder / "corpus.npz", ("tokens", "offsets"))
    model = {key: value for key, value in chosen["glove"].items() if key in GloveParameters.__annotations__}
    return Run(
        cooccurrence.read(folder / "cooccurrence.npz"),
        corpus["tokens"],
        corpus["offsets"],
        {name: in_vocabulary(read_word_sets(file), words.ids) for name, file in files.items()},
        members(read_parquet(folder / "perturbation_sets.parquet", ["set", "document"])),
        _read_baselines(folder / "embeddings/baseline"),
        GloveParameters(**model),
        settings["seed"],
    )


def _read_baselines(folder: Path) -> dict[int, dict[str, np.ndarray]]:
    baselines = {}
    for path in sorted(folder.glob("batch-*.npz")):
        arrays = read_npz(path, ("replicates", *PARTS))
        for k, seed in enumerate(arrays["replicates"].tolist()):
            baselines[seed] = {part: arrays[part][k] for part in PARTS}
    if not baselines:
        raise InputError(f"{folder}: no baselines; run the workflow first")
    return baselines


# Trainings in which only some of the parameters move.


class Training(NamedTuple):
    """A training: what moves in it, and what it is trained on.

    `moving` is "w", w_i of the tests' words alone; "w, b", also their b_i; "w, b, c", also all c_j;
    "w, b, c, u", also all u_j; or "all".
    """

    moving: str
    set: str
    epochs: int
    seed: int

    @property
    def file(self) -> str:
        """Its name in the folder of trainings."""
        moving = self.moving.replace(", ", "")
        return f"{moving}_{self.set or 'nothing'}_{self.epochs}_{self.seed}.npz"


def train(
    x: Cooccurrence,
    parameters: GloveParameters,
    rng: np.random.Generator,
    moving: str,
    words: np.ndarray,
    trained: dict[str, np.ndarray] | None,
) -> dict[str, np.ndarray]:
    """Train GloVe while some parameters stay what they are in `trained`, and return all of them.

    AdaGrad divides a step by the root of its sum of squared gradients: with a sum of 1e30 every step rounds
    away. (With an infinite sum, compiled code makes it no number.)
    """
    records, rates, start = glove.begin(x, parameters, rng)
    places = records.row_place, records.column_place
    rows_of, columns_of = (values[place] for values, place in zip(start, places, strict=True))
    if moving != "all":
        _hold(rows_of, columns_of, moving, words, trained, parameters.dimension)
        if moving in ("w", "w, b"):
            records = _records_of(records, words)
    rows, columns = rows_of[np.argsort(places[0])], columns_of[np.argsort(places[1])]
    state = glove._State(rows, columns, np.full(parameters.epochs, np.nan))
    for _ in range(parameters.epochs):
        glove._train_epoch(state, records, rates)
    w, u = state.rows[records.row_place], state.columns[records.column_place]
    embedding = glove.embedding_of(w, u, parameters.dimension, state.loss)
    return {part: getattr(embedding, part) for part in PARTS}


def _hold(rows_of, columns_of, moving, words, trained, dimension):
    """Set what does not move to its trained value, with a sum of squared gradients that holds it there."""
    width = rows_of.shape[1] // 2
    w, b, u, c = slice(dimension), dimension, slice(dimension), dimension + 1
    others = np.setdiff1d(np.arange(len(rows_of)), words)
    _fix(rows_of, others, w, trained["W"][others], width)
    _fix(rows_of, others, b, trained["b"][others], width)
    everywhere = np.arange(len(rows_of))
    if "b" not in moving:
        _fix(rows_of, words, b, trained["b"][words], width)
    if "c" not in moving:
        _fix(columns_of, everywhere, c, trained["c"], width)
    if "u" not in moving:
        _fix(columns_of, everywhere, u, trained["U"], width)


def _fix(parameters, words, where, values, width):
    parameters[words, where] = values
    sums = slice(where.start, where.stop) if isinstance(where, slice) else where
    view = parameters[:, width:]
    view[words, sums] = 1e30


def _records_of(records: glove.Records, words: np.ndarray) -> glove.Records:
    """Return the records of some words' rows, in their order: those of other rows would move nothing."""
    kept = np.isin(records.rows, records.row_place[words])
    starts = np.concatenate([[0], np.cumsum(kept)])[records.starts]
    picked = {name: getattr(records, name)[kept] for name in ("rows", "columns", "log_x", "f_x")}
    return replace(records, starts=starts, **picked)


def make_training(run: Run, training: Training, folder: Path) -> None:
    """Train as asked with one thread, unless the folder has it."""
    set_threads(1)
    path = folder / training.file
    if path.exists():
        return
    # Without a set, the counts are whole: the training is then, bit for bit, the baseline.
    x = replace(run.x, counts=run.counts_without(training.set))
    parameters = replace(run.parameters, epochs=training.epochs)
    rng = stream(run.seed, "train", "baseline", training.seed)
    words = np.unique(np.concatenate([weat_words(test) for test in run.tests.values()]))
    arrays = train(x, parameters, rng, training.moving, words, run.baselines.get(training.seed))
    write_npz(path, **arrays)


# What the estimate knows: the loss of one row, quadratic in the word's vector.


class Row(NamedTuple):
    """Half the loss of one word's row, v'Av/2 - q'v, before and after a removal, and the trained v.

    v is w_i, or w_i and b_i. `penalty` is 1/(step size x epochs) of every component: gradient descent that
    stops after these epochs ends near the minimum of the loss with penalty |v|^2 / 2.
    """

    A: np.ndarray
    q: np.ndarray
    A_after: np.ndarray
    q_after: np.ndarray
    v: np.ndarray
    penalty: np.ndarray


def row(
    x: Cooccurrence,
    after: np.ndarray,
    word: int,
    embedding: dict[str, np.ndarray],
    parameters: GloveParameters,
    with_bias: bool = False,
) -> Row:
    """Return the loss of a word's row in the counts of `x`, and in the counts `after`."""
    places = slice(x.indptr[word], x.indptr[word + 1])
    contexts = x.indices[places]
    features = embedding["U"][contexts].astype(np.float64)
    v = embedding["W"][word].astype(np.float64)
    rates = np.full(parameters.dimension, parameters.learning_rate)
    constant = embedding["c"][contexts].astype(np.float64)
    if with_bias:
        features = np.column_stack([features, np.ones(len(contexts))])
        v, rates = np.append(v, embedding["b"][word]), np.append(rates, 1.0)  # biases move at full rate
    else:
        constant = constant + embedding["b"][word]
    parts = []
    for counts in (x.counts[places] / x.unit, after[places] / x.unit):
        f = glove.weighting(counts, parameters.x_max, parameters.alpha)
        target = np.log(np.where(counts > 0, counts, 1.0)) - constant
        parts += [(features * f[:, None]).T @ features, features.T @ (f * target)]
    return Row(*parts, v, 1 / (rates * parameters.epochs))


def newton(r: Row, damping: float = 0.0) -> np.ndarray:
    """Return the step of the estimate `newton` (Eq. 8 with the Hessian at X~), damped by some penalties."""
    change = (r.A_after @ r.v - r.q_after) - (r.A @ r.v - r.q)
    return -np.linalg.solve(_regular(r.A_after, r.A, damping) + damping * np.diag(r.penalty), change)


def influence(r: Row, damping: float = 0.0) -> np.ndarray:
    """Return the step of Eq. 8, damped by some penalties."""
    change = (r.A_after @ r.v - r.q_after) - (r.A @ r.v - r.q)
    return -np.linalg.solve(r.A + damping * np.diag(r.penalty), change)


def _regular(A: np.ndarray, otherwise: np.ndarray, damping: float) -> np.ndarray:
    """Return A, or when it is singular and not damped the other one, as the workflow's `newton` does."""
    eigenvalues = np.linalg.eigvalsh(A)
    return A if damping > 0 or eigenvalues[0] > 1e-9 * eigenvalues[-1] else otherwise


def minima(r: Row) -> tuple[np.ndarray, np.ndarray]:
    """Return the minimum of the loss before and after the removal."""
    return np.linalg.solve(r.A, r.q), np.linalg.solve(_regular(r.A_after, r.A, 0), r.q_after)


def truncated(r: Row) -> np.ndarray:
    """Return the step between two gradient descents from 0 that stop after the epochs of the training.

    Descent v' = -R (A v - q) for a time T, R being the step sizes, ends at s (1 - exp(-B)) / B s q with
    s = root of R T and B = s A s.
    """
    s = 1 / np.sqrt(r.penalty)

    def end(A, q):
        eigenvalues, vectors = np.linalg.eigh(s[:, None] * A * s)
        eigenvalues = np.maximum(eigenvalues, 1e-300)
        return s * (vectors @ (-np.expm1(-eigenvalues) / eigenvalues * (vectors.T @ (s * q))))

    return end(r.A_after, r.q_after) - end(r.A, r.q)


# Names of what is compared.
ESTIMATES = {
    "influence": lambda r: influence(r),
    "newton": lambda r: newton(r),
    "influence, damped": lambda r: influence(r, 1.0),
    "newton, damped": lambda r: newton(r, 1.0),
    "truncated": truncated,
}
WITH_BIAS = {"newton of w, b": lambda r: newton(r), "newton of w, b, damped": lambda r: newton(r, 1.0)}


def measures(vectors: np.ndarray, test: WeatIndices) -> dict[str, float]:
    """Return the effect size, and its numerator alone."""
    g = differential_associations(vectors, test)
    numerator = g[: len(test.S)].mean() - g[len(test.S) :].mean()
    return {"effect size": numerator / g.std(ddof=1), "numerator": numerator}


def moved(W: np.ndarray, words: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return the vectors (V, D) with some words' moved."""
    vectors = W.astype(np.float64)
    vectors[words] += steps
    return vectors


def estimates(
    run: Run, embedding: dict[str, np.ndarray], after: np.ndarray, test: WeatIndices, epochs: int
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return by name the vectors before and after by all estimates of what a removal does."""
    words, parameters = weat_words(test), replace(run.parameters, epochs=epochs)
    dimension, before = parameters.dimension, embedding["W"].astype(np.float64)
    found = {}
    for estimators, with_bias in ((ESTIMATES, False), (WITH_BIAS, True)):
        rows = [row(run.x, after, i, embedding, parameters, with_bias) for i in words]
        for name, step in estimators.items():
            found[name] = before, moved(before, words, np.stack([step(r)[:dimension] for r in rows]))
        ends = [minima(r) for r in rows]
        pair = [moved(0 * before, words, np.stack([e[k][:dimension] for e in ends])) for k in (0, 1)]
        found["to the minimum: " + ("w, b" if with_bias else "w")] = tuple(pair)
    return found


# The experiments.


class Removal(NamedTuple):
    """A set, and how long embeddings are trained."""

    set: str
    epochs: int


def targeted(run: Run, test: str, size: int) -> list[str]:
    """Return the names of a test's two sets of a size that the run has."""
    return [name for name in (f"{test}-increase-{size}", f"{test}-decrease-{size}") if name in run.sets]


def plan(run: Run, options: argparse.Namespace) -> list[Training]:
    """List all trainings, those first that say most."""
    epochs, seeds = run.parameters.epochs, sorted(run.baselines)[: options.baselines]
    few, fewest = seeds[: options.few], seeds[: options.fewest]
    sizes = [int(size) for size in options.sizes.split(",")]
    by_size = [[name for test in run.tests for name in targeted(run, test, size)] for size in sizes]
    smallest = by_size[0]
    if not smallest:
        raise InputError(f"--sizes {options.sizes}: the run has no sets of {sizes[0]} documents; name others")
    asked = [
        product(["all"], smallest, [epochs], seeds),
        product(["w", "w, b"], [NOTHING, *smallest], [epochs], seeds),
        product(["w, b, c", "w, b, c, u"], [NOTHING, *smallest], [epochs], few),
        product(["all"], [NOTHING, *smallest], [options.more * epochs], fewest),
        *(product(["all"], names, [epochs], few) for names in by_size[1:]),
    ]
    return [Training(*values) for part in asked for values in sorted(part, key=lambda t: t[-1])]


def compare(run: Run, trainings: list[Training], folder: Path) -> pd.DataFrame:
    """Measure every removal in every training and by every estimate.

    Returns a row a removal, baseline, method and measure: the bias before and after.
    """
    rows = []
    by_pair: dict[tuple[Removal, int], list[Training]] = {}
    for t in trainings:
        if t.set != NOTHING:
            by_pair.setdefault((Removal(t.set, t.epochs), t.seed), []).append(t)
    for (removal, seed), of_pair in by_pair.items():
        test = run.tests[removal.set.split("-")[0]]
        start = _without_removal(run, folder, "all", removal.epochs, seed)
        after = run.counts_without(removal.set)
        pairs = estimates(run, start, after, test, removal.epochs)
        for t in of_pair:
            before = _without_removal(run, folder, t.moving, t.epochs, seed)["W"]
            pairs[f"trained: {t.moving}"] = before, read_npz(folder / t.file, PARTS)["W"]
        for method, vectors in pairs.items():
            values = [measures(v, test) for v in vectors]
            rows += [(*removal, seed, method, m, values[0][m], values[1][m]) for m in values[0]]
    return pd.DataFrame(rows, columns=[*Removal._fields, "seed", "method", "measure", "before", "after"])


def _without_removal(run, folder, moving, epochs, seed):
    """Return the embedding that a training without a set starts the comparison from."""
    if moving == "all" and epochs == run.parameters.epochs:
        return run.baselines[seed]
    return read_npz(folder / Training(moving, NOTHING, epochs, seed).file, PARTS)


PAIRED = "trained: all"


def summarise(changes: pd.DataFrame) -> pd.DataFrame:
    """Average the changes over baselines, and what each method says too much, with 95% intervals.

    `excess` is the mean of a method's change minus that of the paired retraining, in the retraining's
    direction: positive where the method overestimates.
    """
    keys = [*Removal._fields, "measure"]
    changes = changes.assign(change=changes["after"] - changes["before"])
    seen = changes[changes["method"] == PAIRED].set_index([*keys, "seed"])["change"]
    rows = []
    for key, part in changes.groupby([*keys, "method"], sort=False):
        truth = seen.reindex(pd.MultiIndex.from_tuples([(*key[:-1], s) for s in part["seed"]])).to_numpy()
        change = part["change"].to_numpy()
        excess = (change - truth) * (-1 if "decrease" in key[0] else 1)
        rows.append(
            (*key, len(change), change.mean(), *mean_interval(change), excess.mean(), *mean_interval(excess))
        )
    names = ["change", "change_low", "change_high", "excess", "excess_low", "excess_high"]
    return pd.DataFrame(rows, columns=[*keys, "method", "n_baselines", *names])


LADDER = ("newton", *(f"trained: {moving}" for moving in ("w", "w, b", "w, b, c", "w, b, c, u", "all")))


def ladder(changes: pd.DataFrame) -> pd.DataFrame:
    """Return what each assumption costs: by how much a method's change differs from that of the one before.

    Means over the baselines that have both, with 95% intervals.
    """
    changes = changes.assign(change=changes["after"] - changes["before"])
    rows = []
    for key, part in changes.groupby([*Removal._fields, "measure"], sort=False):
        by_method = part.pivot(index="seed", columns="method", values="change")
        there = [method for method in LADDER if method in by_method]
        for first, second in pairwise(there):
            step = (by_method[second] - by_method[first]).dropna()
            rows.append((*key, first, second, len(step), step.mean(), *mean_interval(step)))
    names = ["from", "to", "n_baselines", "difference", "difference_low", "difference_high"]
    return pd.DataFrame(rows, columns=[*Removal._fields, "measure", *names])


def distances(run: Run, trainings: list[Training], folder: Path) -> pd.DataFrame:
    """Measure how far from the minimum of their own loss the words of the tests are, by epochs."""
    rows = []
    starts = {(run.parameters.epochs, seed) for seed in run.baselines}
    starts |= {(t.epochs, t.seed) for t in trainings if t.set == NOTHING and t.moving == "all"}
    for epochs, seed in sorted(starts):
        embedding = _without_removal(run, folder, "all", epochs, seed)
        for name, test in run.tests.items():
            of_words = [row(run.x, run.x.counts, i, embedding, run.parameters) for i in weat_words(test)]
            far = [np.linalg.norm(minima(r)[0] - r.v) / np.linalg.norm(r.v) for r in of_words]
            gradient = [np.linalg.norm(r.A @ r.v - r.q) / np.linalg.norm(r.q) for r in of_words]
            rows.append((name, epochs, seed, np.median(far), np.median(gradient)))
    return pd.DataFrame(rows, columns=["weat", "epochs", "seed", "distance", "gradient"])


EDGES = (0.0, 0.1, 0.3, 1.0, 3.0, np.inf)  # of step size x epochs x eigenvalue


def directions(run: Run, trainings: list[Training], folder: Path) -> pd.DataFrame:
    """Compare steps with those of `newton`, direction by direction.

    In the directions of the eigenvectors of every word's Hessian, `taken` is the slope of the steps of a
    training on those of `newton` (least squares through 0) over all directions with
    z = step size x epochs x eigenvalue between two edges, and `z` its mean, weighted as in the slope.
    """
    rows = []
    for t in (t for t in trainings if t.set != NOTHING and t.moving in ("w", "all")):
        test = run.tests[t.set.split("-")[0]]
        start = _without_removal(run, folder, "all", t.epochs, t.seed)
        before = _without_removal(run, folder, t.moving, t.epochs, t.seed)["W"].astype(np.float64)
        taken = read_npz(folder / t.file, PARTS)["W"] - before
        after = run.counts_without(t.set)
        parameters = replace(run.parameters, epochs=t.epochs)
        found = []
        for word in weat_words(test):
            r = row(run.x, after, word, start, parameters)
            eigenvalues, vectors = np.linalg.eigh(r.A_after)
            if eigenvalues[0] > 1e-9 * eigenvalues[-1]:
                found.append([eigenvalues / r.penalty, newton(r) @ vectors, taken[word] @ vectors])
        key = (t.set, t.epochs, t.seed, t.moving)
        rows += [(*key, *values) for values in share_taken(*np.concatenate(found, axis=1))]
    return pd.DataFrame(rows, columns=["set", "epochs", "seed", "moving", "z_from", "z", "taken"])


def share_taken(z: np.ndarray, predicted: np.ndarray, seen: np.ndarray) -> list[tuple[float, ...]]:
    """Return, by edge of z: the edge, the mean z, and the slope of the steps seen on those predicted."""
    rows = []
    for low, high in pairwise(EDGES):
        here = (low <= z) & (z < high)
        weight = predicted[here] ** 2
        if weight.sum() > 0:
            rows.append((low, weight @ z[here] / weight.sum(), predicted[here] @ seen[here] / weight.sum()))
    return rows


def words_of(run: Run, trainings: list[Training], folder: Path, names: list[str]) -> pd.DataFrame:
    """Say of every word how long its step by `newton` is, what training takes of it, and what that carries.

    `step` is relative to the word's vector, `taken` the slope of the paired retraining's step on it, and
    `carried` the excess that goes when this word alone steps as in the retraining.
    """
    rows = []
    of_run = (t for t in trainings if (t.moving, t.epochs) == ("all", run.parameters.epochs))
    for t in (t for t in of_run if t.set != NOTHING):
        test, embedding = run.tests[t.set.split("-")[0]], run.baselines[t.seed]
        ids, after, W = weat_words(test), run.counts_without(t.set), embedding["W"].astype(np.float64)
        steps = np.stack([newton(row(run.x, after, i, embedding, run.parameters)) for i in ids])
        seen = read_npz(folder / t.file, PARTS)["W"][ids] - W[ids]
        parts = zip(ids, steps, seen, carried(W, ids, steps, seen, test), strict=True)
        for word, step, seen_step, excess in parts:
            sign = -1 if "decrease" in t.set else 1
            length = np.linalg.norm(step) / np.linalg.norm(W[word])
            taken = step @ seen_step / (step @ step) if length > 0 else np.nan
            contexts = run.x.indptr[word + 1] - run.x.indptr[word]
            rows.append((t.set, t.seed, names[word], contexts, length, taken, sign * excess))
    return pd.DataFrame(rows, columns=["set", "seed", "word", "contexts", "step", "taken", "carried"])


def carried(
    W: np.ndarray, ids: np.ndarray, steps: np.ndarray, seen: np.ndarray, test: WeatIndices
) -> list[float]:
    """Return by how much the effect size is larger when one word takes its step of `steps`, not of `seen`."""
    whole = measures(moved(W, ids, steps), test)["effect size"]
    sizes = []
    for k in range(len(ids)):
        mixed = steps.copy()
        mixed[k] = seen[k]
        sizes.append(whole - measures(moved(W, ids, mixed), test)["effect size"])
    return sizes


SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)


def curve(run: Run, names: list[str]) -> pd.DataFrame:
    """Estimate the removal of some shares of the counts of sets: on a line, were the estimate linear."""
    rows = []
    for name, share in product(names, SHARES):
        test, after = run.tests[name.split("-")[0]], run.counts_without(name, share)
        for seed, embedding in run.baselines.items():
            for method, ends in estimates(run, embedding, after, test, run.parameters.epochs).items():
                before, moved_to = (measures(vectors, test)["effect size"] for vectors in ends)
                rows.append((name, share, seed, method, moved_to - before))
    return pd.DataFrame(rows, columns=["set", "share", "seed", "method", "change"])


DAMPINGS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)


def against_retrainings(run: Run, observed: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    """Predict every set of the run with several dampings, beside what its own (unpaired) retrainings saw."""
    rows = []
    for name, test in run.tests.items():
        sets = [s for s in run.sets if s.startswith((f"{name}-", "random-"))]
        before = baseline.loc[baseline["weat"] == name, "effect_size"].mean()
        seen = observed[observed["weat"] == name].groupby("set")["effect_size"].mean() - before
        for chosen in (s for s in sets if s in seen):
            after = run.counts_without(chosen)
            for seed, embedding in run.baselines.items():
                of_words = [row(run.x, after, i, embedding, run.parameters) for i in weat_words(test)]
                start = measures(embedding["W"], test)["effect size"]
                for (estimator, step), damping in product(STEPS.items(), DAMPINGS):
                    steps = np.stack([step(r, damping) for r in of_words])
                    end = measures(moved(embedding["W"], weat_words(test), steps), test)["effect size"]
                    rows.append((name, chosen, estimator, damping, seed, end - start, seen[chosen]))
    columns = ["weat", "set", "estimator", "damping", "seed", "predicted", "observed"]
    return pd.DataFrame(rows, columns=columns)


STEPS = {"influence": influence, "newton": newton}


def errors(predictions: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the root mean square error over the sets and the slope of observed on predicted changes.

    Predictions are averaged over the baselines; the 95% intervals are of a bootstrap over the sets.
    """
    keys = ["weat", "estimator", "damping"]
    means = predictions.groupby([*keys, "set"], sort=False)[["predicted", "observed"]].mean().reset_index()
    rows = []
    for key, part in means.groupby(keys, sort=False):
        x, y = part["predicted"].to_numpy(), part["observed"].to_numpy()
        # The same resamples for all of a test, so that their differences are not those of the draw.
        drawn = stream(seed, "bootstrap", "overestimate", key[0]).integers(len(x), size=(2000, len(x)))
        rms = np.sqrt(((x - y)[drawn] ** 2).mean(axis=1))
        slopes = (x[drawn] * y[drawn]).sum(axis=1) / (x[drawn] ** 2).sum(axis=1)
        r = np.corrcoef(x, y)[0, 1] if len(x) > 2 else np.nan
        rows.append(
            (*key, len(x), np.sqrt(((x - y) ** 2).mean()), *np.quantile(rms, [0.025, 0.975]), x @ y / (x @ x),
             *np.quantile(slopes, [0.025, 0.975]), r)
        )  # fmt: skip
    names = ["n_sets", "rms", "rms_low", "rms_high", "slope", "slope_low", "slope_high", "r"]
    return pd.DataFrame(rows, columns=[*keys, *names])


# What people read.


def steps_table(summary: pd.DataFrame) -> Table:
    """List what each method says of the removal of whole sets, and by how much it is too much."""
    shown = summary[summary["measure"] == "effect size"]
    columns = {
        "Set": "{set}",
        "Epochs": "{epochs:d}",
        "Method": "{method}",
        "Baselines": "{n_baselines:d}",
        "Change": "{change:+.3f} [{change_low:+.3f}, {change_high:+.3f}]",
        "Excess": "{excess:+.3f} [{excess_low:+.3f}, {excess_high:+.3f}]",
    }
    note = "Excess: over the paired retraining (trained: all), in the set's direction; 95% over baselines."
    title = "Change of the effect size through the removal of a set, by method"
    return Table(summary, text_columns(shown, columns), title, note)


def ladder_table(data: pd.DataFrame) -> Table:
    """List what each assumption costs."""
    columns = {
        "Set": "{set}",
        "Epochs": "{epochs:d}",
        "From": "{from}",
        "To": "{to}",
        "Baselines": "{n_baselines:d}",
        "Difference": "{difference:+.3f} [{difference_low:+.3f}, {difference_high:+.3f}]",
    }
    shown = data[data["measure"] == "effect size"]
    note = "Mean over the baselines that have both, 95%. From newton to w: what is not trained to its end."
    title = "What the assumptions of the estimate cost, one after the other"
    return Table(data, text_columns(shown, columns), title, note)


def errors_table(data: pd.DataFrame) -> Table:
    """List the errors of predictions by their damping."""
    columns = {
        "Test": "{weat}",
        "Estimator": "{estimator}",
        "Damping": "{damping:g}",
        "Sets": "{n_sets:d}",
        "Error": "{rms:.3f} [{rms_low:.3f}, {rms_high:.3f}]",
        "Slope": "{slope:.2f} [{slope_low:.2f}, {slope_high:.2f}]",
        "r": "{r:.3f}",
    }
    note = (
        "Damping in units of 2 / (learning rate x epochs), added to the Hessian. Error: root mean square over"
        " the sets; slope: of observed on predicted changes, through 0; 95% by bootstrap over the sets."
    )
    return Table(data, text_columns(data, columns), "Predicted and observed changes by damping", note)


def draw(stem: Path, taken: pd.DataFrame, predictions: pd.DataFrame) -> None:
    """Draw the share of the steps that training takes, and predictions with and without damping."""
    chosen = predictions[(predictions["estimator"] == "newton") & predictions["damping"].isin([0.0, 1.0])]
    means = chosen.groupby(["weat", "set", "damping"])[["predicted", "observed"]].mean().reset_index()
    with figure(DOUBLE_COLUMN, 2.8) as fig:
        left, right = fig.subplots(1, 2)
        z = np.geomspace(0.03, 300, 100)
        left.plot(z, z / (1 + z), color=BLACK, linewidth=0.8, label="damped: z / (1 + z)")
        paired = taken[taken["moving"] == "all"]
        for colour, (epochs, part) in zip((BLUE, ORANGE, GREEN), paired.groupby("epochs"), strict=False):
            of_seeds = part.groupby(["z_from", "seed"])[["z", "taken"]].mean()
            by_bin = of_seeds.groupby("z_from").agg(["mean", mean_half])
            left.errorbar(
                by_bin["z", "mean"], by_bin["taken", "mean"], yerr=by_bin["taken", "mean_half"], fmt="o",
                color=colour, markersize=3, elinewidth=0.6, label=f"{epochs} epochs",
            )  # fmt: skip
        left.axhline(1, color=LIGHT_GREY, linewidth=0.5, zorder=0)
        left.set(xscale="log", xlabel="z = step size × epochs × eigenvalue")
        left.set_ylabel("Share of newton's step taken")
        left.legend(loc="lower right")
        for damping, colour in ((0.0, VERMILION), (1.0, BLUE)):
            for weat, marker in zip(means["weat"].unique(), "os", strict=False):
                part = means[(means["damping"] == damping) & (means["weat"] == weat)]
                label = weat.replace("weat", "WEAT ") + (", damped" if damping else ", newton")
                right.plot(
                    part["predicted"], part["observed"], marker, color=colour, markersize=3, label=label,
                    fillstyle="none" if marker == "s" else "full",
                )  # fmt: skip
        right.axline((0, 0), slope=1, color=BLACK, linewidth=0.5, linestyle=":", zorder=0)
        right.set(xlabel="Predicted change", ylabel="Observed change")
        right.legend()
        drawn = pd.concat({"directions": taken, "predictions": means}, names=["panel"]).reset_index(level=0)
        save_with_data(fig, stem, drawn)


def mean_half(values: pd.Series) -> float:
    """Return half the width of the 95% interval of a mean."""
    low, high = mean_interval(values)
    return (high - low) / 2


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    try:
        run = read_run(options.results, options.setup)
        folder = options.out / "trainings"
        folder.mkdir(parents=True, exist_ok=True)
        trainings = plan(run, options)
        train_all(run, trainings, folder, options.jobs)
        write_results(run, trainings, folder, options)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def train_all(run: Run, trainings: list[Training], folder: Path, jobs: int) -> None:
    """Make the trainings that the folder lacks, some at a time."""
    if jobs == 1:
        for training in trainings:
            make_training(run, training, folder)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for made in [pool.submit(make_training, run, training, folder) for training in trainings]:
            made.result()


def write_results(run: Run, trainings: list[Training], folder: Path, options: argparse.Namespace) -> None:
    """Write all tables."""
    results = options.results / "origins" / options.setup
    observed, baseline = (read_tsv(results / f"{name}.tsv") for name in ("observed", "baseline"))
    changes = compare(run, trainings, folder)
    write_tsv(options.out / "changes.tsv", changes)
    words = read_vocabulary(results / "vocabulary.tsv").words
    write_tsv(options.out / "words.tsv", words_of(run, trainings, folder, words))
    smallest = dict.fromkeys(t.set for t in trainings if t.moving == "w" and t.set != NOTHING)
    write_tsv(options.out / "curve.tsv", curve(run, list(smallest)))
    write_tsv(options.out / "distances.tsv", distances(run, trainings, folder))
    directions_of = directions(run, trainings, folder)
    write_tsv(options.out / "directions.tsv", directions_of)
    predictions = against_retrainings(run, observed, baseline)
    write_tsv(options.out / "predictions.tsv", predictions)
    for name, data, table in (
        ("summary", summarise(changes), steps_table),
        ("ladder", ladder(changes), ladder_table),
        ("errors", errors(predictions, run.seed), errors_table),
    ):
        write_table(options.out / name, table(data))
    draw(options.out / "overestimate", directions_of, predictions)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, help="folder of a finished run")
    parser.add_argument("out", type=Path, help="folder for tables, figure and trainings")
    parser.add_argument("--setup", default="sample", help="setup of the run")
    parser.add_argument("--sizes", default="10", help="documents in the sets; the first most thoroughly")
    parser.add_argument("--baselines", type=int, default=10, help="baselines to pair retrainings with")
    parser.add_argument("--few", type=int, default=4, help="of them, those for all steps of the ladder")
    parser.add_argument("--fewest", type=int, default=4, help="of them, those that train for longer")
    parser.add_argument("--more", type=int, default=4, help="times the run's epochs that these train for")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
