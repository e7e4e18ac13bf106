"""``biaslab init``: a configuration of one's own to start from."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from biaslab.run.starting import Start

TEMPLATE = "config/config.yaml"
_HEAD = """# Your configuration: what differs from the defaults. `biaslab run -n` says what would run,
# `biaslab run` runs it; tables, figures and the audit go to results/ beside this file.
# Every key, with its meaning and default, is in the complete configuration, whose place `biaslab init` tells.

seed: 1 # every random stream derives from it
"""


def init(
    corpus: Annotated[
        Path | None,
        typer.Option(help="Your texts (.jsonl, .txt with a text a line, .xml, a folder): what biases them?"),
    ] = None,
    test: Annotated[
        Path | None, typer.Option(help="The words of your own test (.yaml); by default a draft is written.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option(help="Your table (text, with a header): whom does a classifier harm?")
    ] = None,
    label: Annotated[str | None, typer.Option(help="The column of the table that is predicted.")] = None,
    texts: Annotated[
        Path | None,
        typer.Option(help="Your labelled texts (.csv, columns text and label): which groups count?"),
    ] = None,
) -> None:
    """Write a short config.yaml of your own into this folder, for the data that you name.

    Without any, your data stand there as comments to fill in.
    """
    from biaslab.core.errors import InputError
    from biaslab.core.files import write_text
    from biaslab.run.config import CONFIG
    from biaslab.run.root import repository

    own, root = Path(CONFIG), repository()
    if own.exists():
        raise InputError(f"{own} is there already; edit it, or start in another folder")
    data = {"corpus": corpus, "table": table, "texts": texts}
    options = {"test": test, "label": label}
    for option, of in (("test", "corpus"), ("label", "table")):
        if options[option] is not None and data[of] is None:
            raise InputError(f"--{option} belongs to --{of}; name both")
    started = _starts({name: path for name, path in data.items() if path is not None}, options)
    files = {name: text for one in started.values() for name, text in one.files.items()}
    for name in files:
        if Path(name).exists():
            raise InputError(f"{name} is there already; name it by its option, or start in another folder")
    for name, text in files.items():
        write_text(Path(name), text)
    if started:
        sections = [f"areas: [{', '.join(started)}]\n", *(one.section for one in started.values())]
        write_text(own, _HEAD + "\n".join(sections))
    else:
        write_text(own, (root / TEMPLATE).read_text(encoding="utf-8"))
    for line in (line for one in started.values() for line in one.said):
        typer.echo(line)
    written = ", ".join([str(own), *files])
    typer.echo(
        f"wrote {written}; the complete configuration, with every key, is {root / CONFIG}\n"
        "edit it, then: biaslab run -n (what would run), biaslab run --cores all"
    )


def _starts(data: Mapping[str, Path], options: Mapping[str, object]) -> dict[str, "Start"]:
    """Return what each area writes that starts from data of a kind that was named."""
    from biaslab.core.errors import InputError
    from biaslab.run.area import load_area
    from biaslab.run.areas import AREAS

    started = {}
    for name in AREAS:
        kind = load_area(name).starts_from
        if kind in data:
            if not data[kind].exists():
                raise InputError(f"no such file or folder: {data[kind]} (in {Path.cwd()}); correct the path")
            started[name] = importlib.import_module(f"biaslab.{name}.starting").start(data[kind], options)
    return started
