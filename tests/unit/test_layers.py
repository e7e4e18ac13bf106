"""The import contract: down only and in no circle, kernels decorated in one place, nothing unpickled."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from biaslab.run.areas import AREAS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/biaslab"
LIBRARIES = {"embeddings", "bias", "classifiers", "text", "answers"}
BELOW = {
    "core": set(),
    **{library: {"core"} for library in LIBRARIES},
    "run": {"core"},
    "audit": {"core", "run"},
    **{area: {"core", "run", *LIBRARIES} for area in AREAS},
    "cli": {"core", "run", "audit", *LIBRARIES},
}
"""What each part of the package may import, besides itself; the command finds areas by the list of them."""
PLUG = {"area", "analyses", "items", "inputs", "jobs", "cli", "report", "pages"}
"""The modules and rooms of an area by which it plugs in; its science knows neither these nor the runtime."""

MODULES = sorted(PACKAGE.rglob("*.py"))
PICKLERS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """Return the part of the package that a module belongs to, "" for the package itself."""
    return [*module.split("."), ""][1]


@cache
def tree(path: Path) -> ast.Module:
    """Return what a file says; each is read once for all tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> frozenset[str]:
    """Return the full name of all that a file imports, also inside functions and for type checkers."""
    package = name_of(path) if path.name == "__init__.py" else name_of(path).rpartition(".")[0]
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return frozenset(found)


def module_of(imported: str) -> str:
    """Return the module of the package that an imported name is, or comes from."""
    for name in (imported, imported.rpartition(".")[0]):
        path = PACKAGE.parent.joinpath(*name.split("."))
        if path.with_suffix(".py").is_file() or (path / "__init__.py").is_file():
            return name
    raise AssertionError(f"{imported} is nowhere")


@cache
def names(path: Path) -> frozenset[str]:
    """Return every dotted name that a file uses, ``numba.njit`` for instance."""
    walked = ast.walk(tree(path))
    return frozenset(ast.unparse(node) for node in walked if isinstance(node, ast.Attribute | ast.Name))


def offenders(
    found: Callable[[Path], Iterable[str]], paths: Iterable[Path] = MODULES
) -> dict[str, list[str]]:
    """Return what is found in the files that are not as they should be, by their names."""
    return {name_of(path): sorted(wrong) for path in paths if (wrong := set(found(path)))}


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of a circle of imports, none where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def is_plug(path: Path) -> bool:
    inside = set(path.relative_to(PACKAGE).with_suffix("").parts[1:])
    return bool(inside & (PLUG | {"summary"})) or path.stem.startswith("cli_")


def test_imports_go_down_only():
    def upwards(path: Path) -> set[str]:
        part = part_of(name_of(path))
        is_top = path.parent == PACKAGE  # the package itself, and how the command is started
        allowed = {"cli", "core", "starter"} if is_top else BELOW[part] | {part}
        return {part_of(module) for module in imports(path) if module.startswith("biaslab.")} - allowed

    assert offenders(upwards) == {}


def test_no_circle_of_imports():
    graph = {
        name_of(path): {module_of(m) for m in imports(path) if m.startswith("biaslab.")} for path in MODULES
    }
    assert circle(graph) == []


def test_a_circle_would_be_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})


def test_the_science_of_an_area_knows_neither_workflow_nor_report():
    def known(path: Path) -> list[str]:
        area = part_of(name_of(path))
        if area not in AREAS or is_plug(path):
            return []
        plugs = [
            m for m in imports(path) if m.startswith(f"biaslab.{area}.") and PLUG & set(m.split(".")[2:])
        ]
        return plugs + [m for m in imports(path) if m.startswith("biaslab.run")]

    assert offenders(known) == {}


def test_no_file_names_an_area_but_its_own_and_the_list():
    def named(path: Path) -> set[str]:
        others = {area for area in AREAS if area != part_of(name_of(path))}
        constants = (node.value for node in ast.walk(tree(path)) if isinstance(node, ast.Constant))
        texts = {value for value in constants if isinstance(value, str)}
        return {t for t in texts if t in others or any(f"results/{area}" in t for area in others)}

    assert offenders(named, [path for path in MODULES if name_of(path) != "biaslab.run.areas"]) == {}


@pytest.mark.parametrize("path", sorted((ROOT / "workflow/rules").glob("*.smk")), ids=lambda p: p.stem)
def test_no_rule_names_an_area_but_its_own(path):
    own = {area for area in AREAS if area in path.stem}
    text = path.read_text(encoding="utf-8")
    for area in set(AREAS) - own:
        command = area.replace("_", "-")
        assert not re.search(rf"results/{area}\b|biaslab {command}\b|biaslab\.{area}\b|\"{area}\"", text), (
            area
        )


def test_kernels_are_decorated_by_core_jit_alone():
    decorators = {"numba.jit", "numba.njit", "numba.vectorize", "numba.guvectorize", "numba.stencil"}
    others = [path for path in MODULES if path.name != "jit.py"]
    assert offenders(lambda path: decorators & (imports(path) | names(path)), others) == {}


def test_nothing_is_pickled():
    def picklers(path: Path) -> set[str]:
        found = {m for m in imports(path) if m.split(".")[0] in PICKLERS}
        found |= {"pandas.read_pickle", "pd.read_pickle"} & names(path)
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                is_off = isinstance(node.value, ast.Constant) and node.value.value is False
                found |= set() if is_off else {f"allow_pickle={ast.unparse(node.value)}"}
        return found

    restricted = {"biaslab.fairness_testing.recipes": ["pickle"]}  # looks up no name of what it reads
    assert offenders(picklers) == restricted


def test_library_prints_nothing():
    library = [path for path in MODULES if part_of(name_of(path)) != "cli"]
    assert offenders(lambda path: {"print"} & names(path), library) == {}


def test_planning_loads_no_heavy_library():
    heavy = ["numba", "matplotlib", "torch", "gensim", "sklearn", "scipy.stats", "scipy.sparse"]
    plugs = [name_of(path) for path in MODULES if path.stem in ("area", "inputs", "plan")]
    code = f"import sys, {', '.join(plugs)}; print([name for name in {heavy} if name in sys.modules])"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout == "[]\n"


def test_no_private_name_of_snakemake_is_used():
    private = re.compile(
        r"\b(workflow|dag|scheduler|persistence|rule|rules|job|snakemake)\.(\w+\.)*_[a-z]\w*"
    )
    files = [*MODULES, *(ROOT / "workflow").rglob("*.smk"), ROOT / "workflow/Snakefile", ROOT / "Snakefile"]
    assert private.search("workflow.dag._group")
    found = {path.name: private.search(path.read_text(encoding="utf-8")) for path in files}
    assert {name: match[0] for name, match in found.items() if match} == {}
