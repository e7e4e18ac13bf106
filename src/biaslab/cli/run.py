"""``biaslab run``: check the configuration, then hand over to Snakemake."""

import importlib
import sys
from pathlib import Path
from typing import Annotated

import typer

SUMMARIES = {
    "origins": "biaslab.origins.grid",
    "ranking": "biaslab.ranking.area",
    "debiasing": "biaslab.debiasing.area",
    "fairness_testing": "biaslab.fairness_testing.area",
}
"""The module of each area whose ``summaries(config)`` says, a line each, what its experiments will do."""

LOCK = Path(".snakemake/biaslab.lock")
# Whatever killed the last run, the next one goes on: our own lock cannot go stale, unfinished files are made
# again. What a failed step said is shown at once.
_FLAGS = ["--quiet", "host", "reason", "--nolock", "--rerun-incomplete", "--show-failed-logs"]


def run(
    context: typer.Context,
    preset: Annotated[str | None, typer.Option(help="A preset of workflow/presets, without .yaml.")] = None,
    configfile: Annotated[
        list[Path] | None, typer.Option(help="Your own configuration, laid over config.yaml and the preset.")
    ] = None,
) -> None:
    """Run the workflow in this folder; all further arguments go to Snakemake."""
    from biaslab.run.config import load_files, preset_path
    from biaslab.run.lock import hold
    from biaslab.run.supervise import supervise

    root = Path()
    files = ([preset_path(preset, root)] if preset else []) + (configfile or [])
    checked = load_files([Path("config.yaml"), *files], root)
    for area in checked["areas"]:
        for line in importlib.import_module(SUMMARIES[area]).summaries(checked):
            typer.echo(f"{area}: {line}", err=True)
    hold(LOCK)
    overlays = ["--configfile", *map(str, files)] if files else []
    arguments = [sys.executable, "-m", "snakemake", *overlays, *_FLAGS, *context.args]
    sys.stderr.flush()
    raise typer.Exit(supervise(arguments))
