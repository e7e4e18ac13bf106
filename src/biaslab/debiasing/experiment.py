"""One embedding before, after hard and after soft debiasing: the numbers behind the tables and figures.

The paper's soft debiasing weighs a sum over all pairs of words against a sum over the neutral words alone. So
its λ does the less, the more words there are: among the 26,423 words of the paper's embedding, DirectBias
falls by a thousandth of its value with λ = 0.2, and by a tenth with λ = 20; if the first sum were a mean over
the second word of its pairs, it would fall to an eighth with λ = 0.2. `trace_penalties` measures the whole
path. All stages are compared over one list of occupations: leaving out the gender-specific ones alone changes
DirectBias more than the paper's λ does.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WordSets
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.debiasing.analogies import generate_by_rule, solve_analogies
from biaslab.debiasing.benchmarks import answerable_accuracy, score_pairs, score_questions
from biaslab.debiasing.gender_specific import classify_specific
from biaslab.debiasing.hard import hard_debias
from biaslab.debiasing.measurement import Lists, Measurement, Settings, measure
from biaslab.debiasing.measures import direct_bias, indirect_bias, mean_similarity, project_words
from biaslab.debiasing.soft import Grams, SoftSolution, gram_matrices, soft_debias, solve_path
from biaslab.debiasing.subspace import (
    BiasSubspace,
    find_subspace,
    random_pair_shares,
    random_unit_shares,
)
from biaslab.embeddings.unit import UnitEmbedding

BEFORE, HARD, SOFT = STAGES = ("before", "hard", "soft")
HARD_AUTHORS = "hard_authors"
"""Hard debiasing with the lists of words of the authors."""
BENCHMARKS = ("rg65", "wordsim353", "msr")
"""Columns of the path; NaN for a benchmark that is not at hand."""
CONVENTION = "answerable"
"""Of unknown words, along the path; the benchmarks of the stages have all conventions."""
DIGITS = 12
"""Decimals of measures of bias: smaller ones are rounding, which differs from machine to machine."""
INDIRECT_AXIS = ("softball", "football")
"""The two ends of the paper's table of indirect bias (Figure 3)."""

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
"""The analogies that the paper solves in its text (Sections 1, 4, 6 and 7); the first is what debiasing
answers anew, the third stands in for the second where an embedding lacks its phrase."""
ALONG = "bias direction"
"""What a word is compared with that is projected on the first direction of the bias; no word has a space."""
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
"""Words whose similarities the paper names (Abstract, Sections 1, 4 and 7), and to what."""
_FILTERED = re.compile("[a-z_]{1,19}")
"""Words that the paper keeps: fewer than 20 characters, all in lower case (Section 2)."""

Stages = dict[str, np.ndarray]


@dataclass(frozen=True)
class Experiment:
    """An embedding with its word lists, and what debiasing makes of it."""

    embedding: UnitEmbedding  # before debiasing
    lists: Lists
    settings: Settings
    penalty: float = 0.2  # λ of the soft debiasing

    @property
    def words(self) -> list[str]:
        """The words of the rows."""
        return self.embedding.words

    @cached_property
    def ids(self) -> dict[str, int]:
        """The row of every word."""
        return self.embedding.ids()

    @cached_property
    def neutral(self) -> np.ndarray:
        """Rows of the words that debiasing makes neutral: int64 (n,)."""
        return self.lists.neutral(len(self.words))

    @cached_property
    def bias(self) -> np.ndarray:
        """Cosine of every word with the first difference of the defining sets, before: float64 (V,)."""
        return _cosines(self.embedding.vectors, self.direction(self.embedding.vectors))

    @cached_property
    def subspace(self) -> BiasSubspace:
        """The bias subspace before debiasing."""
        return find_subspace(self.embedding.vectors, self.lists.defining.rows, self.settings.components)

    @cached_property
    def grams(self) -> Grams:
        """What soft debiasing needs to know of the embedding."""
        return gram_matrices(self.embedding.vectors, self.subspace.basis, self.neutral)

    def hard(self) -> np.ndarray:
        """Return the vectors after hard debiasing: float64 (V, d)."""
        vectors, basis = self.embedding.vectors, self.subspace.basis
        return hard_debias(vectors, self.words, basis, self.neutral, self.lists.equalize.rows)

    def soft(self, penalties: Sequence[float]) -> Iterator[tuple[SoftSolution, np.ndarray]]:
        """Yield the solution and the vectors, float64 (V, d), after soft debiasing with each penalty."""
        for solution in solve_path(self.grams, penalties):
            yield solution, soft_debias(self.embedding.vectors, solution.transform)

    def stages(self) -> Stages:
        """Return the vectors of each stage."""
        (_, soft), *_ = self.soft([self.penalty])
        return {BEFORE: self.embedding.vectors, HARD: self.hard(), SOFT: soft}

    def direction(self, vectors: np.ndarray) -> np.ndarray:
        """Return the difference of the first two words of the first defining set, she - he: float64 (d,)."""
        first, second = self.lists.defining.rows[0][:2]
        return vectors[first].astype(np.float64) - vectors[second]


def measure_stages(
    experiment: Experiment, tests: Sequence[WordSets], other_occupations: Sequence[int] = ()
) -> tuple[dict[str, pd.DataFrame], Measurement]:
    """Measure the bias before and after debiasing, all stages along the subspace found before.

    The other occupations are rows of a second list, e.g. the authors'; ``direct_bias_authors`` is theirs. The
    tables are ``bias`` (stage, measure, value, n_words; also the size of the embedding), ``weat`` (stage,
    weat, effect_size, p_value, n_missing_words, missing_words, problem) and ``occupations`` (word, stage,
    projection, rank).
    """
    basis = experiment.subspace.basis
    n_words, dimension = experiment.embedding.vectors.shape
    biases = [(BEFORE, "vocabulary", n_words, n_words), (BEFORE, "dimension", dimension, n_words)]
    weats, occupations, before = [], [], None
    for stage, vectors in experiment.stages().items():
        found = measure(vectors, experiment.words, experiment.lists, tests, experiment.settings, basis)
        before = before or found
        biases += [(stage, *row) for row in _bias_rows(experiment, vectors, found, other_occupations)]
        weats.append(found.weats.assign(stage=stage))
        ranks = found.occupations.assign(stage=stage, rank=np.arange(1, len(found.occupations) + 1))
        occupations.append(ranks[["word", "stage", "projection", "rank"]])
    biases.append((BEFORE, "mean_similarity", mean_similarity(experiment.embedding.vectors), n_words))
    tables = {
        "bias": pd.DataFrame(biases, columns=["stage", "measure", "value", "n_words"]).round(DIGITS),
        "weat": _weat_table(pd.concat(weats, ignore_index=True)),
        "occupations": pd.concat(occupations, ignore_index=True).round(DIGITS),
    }
    return tables, before


def compare_subspace(experiment: Experiment, draws: int) -> pd.DataFrame:
    """Return the variance that the components explain, and those of chance (Figure 2, middle).

    Columns component, share; random_mean, random_ci_low, random_ci_high of as many random pairs of words as
    there are defining sets; unit_mean, unit_ci_low, unit_ci_high of random unit vectors, which the paper
    draws.
    """
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
        for name, found in random.items()
        for part, values in (("mean", found.mean), ("ci_low", found.low), ("ci_high", found.high))
    }
    return table.join(pd.DataFrame(columns))


def list_settings(experiment: Experiment, draws: int) -> pd.DataFrame:
    """Return the settings behind the numbers: columns setting, value."""
    settings = {
        "components": experiment.settings.components,
        "strictness": experiment.settings.strictness,
        "lambda": experiment.penalty,
        "random_draws": draws,
    }
    return pd.DataFrame({"setting": list(settings), "value": list(settings.values())})


def list_vocabulary(experiment: Experiment) -> pd.DataFrame:
    """Return the words of the embedding in its order: columns word, filtered.

    ``filtered`` is 1 for words that the paper keeps of the whole embedding (Section 2): fewer than 20
    characters, all in lower case, phrases joined by underscores; else 0.
    """
    filtered = [int(_FILTERED.fullmatch(word) is not None) for word in experiment.words]
    return pd.DataFrame({"word": experiment.words, "filtered": filtered})


def compare_words(experiment: Experiment) -> pd.DataFrame:
    """Return the similarities of single words that the paper names, at every stage.

    Columns stage, word, other (a word, or `ALONG`, the direction found before), similarity (cosine); no rows
    for words that the embedding lacks.
    """
    ids, rows = experiment.ids, []
    for stage, vectors in experiment.stages().items():
        for word, others in NEIGHBOURS.items():
            for other in others:
                if word in ids and (other == ALONG or other in ids):
                    end = experiment.subspace.basis[0] if other == ALONG else vectors[ids[other]]
                    similarity = float(_cosines(vectors[[ids[word]]], end.astype(np.float64))[0])
                    rows.append((stage, word, other, similarity))
    return pd.DataFrame(rows, columns=["stage", "word", "other", "similarity"]).round(DIGITS)


def rank_scored(experiment: Experiment, scores: Mapping[str, tuple[float, float]]) -> pd.DataFrame:
    """Project the occupations of the authors on she - he, beside the two scores that the authors give them.

    Columns word, definitional, stereotypical (the scores, see `biaslab.debiasing.word_lists.read_scores`),
    projection, specific (1 where our lists call the word specific, else 0), before debiasing; the largest
    projection first.
    """
    words = [word for word in scores if word in experiment.ids]
    rows = [experiment.ids[word] for word in words]
    vectors = experiment.embedding.vectors
    table = project_words(vectors, experiment.words, rows, experiment.direction(vectors))
    given = pd.DataFrame([scores[word] for word in table["word"]], columns=["definitional", "stereotypical"])
    is_specific = np.isin([experiment.ids[word] for word in table["word"]], experiment.lists.not_neutral)
    table = table.join(given).assign(specific=is_specific.astype(int))
    return table[["word", "definitional", "stereotypical", "projection", "specific"]].round(DIGITS)


def rank_indirect(experiment: Experiment, axis: tuple[str, str] = INDIRECT_AXIS) -> pd.DataFrame:
    """Rank occupations between two words, with the indirect bias of their similarity to the nearer one.

    The bias is that along the subspace found before, at every stage. Columns stage, word, axis (the nearer
    end), projection (on the difference of the two words, the first word's end positive), beta; no rows when
    the embedding lacks one of the two words.
    """
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


def classify_stages(
    experiment: Experiment, seeds: Sequence[int], folds: int = 10
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Learn the gender-specific words from the rows `seeds`, and place words on the axes of Figure 3.

    The classifier has the columns fold, F, n_specific_found (words of the vocabulary on the specific side of
    the boundary that is learnt from all words), n_seeds. The axes have word, she_he (projection on the
    difference of the first two defining words), neutrality (distance from the boundary before debiasing,
    positive for neutral words), gender_specific (by the lists), stage: the occupations and the seeds, each
    before and after hard debiasing.
    """
    vectors = experiment.embedding.vectors
    found = classify_specific(vectors, seeds, folds=folds, seed=experiment.settings.seed)
    classifier = pd.DataFrame({"fold": np.arange(1, folds + 1), "F": found.f_scores})
    classifier["n_specific_found"] = int((found.distances > 0).sum())
    classifier["n_seeds"] = len(seeds)
    rows = np.union1d(experiment.lists.occupations.rows, seeds)
    axes = [
        pd.DataFrame(
            {
                "word": [experiment.words[row] for row in rows],
                "she_he": _cosines(of_stage[rows], experiment.direction(of_stage)),
                "neutrality": -found.distances[rows],
                "gender_specific": np.isin(rows, experiment.lists.not_neutral),
                "stage": stage,
            }
        )
        for stage, of_stage in ((BEFORE, vectors), (HARD, experiment.hard()))
    ]
    return classifier, pd.concat(axes, ignore_index=True).round(DIGITS)


def list_analogies(experiment: Experiment, count: int = 150) -> pd.DataFrame:
    """Generate `count` analogies she : x :: he : y of every stage; the paper has 150 judged.

    Columns stage, once (the rule by which a word is used once), rank, she (x), he (y), score.
    """
    tables = []
    for stage, vectors in experiment.stages().items():
        direction = experiment.direction(vectors)
        for once, table in generate_by_rule(vectors, experiment.words, direction, count).items():
            tables.append(table.assign(stage=stage, once=once, rank=np.arange(1, len(table) + 1)))
    table = pd.concat(tables, ignore_index=True).rename(columns={"x": "she", "y": "he"})
    return table[["stage", "once", "rank", "she", "he", "score"]].round(DIGITS)


def solve_puzzles(experiment: Experiment, puzzles: Sequence[tuple[str, str, str]] = PUZZLES) -> pd.DataFrame:
    """Answer analogies a : b :: c : ? at every stage, by 3CosAdd.

    Columns stage, first, second, third, answer; no rows for a puzzle of which the embedding lacks a word.
    """
    known = [puzzle for puzzle in puzzles if set(puzzle) <= experiment.ids.keys()]
    questions = np.array([[experiment.ids[word] for word in puzzle] for puzzle in known], dtype=np.int64)
    rows = [
        (stage, *puzzle, experiment.words[answer])
        for stage, vectors in experiment.stages().items()
        for puzzle, answer in zip(known, solve_analogies(vectors, questions), strict=True)
    ]
    return pd.DataFrame(rows, columns=["stage", "first", "second", "third", "answer"])


def score_benchmarks(
    experiment: Experiment,
    vectors: np.ndarray,
    pairs: Mapping[str, pd.DataFrame],
    questions: Mapping[str, Sequence[Sequence[str]]],
) -> pd.DataFrame:
    """Score vectors, perhaps debiased, on every benchmark, under every convention.

    Columns benchmark, convention (with the suffix ``-multiply`` where analogies are solved by 3CosMul), value
    (x 100), n_used, n_total.
    """
    tables = [
        score_pairs(vectors, experiment.ids, of_name).assign(benchmark=name)
        for name, of_name in pairs.items()
    ]
    for name, of_name in questions.items():
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
    pairs: Mapping[str, pd.DataFrame],
    questions: Mapping[str, Sequence[Sequence[str]]],
    authors: "Experiment | None" = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score the benchmarks of every stage, and bias and benchmarks along the path of soft debiasing.

    The penalties are rising values of λ, with that of the experiment. `authors` is the same embedding with
    the authors' lists, for the stage ``hard_authors`` of the benchmarks, which have the column stage and
    those of `score_benchmarks`. The path has the columns lambda, direct_bias (of the neutral occupations,
    along the subspace found before), direct_bias_refit (along that found after), `TEST`_effect_size for each
    test, `BENCHMARKS` (unknown words by `CONVENTION`), moved (mean distance of a word from its place before),
    constrained (whether the cone binds).
    """
    if list(penalties) != sorted(set(penalties)) or experiment.penalty not in penalties:
        raise InputError(
            f"lambdas {', '.join(map(str, penalties))}: give rising values with lambda"
            f" {experiment.penalty} among them"
        )
    others = {BEFORE: experiment.embedding.vectors, HARD: experiment.hard()}
    others |= {HARD_AUTHORS: authors.hard()} if authors else {}
    scores = {stage: score_benchmarks(experiment, v, pairs, questions) for stage, v in others.items()}
    path = []
    for solution, vectors in experiment.soft(penalties):
        if solution.penalty == experiment.penalty:
            scores[SOFT] = score_benchmarks(experiment, vectors, pairs, questions)
        scored = _score_known(experiment, vectors, pairs, questions)
        path.append(_path_row(experiment, solution, vectors, tests, scored))
    stages = [scores[stage].assign(stage=stage) for stage in (*STAGES, HARD_AUTHORS) if stage in scores]
    return pd.concat(stages, ignore_index=True)[["stage", *scores[HARD].columns]], pd.DataFrame(path)


def _score_known(
    experiment: Experiment,
    vectors: np.ndarray,
    pairs: Mapping[str, pd.DataFrame],
    questions: Mapping[str, Sequence[Sequence[str]]],
) -> dict[str, float]:
    """Return the score of every benchmark by `CONVENTION` alone, which is all that the path shows."""
    scores = {}
    for name, of_name in pairs.items():
        table = score_pairs(vectors, experiment.ids, of_name).set_index("convention")
        scores[name] = table.loc[CONVENTION, "score"]
    return scores | {
        name: answerable_accuracy(vectors, experiment.ids, of_name) for name, of_name in questions.items()
    }


def _path_row(
    experiment: Experiment,
    solution: SoftSolution,
    vectors: np.ndarray,
    tests: Sequence[WordSets],
    scored: Mapping[str, float],
) -> dict[str, object]:
    basis = experiment.subspace.basis
    found = measure(vectors, experiment.words, experiment.lists, tests, experiment.settings, basis)
    moved = np.linalg.norm(vectors - experiment.embedding.vectors, axis=1).mean()
    return {
        "lambda": solution.penalty,
        "direct_bias": found.values["direct_bias_neutral"],
        "direct_bias_refit": found.values["direct_bias_own_subspace"],
        **{f"{test.weat}_effect_size": test.effect_size for test in found.weats.itertuples()},
        **{name: scored.get(name, np.nan) for name in BENCHMARKS},
        "moved": float(moved),
        "constrained": solution.constrained,
    }


def _bias_rows(
    experiment: Experiment, vectors: np.ndarray, found: Measurement, other_occupations: Sequence[int]
) -> Iterator[tuple[str, float, int]]:
    """Yield measure, value and number of words of one stage."""
    lists = experiment.lists
    n_neutral = len(lists.neutral_occupations)
    for name, value in found.values.items():
        yield name, value, len(lists.occupations.rows) if name == "direct_bias" else n_neutral
    if len(other_occupations):
        strictness = experiment.settings.strictness
        value = direct_bias(vectors[other_occupations], experiment.subspace.basis, strictness)
        yield "direct_bias_authors", value, len(other_occupations)
    for name, value in _largest_differences(experiment, vectors).items():
        yield name, value, len(experiment.neutral)


def _largest_differences(experiment: Experiment, vectors: np.ndarray) -> dict[str, float]:
    """Return how far any neutral word is from being as near to one word of an equality set as to another.

    ``pair_bias_max`` compares similarities, ``equidistance_max`` distances (Observation 1).
    """
    similarity = distance = 0.0
    neutral = np.asarray(vectors[experiment.neutral], dtype=np.float64)
    for rows in experiment.lists.equalize.rows:
        products = neutral @ vectors[list(rows)].astype(np.float64).T
        distances = np.sqrt(np.maximum(2 - 2 * products, 0))
        similarity = max(similarity, float(np.ptp(products, axis=1).max()))
        distance = max(distance, float(np.ptp(distances, axis=1).max()))
    return {"pair_bias_max": similarity, "equidistance_max": distance}


def _weat_table(weats: pd.DataFrame) -> pd.DataFrame:
    """Return the tests of all stages, with their missing words counted."""
    counts = [len(words.split(",")) if words else 0 for words in weats["lost"]]
    table = weats.assign(n_missing_words=counts).rename(columns={"lost": "missing_words"})
    columns = ["stage", "weat", "effect_size", "p_value", "n_missing_words", "missing_words", "problem"]
    return table[columns]


def _cosines(vectors: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return the cosines of unit vectors with a direction."""
    return vectors.astype(np.float64) @ (direction / np.linalg.norm(direction))
