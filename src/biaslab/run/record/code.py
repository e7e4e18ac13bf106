"""Find the code that a result depends on, and compute its digest, without importing the code."""

import ast
import functools
import hashlib
import io
import re
import tokenize
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from biaslab.core.errors import InputError

PACKAGE = Path(__file__).parents[2]

_DIGITS = 16
_DATA = re.compile(r"([\w-]+/)*[\w-]+(\.(?!py$)\w+)+")


class _Source(NamedTuple):
    code: str  # without comments and docstrings
    imports: set[str]
    texts: set[str]


def code_digest(*modules: str, more: Iterable[str] = (), package: Path = PACKAGE) -> str:
    """Return a 16-digit digest of the code that modules (full names) run.

    The digest covers all modules in their `closure`, without comments and docstrings, and the data files that
    these modules name, relative to their own folder.
    """
    digest = hashlib.sha256()
    for name in sorted(closure(modules, package)):
        path = source_of(name, package)
        digest.update(f"{name}\0{_read(path).code}\0".encode())
        for data in data_files(path):
            digest.update(f"{data.name}\0".encode() + data.read_bytes() + b"\0")
    for text in more:
        digest.update(f"{text}\0".encode())
    return digest.hexdigest()[:_DIGITS]


def data_files(module: Path) -> list[Path]:
    """Return the data files of the package that the code of a module names, sorted."""
    names = filter(_DATA.fullmatch, _read(module).texts)
    return sorted(file for name in names if (file := module.parent / name).is_file())


def closure(modules: Iterable[str], package: Path = PACKAGE) -> set[str]:
    """Return modules, all modules of the package that they import recursively, and their parent packages."""
    waiting, seen = list(modules), set()
    if unknown := [name for name in waiting if source_of(name, package) is None]:
        raise InputError(f"code digest: {package.name} has no module '{unknown[0]}'; check the name")
    while waiting:
        name = waiting.pop()
        path = source_of(name, package)
        if name not in seen and path is not None:
            seen.add(name)
            waiting += [name.rpartition(".")[0], *_read(path).imports]
    return seen


def source_of(name: str, package: Path = PACKAGE) -> Path | None:
    """Return the file of the module `name`, or None if the package has no such module."""
    top, *parts = name.split(".")
    folder = package.joinpath(*parts)
    candidates = [folder / "__init__.py"] + ([folder.with_name(f"{folder.name}.py")] if parts else [])
    return next((path for path in candidates if top == package.name and path.is_file()), None)


def _read(path: Path) -> _Source:
    return _parse(path, path.stat().st_mtime_ns)


@functools.cache
def _parse(path: Path, _: int) -> _Source:
    text = path.read_text(encoding="utf-8")
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except SyntaxError as error:
        raise InputError(f"{path}, line {error.lineno}: not valid Python ({error.msg})") from error
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    texts = {node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    for node in nodes:
        if isinstance(node, ast.Expr) and node.value in texts:  # a docstring
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    imports = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            imports |= {f"{node.module}", *(f"{node.module}.{alias.name}" for alias in node.names)}
    code = "\n".join(line.rstrip() for line in lines if line.strip())
    return _Source(code, imports, {node.value for node in texts})
