"""Commands of ``biaslab audit``."""

import typer

app = typer.Typer(help="Published claims against measured results, and run against run.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep the verbs as sub-commands, even while there is only one."""
