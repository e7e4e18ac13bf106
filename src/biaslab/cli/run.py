"""``biaslab run``: check the configuration, download the data, then hand over to Snakemake."""

import re
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

Preset = Annotated[str | None, typer.Option(help="A preset of workflow/presets, without .yaml.")]
ConfigFiles = Annotated[
    list[Path] | None, typer.Option(help="Your own configuration, laid over config.yaml and the preset.")
]

LOCK = Path(".snakemake/biaslab.lock")
# Whatever killed the last run, the next one goes on: our own lock cannot go stale, unfinished files are made
# again. What a failed step said is shown at once.
# Jobs start at Snakemake's own rate of 100 a second, looked at every 5 s: each job leaves a timer behind
# that asks once a timespan whether others may start, and with hundreds of them a quarter of a core is lost.
_FLAGS = ["--quiet", "host", "reason", "--nolock", "--rerun-incomplete", "--show-failed-logs"]
_FLAGS += ["--max-jobs-per-timespan", "500/5s"]
# Arguments of Snakemake under which steps run elsewhere: to cancel them takes longer than to end those here.
_ELSEWHERE = re.compile(r"(-e|--(executor|(workflow-)?profile))(=.*)?")
_PATIENCE, _PATIENCE_ELSEWHERE = 3.0, 60.0  # seconds
_ALMOST_FULL = 1 << 20  # bytes: Snakemake's own notes no longer fit
# Arguments of Snakemake under which no step is run: nothing is downloaded for them.
_LOOKS_ONLY = re.compile(
    r"-[A-Za-z]*n[A-Za-z]*|--(dry-?run|lint|report|unlock|touch|dag|d3dag|rulegraph|filegraph|help|version"
    r"|summary|detailed-summary|archive|list\S*|delete-\S*|cleanup-\S*|containerize|generate-unit-tests)(=.*)?|-h"
)


def run(
    context: typer.Context,
    preset: Preset = None,
    configfile: ConfigFiles = None,
) -> None:
    """Run the workflow in this folder; all further arguments go to Snakemake.

    Registered data are downloaded first. What cannot be had is remembered and left out, with the reason.
    """
    from biaslab.core.files import remove_partial_files
    from biaslab.run.area import load_area
    from biaslab.run.config import REGISTRY, load_files, overlays, own_or_shipped
    from biaslab.run.datasets import load_registry
    from biaslab.run.extras import missing_extra
    from biaslab.run.fetching import download_wanted
    from biaslab.run.inspection import AtHand, inspect
    from biaslab.run.lock import hold
    from biaslab.run.plan import wanted
    from biaslab.run.root import repository
    from biaslab.run.supervise import supervise

    root = repository()
    files = overlays(preset, configfile, root)
    checked = load_files([own_or_shipped(root), *files], root)
    for area in checked["areas"]:
        for line in load_area(area).summaries(checked):
            _say(f"{area}: {line}")
    hold(LOCK)
    registry = load_registry(root / REGISTRY)
    if not any(map(_LOOKS_ONLY.fullmatch, context.args)):
        remove_partial_files(Path("results"))
        download_wanted(wanted(checked), registry, checked["datasets"], _say)
    areas = [area for area in map(load_area, checked["areas"]) if not missing_extra(area.extra)]
    inspect(checked, areas, AtHand(registry, root))
    given = ["--configfile", *map(str, files)] if files else []
    snakefile = ["--snakefile", str(root / "Snakefile")]
    arguments = [sys.executable, "-m", "snakemake", *snakefile, *given, *_FLAGS, *context.args]
    sys.stderr.flush()
    elsewhere = any(map(_ELSEWHERE.fullmatch, context.args))
    code = supervise(arguments, _PATIENCE_ELSEWHERE if elsewhere else _PATIENCE)
    if code and shutil.disk_usage(Path()).free < _ALMOST_FULL:
        _say("biaslab: the disk is full; free space, and the same command goes on from here")
    raise typer.Exit(code)


def _say(line: str) -> None:
    typer.echo(line, err=True)


def extras(
    context: typer.Context,
    preset: Preset = None,
    configfile: ConfigFiles = None,
) -> None:
    """Print the extras (optional dependencies) that areas of a configuration need and that are missing.

    Arguments after ``--`` are those of Snakemake: where they run nothing, nothing is needed.
    """
    from biaslab.run.config import load_files, overlays, own_or_shipped
    from biaslab.run.extras import missing_extra
    from biaslab.run.plan import chosen_areas
    from biaslab.run.root import repository

    if any(map(_LOOKS_ONLY.fullmatch, context.args)):
        return
    root = repository()
    config = load_files([own_or_shipped(root), *overlays(preset, configfile, root)], root)
    for extra in dict.fromkeys(area.extra for area in chosen_areas(config)):
        if missing_extra(extra):
            typer.echo(extra)
