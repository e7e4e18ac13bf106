"""Which code a result depends on, and a digest of it, without importing it.

Comments, docstrings, formatting, descriptions of settings and lists of public names do not count, nor do
messages of errors, which end a step without a result; but where code that is covered turns the message of an
error into a value, messages count.
"""

import ast
import functools
import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from biaslab.core import columns
from biaslab.core.errors import InputError

PACKAGE = Path(__file__).parents[1]

_DIGITS = 16

_UNSAID = ("ctx", "kind", "type_comment", "type_ignores")
"""Fields of a syntax tree that follow from others or change nothing."""

_REGISTRY = "registry.py"
_REFERENCE = re.compile(r"\w+:\w+")
"""``"MODULE:FUNCTION"``, a function of a module in the same folder, as a registry names it."""


def code_digest(*modules: str, more: Iterable[str] = (), package: Path = PACKAGE) -> str:
    """Return a digest of 16 digits of the code that some modules, by their full names, run.

    It covers the modules, every module of the package that they import (at the top or inside a function,
    directly or not), the packages around these, and the data files beside them which they name, but of
    columns their names alone; of a module that imports by name also those that the registry beside it names.
    """
    files = {name: _look(name, package) for name in closure(modules, package)}
    silent = not any(file.keeps_messages for file in files.values())
    digest = hashlib.sha256()
    for name, file in sorted(files.items()):
        digest.update(f"{name}\0{_code(file, silent)}\0".encode())
        for beside in file.data():
            is_said = beside.name == columns.FILE
            content = repr(columns.columns_of(beside)).encode() if is_said else beside.read_bytes()
            digest.update(f"{beside.name}\0".encode() + content + b"\0")
    for text in more:
        digest.update(f"{text}\0".encode())
    return digest.hexdigest()[:_DIGITS]


def closure(modules: Iterable[str], package: Path = PACKAGE) -> set[str]:
    """Return modules, all they import from the package, and the packages that contain them."""
    waiting, seen = list(modules), set()
    for name in waiting:
        if source_of(name, package) is None:
            raise InputError(f"code digest: {package.name} has no module '{name}'; check its name")
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += [parent for parent in [name.rpartition(".")[0]] if parent]
            waiting += imported(name, package)
    return seen


def imported(name: str, package: Path = PACKAGE) -> set[str]:
    """Return the modules of the package that a module imports when it or one of its functions runs."""
    return {module for module in _look(name, package).names if source_of(module, package) is not None}


def imports_of(node: ast.AST, name: str, source: Path, package: Path = PACKAGE) -> Iterator[str]:
    """Yield the names that an import statement of the module `name` takes from the package."""
    if isinstance(node, ast.Import):
        found = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        inside = name if source.name == "__init__.py" else name.rpartition(".")[0]
        base = node.module or ""
        if node.level:
            parents = inside.split(".")[: len(inside.split(".")) - node.level + 1]
            base = ".".join([*parents, *([base] if base else [])])
        found = [base, *(f"{base}.{alias.name}" for alias in node.names)]
    else:
        return
    yield from (module for module in found if module.split(".")[0] == package.name)


def source_of(name: str, package: Path = PACKAGE) -> Path | None:
    """Return the file of the module `name`, or None when there is no such module."""
    top, *parts = name.split(".")
    if top != package.name:
        return None
    folder = package.joinpath(*parts)
    candidates = [folder / "__init__.py"] + ([folder.with_name(f"{folder.name}.py")] if parts else [])
    return next((path for path in candidates if path.is_file()), None)


class _File:
    """What is looked at in a file of the package."""

    def __init__(self, name: str, source: Path, package: Path) -> None:
        self.source, nodes = source, list(ast.walk(_tree(source)))
        self.names = {m for node in nodes for m in imports_of(node, name, source, package)}
        if any(isinstance(node, ast.Attribute) and node.attr == "import_module" for node in nodes):
            self.names |= _registered(name.rpartition(".")[0], source.with_name(_REGISTRY))
        texts = _texts(nodes)
        self.keeps_messages = any(_keeps_message(n) for n in nodes if isinstance(n, ast.ExceptHandler))
        self._named = sorted(t for t in texts if 0 < len(t) < 80 and "." in t.strip(".") and "/" not in t)

    def data(self) -> list[Path]:
        """Return the files beside the module that its texts name, such as templates and styles."""
        files = (self.source.parent / name for name in self._named if name.isprintable())
        return [file for file in files if file.suffix != ".py" and file.is_file()]


def _registered(folder: str, registry: Path) -> set[str]:
    """Return the modules of a folder that its registry names, if it has one."""
    texts = _texts(ast.walk(_tree(registry))) if registry.is_file() else ()
    return {f"{folder}.{text.partition(':')[0]}" for text in texts if _REFERENCE.fullmatch(text)}


def _texts(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def _look(name: str, package: Path) -> _File:
    source = source_of(name, package)
    return _looked(name, source, source.stat().st_mtime_ns, package)


@functools.cache
def _looked(name: str, source: Path, _: int, package: Path) -> _File:
    return _File(name, source, package)


@functools.cache
def _code(file: _File, silent: bool) -> str:
    """Return the code of a file without what does not count."""
    return "".join(_written(_Silencer(silent).visit(_tree(file.source))))


def _written(value: Any) -> Iterator[str]:
    """Yield a syntax tree as text, the same in every version of Python.

    Neither `ast.dump` nor `ast.unparse` is: what the one names and how the other quotes changes between
    versions. Fields that are empty do not count, so that one which a version adds changes nothing.
    """
    if isinstance(value, ast.Constant):
        yield repr(value.value)
    elif isinstance(value, ast.AST):
        yield f"{type(value).__name__}("
        for name, inner in sorted(ast.iter_fields(value)):
            if inner is not None and inner != [] and name not in _UNSAID:
                yield f"{name}="
                yield from _written(_joined(inner) if isinstance(value, ast.JoinedStr) else inner)
        yield ")"
    elif isinstance(value, list):
        yield "["
        for inner in value:
            yield from _written(inner)
            yield ","
        yield "]"
    else:
        yield repr(value)


def _joined(parts: Iterable[ast.AST]) -> list[ast.AST]:
    """Return the parts of a formatted text with texts beside each other as one, and without empty ones."""
    found: list[ast.AST] = []
    for is_text, some in itertools.groupby(parts, lambda part: isinstance(part, ast.Constant)):
        if not is_text:
            found += some
        elif text := "".join(part.value for part in some):
            found.append(ast.Constant(text))
    return found


def _tree(source: Path) -> ast.Module:
    """Return the syntax tree of a file as it runs: without what is there for type checkers alone."""
    try:
        tree = ast.parse(source.read_bytes())
    except SyntaxError as error:
        raise InputError(f"{source}, line {error.lineno}: not valid Python ({error.msg})") from error
    return _WithoutTyping().visit(tree)


class _WithoutTyping(ast.NodeTransformer):
    """Leaves out what stands under ``if TYPE_CHECKING``."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return node.orelse or ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)


class _Silencer(ast.NodeTransformer):
    """Leaves out docstrings, descriptions and lists of public names; empties messages of errors if asked."""

    def __init__(self, silent: bool) -> None:
        self.silent = silent

    def _without_docstring(self, node: ast.AST) -> ast.AST:
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return self.generic_visit(node)

    visit_Module = visit_ClassDef = visit_FunctionDef = visit_AsyncFunctionDef = _without_docstring  # noqa: N815

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        """Leave out ``__all__``: what others may rely on changes no result."""
        is_list = isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"
        return None if is_list else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.keywords = [k for k in node.keywords if k.arg != "desc"]  # of a bar of progress
        if self.silent and isinstance(node.func, ast.Name) and node.func.id.endswith("Error"):
            return _Emptied().visit(node)
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Leave out what is said of a setting: the texts in ``Annotated``."""
        if isinstance(node.value, ast.Name) and node.value.id == "Annotated":
            is_text = [isinstance(part, ast.Constant) for part in node.slice.elts]
            node.slice.elts = [part for part, skip in zip(node.slice.elts, is_text, strict=True) if not skip]
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return _Emptied().visit(node) if self.silent else self.generic_visit(node)


class _Emptied(ast.NodeTransformer):
    """Empties all texts, but keeps what is formatted into them."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.copy_location(ast.Constant(""), node) if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        node.values = [value for value in node.values if isinstance(value, ast.FormattedValue)]
        return self.generic_visit(node)


def _keeps_message(handler: ast.ExceptHandler) -> bool:
    """Tell whether a handler does something else with an error than raising another one."""
    if not handler.name or _always_raises(handler):
        return False
    raised = {id(n) for r in ast.walk(handler) if isinstance(r, ast.Raise) for n in ast.walk(r)}
    names = (n for n in ast.walk(handler) if isinstance(n, ast.Name) and n.id == handler.name)
    return any(id(name) not in raised for name in names)


def _always_raises(handler: ast.ExceptHandler) -> bool:
    """Tell whether a handler ends with an error, so that nothing of it becomes a value."""
    leaves = (ast.Return, ast.Yield, ast.YieldFrom, ast.Continue, ast.Break)
    stays = any(isinstance(node, leaves) for node in ast.walk(handler))
    return isinstance(handler.body[-1], ast.Raise) and not stays
