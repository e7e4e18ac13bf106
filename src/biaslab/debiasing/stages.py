"""Bias and analogies of an embedding before, after hard and after soft debiasing, and its words.

All stages use one list of occupations: excluding the gender-specific occupations alone changes DirectBias
more than the paper's λ does.

The paper's soft debiasing weighs a sum over all pairs of words against a sum over only the neutral words. The
effect of λ therefore decreases with the number of words. Among the 26,423 words of the paper's embedding,
DirectBias decreases by a thousandth of its value with λ = 0.2, and by a tenth with λ = 20. If the first sum
were a mean over the second word of its pairs, it would decrease to an eighth with λ = 0.2. `trace_penalties`
measures the entire path.
"""

import dataclasses
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WordSets, read_word_sets
from biaslab.core.errors import InputError
from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.debiasing.analogies import generate_by_rule, solve_analogies
from biaslab.debiasing.benchmarks import (
    Benchmarks,
    read_benchmarks,
    score_answerable,
    score_pairs,
    score_questions,
)
from biaslab.debiasing.comparison import compare_methods
from biaslab.debiasing.experiment import (
    BEFORE,
    DIGITS,
    HARD,
    SOFT,
    STAGES,
    Experiment,
    cosines,
    read_experiment,
    read_lists,
)
from biaslab.debiasing.measurement import Measurement, measure
from biaslab.debiasing.measures import direct_bias, indirect_bias, mean_similarity, project_words
from biaslab.debiasing.settings import BENCHMARKS, COLUMNS, Settings, Sizes
from biaslab.debiasing.subspace import random_pair_shares, random_unit_shares
from biaslab.debiasing.word_lists import known_words, read_scores, read_words

INDIRECT_AXIS = ("softball", "football")  # the two ends of the paper's table of indirect bias (Figure 3)
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
HARD_AUTHORS = "hard_authors"  # hard debiasing with the authors' word lists
N_FOLDS = 10  # folds of the cross-validation of the classifier of specific words
_FILTERED = re.compile("[a-z_]{1,19}")
"""Words that the paper keeps: fewer than 20 characters, all in lower case (Section 2)."""


def measure_embedding(
    embedding: Path,
    lists: list[Path],
    settings: Settings,
    penalty: float,
    penalties: list[float],
    draws: int,
    analogies: int,
    methods: list[str],
    sizes: Sizes,
    pairs: dict[str, Path],
    questions: dict[str, Path],
    tables: list[Path],
    word_sets: list[Path] = (),
    occupations: list[Path] = (),
    seeds: list[Path] = (),
    authors: list[Path] = (),
) -> None:
    """Measure bias, words, analogies and benchmarks, compare the methods, and write the tables.

    `occupations` are the authors' list of occupations, `seeds` that of their gender-specific words, and
    `authors` their two lists for debiasing: equality, specific.
    """
    experiment, by_authors = read_experiment(embedding, lists, settings, penalty), None
    for note in experiment.embedding.notes:
        warnings.warn(note, stacklevel=2)
    tests, benchmarks = [read_word_sets(file) for file in word_sets], read_benchmarks(pairs, questions)
    others = [row for file in occupations for row in known_words(read_words(file), experiment.ids).rows]
    scores = {word: both for file in occupations for word, both in read_scores(file).items()}
    vectors = experiment.embedding.vectors
    classifier, distances = classify_specific(vectors, experiment.lists.specific.rows, settings.seed)
    by_seeds = classifier.iloc[:0]
    for file in seeds:
        rows = known_words(read_words(file), experiment.ids).rows
        by_seeds, _ = classify_specific(vectors, rows, settings.seed)
    values = {
        "components": settings.components,
        "strictness": settings.strictness,
        "lambda": penalty,
        "random_draws": draws,
    }
    if authors:
        defining, _, own_occupations, _ = lists
        equalize, specific = authors
        words = read_lists(defining, equalize, own_occupations, specific, experiment.ids)
        by_authors = dataclasses.replace(experiment, lists=words)
    by_stage, path = trace_penalties(experiment, penalties, tests, benchmarks, by_authors)
    results = measure_stages(experiment, tests, distances, analogies, others) | {
        "subspace": compare_subspace(experiment, draws),
        "occupations_authors": rank_scored(experiment, scores),
        "vocabulary": list_vocabulary(experiment),
        "settings": pd.DataFrame({"setting": list(values), "value": list(values.values())}),
        "classifier": classifier,
        "classifier_authors": by_seeds,
        "benchmarks": by_stage,
        "lambda_path": path,
        "methods": compare_methods(experiment, sizes, methods, tests, benchmarks),
    }
    for file in tables:
        write_tsv(file, results[file.stem])


def measure_stages(
    experiment: Experiment,
    tests: Sequence[WordSets],
    distances: np.ndarray,
    analogies: int,
    other_occupations: Sequence[int] = (),
) -> dict[str, pd.DataFrame]:
    """Measure the bias, along the original subspace, and the words at every stage; return tables by name.

    `distances` are those of `classify_specific`; `other_occupations` are rows of a second list.
    """
    columns = ["measure", "value", "n_words"]
    n_words, dimension = experiment.embedding.vectors.shape
    sizes = [("vocabulary", n_words, n_words), ("dimension", dimension, n_words)]
    similarity = ("mean_similarity", mean_similarity(experiment.embedding.vectors), n_words)
    parts = defaultdict(list, bias=[pd.DataFrame(sizes, columns=columns).assign(stage=BEFORE)])
    for stage, vectors in experiment.stages().items():
        measured = measure(experiment, vectors, tests)
        ranks = np.arange(1, len(measured.occupations) + 1)
        tables = {
            "bias": pd.DataFrame(
                _bias_rows(experiment, vectors, measured, other_occupations), columns=columns
            ),
            "weat": measured.weats,
            "occupations": measured.occupations.assign(rank=ranks),
            "similarities": compare_words(experiment, vectors),
            "indirect": rank_indirect(experiment, vectors),
            "analogies": list_analogies(experiment, vectors, analogies),
            "puzzles": solve_puzzles(experiment, vectors),
        }
        if stage != SOFT:
            tables["axes"] = place_words(experiment, vectors, distances)
        for name, table in tables.items():
            parts[name].append(table.assign(stage=stage))
    parts["bias"].append(pd.DataFrame([similarity], columns=columns).assign(stage=BEFORE))
    results = {name: pd.concat(of_stages, ignore_index=True) for name, of_stages in parts.items()}
    weat = results.pop("weat").rename(columns={"lost": "missing_words"})
    weat["n_missing_words"] = [len(lost.split(",")) if lost else 0 for lost in weat["missing_words"]]
    rounded = {name: table[list(COLUMNS[name])].round(DIGITS) for name, table in results.items()}
    return rounded | {"weat": weat[list(COLUMNS["weat"])]}


def compare_subspace(experiment: Experiment, draws: int) -> pd.DataFrame:
    """Return the variance explained by the components, and by chance (Figure 2, middle)."""
    vectors = experiment.embedding.vectors
    n_pairs, shares = len(experiment.lists.defining.rows), experiment.subspace.shares
    seed = experiment.settings.seed
    pairs = random_pair_shares(vectors, n_pairs, draws, stream(seed, "random-pairs"))
    units = random_unit_shares(n_pairs, vectors.shape[1], draws, stream(seed, "random-units"))
    table = pd.DataFrame({"component": np.arange(1, len(shares) + 1), "share": shares})
    return table.join([pairs.add_prefix("random_"), units.add_prefix("unit_")])


def list_vocabulary(experiment: Experiment) -> pd.DataFrame:
    """Return the words of the embedding, and whether the paper's filter keeps them (Section 2)."""
    filtered = [int(_FILTERED.fullmatch(word) is not None) for word in experiment.words]
    return pd.DataFrame({"word": experiment.words, "filtered": filtered})


def compare_words(experiment: Experiment, vectors: np.ndarray) -> pd.DataFrame:
    """Return the similarities of the paper's words that the embedding contains."""
    ids, rows = experiment.ids, []
    for word, others in NEIGHBOURS.items():
        for other in others:
            if word in ids and (other == ALONG or other in ids):
                end = experiment.subspace.basis[0] if other == ALONG else vectors[ids[other]]
                similarity = float(cosines(vectors[[ids[word]]], end.astype(np.float64))[0])
                rows.append((word, other, similarity))
    return pd.DataFrame(rows, columns=["word", "other", "similarity"])


def list_analogies(experiment: Experiment, vectors: np.ndarray, count: int) -> pd.DataFrame:
    """Generate `count` analogies she : x :: he : y by each rule; the paper has 150 rated."""
    direction = experiment.direction(vectors)
    by_rule = generate_by_rule(vectors, experiment.words, direction, count)
    tables = [table.assign(once=once, rank=np.arange(1, len(table) + 1)) for once, table in by_rule.items()]
    return pd.concat(tables, ignore_index=True).rename(columns={"x": "she", "y": "he"})


def solve_puzzles(experiment: Experiment, vectors: np.ndarray) -> pd.DataFrame:
    """Answer `PUZZLES` a : b :: c : ? by 3CosAdd, except analogies with unknown words."""
    solvable = [puzzle for puzzle in PUZZLES if set(puzzle) <= experiment.ids.keys()]
    questions = np.array([[experiment.ids[word] for word in puzzle] for puzzle in solvable], dtype=np.int64)
    answers = zip(solvable, solve_analogies(vectors, questions), strict=True)
    rows = [(*puzzle, experiment.words[answer]) for puzzle, answer in answers]
    return pd.DataFrame(rows, columns=["first", "second", "third", "answer"])


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


def rank_indirect(experiment: Experiment, vectors: np.ndarray) -> pd.DataFrame:
    """Rank occupations between the words of `INDIRECT_AXIS`, with the indirect bias of the nearer one."""
    if not set(INDIRECT_AXIS) <= experiment.ids.keys():
        return pd.DataFrame(columns=["word", "axis", "projection", "beta"])
    ends = vectors[[experiment.ids[word] for word in INDIRECT_AXIS]].astype(np.float64)
    rows = experiment.lists.occupations.rows
    table = project_words(vectors, experiment.words, rows, ends[0] - ends[1])
    nearer = (table["projection"] < 0).to_numpy().astype(int)
    words = vectors[[experiment.ids[word] for word in table["word"]]]
    beta = indirect_bias(words, ends[nearer], experiment.subspace.basis)
    return table.assign(axis=np.array(INDIRECT_AXIS)[nearer], beta=beta)


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


def classify_specific(
    vectors: np.ndarray, seeds: Sequence[int], seed: int
) -> tuple[pd.DataFrame, np.ndarray]:
    """Train a linear classifier of specific words on the rows `seeds`; `seed` is for folds and training.

    Return the table `classifier` and each word's signed distance from the boundary, (V,); positive: specific.
    """
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.svm import LinearSVC

    is_specific = np.zeros(len(vectors), dtype=bool)
    is_specific[list(seeds)] = True
    fewest = min(is_specific.sum(), (~is_specific).sum())
    if fewest < N_FOLDS:
        raise InputError(
            f"{fewest} words of one class are too few for {N_FOLDS}-fold cross-validation; "
            "give a longer seed list or an embedding with more words"
        )
    machine = LinearSVC(random_state=seed)
    splits = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    f_scores = cross_val_score(machine, vectors, is_specific, cv=splits, scoring="f1")
    machine.fit(vectors, is_specific)
    distances = machine.decision_function(vectors) / np.linalg.norm(machine.coef_)
    table = pd.DataFrame({"fold": np.arange(1, N_FOLDS + 1), "F": f_scores})
    return table.assign(n_specific_found=int((distances > 0).sum()), n_seeds=len(seeds)), distances


def place_words(experiment: Experiment, vectors: np.ndarray, distances: np.ndarray) -> pd.DataFrame:
    """Return occupations and specific words on she - he and by neutrality (Figure 3)."""
    rows = np.union1d(experiment.lists.occupations.rows, experiment.lists.specific.rows)
    return pd.DataFrame(
        {
            "word": [experiment.words[row] for row in rows],
            "she_he": cosines(vectors[rows], experiment.direction(vectors)),
            "neutrality": -distances[rows],
            "gender_specific": np.isin(rows, experiment.lists.not_neutral),
        }
    )


def score_benchmarks(experiment: Experiment, vectors: np.ndarray, benchmarks: Benchmarks) -> pd.DataFrame:
    """Score vectors on every benchmark, under every convention (``-multiply``: by 3CosMul), x 100."""
    tables = [
        score_pairs(vectors, experiment.ids, of_name).assign(benchmark=name)
        for name, of_name in benchmarks.pairs.items()
    ]
    for name, of_name in benchmarks.questions.items():
        table = score_questions(vectors, experiment.ids, of_name).assign(benchmark=name)
        suffix = table["method"].map({"add": "", "multiply": "-multiply"})
        tables.append(table.assign(convention=table["convention"] + suffix))
    columns = {"score": "value", "answerable": "n_used", "total": "n_total"}
    table = pd.concat(tables, ignore_index=True).rename(columns=columns)
    return table[["benchmark", "convention", "value", "n_used", "n_total"]]


def trace_penalties(
    experiment: Experiment,
    penalties: Sequence[float],
    tests: Sequence[WordSets],
    benchmarks: Benchmarks,
    authors: Experiment | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score the benchmarks of every stage, and trace soft debiasing along increasing λ.

    `authors` is the same embedding with the authors' lists, for the stage ``hard_authors``.
    """
    if list(penalties) != sorted(set(penalties)) or experiment.penalty not in penalties:
        raise InputError(
            f"lambdas {', '.join(map(str, penalties))}: give rising values with lambda"
            f" {experiment.penalty} among them"
        )
    vectors_of = {BEFORE: experiment.embedding.vectors, HARD: experiment.hard()}
    vectors_of |= {HARD_AUTHORS: authors.hard()} if authors else {}
    scores = {stage: score_benchmarks(experiment, v, benchmarks) for stage, v in vectors_of.items()}
    path = []
    for solution, vectors in experiment.soft(penalties):
        if solution.penalty == experiment.penalty:
            scores[SOFT] = score_benchmarks(experiment, vectors, benchmarks)
        measured = measure(experiment, vectors, tests)
        scored = score_answerable(vectors, experiment.ids, benchmarks)
        moved = np.linalg.norm(vectors - experiment.embedding.vectors, axis=1).mean()
        path.append(
            {
                "lambda": solution.penalty,
                "direct_bias": measured.values["direct_bias_neutral"],
                "direct_bias_refit": measured.values["direct_bias_own_subspace"],
                **{f"{test.weat}_effect_size": test.effect_size for test in measured.weats.itertuples()},
                **{name: scored.get(name, (np.nan,))[0] for name in BENCHMARKS},
                "moved": float(moved),
                "constrained": solution.constrained,
            }
        )
    stages = [scores[stage].assign(stage=stage) for stage in (*STAGES, HARD_AUTHORS) if stage in scores]
    return pd.concat(stages, ignore_index=True)[["stage", *scores[HARD].columns]], pd.DataFrame(path)
