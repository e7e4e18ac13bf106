"""Commands of ``biaslab origins``."""

import typer

app = typer.Typer(help="Origins of bias in word embeddings (Brunet et al. 2019).", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep the verbs as sub-commands, even while there is only one."""
