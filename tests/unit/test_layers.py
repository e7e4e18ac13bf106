"""The import contract: imports go down only, one place decorates kernels, nothing is ever unpickled."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src/biaslab"
AREAS = {"origins", "debiasing", "ranking", "fairness_testing", "hate_speech"}
BELOW = {
    "core": set(),
    "embeddings": {"core"},
    "bias": {"core"},
    "audit": {"core"},
    **{area: {"core", "embeddings", "bias"} for area in AREAS},
    "cli": {"core", "embeddings", "bias", "audit", *AREAS},
}
"""What each part of the package may import, besides itself."""

MODULES = sorted(PACKAGE.rglob("*.py"))
PICKLERS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """Return the part of the package that a module belongs to, "" for the package itself."""
    return [*module.split("."), ""][1]


def imports(path: Path) -> Iterator[str]:
    """Yield the full name of all that a file imports, also inside functions."""
    package = name_of(path) if path.name == "__init__.py" else name_of(path).rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def names(path: Path) -> Iterator[str]:
    """Yield every dotted name that a file uses, ``numba.njit`` for instance."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute | ast.Name):
            yield ast.unparse(node)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_down_only(path):
    part = part_of(name_of(path))
    is_top = path.parent == PACKAGE  # the package itself, and `python -m biaslab`
    allowed = {"cli"} if is_top else BELOW[part] | {part}
    imported = {part_of(module) for module in imports(path) if module.startswith("biaslab.")}
    assert imported <= allowed


@pytest.mark.parametrize("path", [p for p in MODULES if p.name != "jit.py"], ids=name_of)
def test_kernels_are_decorated_by_core_jit_alone(path):
    decorators = {"numba.jit", "numba.njit", "numba.vectorize", "numba.guvectorize", "numba.stencil"}
    assert not decorators & {*imports(path), *names(path)}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_is_pickled(path):
    assert not PICKLERS & {module.split(".")[0] for module in imports(path)}
    assert not {"pandas.read_pickle", "pd.read_pickle"} & set(names(path))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert isinstance(node.value, ast.Constant)
            assert node.value.value is False


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_library_prints_nothing(path):
    if part_of(name_of(path)) != "cli":
        assert "print" not in set(names(path))
