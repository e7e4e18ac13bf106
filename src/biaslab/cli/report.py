"""``biaslab AREA report``: the tables and figures of an area."""

from pathlib import Path
from typing import Annotated

import typer

Units = Annotated[
    str,
    typer.Option(
        help="What was run, as a list in JSON: objects with a name, and tests, options, files and marks where"
        " the area's tables and figures need them."
    ),
]
Results = Annotated[Path, typer.Option(help="The folder of all results.")]
Only = Annotated[
    list[str] | None, typer.Option(help="Write this item only, e.g. figure2_words; repeat for several.")
]


def add_report(app: typer.Typer, area: str) -> None:
    """Give the commands of an area the verb ``report``."""

    @app.command("report")
    def report(units: Units, results: Results = Path("results"), only: Only = None) -> None:
        """Write the tables (.tsv, .md, .tex) and figures (.svg, .pdf, .png, .tsv) of what was run."""
        write(area, units, results, only or [])


def write(area: str, units: str, results: Path, only: list[str]) -> None:
    """Write the items of an area, and say which."""
    from biaslab.run.area import load_area
    from biaslab.run.reports import write_report
    from biaslab.run.units import units_from_json

    write_report(
        load_area(area), units_from_json(units), results, only, lambda line: typer.echo(line, err=True)
    )
