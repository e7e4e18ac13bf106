import hashlib
import subprocess
import sys

import pytest

from biaslab.core.errors import InputError
from biaslab.run import provenance
from biaslab.run.provenance import code_digest, environment, sha256_file

SOURCES = {
    "__init__.py": '"""The package."""\nVERSION = 1\n',
    "top.py": "from toy.middle import inner\ndef run():\n    import toy.lazy\n    return toy.lazy\n",
    "lazy.py": "def f(x):\n    return x\n",
    "middle/__init__.py": "",
    "middle/inner.py": "from . import sibling\nfrom ..far import g\n",
    "middle/sibling.py": "from toy import top\nA = 1\n",
    "far.py": "def g():\n    return 2\n",
    "unused.py": "B = 1\n",
    "page.j2": "<p>\n",
}


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "toy"
    for name, text in SOURCES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def digest_after(package, file, text, *modules, **options):
    (package / file).write_text(text)
    provenance._parse.cache_clear()
    provenance._code.cache_clear()
    return code_digest(*(modules or ["toy.top"]), package=package, **options)


@pytest.mark.parametrize(
    "file",
    [
        "__init__.py",
        "top.py",
        "lazy.py",
        "middle/__init__.py",
        "middle/inner.py",
        "middle/sibling.py",
        "far.py",
    ],
)
def test_an_edit_to_any_imported_module_changes_the_digest(package, file):
    before = code_digest("toy.top", package=package)
    assert len(before) == 16
    assert digest_after(package, file, SOURCES[file] + "EXTRA = 3\n") != before


def test_an_edit_to_another_module_does_not(package):
    before = code_digest("toy.top", package=package)
    assert digest_after(package, "unused.py", "B = 2\n") == before


def test_comments_docstrings_and_layout_do_not_count(package):
    before = code_digest("toy.top", package=package)
    text = '"""Doc."""\n# note\ndef f( x ):\n    "says\\n  what"\n\n    return (x)  # back\n'
    assert digest_after(package, "lazy.py", text) == before


def test_a_body_of_only_a_docstring_equals_pass(package):
    first = digest_after(package, "lazy.py", 'class E(Exception):\n    """Doc."""\n')
    assert digest_after(package, "lazy.py", "class E(Exception):\n    pass\n") == first


def test_data_files_count_when_they_are_named(package):
    before = code_digest("toy.far", files=["page.j2"], package=package)
    assert before != code_digest("toy.far", package=package)
    assert digest_after(package, "page.j2", "<b>\n", "toy.far", files=["page.j2"]) != before


def test_the_order_of_the_modules_does_not_count(package):
    assert code_digest("toy.far", "toy.lazy", package=package) == code_digest(
        "toy.lazy", "toy.far", package=package
    )


def test_no_module_is_imported(package, monkeypatch):
    monkeypatch.syspath_prepend(str(package.parent))
    digest_after(package, "far.py", "raise SystemExit\n")
    assert not [m for m in sys.modules if m.split(".")[0] == "toy"]


@pytest.mark.parametrize("name", ["toy.nothing", "numpy", "toy.top.run"])
def test_an_unknown_module_is_refused(package, name):
    with pytest.raises(InputError, match="no module"):
        code_digest(name, package=package)


def test_broken_code_is_refused_with_its_line(package):
    with pytest.raises(InputError, match=r"lazy\.py, line 2"):
        digest_after(package, "lazy.py", "x = 1\ndef (:\n")


def test_a_missing_data_file_is_refused(package):
    with pytest.raises(InputError, match=r"none\.j2"):
        code_digest("toy.far", files=["none.j2"], package=package)


def test_the_digest_of_this_package_follows_its_imports():
    assert "biaslab.core.errors" in provenance._closure(["biaslab.core.io"], provenance._PACKAGE)
    assert code_digest("biaslab.core.io") != code_digest("biaslab.core.errors")


def test_sha256_of_a_file_longer_than_a_piece(tmp_path):
    data = bytes(range(256)) * 5000
    (tmp_path / "f").write_bytes(data)
    assert sha256_file(tmp_path / "f") == hashlib.sha256(data).hexdigest()


def test_sha256_of_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="none: cannot be read"):
        sha256_file(tmp_path / "none")


def test_environment_names_software_machine_and_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    found = environment()
    assert set(found) == {"python", "platform", "cpu", "cpus", "packages", "threads", "git"}
    assert found["threads"]["OMP_NUM_THREADS"] == "3"
    assert {"biaslab", "numpy", "snakemake"} <= set(found["packages"])
    assert "pytest" not in found["packages"]
    assert found["cpu"]


def test_git_state_tells_a_changed_checkout(tmp_path):
    def git(*arguments):
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        subprocess.run(["git", "-C", tmp_path, *identity, *arguments], check=True, capture_output=True)

    assert provenance._git_state(tmp_path / "nowhere") is None
    git("init", "-q")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-q", "-m", "first")
    (tmp_path / "untracked").write_text("1")
    clean = provenance._git_state(tmp_path)
    assert len(clean["commit"]) == 40
    assert clean["dirty"] is False
    (tmp_path / "a").write_text("2")
    assert provenance._git_state(tmp_path) == {"commit": clean["commit"], "dirty": True}


def test_git_may_be_absent(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environment()["git"] is None
