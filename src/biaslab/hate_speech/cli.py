"""Commands of ``biaslab hate-speech``."""

import typer

from biaslab.hate_speech import cli_experiment

app = typer.Typer(help="Hate speech classifiers.", no_args_is_help=True)
app.add_typer(cli_experiment.app, name="experiment")
