"""The ``biaslab`` command: one sub-command an area; arguments in, files out, no science."""

import errno
import importlib.util
import sys
import time
from typing import Annotated

import typer

import biaslab
from biaslab.cli import audit, cache, datasets, embeddings
from biaslab.cli.output import outlive_readers
from biaslab.cli.run import extras, init, run, step
from biaslab.core import processor
from biaslab.core.cache import replace_unwritable_home
from biaslab.core.errors import InputError, printable
from biaslab.run.areas import AREAS
from biaslab.run.commands.outputs import guard_outputs
from biaslab.run.record.resources import note_cost
from biaslab.run.root import located

app = typer.Typer(name="biaslab", no_args_is_help=True, pretty_exceptions_enable=False)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"biaslab {biaslab.__version__}")
        raise typer.Exit


@app.callback(help=__doc__)
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None: ...


_SNAKEMAKE = {"allow_extra_args": True, "ignore_unknown_options": True}  # further arguments go to Snakemake
app.command(context_settings=_SNAKEMAKE)(run)
app.command(context_settings=_SNAKEMAKE, hidden=True)(extras)  # for the Makefile
app.command()(init)
app.command()(step)
app.add_typer(datasets.app, name="datasets")
app.add_typer(embeddings.app, name="embeddings")
for area in AREAS:
    if importlib.util.find_spec(f"biaslab.{area}.cli") is not None:
        app.add_typer(importlib.import_module(f"biaslab.{area}.cli").app, name=area.replace("_", "-"))
app.add_typer(audit.app, name="audit")
app.add_typer(cache.app, name="cache")
guard_outputs(app)


def _run(arguments: list[str]) -> int:
    """Run a command and return its exit code; report wrong arguments in one line instead of a box."""
    try:
        return app(arguments, prog_name="biaslab", standalone_mode=False) or 0
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        path, context = [], getattr(error, "ctx", None)
        while context is not None and context.parent is not None:
            path.insert(0, context.info_name)
            context = context.parent
        if type(error).__name__ == "NoArgsIsHelpError":
            app([*path, "--help"], prog_name="biaslab", standalone_mode=False)
            return 2
        raise InputError(f"{error.format_message()} (see {' '.join(['biaslab', *path])} --help)") from error


def main() -> None:
    """Run the command; exit with one line and code 2 for bad input, and with 130 for an interrupt."""
    outlive_readers()
    began = time.monotonic()
    try:
        processor.check()
        replace_unwritable_home()
        code = _run([located(argument) for argument in sys.argv[1:]])
        if sys.stdout is not None:
            sys.stdout.flush()
        if not code:
            note_cost(began)
        sys.exit(code)
    except InputError as error:
        print(f"biaslab: {printable(str(error))}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        place = f"cannot write {error.filename or 'a file'}"
        print(f"biaslab: {place}: {error.strerror}; free space or choose another folder", file=sys.stderr)
        sys.exit(2)
    except MemoryError:
        print("biaslab: out of memory; use a smaller setup or a machine with more memory", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("biaslab: interrupted", file=sys.stderr)
        sys.exit(130)
