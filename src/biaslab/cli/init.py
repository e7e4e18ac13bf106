"""``biaslab init``: write a configuration for a new run."""

from pathlib import Path

import typer

TEMPLATE = "config/config.yaml"


def init() -> None:
    """Write a short config.yaml of your own into this folder, with your data as comments to fill in."""
    from biaslab.core.errors import InputError
    from biaslab.core.files import write_text
    from biaslab.run.plan.config import CONFIG
    from biaslab.run.root import repository

    own, root = Path(CONFIG), repository()
    if own.exists():
        raise InputError(f"{own} already exists; edit it, or use another folder")
    write_text(own, (root / TEMPLATE).read_text(encoding="utf-8"))
    typer.echo(
        f"wrote {own}; the complete configuration, with every key, is {root / CONFIG}\n"
        "edit it, then: biaslab run -n (dry run), biaslab run --cores all"
    )
