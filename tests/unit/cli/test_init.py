"""``biaslab init``: a short configuration to start from, which is valid as it is written."""

from pathlib import Path

import pytest

from biaslab.run.plan.config import load_files

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_data_of_ones_own_are_comments_to_fill_in(biaslab):
    code, said, _ = biaslab("init")
    assert code == 0
    assert "wrote config.yaml" in said
    assert load_files([Path("config.yaml")], ROOT)["areas"] == ["origins"]
    assert Path("config.yaml").read_text() == (ROOT / "config/config.yaml").read_text()


def test_a_configuration_of_ones_own_is_not_overwritten(biaslab):
    Path("config.yaml").write_text("seed: 5\n")
    code, _, error = biaslab("init")
    assert code == 2
    assert "config.yaml already exists; edit it" in error
    assert error.count("\n") == 1
    assert Path("config.yaml").read_text() == "seed: 5\n"
