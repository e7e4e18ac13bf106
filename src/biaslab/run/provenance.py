"""What made a result: digests of code and files, and the machine it was made on."""

import ast
import functools
import hashlib
import importlib.metadata
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from biaslab.core.errors import InputError

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)

_PACKAGE = Path(__file__).parents[1]
_DISTRIBUTION = "biaslab"
_DIGITS = 16
_CHUNK = 1 << 20


def sha256_file(path: str | os.PathLike) -> str:
    """Return the sha256 of a file, read in pieces, as 64 hexadecimal digits.

    Raises
    ------
    InputError
        When the file cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while piece := file.read(_CHUNK):
                digest.update(piece)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    return digest.hexdigest()


def code_digest(*modules: str, files: Iterable[str] = (), package: Path = _PACKAGE) -> str:
    """Return a digest of the code that some modules run, without importing it.

    It covers the modules, every module of the package that they import (at the top or inside a function,
    directly or not) and the packages around these. Comments, docstrings and formatting do not count, so
    that only an edit which can change a result changes the digest.

    Parameters
    ----------
    *modules : str
        Full names, e.g. ``"biaslab.embeddings.glove"``.
    files : iterable of str
        Data files which the modules read, relative to the package's folder, e.g. ``"audit/audit.html.j2"``.
    package : pathlib.Path
        The package's folder; its name is the package's name.

    Returns
    -------
    str
        16 hexadecimal digits.

    Raises
    ------
    InputError
        When a module or file does not exist, or is not Python.
    """
    digest = hashlib.sha256()
    for name in sorted(_closure(modules, package)):
        digest.update(f"{name}\0{_code(_source(name, package))}\0".encode())
    for file in sorted(files):
        digest.update(f"{file}\0{sha256_file(package / file)}\0".encode())
    return digest.hexdigest()[:_DIGITS]


def environment() -> dict[str, object]:
    """Return what may differ between two runs of the same input: software, machine, threads, commit.

    Returns
    -------
    dict
        ``python``, ``platform``, ``cpu`` (model), ``cpus`` (count), ``packages`` (name to version, of this
        package and its dependencies), ``threads`` (the set environment variables), ``git`` (``commit`` and
        ``dirty``; None outside a checkout).
    """
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "packages": _package_versions(),
        "threads": {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
        "git": _git_state(_PACKAGE),
    }


def _closure(modules: Iterable[str], package: Path) -> set[str]:
    """Return the modules, all they import from the package, and the packages that contain them."""
    waiting, seen = list(modules), set()
    for name in waiting:
        if _source(name, package) is None:
            raise InputError(f"code digest: {package.name} has no module '{name}'; check its name")
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        waiting += [parent for parent in [name.rpartition(".")[0]] if parent]
        waiting += [m for m in _imports(name, package) if _source(m, package) is not None]
    return seen


def _imports(name: str, package: Path) -> Iterator[str]:
    """Yield the names which the module `name` imports from the package; some may be no modules."""
    source = _source(name, package)
    inside = name if source.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(_parse(source)):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = inside.split(".")[: len(inside.split(".")) - node.level + 1]
                base = ".".join([*parents, *([base] if base else [])])
            found = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (m for m in found if m.split(".")[0] == package.name)


def _source(name: str, package: Path) -> Path | None:
    """Return the file of the module `name`, or None when there is no such module."""
    top, *parts = name.split(".")
    if top != package.name:
        return None
    folder = package.joinpath(*parts)
    candidates = [folder / "__init__.py"] + ([folder.with_name(f"{folder.name}.py")] if parts else [])
    return next((path for path in candidates if path.is_file()), None)


@functools.cache
def _parse(source: Path) -> ast.Module:
    try:
        return ast.parse(source.read_bytes())
    except SyntaxError as error:
        raise InputError(f"{source}, line {error.lineno}: not valid Python ({error.msg})") from error


@functools.cache
def _code(source: Path) -> str:
    """Return the code of a file without comments, docstrings and formatting.

    Written back rather than dumped: the dump of a tree changes from one version of Python to the next.
    """
    tree = ast.parse(source.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _cpu_model() -> str:
    """Return the processor's model name."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", text, flags=re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()


def _package_versions() -> dict[str, str]:
    """Return the installed versions of this package and of what it requires."""
    try:
        required = importlib.metadata.requires(_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    names = [re.match(r"[\w.-]+", line)[0] for line in required if "extra ==" not in line]
    versions = {}
    for name in sorted([_DISTRIBUTION, *names]):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def _git_state(folder: Path) -> dict[str, object] | None:
    """Return the commit of the checkout around `folder`, and whether tracked files were changed."""
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit.strip(), "dirty": bool(changes.strip())}


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout
