"""Commands of ``biaslab audit``."""

import enum
from pathlib import Path
from typing import Annotated

import typer

from biaslab.cli.output import say
from biaslab.run.commands.outputs import To
from biaslab.run.root import repository


class More(enum.StrEnum):
    """Optional contents of a crate in addition to tables and figures."""

    RESULTS = "results"
    EMBEDDINGS = "embeddings"


With = Annotated[
    list[More] | None,
    typer.Option(
        "--with", help="Also pack the inputs of tables and figures; embeddings: these and embeddings."
    ),
]
SCHEMA = "workflow/schemas/claims.schema.yaml"
_WIDTH = 160  # characters a line without a terminal

app = typer.Typer(
    help="Published claims against measured results, and run against run.", no_args_is_help=True
)


@app.command("compare")
def compare(
    a: Annotated[Path, typer.Argument(help="A results folder, a crate (.zip), or a record (docs/records).")],
    b: Annotated[Path, typer.Argument(help="Another one.")],
    rtol: Annotated[float, typer.Option(help="Largest relative difference of equal numbers.", min=0)] = 1e-9,
    out: Annotated[
        Path | None, typer.Option(help="Table of the comparison of every file (.tsv)."), To.FILE
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


@app.command("init")
def init(
    folder: Annotated[Path, typer.Argument(help="New folder, named after the paper: smith2020.")],
) -> None:
    """Start a registry of a paper's claims: an empty table, its schema, and a worked row of every kind."""
    from biaslab.audit.own import start_registry

    root = repository()
    files = start_registry(folder, root / SCHEMA, root / "workflow/resources/claims_examples.tsv")
    typer.echo("\n".join(f"wrote {path}" for path in files))


@app.command("measure")
def measure(
    folder: Annotated[Path, typer.Argument(help="The folder of a registry (biaslab audit init).")],
    results: Annotated[Path | None, typer.Argument(help="Results folder of any workflow.")] = None,
    setup: Annotated[
        list[str] | None, typer.Option(help="What {setup} stands for; again for more. The folder's name.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Check the registry only.")] = False,
    freeze: Annotated[
        bool, typer.Option("--freeze", help="Freeze claims and tolerances; the page shows later changes.")
    ] = False,
) -> None:
    """Measure a registry on .tsv, .json and .parquet files; write RESULTS/audit with the page audit.html."""
    from biaslab.audit import own
    from biaslab.core.errors import InputError

    schema = repository() / SCHEMA
    if results is None and not (check or freeze):
        raise InputError("audit measure: name a results folder, or use --check")
    if freeze:
        frozen = own.freeze_claims(folder / own.FROZEN, own.read_registry(folder, schema))
        typer.echo(f"frozen on {frozen.date}: sha256 {frozen.sha256}")
    if check:
        typer.echo(own.counts_in_words(own.read_registry(folder, schema)))
    if check or results is None:
        return
    own.measure_registry(folder, results, schema, setup or (), typer.echo)
    typer.echo(f"wrote {results / 'audit/audit.html'}")


@app.command("crate")
def crate(
    results: Annotated[Path, typer.Argument(help="Results folder of a finished run.")],
    out: Annotated[Path, typer.Option(help="Archive (.zip)."), To.FILE],
    more: With = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            help="Results too large to pack, a pattern such as 'origins/*/bias_gradient/*'; may be repeated."
        ),
    ] = None,
    codecheck: Annotated[
        Path | None,
        typer.Option(help="File for codecheck.yml: the files behind the claims, with their SHA-256."),
        To.FILE,
    ] = None,
) -> None:
    """Pack a run for others: a Workflow Run Crate of workflow, settings, results, audit and provenance."""
    from biaslab.audit.summary import write_codecheck
    from biaslab.run.travel.crate.writing import write_crate

    kinds = [kind.value for kind in more or ()]
    for notice in write_crate(results, out, repository(), kinds, leave_out or ()):
        say(f"biaslab: {notice}")
    if codecheck is not None:
        typer.echo(f"wrote {codecheck}: a manifest of {write_codecheck(results, codecheck)} files")


def _show(comparison: object, a: Path, b: Path) -> None:
    from rich import box
    from rich.table import Column, Table

    from biaslab.audit.compare import BYTE_EQUAL, STATUSES
    from biaslab.run.commands.terminal import page_console

    def words(name: str) -> str:
        return name.replace("_", " ")

    console = page_console(_WIDTH)
    console.print(f"A: {a}\nB: {b}", soft_wrap=True)
    folded = Column("File", overflow="fold")
    files = Table(folded, "Status", "Relative difference", "Where", box=box.SIMPLE)
    for file in comparison.files:
        if file.status != BYTE_EQUAL and not (comparison.is_of_record and file.difference == 0):
            difference = "" if file.difference != file.difference else f"{file.difference:.3g}"
            files.add_row(file.path, words(file.status), difference, file.where)
    verdicts = Table("Claim", "Setup", "Verdict in A", "Verdict in B", box=box.SIMPLE)
    for change in comparison.verdicts:
        verdicts.add_row(change.claim_id, change.setup, words(change.verdict_a), words(change.verdict_b))
    for table in (files, verdicts):
        if table.row_count:
            console.print(table)
    if comparison.is_of_record:
        console.print("One of both is a record: only its files, and the columns in it, are compared")
    counts = ", ".join(f"{comparison.counts[s]} {words(s)}" for s in STATUSES if comparison.counts[s])
    console.print(f"{len(comparison.files)} files: {counts}; verdicts changed: {len(comparison.verdicts)}")
