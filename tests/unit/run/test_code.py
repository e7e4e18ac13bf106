"""The digest of code: what changes it, and what does not."""

import os
import sys

import pytest

from biaslab.core.errors import InputError
from biaslab.run.code import closure, code_digest

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


def digest_after(package, file, text, *modules):
    path = package / file
    path.write_text(text)
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 10**9))  # files are read again when their time changes
    return code_digest(*(modules or ["toy.top"]), package=package)


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


def test_what_a_registry_names_counts_where_it_is_imported_by_name(package):
    (package / "registry.py").write_text('ROWS = ["unused:f", "none:g", "a: b"]\n')
    (package / "asking.py").write_text("import importlib\ndef f(x):\n    importlib.import_module(x)\n")
    assert closure(["toy.registry"], package) == {"toy", "toy.registry"}
    assert closure(["toy.asking"], package) == {"toy", "toy.asking", "toy.unused"}
    before = code_digest("toy.asking", package=package)
    assert digest_after(package, "unused.py", "B = 2\n", "toy.asking") != before


def test_comments_docstrings_and_layout_do_not_count(package):
    before = code_digest("toy.top", package=package)
    text = '"""Doc."""\n# note\ndef f( x ):\n    "says\\n  what"\n\n    return (x)  # back\n'
    assert digest_after(package, "lazy.py", text) == before


@pytest.mark.parametrize(
    ("said", "changes"), [("a, b\tother words", False), ("a, c\tnumbers", True), ("b, a\tnumbers", True)]
)
def test_names_of_columns_count_and_what_is_said_of_them_does_not(package, said, changes):
    (package / "lazy.py").write_text('COLUMNS = "columns.tsv"\n')
    (package / "columns.tsv").write_text("file\tcolumns\tmeaning\nt.tsv\ta, b\tnumbers\n")
    before = code_digest("toy.top", package=package)
    text = f"file\tcolumns\tmeaning\nt.tsv\t{said}\n"
    assert (digest_after(package, "columns.tsv", text) != before) == changes


def test_every_version_of_python_gives_the_same_digest(package):
    text = (
        "from typing import Annotated\n"
        "def f(a, /, *, b=None, **c) -> None: ...\n"
        "x = f\"{a['b']}'{c!r:>{d}.{e}f}\" 'and' f'{g=}' ''\n"
        "y = {**x, 1: -2.5e-7, b'z': (yield)} if not x else [*x, None, ...]\n"
        "async def g():\n    return [i async for i in x if (j := i)]\n"
        "match x:\n    case {'a': 1, **rest} | [_, *rest]:\n        pass\n"
    )
    # Computed with Python 3.11, 3.12 and 3.13: a crate from one is taken by another.
    assert digest_after(package, "lazy.py", text, "toy.lazy") == "abfa88d70816383a"


def test_a_list_of_public_names_does_not_count(package):
    before = code_digest("toy.top", package=package)
    assert digest_after(package, "lazy.py", '__all__ = ["f"]\n' + SOURCES["lazy.py"]) == before
    assert digest_after(package, "lazy.py", 'names = ["f"]\n' + SOURCES["lazy.py"]) != before


def test_a_body_of_only_a_docstring_equals_pass(package):
    first = digest_after(package, "lazy.py", 'class E(Exception):\n    """Doc."""\n')
    assert digest_after(package, "lazy.py", "class E(Exception):\n    pass\n") == first


def test_data_files_beside_a_module_count_when_it_names_them(package):
    naming = 'PAGE = "page.j2"\n'
    before = digest_after(package, "far.py", naming, "toy.far")
    assert digest_after(package, "page.j2", "<b>\n", "toy.far") != before
    assert digest_after(package, "other.j2", "<b>\n", "toy.far") == digest_after(
        package, "far.py", naming, "toy.far"
    )


def test_further_text_counts(package):
    assert code_digest("toy.far", more=["a"], package=package) != code_digest("toy.far", package=package)


ERRORS = """
def f(x):
    if x < 0:
        raise ValueError(f"{x} is less than {g(0)}")
    return InputError("no") if x else cast(Annotated[int, "what x is", Field(ge=0)], x)
"""


def test_messages_and_descriptions_do_not_count(package):
    before = digest_after(package, "lazy.py", ERRORS)
    reworded = ERRORS.replace(" is less than ", " < ").replace('"no"', '"never"').replace("what x is", "x")
    assert digest_after(package, "lazy.py", reworded) == before
    for old, new in [
        ("g(0)", "g(1)"),
        ("x < 0", "x < 1"),
        ("], x)", "], -x)"),
        ("ValueError", "Error"),
        ("ge=0", "ge=1"),
    ]:
        assert digest_after(package, "lazy.py", ERRORS.replace(old, new)) != before


@pytest.mark.parametrize(
    ("handler", "counts"),
    [
        ("    except ValueError as error:\n        return str(error)\n", True),
        ("    except ValueError as error:\n        log(error)\n", True),
        ("    except ValueError as error:\n        raise KeyError(str(error)) from error\n", False),
        (
            "    except ValueError as error:\n        at = f(error)\n        raise KeyError(at) from error\n",
            False,
        ),
        ("    except ValueError:\n        return 0\n", False),
    ],
)
def test_messages_count_where_they_become_values(package, handler, counts):
    far = "def g(x):\n    try:\n        return f(x)\n" + handler
    digest_after(package, "far.py", far)
    before = digest_after(package, "lazy.py", ERRORS)
    assert (digest_after(package, "lazy.py", ERRORS.replace(" is less than ", " < ")) != before) == counts


def test_what_is_for_type_checkers_alone_does_not_count(package):
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from toy.unused import B\n"
    digest_after(package, "far.py", typed)
    before = code_digest("toy.top", package=package)
    assert digest_after(package, "unused.py", "B = 2\n") == before
    assert "toy.unused" not in closure(["toy.top"], package)


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


def test_the_digest_of_this_package_follows_its_imports():
    assert "biaslab.core.errors" in closure(["biaslab.core.io"])
    assert code_digest("biaslab.core.io") != code_digest("biaslab.core.errors")
