"""What a command writes is never what it reads, and no two of its files have one name."""

import inspect
import os
from pathlib import Path
from typing import get_type_hints

import pytest
from typer.testing import CliRunner

from biaslab.cli import app
from biaslab.core.errors import InputError
from biaslab.core.files import atomic_path, keep_files, write_text
from biaslab.run.commands.outputs import To, check_numbers, check_outputs
from refusals import refusal

LIST = "value,score\n" + "".join(f"{'ab'[i % 2]},{20 - i}\n" for i in range(20))
RERANK = ("ranking", "rerank", "list.csv", "--attribute", "value", "--score", "score")
RERANK += ("--desired", "uniform", "--top", "5")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("list.csv").write_text(LIST)
    return tmp_path


def refused(*arguments):
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


@pytest.mark.parametrize("out", ["list.csv", "./list.csv", "link.csv", "hard.csv"])
def test_no_command_overwrites_what_it_reads(folder, out):
    os.symlink("list.csv", "link.csv")
    os.link("list.csv", "hard.csv")
    assert "would overwrite the input list.csv" in refused(*RERANK, "--out", out)
    assert Path("list.csv").read_text() == LIST


def test_a_file_that_is_named_in_a_text_is_an_input(folder):
    Path("shares.csv").write_text("value,share\na,0.5\nb,0.5\n")
    options = [*RERANK[:-4], "--desired", "shares.csv", "--top", "5"]
    assert "would overwrite the input shares.csv" in refused(*options, "--out", "shares.csv")
    with pytest.raises(InputError, match=r"would overwrite the input shares\.csv"):
        check_outputs({"pairs": ["RG=shares.csv"], "out": Path("shares.csv")}, {"out": To.FILE})


@pytest.mark.parametrize("other", [{"page": "a.tsv"}, {"page": "x/../a.tsv"}, {"figure": "a"}])
def test_two_outputs_of_one_name(folder, other):
    values = {"out": Path("a.tsv"), "page": None, "figure": None}
    values |= {name: Path(path) for name, path in other.items()}
    with pytest.raises(InputError, match="has the same name"):
        check_outputs(values, {"out": To.FILE, "page": To.FILE, "figure": To.STEM})


@pytest.mark.parametrize(
    ("kind", "path", "message"),
    [
        (To.FILE, "folder", "is a folder; name a file"),
        (To.FILE, "list.csv/out.tsv", "list.csv is a file, not a folder"),
        (To.FOLDER, "list.csv", "list.csv is a file, not a folder"),
        (To.STEM, "list.csv/figure", "list.csv is a file, not a folder"),
    ],
)
def test_what_cannot_be_written_is_told_before_any_work(folder, kind, path, message):
    Path("folder").mkdir()
    with pytest.raises(InputError, match=message):
        check_outputs({"out": Path(path)}, {"out": kind})


def test_names_that_are_free_or_to_be_replaced(folder):
    Path("old.tsv").write_text("old")
    values = {"data": Path("list.csv"), "model": "x:y", "out": Path("old.tsv"), "lists": Path("new/a.tsv")}
    kinds = {"out": To.FILE, "lists": To.FILE, "figure": To.STEM}
    assert check_outputs(values | {"figure": None}, kinds) == [Path("list.csv")]


def test_files_that_are_read_are_kept_whatever_writes(folder):
    with keep_files([Path("list.csv")]):
        assert "it is among the files that are read" in refusal(write_text, "./list.csv", "")
        write_text("other.csv", "")
    write_text("list.csv", "")
    with pytest.raises(InputError, match="a folder or a device"), atomic_path(os.devnull):
        pass


def test_every_command_says_what_it_writes():
    """An option `out` of any command is marked."""

    def commands(one):
        yield from (command.callback for command in one.registered_commands)
        for group in one.registered_groups:
            yield from commands(group.typer_instance)

    for command in commands(app):
        hints = get_type_hints(command, include_extras=True)
        for name in inspect.signature(command).parameters:
            if name == "out" or (name.startswith("out_") and "Path" in str(hints[name])):
                marked = any(isinstance(part, To) for part in hints[name].__metadata__)
                assert marked or "archive" in hints[name].__metadata__[0].help, command


@pytest.mark.parametrize("number", [2**31, -(2**40), 10**30])
def test_whole_numbers_that_nothing_can_take(folder, number):
    options = [*RERANK[:-1], str(number), "--out", "out.tsv"]
    assert f"--top {number}: beyond 2,147,483,647; give a smaller number" in refused(*options)
    check_numbers({"seed": 2**62, "top": 5, "flag": True, "sizes": [2, 3]})
    assert "--seed 18446744073709551616" in refusal(check_numbers, {"seed": 2**64})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*RERANK[:-1], "9" * 5000, "--out", "x.csv"), "--top"),
        ((*RERANK, "--lost", "1"), "--lost"),
        (("ranking", "rerun"), "'rerun'"),
        (
            (*RERANK[:2], "\x1b[31mred.csv", *RERANK[3:], "--out", "x.csv"),
            r"\x1b[31mred.csv: the file does not exist",
        ),
        ((*RERANK[:2], "x" * 5000 + "\n", *RERANK[3:], "--out", "x.csv"), "xxx…"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_short_line(folder, biaslab, arguments, message):
    code, _, error = biaslab(*arguments)
    assert code == 2
    assert error.startswith("biaslab: ")
    assert message in error
    assert error.count("\n") == 1
    assert len(error) < 1000
    assert error[:-1].isprintable()
