"""``biaslab init``: a short configuration to start from, which is valid as it is written."""

import sys
from pathlib import Path

import pytest

from biaslab.cli import main
from biaslab.run.config import load_files

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["biaslab", "init"])


def called() -> int:
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code or 0


def test_data_of_ones_own_are_comments_to_fill_in(capsys):
    assert not called()
    assert "wrote config.yaml" in capsys.readouterr().out
    assert load_files([Path("config.yaml")], ROOT)["areas"] == ["origins"]
    assert Path("config.yaml").read_text() == (ROOT / "config/config.yaml").read_text()


def test_a_configuration_of_ones_own_is_not_overwritten(capsys):
    Path("config.yaml").write_text("seed: 5\n")
    assert called() == 2
    error = capsys.readouterr().err
    assert "config.yaml already exists; edit it" in error
    assert error.count("\n") == 1
    assert Path("config.yaml").read_text() == "seed: 5\n"
