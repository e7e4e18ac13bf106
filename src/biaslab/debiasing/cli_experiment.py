"""Commands of ``biaslab debiasing experiment``: the steps of the workflow on one embedding."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biaslab.core.errors import InputError
from biaslab.run.options import Seed

if TYPE_CHECKING:
    import pandas as pd

    from biaslab.debiasing.experiment import Experiment

app = typer.Typer(help="The experiment on one embedding, step by step.", no_args_is_help=True)

Embedding = Annotated[Path, typer.Argument(help="A word2vec or GloVe file, or a batch of trainings (.npz).")]
Results = Annotated[Path, typer.Option(help="The folder to write into.")]
Defining = Annotated[Path, typer.Option(help="Sets of words that define the bias (.yaml, .json).")]
Equalize = Annotated[Path, typer.Option(help="Sets of words that shall differ in the bias alone.")]
Occupations = Annotated[Path, typer.Option(help="Words whose bias is measured.")]
Specific = Annotated[Path, typer.Option(help="Words that are specific by definition, and never neutral.")]
Weats = Annotated[
    list[Path] | None, typer.Option(help="An association test to measure (.yaml); may be repeated.")
]
Components = Annotated[int, typer.Option(help="Dimensions of the bias subspace.", min=1)]
Strictness = Annotated[float, typer.Option(help="The exponent c of DirectBias.", min=0)]
Penalty = Annotated[float, typer.Option("--lambda", help="Weight of the bias in soft debiasing.", min=0)]
Permutations = Annotated[int, typer.Option(help="Up to so many partitions a p-value is exact.", min=1)]
Benchmarks = Annotated[list[str] | None, typer.Option(help="NAME=FILE of a benchmark; may be repeated.")]


@app.command("measure")
def measure_stages(
    embedding: Embedding,
    results: Results,
    defining: Defining,
    equalize: Equalize,
    occupations: Occupations,
    gender_specific: Specific,
    components: Components,
    strictness: Strictness,
    penalty: Penalty,
    permutations: Permutations,
    draws: Annotated[int, typer.Option(help="Draws of random pairs.", min=1)],
    seed: Seed,
    weat: Weats = None,
    authors_occupations: Annotated[Path | None, typer.Option(help="The authors' list of them.")] = None,
) -> None:
    """Measure the bias before and after: subspace, bias, weat, occupations, indirect, lost_words (.tsv)."""
    from biaslab.bias.word_sets import read_word_sets
    from biaslab.debiasing import experiment as science
    from biaslab.debiasing.summary import lost_table
    from biaslab.debiasing.word_lists import known_words, read_words

    tests = [read_word_sets(file) for file in weat or []]
    files = (defining, equalize, occupations, gender_specific)
    experiment = _read(embedding, files, penalty, seed, components, strictness, permutations)
    authors = known_words(read_words(authors_occupations), experiment.ids) if authors_occupations else None
    tables, before = science.measure_stages(experiment, tests, authors.rows if authors else ())
    _write(
        results,
        tables
        | {
            "subspace": science.compare_subspace(experiment, draws),
            "indirect": science.rank_indirect(experiment),
            "lost_words": lost_table(experiment.lists, before.weats),
        },
    )


@app.command("classify")
def classify(
    embedding: Embedding,
    results: Results,
    defining: Defining,
    equalize: Equalize,
    occupations: Occupations,
    gender_specific: Specific,
    components: Components,
    seed: Seed,
    authors_specific: Annotated[Path | None, typer.Option(help="The authors' seed list.")] = None,
) -> None:
    """Learn the gender-specific words: classifier, classifier_authors, axes (.tsv)."""
    from biaslab.debiasing import experiment as science
    from biaslab.debiasing.word_lists import known_words, read_words

    files = (defining, equalize, occupations, gender_specific)
    experiment = _read(embedding, files, seed=seed, components=components)
    classifier, axes = science.classify_stages(experiment, experiment.lists.specific.rows)
    authors = classifier.iloc[:0]
    if authors_specific is not None:
        seeds = known_words(read_words(authors_specific), experiment.ids).rows
        authors, _ = science.classify_stages(experiment, seeds)
    _write(results, {"classifier": classifier, "classifier_authors": authors, "axes": axes})


@app.command("analogies")
def list_analogies(
    embedding: Embedding,
    results: Results,
    defining: Defining,
    equalize: Equalize,
    occupations: Occupations,
    gender_specific: Specific,
    components: Components,
    penalty: Penalty,
    count: Annotated[int, typer.Option(help="Analogies of each stage.", min=1)],
) -> None:
    """Generate she : x :: he : y before and after, solve the paper's puzzle: analogies, puzzles (.tsv)."""
    from biaslab.debiasing import experiment as science

    files = (defining, equalize, occupations, gender_specific)
    experiment = _read(embedding, files, penalty, components=components)
    tables = {
        "analogies": science.list_analogies(experiment, count),
        "puzzles": science.solve_puzzle(experiment),
    }
    _write(results, tables)


@app.command("benchmarks")
def score_benchmarks(
    embedding: Embedding,
    results: Results,
    defining: Defining,
    equalize: Equalize,
    occupations: Occupations,
    gender_specific: Specific,
    components: Components,
    strictness: Strictness,
    penalty: Penalty,
    lambdas: Annotated[str, typer.Option(help="The path of soft debiasing, rising, separated by commas.")],
    permutations: Permutations,
    seed: Seed,
    weat: Weats = None,
    pairs: Benchmarks = None,
    questions: Benchmarks = None,
    authors_equalize: Annotated[
        Path | None, typer.Option(help="The authors' equality sets, for one more stage of the benchmarks.")
    ] = None,
    authors_specific: Annotated[
        Path | None, typer.Option(help="The authors' specific words, as well.")
    ] = None,
) -> None:
    """Score rated pairs and analogy questions before, after and along the path: benchmarks, lambda_path."""
    from biaslab.bias.word_sets import read_word_sets
    from biaslab.debiasing import benchmarks
    from biaslab.debiasing import experiment as science
    from biaslab.debiasing.measurement import read_lists

    tests = [read_word_sets(file) for file in weat or []]
    read_pairs = {name: benchmarks.read_pairs(file) for name, file in _named(pairs, "--pairs")}
    asked = {name: benchmarks.read_questions(file) for name, file in _named(questions, "--questions")}
    path = _numbers(lambdas)
    files = (defining, equalize, occupations, gender_specific)
    experiment = _read(embedding, files, penalty, seed, components, strictness, permutations)
    if (authors_equalize is None) != (authors_specific is None):
        raise InputError("one list of the authors alone; give --authors-equalize and --authors-specific")
    authors = None
    if authors_equalize is not None and authors_specific is not None:
        lists = read_lists(defining, authors_equalize, occupations, authors_specific, experiment.ids)
        authors = dataclasses.replace(experiment, lists=lists)
    scores, traced = science.trace_penalties(experiment, path, tests, read_pairs, asked, authors)
    _write(results, {"benchmarks": scores, "lambda_path": traced})


def _read(
    path: Path,
    files: tuple[Path, Path, Path, Path],
    penalty: float = 0.0,
    seed: int = 1,
    components: int = 1,
    strictness: float = 1.0,
    permutations: int = 1,
) -> "Experiment":
    from biaslab.debiasing.experiment import Experiment
    from biaslab.debiasing.measurement import Settings, read_lists
    from biaslab.embeddings.unit import read_unit_embedding

    embedding = read_unit_embedding(path)
    lists = read_lists(*files, embedding.ids())
    return Experiment(embedding, lists, Settings(components, strictness, permutations, seed), penalty)


def _write(results: Path, tables: dict[str, "pd.DataFrame"]) -> None:
    from biaslab.core.io import write_tsv

    for name, table in tables.items():
        write_tsv(results / f"{name}.tsv", table)


def _named(arguments: list[str] | None, option: str) -> list[tuple[str, str]]:
    """Split arguments of the form NAME=FILE; the name is one of the benchmarks'."""
    from biaslab.debiasing.experiment import BENCHMARKS

    named = [argument.partition("=") for argument in arguments or []]
    for name, _, file in named:
        if name not in BENCHMARKS or not file:
            known = ", ".join(BENCHMARKS)
            raise InputError(f"{option} {name}={file}: write NAME=FILE, where NAME is one of {known}")
    return [(name, file) for name, _, file in named]


def _numbers(text: str) -> list[float]:
    """Return numbers that are separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"--lambdas {text}: not numbers; write for instance 0,0.2,2,20") from error
