"""The import contract: down only and in no circle, kernels decorated in one place, nothing unpickled."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from biaslab.run.areas import AREAS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/biaslab"
LIBRARIES = {"embeddings", "bias", "classifiers", "text"}
BELOW = {
    "core": set(),
    **{library: {"core"} for library in LIBRARIES},
    "run": {"core"},
    "audit": {"core", "run"},
    **{area: {"core", "run", *LIBRARIES} for area in AREAS},
    "cli": {"core", "run", "audit", *LIBRARIES},
}
"""What each part of the package may import, besides itself; the command finds areas by the list of them."""
PLUG = {"area", "items", "inputs", "inspection", "workload", "cli", "report"}
"""The modules and rooms of an area by which it plugs in; its science knows neither these nor the runtime."""

MODULES = sorted(PACKAGE.rglob("*.py"))
PICKLERS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """Return the part of the package that a module belongs to, "" for the package itself."""
    return [*module.split("."), ""][1]


def imports(path: Path) -> Iterator[str]:
    """Yield the full name of all that a file imports, also inside functions and for type checkers."""
    package = name_of(path) if path.name == "__init__.py" else name_of(path).rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def module_of(imported: str) -> str:
    """Return the module of the package that an imported name is, or comes from."""
    for name in (imported, imported.rpartition(".")[0]):
        path = PACKAGE.parent.joinpath(*name.split("."))
        if path.with_suffix(".py").is_file() or (path / "__init__.py").is_file():
            return name
    raise AssertionError(f"{imported} is nowhere")


def names(path: Path) -> Iterator[str]:
    """Yield every dotted name that a file uses, ``numba.njit`` for instance."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute | ast.Name):
            yield ast.unparse(node)


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of a circle of imports, none where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def is_plug(path: Path) -> bool:
    inside = set(path.relative_to(PACKAGE).with_suffix("").parts[1:])
    return bool(inside & (PLUG | {"summary", "explanation_page"})) or path.stem.startswith("cli_")


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_down_only(path):
    part = part_of(name_of(path))
    is_top = path.parent == PACKAGE  # the package itself, and how the command is started
    allowed = {"cli", "core", "starter"} if is_top else BELOW[part] | {part}
    imported = {part_of(module) for module in imports(path) if module.startswith("biaslab.")}
    assert imported <= allowed


def test_no_circle_of_imports():
    graph = {
        name_of(path): {module_of(m) for m in imports(path) if m.startswith("biaslab.")} for path in MODULES
    }
    assert circle(graph) == []


def test_a_circle_would_be_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})


@pytest.mark.parametrize(
    "path", [p for p in MODULES if part_of(name_of(p)) in AREAS and p.parent != PACKAGE], ids=name_of
)
def test_the_science_of_an_area_knows_neither_workflow_nor_report(path):
    area = part_of(name_of(path))
    if path.name != "__init__.py" and not is_plug(path):
        modules = {module for module in imports(path) if module.startswith("biaslab.")}
        assert not [m for m in modules if m.startswith("biaslab.run")]
        assert not [m for m in modules if m.startswith(f"biaslab.{area}.") and PLUG & set(m.split(".")[2:])]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_file_names_an_area_but_its_own_and_the_list(path):
    name = name_of(path)
    if name != "biaslab.run.areas":
        others = {area for area in AREAS if area != part_of(name)}
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        assert not [t for t in texts if t in others or any(f"results/{area}" in t for area in others)]


@pytest.mark.parametrize("path", sorted((ROOT / "workflow/rules").glob("*.smk")), ids=lambda p: p.stem)
def test_no_rule_names_an_area_but_its_own(path):
    own = {area for area in AREAS if area in path.stem}  # debiasing_origins is about both
    text = path.read_text(encoding="utf-8")
    for area in set(AREAS) - own:
        command = area.replace("_", "-")
        assert not re.search(rf"results/{area}\b|biaslab {command}\b|biaslab\.{area}\b|\"{area}\"", text), (
            area
        )


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


@pytest.mark.parametrize("area", AREAS)
def test_an_area_plugs_in_without_heavy_imports(area):
    heavy = {"numpy", "pandas", "numba", "scipy", "matplotlib", "torch", "gensim", "sklearn"}
    waiting, seen = [f"biaslab.{area}.area", f"biaslab.{area}.inputs", "biaslab.run.plan"], set()
    while waiting:
        name = waiting.pop()
        path = PACKAGE.parent.joinpath(*name.split("."))
        path = path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"
        if name in seen or not path.is_file():
            continue
        seen.add(name)
        found = set(imports(path))
        assert not heavy & {module.split(".")[0] for module in found}, name
        waiting += [module_of(module) for module in found if module.startswith("biaslab.")]
