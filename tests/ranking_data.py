"""The results of a small simulation of the ranking area, made by its commands."""

from pathlib import Path

from typer.testing import CliRunner

from biaslab.cli import app
from biaslab.run.area import Unit
from report_data import CLAIMS

UNIT = Unit("ranking", files={"claims": str(CLAIMS / "ranking.tsv")})
SIMULATED = (("measures", "simulation"), ("feasibility", "feasibility"), ("differences", "differences"))
"""Options of the simulation for its outputs, and the stems of these."""


def write_results(folder: Path) -> None:
    """Write every file that tables, figures and claims read."""
    simulate_small(folder, "2,4")
    sizes = ["--attribute-values", "2,4", "--compared-lists", 6, "--candidates", 10, "--top", 10]
    _run("compare", *sizes, "--seed", 1, "--out", folder / "comparison.tsv")
    outputs = ["--summary", folder / "enumeration.tsv", "--out", folder / "counterexamples.tsv"]
    limits = ["--values", 4, "--denominator", 8, "--sort-values", 2, "--sort-denominator", 4]
    _run("counterexamples", *limits, *outputs)


def simulate_small(folder: Path, sizes: str) -> None:
    """Write what a simulation of 50 lists of 10 candidates for each number of values writes."""
    outputs = [part for option, name in SIMULATED for part in (f"--{option}", folder / f"{name}.tsv")]
    limits = ["--attribute-values", sizes, "--distributions", 50, "--candidates", 10, "--top", 10]
    _run("simulate", *limits, "--seed", 1, "--threads", 1, *outputs)


def _run(*arguments: object) -> None:
    result = CliRunner().invoke(app, ["ranking", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
