"""The digest of code: what changes it, and what does not."""

import os
import sys

import pytest

from biaslab.run.record.code import code_digest, data_files
from biaslab.run.root import CARRIED, PACKAGE
from refusals import refusal

SOURCES = {
    "__init__.py": '"""The package."""\nVERSION = 1\n',
    "top.py": "from toy.middle import inner\ndef run():\n    import toy.lazy\n    return toy.lazy\n",
    "lazy.py": "def f(x):\n    return x\n",
    "middle/__init__.py": "",
    "middle/inner.py": "from toy.middle import sibling\nfrom toy.far import g\n",
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


def digest_after(package, file, text, *modules):
    path = package / file
    path.write_text(text)
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 10**9))  # files are read again when their time changes
    return code_digest(*(modules or ["toy.top"]), package=package)


@pytest.mark.parametrize("file", sorted(set(SOURCES) - {"unused.py", "page.j2"}))
def test_an_edit_to_any_imported_module_changes_the_digest(package, file):
    before = code_digest("toy.top", package=package)
    assert len(before) == 16
    assert digest_after(package, file, SOURCES[file] + "EXTRA = 3\n") != before


def test_an_edit_to_another_module_does_not(package):
    before = code_digest("toy.top", package=package)
    assert digest_after(package, "unused.py", "B = 2\n") == before


def test_comments_docstrings_and_empty_lines_do_not_count(package):
    before = code_digest("toy.top", package=package)
    text = '"""Doc."""\n# note\n\ndef f(x):\n    "says\\n  what"\n\n    return x  # back\n'
    assert digest_after(package, "lazy.py", text) == before
    assert digest_after(package, "lazy.py", text.replace("return x", 'return x + "#"')) != before


def test_data_files_beside_a_module_count_when_it_names_them(package):
    naming = 'PAGE = "page.j2"\n'
    before = digest_after(package, "far.py", naming, "toy.far")
    assert digest_after(package, "page.j2", "<b>\n", "toy.far") != before
    assert digest_after(package, "other.j2", "<b>\n", "toy.far") == digest_after(
        package, "far.py", naming, "toy.far"
    )


def test_every_data_file_of_the_package_counts():
    named = {file for module in PACKAGE.rglob("*.py") for file in data_files(module)}
    files = {file for file in PACKAGE.rglob("*") if file.is_file() and CARRIED not in file.parts}
    assert {file for file in files if file.suffix not in (".py", ".pyc", ".typed")} <= named


def test_further_text_counts_and_the_order_of_the_modules_does_not(package):
    both = code_digest("toy.far", "toy.lazy", package=package)
    assert code_digest("toy.lazy", "toy.far", package=package) == both
    assert code_digest("toy.lazy", "toy.far", more=["a"], package=package) != both


def test_no_module_is_imported(package, monkeypatch):
    monkeypatch.syspath_prepend(str(package.parent))
    digest_after(package, "far.py", "raise SystemExit\n")
    assert not [m for m in sys.modules if m.split(".")[0] == "toy"]


@pytest.mark.parametrize("name", ["toy.nothing", "numpy", "toy.top.run"])
def test_an_unknown_module_is_refused(package, name):
    assert "no module" in refusal(code_digest, name, package=package)


def test_broken_code_is_refused_with_its_line(package):
    assert "lazy.py, line 2" in refusal(digest_after, package, "lazy.py", "x = 1\ndef (:\n")
