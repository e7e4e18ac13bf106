"""Commands as a user calls them, in a folder of the user's own."""

import sys
from pathlib import Path

import pytest

from biaslab.cli import main


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """Return the current folder, an empty one, whose modules no other test has imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("my_texts", "my_torch", "my_classifier"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


@pytest.fixture
def refused(monkeypatch, capsys):
    """Return a function that calls a command, and gives the one line with which it refuses its input."""

    def call(*arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", ["biaslab", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        assert caught.value.code == 2
        error = capsys.readouterr().err.strip()
        assert "Traceback" not in error
        is_of_typer = "Usage: " in error  # it frames what is wrong with an option
        assert is_of_typer or (error.startswith("biaslab: ") and "\n" not in error)
        return error

    return call
