"""Options that the commands of the area share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

_LISTS = Path("workflow/resources/word_lists")
OUR_WEATS = tuple(Path("workflow/resources/word_sets") / f"caliskan{i}.yaml" for i in (6, 7, 8))
"""Association tests of gender with careers, mathematics and science."""

Embedding = Annotated[Path, typer.Argument(help="A word2vec or GloVe file, or a batch of trainings (.npz).")]
Weats = Annotated[list[Path], typer.Option(help="An association test to measure (.yaml); may be repeated.")]
Components = Annotated[int, typer.Option(help="Dimensions of the bias subspace.", min=1)]
Strictness = Annotated[float, typer.Option(help="The exponent c of DirectBias.", min=0)]
Permutations = Annotated[int, typer.Option(help="Up to so many partitions a p-value is exact.", min=1)]

Defining = Annotated[Path, typer.Option(help="Sets of words that define the bias (.yaml, .json).")]
Equalize = Annotated[Path, typer.Option(help="Sets of words that shall differ in the bias alone.")]
Occupations = Annotated[Path, typer.Option(help="Words whose bias is measured.")]
Specific = Annotated[Path, typer.Option(help="Words that are specific by definition, and never neutral.")]


@dataclass(frozen=True)
class WordLists:
    """The files of the four word lists."""

    defining: Defining
    equalize: Equalize
    occupations: Occupations
    gender_specific: Specific

    @property
    def files(self) -> tuple[Path, Path, Path, Path]:
        """All four, in the order in which they are read."""
        return self.defining, self.equalize, self.occupations, self.gender_specific


@dataclass(frozen=True)
class OurWordLists(WordLists):
    """The word lists; by default those of the repository."""

    defining: Defining = _LISTS / "defining.yaml"
    equalize: Equalize = _LISTS / "equalize.yaml"
    occupations: Occupations = _LISTS / "occupations.yaml"
    gender_specific: Specific = _LISTS / "gender_specific.yaml"
