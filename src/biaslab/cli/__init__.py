"""The ``biaslab`` command: one sub-command an area; arguments in, files out, no science."""

import sys

import typer

from biaslab.cli import audit, datasets, embeddings
from biaslab.cli.run import run
from biaslab.core.errors import InputError
from biaslab.debiasing import cli as debiasing
from biaslab.fairness_testing import cli as fairness_testing
from biaslab.origins import cli as origins
from biaslab.ranking import cli as ranking

app = typer.Typer(
    name="biaslab", help=__doc__, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(run)
app.add_typer(datasets.app, name="datasets")
app.add_typer(embeddings.app, name="embeddings")
app.add_typer(origins.app, name="origins")
app.add_typer(ranking.app, name="ranking")
app.add_typer(debiasing.app, name="debiasing")
app.add_typer(fairness_testing.app, name="fairness-testing")
app.add_typer(audit.app, name="audit")


def main() -> None:
    """Run the command; bad input ends with one line and exit code 2, an interrupt with 130."""
    try:
        app()
    except InputError as error:
        print(f"biaslab: {error}", file=sys.stderr)
        sys.exit(2)
    except MemoryError:
        print("biaslab: out of memory; use a smaller setup or a machine with more memory", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("biaslab: interrupted", file=sys.stderr)
        sys.exit(130)
