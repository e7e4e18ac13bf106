"""Options that the commands of the area share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from biaslab.core.errors import InputError
from biaslab.core.files import locate
from biaslab.debiasing.settings import WORD_SETS, Comparison, Penalty
from biaslab.run.options import option
from biaslab.run.root import repository

Embedding = Annotated[Path, typer.Argument(help="A word2vec or GloVe file, or a batch of trainings (.npz).")]
Weats = Annotated[
    list[str],
    typer.Option("--weat", help="Files with association tests to measure before and after; may be repeated."),
]
TESTS = list(WORD_SETS.values())
Weight = option(Penalty, "lambda_")
Methods = option(Comparison, "methods", "--method")
BenchmarkFiles = Annotated[list[str] | None, typer.Option(help="NAME=FILE of a benchmark; may be repeated.")]


@dataclass(frozen=True)
class Quality:
    """Files of further measures."""

    pairs: BenchmarkFiles = None
    questions: BenchmarkFiles = None
    sembias: option(Comparison, "sembias") = Comparison.sembias


def named_files(arguments: list[str] | None, option: str) -> dict[str, Path]:
    """Split arguments of the form NAME=FILE; the name is one of the benchmarks'."""
    from biaslab.debiasing.benchmark_list import BENCHMARKS

    named = [argument.partition("=") for argument in arguments or []]
    for name, _, file in named:
        if name not in BENCHMARKS or not file:
            known = ", ".join(BENCHMARKS)
            raise InputError(f"{option} {name}={file}: write NAME=FILE, where NAME is one of {known}")
    return {name: Path(file) for name, _, file in named}


def located(*files: str) -> list[Path]:
    """Return the files of options; what the working directory lacks, the repository may have."""
    return [locate(file, repository()) for file in files]
