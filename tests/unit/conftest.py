"""Figures of these tests are made, but not drawn, which takes longer than all else; `drawn` draws them."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from biaslab.core import plotting

SAVE = plotting.save


def save_nothing(figure: object, stem: object) -> None:
    """Write files of two words where a figure would be drawn."""
    Path(stem).parent.mkdir(parents=True, exist_ok=True)
    for suffix in plotting.METADATA:
        Path(f"{stem}.{suffix}").write_text("not drawn", encoding="utf-8")


@pytest.fixture(scope="session", autouse=True)
def _not_drawn() -> Iterator[None]:
    plotting.save = save_nothing
    yield
    plotting.save = SAVE


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the figures of a test."""
    monkeypatch.setattr(plotting, "save", SAVE)


@pytest.fixture
def torch_as_it_was() -> Iterator[None]:
    """Give back the threads that a test took, and the algorithms that it forbade."""
    import torch

    n, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    yield
    torch.set_num_threads(n)
    torch.use_deterministic_algorithms(deterministic)


@pytest.fixture
def biaslab(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> Callable:
    """Return a function that runs a command as a user does: exit code, output and error output."""
    from biaslab.cli import main

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["biaslab", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code or 0, *capsys.readouterr()

    return run
