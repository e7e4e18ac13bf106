"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Seed = Annotated[int, typer.Option(help="Seed of the whole run; every random stream derives from it.", min=0)]
Threads = Annotated[int, typer.Option(help="Threads to use; the result does not depend on it.", min=1)]
Out = Annotated[Path, typer.Option(help="The file to write.")]
