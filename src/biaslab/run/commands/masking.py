"""The options of commands that show words which may be slurs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from biaslab.core.files import locate
from biaslab.run.root import repository


@dataclass(frozen=True)
class Masking:
    """Whether words are masked."""

    masked_words: Annotated[
        Path | None,
        typer.Option(
            help="Digests of the words to mask (SHA-256, one per line); by default those of the project."
        ),
    ] = None
    unmask: Annotated[bool, typer.Option("--unmask", help="Show all words as they are.")] = False

    def digests(self, project: str) -> Path | None:
        """Return the file of the digests, by default `project`; None if no word is masked."""
        return None if self.unmask else self.masked_words or locate(project, repository())
