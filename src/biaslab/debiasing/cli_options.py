"""Options that the commands of the area share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from biaslab.core.errors import InputError
from biaslab.run.options import Seed
from biaslab.run.root import resource

_LISTS = resource("word_lists")
OUR_WEATS = tuple(resource("word_sets") / f"caliskan{i}.yaml" for i in (6, 7, 8))
"""Association tests of gender with careers, mathematics and science."""

Embedding = Annotated[Path, typer.Argument(help="A word2vec or GloVe file, or a batch of trainings (.npz).")]
Weats = Annotated[list[Path], typer.Option(help="An association test to measure (.yaml); may be repeated.")]


@dataclass(frozen=True)
class OurWordLists:
    """The word lists; by default those of the repository."""

    defining: Annotated[Path, typer.Option(help="Sets of words that define the bias (.yaml, .json).")] = (
        _LISTS / "defining.yaml"
    )
    equalize: Annotated[Path, typer.Option(help="Sets of words that are to differ in the bias alone.")] = (
        _LISTS / "equalize.yaml"
    )
    occupations: Annotated[Path, typer.Option(help="Words whose bias is measured.")] = (
        _LISTS / "occupations.yaml"
    )
    gender_specific: Annotated[
        Path, typer.Option(help="Words that are specific by definition, and never neutral.")
    ] = _LISTS / "gender_specific.yaml"

    @property
    def files(self) -> tuple[Path, Path, Path, Path]:
        """All four, in the order in which they are read."""
        return self.defining, self.equalize, self.occupations, self.gender_specific


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
    components: Annotated[int, typer.Option(help="Dimensions of the bias subspace.", min=1)] = 1
    penalty: Annotated[
        float,
        typer.Option("--lambda", help="Weight of the bias in soft debiasing; the paper's is 0.2.", min=0),
    ] = 0.2


@dataclass(frozen=True)
class Looking:
    """What is looked at."""

    strictness: Annotated[float, typer.Option(help="The exponent c of DirectBias.", min=0)] = 1.0
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


def named_files(arguments: list[str] | None, option: str) -> dict[str, Path]:
    """Split arguments of the form NAME=FILE; the name is one of the benchmarks'."""
    from biaslab.debiasing.benchmarks import BENCHMARKS

    named = [argument.partition("=") for argument in arguments or []]
    for name, _, file in named:
        if name not in BENCHMARKS or not file:
            known = ", ".join(BENCHMARKS)
            raise InputError(f"{option} {name}={file}: write NAME=FILE, where NAME is one of {known}")
    return {name: Path(file) for name, _, file in named}
