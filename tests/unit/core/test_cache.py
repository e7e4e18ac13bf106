"""Where caches lie if the home folder cannot be written: the run goes on, and nothing is complained about."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from biaslab.core.cache import cache_folder, make_private, replace_unwritable_home
from biaslab.core.errors import InputError
from biaslab.run.plan.steps import digests

VARIABLES = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR", "BIASLAB_CACHE")
DRAWING = """
from biaslab.core.cache import replace_unwritable_home
replace_unwritable_home()
import matplotlib
print(matplotlib.get_cachedir(), matplotlib.get_configdir())
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder, a folder for temporary files, and no variable that names another place."""
    for variable in VARIABLES:
        monkeypatch.setenv(variable, "")
    for name, variable in (("home", "HOME"), ("temporary", "TMPDIR")):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / name))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path / "home"


def own(home):
    return home.parent / f"temporary/biaslab-{os.geteuid()}"


def test_a_home_that_can_be_written_is_used(home):
    replace_unwritable_home()
    assert [os.environ[variable] for variable in VARIABLES] == [""] * 4
    assert not any(home.iterdir())


@pytest.mark.parametrize("block", ["home", "cache", "snakemake", "access"])
def test_caches_lie_among_temporary_files_if_the_home_cannot_hold_them(home, block, monkeypatch):
    """Blocked by files in place of folders, which stop root as well, and by permissions that are denied."""
    if block == "home":
        home.rmdir()
    elif block == "cache":
        (home / ".cache").write_text("")
    elif block == "snakemake":
        (home / ".cache").mkdir()
        (home / ".cache/snakemake").write_text("")
    else:
        monkeypatch.setattr(os, "access", lambda path, mode: not Path(path).is_relative_to(home))
    replace_unwritable_home()
    assert os.environ["XDG_CACHE_HOME"] == str(own(home))
    assert cache_folder("kernels") == own(home) / "biaslab/kernels"
    assert own(home).stat().st_mode & 0o777 == 0o700
    assert home.exists() == (block != "home")


def test_matplotlib_is_silent_without_a_home(home):
    for name in (".cache", ".config"):
        (home / name).write_text("")
    done = subprocess.run([sys.executable, "-c", DRAWING], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(own(home) / "matplotlib")] * 2
    assert done.stderr == ""


def test_a_folder_of_somebody_else_is_not_used(home):
    (home / ".cache").write_text("")
    own(home).symlink_to(home)
    with pytest.raises(InputError, match=r"set XDG_CACHE_HOME and MPLCONFIGDIR to folders of your own$"):
        replace_unwritable_home()


@pytest.mark.parametrize("umask", [0o077, 0o000])
def test_caches_are_private_and_used_whatever_the_umask(home, umask):
    before = os.umask(umask)
    try:
        folder = cache_folder("kernels")
        make_private(folder)
        first = digests(["ranking.report"])
    finally:
        os.umask(before)
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    (kept,) = folder.with_name("steps").iterdir()
    kept.write_text(kept.read_text().replace(first["ranking.report"], "0" * 16))
    assert digests(["ranking.report"]) == {"ranking.report": "0" * 16}, "the kept digest is read"
