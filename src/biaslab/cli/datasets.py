"""Commands of ``biaslab datasets``."""

import typer

app = typer.Typer(help="Registered input data: fetch it and check it.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep the verbs as sub-commands, even while there is only one."""
