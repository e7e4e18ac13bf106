"""Commands of ``biaslab embeddings``."""

import typer

app = typer.Typer(help="Corpora, co-occurrences and word embeddings.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep the verbs as sub-commands, even while there is only one."""
