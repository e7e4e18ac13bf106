"""Optional dependencies: what is missing, why, and what ``biaslab extras`` tells the Makefile."""

import importlib.metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from biaslab.cli import app
from biaslab.core.errors import InputError
from biaslab.run import extras
from biaslab.run.extras import missing_extra

ROOT = Path(__file__).parents[3]
REQUIRES = [
    "numpy>=2.1",
    'clarabel>=0.10; extra == "dev"',
    'safetensors>=0.5; extra == "neural"',
    'torch>=2.6; extra == "neural"',
    "trans_for.mers[x]>=4 ; extra == 'neural'",
    'snakemake>=9.17,<10; extra == "workflow"',
]
ALL = {"numpy", "clarabel", "safetensors", "torch", "trans_for.mers", "snakemake"}


def _version_of(names):
    versions = names if isinstance(names, dict) else dict.fromkeys(names, "1.0")

    def version(name):
        if name not in versions:
            raise importlib.metadata.PackageNotFoundError(name)
        return versions[name]

    return version


@pytest.fixture
def installed(monkeypatch):
    """Return a function that says which packages are installed; biaslab needs `REQUIRES`."""

    def install(names):
        monkeypatch.setattr(extras.importlib.metadata, "requires", lambda _: REQUIRES)
        monkeypatch.setattr(extras.importlib.metadata, "version", _version_of(names))

    install(ALL)
    return install


@pytest.fixture
def ask(monkeypatch):
    monkeypatch.chdir(ROOT)

    def run(*arguments):
        result = CliRunner().invoke(app, ["extras", *arguments], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout.splitlines()

    return run


def test_a_run_without_snakemake_says_how_to_get_it(installed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    installed(ALL - {"snakemake"})
    with pytest.raises(InputError, match=r"^snakemake is not installed; pip install 'biaslab\[workflow\]'$"):
        CliRunner().invoke(app, ["run", "-n"], catch_exceptions=False)
    assert not any(tmp_path.iterdir())


def test_what_is_missing_is_named_with_what_to_do(installed):
    assert missing_extra("neural") == missing_extra("dev") == ""
    installed(ALL - {"safetensors"})
    assert missing_extra("neural") == "safetensors is not installed; pip install 'biaslab[neural]'"
    assert missing_extra("dev") == ""
    installed(ALL - {"trans_for.mers"})
    assert missing_extra("neural") == "trans_for.mers is not installed; pip install 'biaslab[neural]'"


def test_an_extra_is_printed_only_when_it_is_missing(installed, ask):
    assert ask() == []
    installed(ALL - {"torch"})
    assert ask() == ["neural"]
    installed({"numpy"})
    assert ask() == ["neural"]  # once, and not what no area needs


def test_an_extra_is_printed_only_for_an_area_that_runs(installed, ask, tmp_path):
    installed(set())
    mine = tmp_path / "mine.yaml"
    mine.write_text("areas: [ranking, origins]\n", encoding="utf-8")
    assert ask("--configfile", str(mine)) == []
    assert ask("--preset", "smoke") == ["neural"]
    assert ask("--preset", "smoke", "--configfile", str(mine)) == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [(["-n"], []), (["--report", "build/report.html"], []), (["--forceall", "-j", "2"], ["neural"])],
)
def test_where_no_step_is_run_nothing_is_needed(installed, ask, arguments, expected):
    installed(set())
    assert ask("--preset", "smoke", "--", *arguments) == expected  # as the Makefile calls it


@pytest.mark.parametrize(
    ("version", "is_fit"),
    [("9.16.0", False), ("9.17.0", True), ("9.27.1", True), ("9.99.0.dev1", True), ("10.0.0", False)],
)
def test_both_ends_of_the_versions_of_snakemake(installed, version, is_fit):
    installed({"snakemake": version})
    if is_fit:
        extras.need("workflow")
        return
    message = rf"^snakemake {version} is installed, and biaslab needs snakemake>=9\.17,<10; pip install "
    with pytest.raises(InputError, match=message):
        extras.need("workflow")
