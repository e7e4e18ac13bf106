"""Commands of ``biaslab debiasing experiment``: the steps of the workflow on one embedding."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biaslab.core.errors import InputError
from biaslab.debiasing.cli_options import (
    BenchmarkFiles,
    Components,
    Embedding,
    Permutations,
    Strictness,
    Weats,
    WordLists,
    named_files,
)
from biaslab.run.options import Seed, grouped, numbers
from biaslab.run.outputs import To

if TYPE_CHECKING:
    import pandas as pd

    from biaslab.debiasing.experiment import Experiment

app = typer.Typer(help="The experiment on one embedding, step by step.", no_args_is_help=True)

Penalty = Annotated[float, typer.Option("--lambda", help="Weight of the bias in soft debiasing.", min=0)]


@dataclass(frozen=True)
class Step(WordLists):
    """What every step needs: word lists, an embedding, and a folder."""

    embedding: Embedding
    results: Annotated[Path, typer.Option(help="The folder to write into."), To.FOLDER]
    components: Components


@dataclass(frozen=True)
class Measuring:
    """How the stages are made and measured."""

    strictness: Strictness
    penalty: Penalty
    permutations: Permutations
    seed: Seed


@dataclass(frozen=True)
class Authors:
    """Lists of the authors, both or none."""

    authors_equalize: Annotated[
        Path | None, typer.Option(help="The authors' equality sets, for one more stage of the benchmarks.")
    ] = None
    authors_specific: Annotated[Path | None, typer.Option(help="The authors' specific words, as well.")] = (
        None
    )


@app.command("measure")
@grouped
def measure_stages(
    step: Step,
    how: Measuring,
    draws: Annotated[int, typer.Option(help="Draws of random pairs.", min=1)],
    weat: Weats = (),
    authors_occupations: Annotated[Path | None, typer.Option(help="The authors' list of them.")] = None,
) -> None:
    """Measure the bias before and after: bias, subspace, weat, occupations and further tables (.tsv)."""
    from biaslab.bias.word_sets import read_word_sets
    from biaslab.debiasing import experiment as science
    from biaslab.debiasing.measurement import lost_table
    from biaslab.debiasing.word_lists import known_words, read_scores, read_words

    tests = [read_word_sets(file) for file in weat]
    experiment = _read(step, **vars(how))
    authors = known_words(read_words(authors_occupations), experiment.ids) if authors_occupations else None
    tables, before = science.measure_stages(experiment, tests, authors.rows if authors else ())
    tables["subspace"] = science.compare_subspace(experiment, draws)
    tables["indirect"] = science.rank_indirect(experiment)
    scores = read_scores(authors_occupations) if authors_occupations else {}
    tables["occupations_authors"] = science.rank_scored(experiment, scores)
    tables["similarities"] = science.compare_words(experiment)
    tables["vocabulary"] = science.list_vocabulary(experiment)
    tables["settings"] = science.list_settings(experiment, draws)
    tables["lost_words"] = lost_table(experiment.lists, before.weats)
    _write(step.results, tables)


@app.command("classify")
@grouped
def classify(
    step: Step,
    seed: Seed,
    authors_specific: Annotated[Path | None, typer.Option(help="The authors' seed list.")] = None,
) -> None:
    """Learn the gender-specific words: classifier, classifier_authors, axes (.tsv)."""
    from biaslab.debiasing import experiment as science
    from biaslab.debiasing.word_lists import known_words, read_words

    experiment = _read(step, seed=seed)
    classifier, axes = science.classify_stages(experiment, experiment.lists.specific.rows)
    authors = classifier.iloc[:0]
    if authors_specific is not None:
        seeds = known_words(read_words(authors_specific), experiment.ids).rows
        authors, _ = science.classify_stages(experiment, seeds)
    _write(step.results, {"classifier": classifier, "classifier_authors": authors, "axes": axes})


@app.command("analogies")
@grouped
def list_analogies(
    step: Step, penalty: Penalty, count: Annotated[int, typer.Option(help="Analogies of each stage.", min=1)]
) -> None:
    """Generate she : x :: he : y before and after, solve the paper's puzzles: analogies, puzzles (.tsv)."""
    from biaslab.debiasing import experiment as science

    experiment = _read(step, penalty=penalty)
    tables = {
        "analogies": science.list_analogies(experiment, count),
        "puzzles": science.solve_puzzles(experiment),
    }
    _write(step.results, tables)


@app.command("benchmarks")
@grouped
def score_benchmarks(
    step: Step,
    how: Measuring,
    theirs: Authors,
    lambdas: Annotated[str, typer.Option(help="The path of soft debiasing, rising, separated by commas.")],
    weat: Weats = (),
    pairs: BenchmarkFiles = None,
    questions: BenchmarkFiles = None,
) -> None:
    """Score rated pairs and analogy questions before, after and along the path: benchmarks, lambda_path."""
    from biaslab.bias.word_sets import read_word_sets
    from biaslab.debiasing import benchmarks
    from biaslab.debiasing import experiment as science
    from biaslab.debiasing.measurement import read_lists

    tests = [read_word_sets(file) for file in weat]
    read_pairs = {name: benchmarks.read_pairs(file) for name, file in named_files(pairs, "--pairs")}
    asked = {name: benchmarks.read_questions(file) for name, file in named_files(questions, "--questions")}
    path = numbers(lambdas, "--lambdas", float, "0,0.2,2,20")
    experiment = _read(step, **vars(how))
    if (theirs.authors_equalize is None) != (theirs.authors_specific is None):
        raise InputError("one list of the authors alone; give --authors-equalize and --authors-specific")
    authors = None
    if theirs.authors_equalize is not None:
        files = step.defining, theirs.authors_equalize, step.occupations, theirs.authors_specific
        authors = dataclasses.replace(experiment, lists=read_lists(*files, experiment.ids))
    scores, traced = science.trace_penalties(experiment, path, tests, read_pairs, asked, authors)
    _write(step.results, {"benchmarks": scores, "lambda_path": traced})


def _read(
    step: Step, strictness: float = 1.0, penalty: float = 0.0, permutations: int = 1, seed: int = 1
) -> "Experiment":
    from biaslab.debiasing.experiment import Experiment
    from biaslab.debiasing.measurement import Settings, read_lists
    from biaslab.embeddings.unit import read_unit_embedding

    embedding = read_unit_embedding(step.embedding)
    lists = read_lists(*step.files, embedding.ids())
    settings = Settings(step.components, strictness, permutations, seed)
    return Experiment(embedding, lists, settings, penalty)


def _write(results: Path, tables: dict[str, "pd.DataFrame"]) -> None:
    from biaslab.core.io import write_tsv

    for name, table in tables.items():
        write_tsv(results / f"{name}.tsv", table)
