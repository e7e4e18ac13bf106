"""Groups of options, the start of the command, and tables on a terminal."""

import subprocess
import sys
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from biaslab.run.commands.options import grouped
from biaslab.run.commands.terminal import plain_console, plain_table

Size = Annotated[int, typer.Option(help="How large.", min=1)]


@dataclass(frozen=True)
class Source:
    path: Annotated[Path, typer.Argument(help="What to read.")]
    size: Size
    unit: Annotated[str, typer.Option("--in", help="Of the size.")] = "m"


@dataclass(frozen=True)
class Longer(Source):
    tags: Annotated[list[str], typer.Option(help="May be repeated.")] = ("a", "b")


def command(function):
    app = typer.Typer()
    app.command()(grouped(function))
    return app


def invoke(function, *arguments):
    return CliRunner().invoke(command(function), [*arguments], catch_exceptions=False)


def show(first: Annotated[str, typer.Option()], source: Source, last: Annotated[int, typer.Option()] = 3):
    """Show what was given."""
    typer.echo(f"{first} {source} {last}")


def test_a_group_arrives_as_an_instance():
    result = invoke(show, "x.txt", "--first", "one", "--size", "2", "--in", "km")
    assert result.output == f"one {Source(Path('x.txt'), 2, 'km')} 3\n"
    defaults = invoke(show, "x.txt", "--first", "one", "--size", "2", "--last", "4")
    assert defaults.output == f"one {Source(Path('x.txt'), 2)} 4\n"


def test_groups_inherit_and_several_of_them_mix_with_options():
    @dataclass(frozen=True)
    class Target:
        out: Annotated[Path, typer.Option()]

    def both(source: Longer, target: Target):
        typer.echo(f"{list(source.tags)} {source.size} {target.out}")

    assert invoke(both, "x", "--size", "1", "--out", "y").output == "['a', 'b'] 1 y\n"
    assert invoke(both, "x", "--size", "1", "--out", "y", "--tags", "c").output == "['c'] 1 y\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [(["--size", "0"], "Invalid value for '--size'"), ([], "Missing option '--size'")],
)
def test_limits_of_a_field_hold(arguments, problem):
    result = invoke(show, "x", "--first", "one", *arguments)
    assert result.exit_code == 2
    assert problem in result.output


def test_the_command_starts_without_the_libraries_of_its_steps():
    heavy = ["numpy", "pandas", "scipy", "matplotlib", "numba", "torch"]
    code = f"import sys, biaslab.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_words_are_flush_left_and_numbers_right():
    text, rows = StringIO(), [("she", "1"), ("[b]he[/b]", "234567")]
    plain_console(file=text, width=40).print(plain_table(["Word", "Count"], rows, numbers=(1,)))
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    assert lines == ["Word        Count", "she             1", "[b]he[/b]  234567"]
