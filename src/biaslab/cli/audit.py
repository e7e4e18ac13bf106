"""Commands of ``biaslab audit``."""

from pathlib import Path
from typing import Annotated

import typer

from biaslab.core.errors import InputError
from biaslab.run.options import Out
from biaslab.run.outputs import To

_WIDTH = 160  # characters a line where there is no terminal

Measured = Annotated[Path, typer.Argument(help="The measured claims (audit/claims.tsv).")]
PrintedFiles = Annotated[
    list[Path] | None, typer.Option("--printed", help="What each item of the papers prints (.tsv); repeat.")
]
PaperFiles = Annotated[
    list[Path] | None, typer.Option("--papers", help="Which source texts were at hand (.tsv); repeat.")
]

app = typer.Typer(
    help="Published claims against measured results, and run against run.", no_args_is_help=True
)


@app.command("claims")
def claims(
    registries: Annotated[list[Path], typer.Argument(help="Registries of claims (.tsv).")],
    schema: Annotated[Path, typer.Option(help="The schema of their rows (.yaml).")],
    results: Annotated[Path, typer.Option(help="The results folder.")],
    out: Out,
    setup: Annotated[
        list[str] | None,
        typer.Option(help="AREA=NAME of a setup that was run, by its area; repeat for each."),
    ] = None,
    absent: Annotated[
        list[str] | None, typer.Option(help="NAME=REASON of a setup that could not be run; repeat for each.")
    ] = None,
    failed: Annotated[
        list[str] | None, typer.Option(help="AREA/NAME=REASON of a setup whose run failed; repeat for each.")
    ] = None,
    made_up: Annotated[
        list[str] | None, typer.Option(help="AREA=NAME of a setup whose data are made up; repeat for each.")
    ] = None,
) -> None:
    """Measure every published claim on the results and give it a verdict."""
    from biaslab.audit.claims import read_claims
    from biaslab.audit.measure import measure_claims
    from biaslab.core.io import write_tsv

    setups: dict[str, list[str]] = {}
    for area, name in _split(setup or [], "--setup"):
        setups.setdefault(area, []).append(name)
    reasons = _pairs(absent or [], "--absent")
    lost = _pairs(failed or [], "--failed")
    invented = set(_split(made_up or [], "--made-up"))
    registry = read_claims(registries, schema)
    write_tsv(out, measure_claims(registry, results, setups, reasons, lost, invented))


@app.command("summary")
def summary(
    claims: Measured,
    out: Annotated[Path, typer.Option(help="The table to write, without suffix."), To.STEM],
    printed: PrintedFiles = None,
    papers: PaperFiles = None,
) -> None:
    """Count what was found of what the papers print, each statement and cell once."""
    from biaslab.audit.summary import multiplicity, read_measured, read_papers, read_printed, summary_table
    from biaslab.core.tables import write_table

    measured = read_measured(claims)
    table = summary_table(measured, read_printed(printed or []), read_papers(papers or []))
    write_table(out, table)
    _show_headline(table.shown, multiplicity(measured).sentence)


@app.command("html")
def html(
    claims: Measured,
    out: Annotated[Path, typer.Option(help="The page to write, in the same folder."), To.FILE],
    printed: PrintedFiles = None,
    papers: PaperFiles = None,
) -> None:
    """Show the measured claims on one self-contained page."""
    from biaslab.audit.html import write_html

    write_html(claims, out, printed or [], papers or [])


@app.command("manifest")
def manifest(
    results: Annotated[Path, typer.Argument(help="The results folder.")],
    config: Annotated[Path, typer.Option(help="The complete configuration of the run (.json).")],
    out: Out,
    code: Annotated[list[str] | None, typer.Option(help="RULE=DIGEST of the code of a rule; repeat.")] = None,
    input: Annotated[
        list[str] | None, typer.Option(help="NAME=PATH of a file or folder that the run read; repeat.")
    ] = None,
) -> None:
    """Record what went into the results, what made them, and the sha256 of each."""
    from biaslab.core.files import read_yaml
    from biaslab.run.manifest import write_manifest

    inputs = {name: Path(path) for name, path in _pairs(input or [], "--input").items()}
    write_manifest(results, out, read_yaml(config), _pairs(code or [], "--code"), inputs)


@app.command("compare")
def compare(
    a: Annotated[Path, typer.Argument(help="A results folder, or a crate (folder or .zip).")],
    b: Annotated[Path, typer.Argument(help="Another one.")],
    rtol: Annotated[
        float, typer.Option(help="Relative difference up to which numbers are equal.", min=0)
    ] = 1e-9,
    out: Annotated[
        Path | None, typer.Option(help="Also write every file's comparison here (.tsv)."), To.FILE
    ] = None,
) -> None:
    """Compare two runs: equal and different results, changed verdicts. Exit code 1 when something differs."""
    from biaslab.audit.compare import compare_runs
    from biaslab.core.io import write_tsv

    comparison = compare_runs(a, b, rtol)
    if out is not None:
        write_tsv(out, comparison.table())
    _show(comparison, a, b)
    raise typer.Exit(0 if comparison.is_equal else 1)


@app.command("crate")
def crate(
    results: Annotated[Path, typer.Argument(help="The results folder of a finished run.")],
    out: Annotated[Path, typer.Option(help="The archive (.zip) to write, or a new folder.")],
) -> None:
    """Pack a run for others: a Workflow Run Crate of workflow, settings, results, audit and provenance."""
    from biaslab.run.crate.writing import write_crate
    from biaslab.run.root import repository

    for notice in write_crate(results, out, repository()):
        typer.echo(f"biaslab: {notice}", err=True)


@app.command("resources")
def resources(
    results: Annotated[Path, typer.Argument(help="The results folder of a run.")],
    out: Annotated[
        Path,
        typer.Option(help="The table to write, without suffix; that of the full grid gets _full_grid."),
        To.STEM,
    ],
    preset: Annotated[
        str | None, typer.Option(help="A preset of workflow/presets whose full grid to project.")
    ] = None,
    configfile: Annotated[
        list[Path] | None, typer.Option(help="The configuration of the full grid, laid over the preset.")
    ] = None,
    slots: Annotated[
        str, typer.Option(help="Cores of clusters on which to simulate the full grid, for instance 8,64.")
    ] = "",
    start: Annotated[
        float, typer.Option("--start-seconds", help="What a job takes there before its step begins.", min=0)
    ] = 10,
) -> None:
    """Say what the jobs of a run took, and what a full grid would: core-hours, memory, disk, time."""
    from biaslab.core.files import read_yaml
    from biaslab.core.schema import fill_defaults
    from biaslab.core.tables import write_table
    from biaslab.run.area import load_area
    from biaslab.run.config import load_files, overlays, own_or_shipped, read_schema
    from biaslab.run.options import numbers
    from biaslab.run.resources import (
        measured_resources,
        projected_resources,
        read_jobs,
        scheduled_resources,
    )
    from biaslab.run.root import repository
    from biaslab.run.schedule import job_graph, tasks_of

    root = repository()
    cores = numbers(slots, "--slots", int, "8,64")
    run = fill_defaults(read_yaml(results / "config.json"), read_schema(root))
    areas = [load_area(name) for name in run["areas"]]
    jobs = read_jobs(results, areas, run)
    write_table(out, measured_resources(jobs, results, areas))
    files = overlays(preset, configfile, root)
    if files:
        full = load_files([own_or_shipped(root), *files], root)
        areas = [load_area(name) for name in full["areas"]]
        projected = projected_resources(jobs, results, areas, run, full)
        write_table(f"{out}_full_grid", projected)
        if cores:
            tasks = tasks_of(job_graph(files))
            write_table(f"{out}_cluster", scheduled_resources(projected.data, tasks, cores, start))


def _pairs(arguments: list[str], option: str) -> dict[str, str]:
    """Return the values of arguments of the form NAME=VALUE by name."""
    return dict(_split(arguments, option))


def _split(arguments: list[str], option: str) -> list[tuple[str, str]]:
    """Split arguments of the form NAME=VALUE."""
    pairs = [argument.partition("=") for argument in arguments]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise InputError(f"{option} {name}{equals}{value}: write NAME=VALUE")
    return [(name, value) for name, _, value in pairs]


def _show(comparison: object, a: Path, b: Path) -> None:
    """Print the files that are not byte-equal, the changed verdicts, and the counts."""
    from rich import box
    from rich.table import Column, Table

    from biaslab.audit.compare import BYTE_EQUAL, STATUSES

    def words(name: str) -> str:
        return name.replace("_", " ")

    console = _console()
    console.print(f"A: {a}\nB: {b}", soft_wrap=True)
    folded = Column("File", overflow="fold")
    files = Table(folded, "Status", "Relative difference", "Where", box=box.SIMPLE)
    for file in comparison.files:
        if file.status != BYTE_EQUAL:
            difference = "" if file.difference != file.difference else f"{file.difference:.3g}"
            files.add_row(file.path, words(file.status), difference, file.where)
    verdicts = Table("Claim", "Setup", "Verdict in A", "Verdict in B", box=box.SIMPLE)
    for change in comparison.verdicts:
        verdicts.add_row(change.claim_id, change.setup, words(change.verdict_a), words(change.verdict_b))
    for table in (files, verdicts):
        if table.row_count:
            console.print(table)
    counts = ", ".join(f"{comparison.counts[s]} {words(s)}" for s in STATUSES if comparison.counts[s])
    console.print(f"{len(comparison.files)} files: {counts}; verdicts changed: {len(comparison.verdicts)}")


def _show_headline(shown: object, sentence: str) -> None:
    """Print the headline and the sentence on multiplicity."""
    from rich import box
    from rich.table import Column, Table

    first, *numbers = shown.columns
    table = Table(first, *(Column(name, justify="right") for name in numbers), box=box.SIMPLE)
    for row in shown.itertuples(index=False):
        table.add_row(*row)
    console = _console()
    console.print(table)
    console.print(sentence)


def _console() -> object:
    """Return where to print: plain text, wide where there is no terminal."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _WIDTH
    return console
