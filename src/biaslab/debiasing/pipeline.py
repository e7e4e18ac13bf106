"""The workflow's step: measure one embedding before, after hard and after soft debiasing."""

import dataclasses
from pathlib import Path

from biaslab.bias.word_sets import read_word_sets
from biaslab.debiasing.benchmarks import read_benchmarks
from biaslab.debiasing.comparison import compare_methods, make_case
from biaslab.debiasing.experiment import read_experiment, write_tables
from biaslab.debiasing.measurement import read_lists
from biaslab.debiasing.penalty_path import trace_penalties
from biaslab.debiasing.settings import Settings, Sizes
from biaslab.debiasing.stages import make_tables


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
    tests, benchmarks = [read_word_sets(file) for file in word_sets], read_benchmarks(pairs, questions)
    results = make_tables(experiment, tests, draws, analogies, occupations, seeds)
    if authors:
        defining, _, own_occupations, _ = lists
        equalize, specific = authors
        words = read_lists(defining, equalize, own_occupations, specific, experiment.ids)
        by_authors = dataclasses.replace(experiment, lists=words)
    scores, path = trace_penalties(experiment, penalties, tests, benchmarks, by_authors)
    results |= {"benchmarks": scores, "lambda_path": path}
    case = make_case(experiment, sizes)
    results["methods"] = compare_methods(
        experiment, case, methods, tests, benchmarks, sizes.random_directions
    )
    write_tables(tables, results)
