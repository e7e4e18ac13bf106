"""Bias and analogies of an embedding before, after hard and after soft debiasing, and its words.

All stages use one list of occupations: excluding the gender-specific occupations alone changes DirectBias
more than the paper's λ does.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WordSets
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.debiasing.analogies import generate_by_rule, solve_analogies
from biaslab.debiasing.experiment import BEFORE, DIGITS, HARD, Experiment, cosines
from biaslab.debiasing.measurement import Measurement, measure
from biaslab.debiasing.measures import direct_bias, indirect_bias, mean_similarity, project_words
from biaslab.debiasing.names import COLUMNS
from biaslab.debiasing.subspace import random_pair_shares, random_unit_shares
from biaslab.debiasing.word_lists import known_words, read_scores, read_words

INDIRECT_AXIS = ("softball", "football")
"""The two ends of the paper's table of indirect bias (Figure 3)."""
ALONG = "bias direction"
"""The name of the first direction of the bias when words are compared with it; no word has a space."""
NEIGHBOURS = {
    "doctor": ("man", "woman"),
    "nurse": ("man", "woman", ALONG),
    "receptionist": ("male", "female", ALONG),
    "queen": ("male", "female", ALONG),
    "male": (ALONG,),
    "female": (ALONG,),
    "wisdom": ("grandmother", "grandfather", "gal", "guy"),
    "babysit": ("grandmother", "grandfather", "gal", "guy"),
}
"""Words with similarities in the paper (Abstract, Sections 1, 4 and 7), and the words compared with them."""
PUZZLES = (
    ("he", "doctor", "she"),
    ("man", "computer_programmer", "woman"),
    ("man", "programmer", "woman"),
    ("father", "doctor", "mother"),
    ("man", "king", "woman"),
    ("Paris", "France", "Tokyo"),
    ("she", "ovarian_cancer", "he"),
    ("she", "grandmother", "he"),
    ("father", "male", "mother"),
)
"""The analogies in the paper's text (Sections 1, 4, 6 and 7). Debiasing changes the answer to the first; the
third replaces the second if its phrase is missing in an embedding."""
_FILTERED = re.compile("[a-z_]{1,19}")
"""Words that the paper keeps: fewer than 20 characters, all in lower case (Section 2)."""


def make_tables(
    experiment: Experiment,
    tests: Sequence[WordSets],
    draws: int,
    analogies: int,
    occupations: Sequence[Path] = (),
    seeds: Sequence[Path] = (),
) -> dict[str, pd.DataFrame]:
    """Measure the bias and the words of every stage; return the tables by name.

    `occupations` are the authors' list of occupations, `seeds` that of their gender-specific words.
    """
    others = [row for file in occupations for row in known_words(read_words(file), experiment.ids).rows]
    scores = {word: both for file in occupations for word, both in read_scores(file).items()}
    results = measure_stages(experiment, tests, others)
    results["subspace"] = compare_subspace(experiment, draws)
    results["indirect"] = rank_indirect(experiment)
    results["occupations_authors"] = rank_scored(experiment, scores)
    results["similarities"] = compare_words(experiment)
    results["vocabulary"] = list_vocabulary(experiment)
    values = {
        "components": experiment.settings.components,
        "strictness": experiment.settings.strictness,
        "lambda": experiment.penalty,
        "random_draws": draws,
    }
    results["settings"] = pd.DataFrame({"setting": list(values), "value": list(values.values())})
    results["analogies"] = list_analogies(experiment, analogies)
    results["puzzles"] = solve_puzzles(experiment)
    results["classifier"], results["axes"] = classify_stages(experiment, experiment.lists.specific.rows)
    results["classifier_authors"] = results["classifier"].iloc[:0]
    for file in seeds:
        rows = known_words(read_words(file), experiment.ids).rows
        results["classifier_authors"], _ = classify_stages(experiment, rows)
    return results


def measure_stages(
    experiment: Experiment, tests: Sequence[WordSets], other_occupations: Sequence[int] = ()
) -> dict[str, pd.DataFrame]:
    """Measure the bias at every stage, along the original subspace: tables `bias`, `weat`, `occupations`.

    The other occupations are rows of a second list, e.g. the authors'; ``direct_bias_authors`` uses them.
    """
    basis = experiment.subspace.basis
    n_words, dimension = experiment.embedding.vectors.shape
    biases = [(BEFORE, "vocabulary", n_words, n_words), (BEFORE, "dimension", dimension, n_words)]
    weats, occupations = [], []
    for stage, vectors in experiment.stages().items():
        measured = measure(vectors, experiment.words, experiment.lists, tests, experiment.settings, basis)
        biases += [(stage, *row) for row in _bias_rows(experiment, vectors, measured, other_occupations)]
        weats.append(measured.weats.assign(stage=stage))
        ranks = measured.occupations.assign(stage=stage, rank=np.arange(1, len(measured.occupations) + 1))
        occupations.append(ranks[list(COLUMNS["occupations"])])
    biases.append((BEFORE, "mean_similarity", mean_similarity(experiment.embedding.vectors), n_words))
    weat = pd.concat(weats, ignore_index=True).rename(columns={"lost": "missing_words"})
    weat["n_missing_words"] = [len(lost.split(",")) if lost else 0 for lost in weat["missing_words"]]
    return {
        "bias": pd.DataFrame(biases, columns=COLUMNS["bias"]).round(DIGITS),
        "weat": weat[list(COLUMNS["weat"])],
        "occupations": pd.concat(occupations, ignore_index=True).round(DIGITS),
    }


def compare_subspace(experiment: Experiment, draws: int) -> pd.DataFrame:
    """Return the variance explained by the components, and by chance (Figure 2, middle)."""
    vectors = experiment.embedding.vectors
    n_pairs, shares = len(experiment.lists.defining.rows), experiment.subspace.shares
    seed = experiment.settings.seed
    random = {
        "random": random_pair_shares(vectors, n_pairs, draws, stream(seed, "random-pairs")),
        "unit": random_unit_shares(n_pairs, vectors.shape[1], draws, stream(seed, "random-units")),
    }
    table = pd.DataFrame({"component": np.arange(1, len(shares) + 1), "share": shares})
    columns = {
        f"{name}_{part}": values
        for name, share in random.items()
        for part, values in (("mean", share.mean), ("ci_low", share.low), ("ci_high", share.high))
    }
    return table.join(pd.DataFrame(columns))


def list_vocabulary(experiment: Experiment) -> pd.DataFrame:
    """Return the words of the embedding, and whether the paper's filter keeps them (Section 2)."""
    filtered = [int(_FILTERED.fullmatch(word) is not None) for word in experiment.words]
    return pd.DataFrame({"word": experiment.words, "filtered": filtered})


def compare_words(experiment: Experiment) -> pd.DataFrame:
    """Return the similarities, at every stage, of the paper's words that the embedding contains."""
    ids, rows = experiment.ids, []
    for stage, vectors in experiment.stages().items():
        for word, others in NEIGHBOURS.items():
            for other in others:
                if word in ids and (other == ALONG or other in ids):
                    end = experiment.subspace.basis[0] if other == ALONG else vectors[ids[other]]
                    similarity = float(cosines(vectors[[ids[word]]], end.astype(np.float64))[0])
                    rows.append((stage, word, other, similarity))
    return pd.DataFrame(rows, columns=COLUMNS["similarities"]).round(DIGITS)


def list_analogies(experiment: Experiment, count: int = 150) -> pd.DataFrame:
    """Generate `count` analogies she : x :: he : y of every stage; the paper has 150 rated."""
    tables = []
    for stage, vectors in experiment.stages().items():
        direction = experiment.direction(vectors)
        for once, table in generate_by_rule(vectors, experiment.words, direction, count).items():
            tables.append(table.assign(stage=stage, once=once, rank=np.arange(1, len(table) + 1)))
    table = pd.concat(tables, ignore_index=True).rename(columns={"x": "she", "y": "he"})
    return table[list(COLUMNS["analogies"])].round(DIGITS)


def solve_puzzles(experiment: Experiment, puzzles: Sequence[tuple[str, str, str]] = PUZZLES) -> pd.DataFrame:
    """Answer analogies a : b :: c : ? at every stage, by 3CosAdd, except analogies with unknown words."""
    solvable = [puzzle for puzzle in puzzles if set(puzzle) <= experiment.ids.keys()]
    questions = np.array([[experiment.ids[word] for word in puzzle] for puzzle in solvable], dtype=np.int64)
    rows = [
        (stage, *puzzle, experiment.words[answer])
        for stage, vectors in experiment.stages().items()
        for puzzle, answer in zip(solvable, solve_analogies(vectors, questions), strict=True)
    ]
    return pd.DataFrame(rows, columns=COLUMNS["puzzles"])


def rank_scored(experiment: Experiment, scores: Mapping[str, tuple[float, float]]) -> pd.DataFrame:
    """Project the authors' occupations on she - he before debiasing, the largest first, with their scores."""
    words = [word for word in scores if word in experiment.ids]
    rows = [experiment.ids[word] for word in words]
    vectors = experiment.embedding.vectors
    table = project_words(vectors, experiment.words, rows, experiment.direction(vectors))
    word_scores = pd.DataFrame(
        [scores[word] for word in table["word"]], columns=["definitional", "stereotypical"]
    )
    is_specific = np.isin([experiment.ids[word] for word in table["word"]], experiment.lists.not_neutral)
    table = table.join(word_scores).assign(specific=is_specific.astype(int))
    return table[list(COLUMNS["occupations_authors"])].round(DIGITS)


def rank_indirect(experiment: Experiment, axis: tuple[str, str] = INDIRECT_AXIS) -> pd.DataFrame:
    """Rank occupations between two words at every stage, with the indirect bias of the nearer one."""
    columns = ["stage", "word", "axis", "projection", "beta"]
    if not set(axis) <= experiment.ids.keys():
        return pd.DataFrame(columns=columns)
    parts = []
    for stage, vectors in experiment.stages().items():
        ends = vectors[[experiment.ids[word] for word in axis]].astype(np.float64)
        rows = experiment.lists.occupations.rows
        table = project_words(vectors, experiment.words, rows, ends[0] - ends[1])
        nearer = (table["projection"] < 0).to_numpy().astype(int)
        words = vectors[[experiment.ids[word] for word in table["word"]]]
        beta = indirect_bias(words, ends[nearer], experiment.subspace.basis)
        parts.append(table.assign(stage=stage, axis=np.array(axis)[nearer], beta=beta))
    return pd.concat(parts, ignore_index=True)[columns].round(DIGITS)


def _bias_rows(
    experiment: Experiment, vectors: np.ndarray, measured: Measurement, other_occupations: Sequence[int]
) -> Iterator[tuple[str, float, int]]:
    """Yield measure, value and number of words; the last two are deviations from Observation 1."""
    lists = experiment.lists
    n_neutral = len(lists.neutral_occupations)
    for name, value in measured.values.items():
        yield name, value, len(lists.occupations.rows) if name == "direct_bias" else n_neutral
    if len(other_occupations):
        strictness = experiment.settings.strictness
        value = direct_bias(vectors[other_occupations], experiment.subspace.basis, strictness)
        yield "direct_bias_authors", value, len(other_occupations)
    similarity = distance = 0.0
    neutral = np.asarray(vectors[experiment.neutral], dtype=np.float64)
    for rows in lists.equalize.rows:
        products = neutral @ vectors[list(rows)].astype(np.float64).T
        distances = np.sqrt(np.maximum(2 - 2 * products, 0))
        similarity = max(similarity, float(np.ptp(products, axis=1).max()))
        distance = max(distance, float(np.ptp(distances, axis=1).max()))
    yield "pair_bias_max", similarity, len(neutral)
    yield "equidistance_max", distance, len(neutral)


class SpecificWords(NamedTuple):
    """A linear classifier of specific words, trained on a seed list."""

    distances: np.ndarray  # (V,) float64, signed, from the decision boundary; positive: specific
    f_scores: np.ndarray  # (folds,) float64, of the class of specific words


def classify_specific(
    vectors: np.ndarray, seeds: Sequence[int], folds: int = 10, seed: int = 1
) -> SpecificWords:
    """Train a classifier of specific words on a seed list; `seed` is for folds and training."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.svm import LinearSVC

    is_specific = np.zeros(len(vectors), dtype=bool)
    is_specific[list(seeds)] = True
    fewest = min(is_specific.sum(), (~is_specific).sum())
    if fewest < folds:
        raise InputError(
            f"{fewest} words of one class are too few for {folds}-fold cross-validation; "
            "give a longer seed list or an embedding with more words"
        )
    machine = LinearSVC(random_state=seed)
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
    f_scores = cross_val_score(machine, vectors, is_specific, cv=splits, scoring="f1")
    machine.fit(vectors, is_specific)
    distances = machine.decision_function(vectors) / np.linalg.norm(machine.coef_)
    return SpecificWords(distances, f_scores)


def classify_stages(
    experiment: Experiment, seeds: Sequence[int], folds: int = 10
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Classify gender-specific words from the rows `seeds`: tables `classifier` and `axes` (Figure 3)."""
    vectors = experiment.embedding.vectors
    specific = classify_specific(vectors, seeds, folds=folds, seed=experiment.settings.seed)
    classifier = pd.DataFrame({"fold": np.arange(1, folds + 1), "F": specific.f_scores})
    classifier["n_specific_found"] = int((specific.distances > 0).sum())
    classifier["n_seeds"] = len(seeds)
    rows = np.union1d(experiment.lists.occupations.rows, seeds)
    axes = [
        pd.DataFrame(
            {
                "word": [experiment.words[row] for row in rows],
                "she_he": cosines(of_stage[rows], experiment.direction(of_stage)),
                "neutrality": -specific.distances[rows],
                "gender_specific": np.isin(rows, experiment.lists.not_neutral),
                "stage": stage,
            }
        )
        for stage, of_stage in ((BEFORE, vectors), (HARD, experiment.hard()))
    ]
    return classifier, pd.concat(axes, ignore_index=True).round(DIGITS)
