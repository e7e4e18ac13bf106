"""``biaslab debiasing compare``: methods of debiasing side by side, on one embedding."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from biaslab.core.errors import InputError
from biaslab.debiasing.cli_options import (
    OUR_WEATS,
    Components,
    Embedding,
    OurWordLists,
    Strictness,
    Weats,
)
from biaslab.run.options import Seed

BenchmarkFiles = Annotated[list[str] | None, typer.Option(help="NAME=FILE of a benchmark; may be repeated.")]


@dataclass(frozen=True)
class Compared:
    """What is compared, and how it is debiased."""

    method: Annotated[list[str], typer.Option(help="hard, soft, double_hard or inlp; may be repeated.")] = (
        "hard",
        "soft",
        "double_hard",
        "inlp",
    )
    components: Components = 1
    penalty: Annotated[
        float,
        typer.Option("--lambda", help="Weight of the bias in soft debiasing; the paper's is 0.2.", min=0),
    ] = 0.2


@dataclass(frozen=True)
class Looking:
    """What is looked at."""

    clustered: Annotated[int, typer.Option(help="Most biased words of each end to cluster.", min=2)] = 500
    classified: Annotated[int, typer.Option(help="Most biased words of each end to classify.", min=2)] = 2500
    neighbours: Annotated[int, typer.Option(help="Neighbours of an occupation to count.", min=1)] = 100
    random_directions: Annotated[
        int, typer.Option(help="Random directions to remove for comparison; 0 for none.", min=0)
    ] = 10
    strictness: Strictness = 1.0
    weat: Weats = OUR_WEATS
    seed: Seed = 1


@dataclass(frozen=True)
class Quality:
    """Files of further measures."""

    pairs: BenchmarkFiles = None
    questions: BenchmarkFiles = None
    sembias: Annotated[
        Path | None, typer.Option(help="SemBias: lines of four pairs male:female, separated by tabs.")
    ] = None


def compare_methods(
    embedding: Embedding,
    compared: Compared,
    lists: OurWordLists,
    looking: Looking,
    quality: Quality,
    results: Annotated[
        Path | None, typer.Option(help="A folder for the tables methods.tsv and professions.tsv.")
    ] = None,
) -> None:
    """Compare methods of debiasing: what each removes, what of the bias remains, and what it costs."""
    from biaslab.bias.word_sets import read_word_sets
    from biaslab.core.io import write_tsv
    from biaslab.debiasing import comparison
    from biaslab.debiasing.benchmarks import read_pairs, read_questions
    from biaslab.debiasing.experiment import Experiment
    from biaslab.debiasing.measurement import Settings, read_lists
    from biaslab.debiasing.methods.registry import find_method
    from biaslab.debiasing.remaining.sembias import read_sembias
    from biaslab.debiasing.summary import both, show_methods
    from biaslab.embeddings.unit import read_unit_embedding

    for name in compared.method:
        find_method(name)
    words = read_unit_embedding(embedding)
    settings = Settings(compared.components, looking.strictness, seed=looking.seed)
    known = read_lists(*lists.files, words.ids())
    experiment = Experiment(words, known, settings, compared.penalty)
    sizes = comparison.Sizes(looking.clustered, looking.classified, looking.neighbours)
    asked = read_sembias(quality.sembias) if quality.sembias else ()
    methods, professions = comparison.compare_methods(
        experiment,
        comparison.make_case(experiment, sizes, asked),
        compared.method,
        [read_word_sets(file) for file in looking.weat],
        comparison.Benchmarks(
            {name: read_pairs(file) for name, file in named_files(quality.pairs, "--pairs")},
            {name: read_questions(file) for name, file in named_files(quality.questions, "--questions")},
        ),
        looking.random_directions,
    )
    if results is not None:
        write_tsv(results / "methods.tsv", methods)
        write_tsv(results / "professions.tsv", professions)
    both(show_methods, str(embedding), len(words.words), known, methods)


def named_files(arguments: list[str] | None, option: str) -> list[tuple[str, str]]:
    """Split arguments of the form NAME=FILE; the name is one of the benchmarks'.

    Raises
    ------
    InputError
        When there is no such benchmark, or no file.
    """
    from biaslab.debiasing.experiment import BENCHMARKS

    named = [argument.partition("=") for argument in arguments or []]
    for name, _, file in named:
        if name not in BENCHMARKS or not file:
            known = ", ".join(BENCHMARKS)
            raise InputError(f"{option} {name}={file}: write NAME=FILE, where NAME is one of {known}")
    return [(name, file) for name, _, file in named]
