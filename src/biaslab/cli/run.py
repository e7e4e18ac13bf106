"""Commands of the workflow: start a configuration, run all steps by Snakemake, or run a step."""

import contextlib
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biaslab.cli.output import say
from biaslab.run.plan.arguments import only_looks

if TYPE_CHECKING:
    from biaslab.run.travel.travel import Choice, Source


Preset = Annotated[str | None, typer.Option(help="A preset of workflow/presets, without .yaml.")]
ConfigFiles = Annotated[
    list[Path] | None, typer.Option(help="Your own configuration, laid over config.yaml and the preset.")
]

# The next run resumes however the last run was killed: our own lock cannot go stale. All options that affect
# results are in the profile `_PROFILE`, which plain Snakemake also finds.
# Jobs start at Snakemake's default rate of 100 a second, checked once a minute: each job leaves a timer that
# checks the rate once a timespan, and hundreds of timers occupy a quarter of a core.
_FLAGS = ["--quiet", "host", "reason", "--nolock"]
_FLAGS += ["--max-jobs-per-timespan", "6000/60s"]
# Arguments of Snakemake that run steps on other machines, where cancelling takes longer.
_ELSEWHERE = re.compile(r"(-e|--(executor|(workflow-)?profile))(=.*)?")
_TEMPLATE = "config/config.yaml"
_PROFILE = "workflow/profiles/default/profile.yaml"
_NAMES_PROFILE = re.compile(r"--workflow-profile(=.*)?")
_CONFIG = "results/config.json"
_NAME = re.compile("(?!all$)[A-Za-z_].*")  # possibly of a rule or a result
_PATIENCE, _PATIENCE_ELSEWHERE = 3.0, 60.0  # seconds
_SIGNALLED = 128  # greater exit codes stand for signals
_ALMOST_FULL = 1 << 20  # bytes: too few for logs and Snakemake's metadata
# Arguments that force reruns, possibly followed by names; they apply only once.
_FORCES = {"-f", "--force", "-F", "--forceall", "-R", "--forcerun"}


def run(
    context: typer.Context,
    preset: Preset = None,
    configfile: ConfigFiles = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Another run to continue from: its crate, its results folder, or the https address or DOI of"
            " its crate's archive; '#sha256=DIGEST' after an address is checked first.",
        ),
    ] = None,
    recheck: Annotated[
        int, typer.Option(help="Number of randomly drawn steps to rerun and compare.", min=0)
    ] = 0,
    recheck_seed: Annotated[
        int | None, typer.Option(help="Seed of the draw; by default from the system.", min=0)
    ] = None,
) -> None:
    """Run the workflow in this folder; all further arguments go to Snakemake.

    Registered data are downloaded first. What cannot be had is remembered and left out, with the reason. A
    step that fails costs what depends on it: the rest is made and audited, and the exit code is 1.
    """
    from biaslab.core.files import locate, remove_partial_files, write_json
    from biaslab.run.area import load_area
    from biaslab.run.data.datasets import load_registry
    from biaslab.run.data.fetching import fetch_wanted
    from biaslab.run.extras import WORKFLOW, need
    from biaslab.run.life.lock import hold_folder
    from biaslab.run.plan.config import CONFIG, REGISTRY, load, overlays, read_files, read_written
    from biaslab.run.plan.plan import wanted
    from biaslab.run.record.taken import read_taken
    from biaslab.run.root import repository
    from biaslab.run.travel import failures

    need(WORKFLOW)
    root = repository()
    with contextlib.ExitStack() as stack:
        source = _open_source(stack, from_, recheck, recheck_seed)
        files = overlays(preset, configfile, root)
        source_files = []
        if source is not None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="biaslab-"))
            source_files = [Path(folder, "config.json")]
            write_json(source_files[0], read_written(source.run.folder / "config.json"))
        files = files or source_files
        written = read_files([locate(CONFIG, root), *files])
        checked = load(written, root)
        for area in checked["areas"]:
            for line in load_area(area).summaries(checked):
                say(f"{area}: {line}")
        hold_folder()
        works = not only_looks(context.args)
        registry = load_registry(root / REGISTRY)
        if works:
            failures.forget()
            remove_partial_files(Path("results"))
        chosen = None
        if source is not None:
            chosen = _take(source, files, source_files, context.args, checked, root, registry)
        if works:
            known = read_taken(Path("results")).datasets
            needed = [name for name in wanted(checked) if known.get(name) != registry[name].sha256]
            fetch_wanted(needed, registry, checked["datasets"], say)
        arguments = _with_config(context.args) if works else context.args
        code, lost = _snakemake(root, files, arguments), {}
        while code == 1 and works and len(further := failures.read_lost()) > len(lost):
            lost = further
            _report("continues with the tables and the audit of the available results")
            code = _snakemake(root, [*files, failures.FILE], _without_force(arguments))
        if lost and code < _SIGNALLED:
            for line in failures.describe(lost):
                _report(line)
            _report("all other results are complete and audited" if code == 0 else "the audit did not run")
            _report("correct the errors above; the same command resumes from here")
        folders = filter(Path.is_dir, (Path(), Path("results")))
        if code and any(shutil.disk_usage(folder).free < _ALMOST_FULL for folder in folders):
            _report("the disk is full; free space, and the same command resumes from here")
        if chosen is not None and code == 0:
            from biaslab.run.travel.travel import describe_made

            for line in describe_made(chosen):
                _report(line)
        if works and code == 0 and not lost and (places := _answers(checked["areas"])):
            _report(f"the answers: {', '.join(places)}")
    raise typer.Exit(code or bool(lost))


def _answers(areas: list[str]) -> list[str]:
    """Return the paths of results for the user: the audit's page, and the folders of areas."""
    places = [Path("results/audit/audit.html"), *(Path("results") / area for area in areas)]
    return [str(place) for place in places if place.exists()]


def _open_source(
    stack: contextlib.ExitStack, place: str | None, recheck: int, seed: int | None
) -> "Source | None":
    """Open the run to continue from, if any."""
    from biaslab.core.errors import InputError

    if place is None:
        if recheck:
            raise InputError("--recheck applies to another run only; name that run with --from")
        return None
    from biaslab.run.data.datasets import DOWNLOADS
    from biaslab.run.travel.crate.fetching import fetch_archive, is_address
    from biaslab.run.travel.crate.reading import MAX_BYTES, opened_run
    from biaslab.run.travel.travel import Source

    path = fetch_archive(place, DOWNLOADS, MAX_BYTES, _report) if is_address(place) else Path(place)
    run = stack.enter_context(opened_run(path, with_steps=True))
    return Source(path.name, run, recheck, seed)


def _take(
    source: "Source",
    files: Sequence[Path],
    source_files: Sequence[Path],
    arguments: Sequence[str],
    config: dict,
    root: Path,
    registry: dict,
) -> "Choice":
    """Take results of another run; for a dry run, only describe them.

    `files` are the configuration files of this run, and `source_files` those of the other run.
    """
    from snakemake.cli import parse_args

    from biaslab.core.errors import InputError
    from biaslab.run.plan.jobs import Job, planned_jobs, unmark
    from biaslab.run.record.taken import announced, check_taken, read_taken
    from biaslab.run.travel import travel

    plain = _without_force(arguments)
    parsed = parse_args(plain)[1]
    if parsed.config:
        raise InputError("--config: not possible with --from; write the settings to a file for --configfile")
    targets = set(parsed.targets)
    options = [argument for argument in plain if argument not in targets]

    def plan(configfiles: Sequence[Path], arguments: Sequence[str]) -> list[Job]:
        return planned_jobs([*_options(root, configfiles, plain), *arguments])

    calls = (
        lambda: plan(files, plain),
        lambda targets: _snakemake(root, files, [*targets, *options]),
        lambda kept: unmark(kept, [*_options(root, files, plain), "--cores=1"]),
    )
    check_taken(read_taken(Path("results")), config)
    taken = travel.origin(source)
    with announced(Path("results"), taken):
        jobs = plan(files, [*plain, "--forceall"])
        source_jobs = jobs if files == source_files else plan(source_files, [*options, "--forceall"])
        chosen = travel.Choice(source, jobs, source_jobs, config, registry)
        for line in travel.describe(chosen):
            _report(line)
        if only_looks(arguments):
            raise typer.Exit(0)
        if code := travel.take(chosen, taken, *calls, _report):
            raise typer.Exit(code)
        return chosen


def _options(root: Path, configfiles: Sequence[Path], arguments: Sequence[str]) -> list[str]:
    """Return the arguments of Snakemake for the workflow, its configuration files and its profile."""
    options = ["--configfile", *map(str, configfiles)] if configfiles else []
    return [*options, "--snakefile", str(root / "Snakefile"), *_profile(root, arguments)]


def _snakemake(root: Path, configfiles: Sequence[Path], arguments: Sequence[str]) -> int:
    from biaslab.run.life.supervise import supervise

    sys.stderr.flush()
    elsewhere = any(map(_ELSEWHERE.fullmatch, arguments))
    runs_here = not elsewhere and not only_looks(arguments)
    starter = ["biaslab.starter", sys.executable, "-m"] if runs_here else []
    options = _options(root, configfiles, arguments)
    command = [sys.executable, "-m", *starter, "snakemake", *options, *_FLAGS, *arguments]
    return supervise(command, _PATIENCE_ELSEWHERE if elsewhere else _PATIENCE)


def _profile(root: Path, arguments: Sequence[str]) -> list[str]:
    """Return the options of the default profile, unless the arguments name another profile."""
    if any(map(_NAMES_PROFILE.fullmatch, arguments)):
        return []
    import yaml

    options = yaml.safe_load((root / _PROFILE).read_text(encoding="utf-8"))
    flags = (f"--{name}" if value is True else f"--{name}={value}" for name, value in options.items())
    return ["--workflow-profile", "none", *flags]


def _with_config(arguments: Sequence[str]) -> list[str]:
    """Add the configuration file to the targets in arguments of Snakemake, if they name targets.

    Packing and merging a partial run needs this file.
    """
    if not any(map(_NAME.fullmatch, arguments)):  # importing the parser is slow
        return list(arguments)
    from snakemake.cli import parse_args

    targets = set(parse_args(arguments)[1].targets)
    if not targets or _CONFIG in targets:
        return list(arguments)
    place = next(n for n, argument in enumerate(arguments) if argument in targets)
    return [*arguments[:place], _CONFIG, *arguments[place:]]


def _without_force(arguments: Sequence[str]) -> list[str]:
    """Return arguments of Snakemake without options that rerun finished steps."""
    kept, forces = [], False
    for argument in arguments:
        forces = argument in _FORCES or (forces and not argument.startswith("-"))
        if not forces:
            kept.append(argument)
    return kept


def _report(line: str) -> None:
    say(f"biaslab: {line}")


def extras(context: typer.Context, preset: Preset = None, configfile: ConfigFiles = None) -> None:
    """Print the extras (optional dependencies) that areas of a configuration need and that are missing.

    Arguments after ``--`` are those of Snakemake: where they run nothing, nothing is needed.
    """
    from biaslab.core.files import locate
    from biaslab.run.extras import missing_extra
    from biaslab.run.plan.config import CONFIG, load_files, overlays
    from biaslab.run.plan.plan import chosen_areas
    from biaslab.run.root import repository

    if only_looks(context.args):
        return
    root = repository()
    config = load_files([locate(CONFIG, root), *overlays(preset, configfile, root)], root)
    for extra in dict.fromkeys(area.extra for area in chosen_areas(config)):
        if missing_extra(extra):
            typer.echo(extra)


def init() -> None:
    """Write a short config.yaml of your own into this folder, with your data as comments to fill in."""
    from biaslab.core.errors import InputError
    from biaslab.core.files import write_text
    from biaslab.run.plan.config import CONFIG
    from biaslab.run.root import repository

    own, root = Path(CONFIG), repository()
    if own.exists():
        raise InputError(f"{own} already exists; edit it, or use another folder")
    write_text(own, (root / _TEMPLATE).read_text(encoding="utf-8"))
    typer.echo(
        f"wrote {own}; the complete configuration, with every key, is {root / CONFIG}\n"
        "edit it, then: biaslab run -n (dry run), biaslab run --cores all"
    )


def step(
    name: Annotated[str, typer.Argument(help="The step, AREA.NAME, e.g. ranking.simulate-ranking.")],
    given: Annotated[str, typer.Option(help="Arguments in JSON: files and settings by name.")],
    threads: Annotated[
        int | None, typer.Option(help="Threads, for steps that can use several.", min=1)
    ] = None,
) -> None:
    """Do one step of the workflow as its rule does; ``run --printshellcmds`` shows the rules' lines."""
    from biaslab.run.plan.steps import run_step

    run_step(name, given, threads, say)
