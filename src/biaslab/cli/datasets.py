"""Commands of ``biaslab datasets``."""

from pathlib import Path
from typing import Annotated

import typer

from biaslab.run import REGISTRY
from biaslab.run.options import Out
from biaslab.run.root import repository

app = typer.Typer(help="Registered input data: fetch it and check it.", no_args_is_help=True)

_REGISTRY = repository() / REGISTRY

Registry = Annotated[Path, typer.Option(help="The table of registered datasets (.tsv).")]
Mirror = Annotated[Path | None, typer.Option(help="A local folder with registered files.")]


@app.command("fetch")
def fetch_dataset(
    name: Annotated[str, typer.Argument(help="A name of the registry.")],
    out: Out,
    registry: Registry = _REGISTRY,
    path: Annotated[Path | None, typer.Option(help="Your own copy.")] = None,
    mirror: Mirror = None,
) -> None:
    """Copy or download a dataset and verify its checksum."""
    from biaslab.run.datasets import fetch as fetch_file
    from biaslab.run.datasets import load_registry, registered, verified_copy
    from biaslab.run.fetching import fetch_copy

    datasets = load_registry(registry)
    if out == Path(verified_copy(registered(name, datasets))):
        fetch_copy(datasets[name], datasets, path, mirror)
    else:
        fetch_file(name, datasets, out=out, path=path, mirror=mirror)


@app.command("list")
def list_datasets(registry: Registry = _REGISTRY, mirror: Mirror = None) -> None:
    """Print every dataset, its version and licence, and where it would come from."""
    from biaslab.run.datasets import load_registry
    from biaslab.run.fetching import status

    datasets = load_registry(registry)
    typer.echo("name\tversion\tlicence\tsource")
    for dataset in datasets.values():
        place = status(dataset, datasets, {"mirror": mirror, "paths": {}}).reason
        typer.echo(f"{dataset.name}\t{dataset.version}\t{dataset.licence}\t{place}")
