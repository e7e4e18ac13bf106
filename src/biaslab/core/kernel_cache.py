"""Compiled kernels on disk, so that a kernel is compiled once and not in every process.

The kernels lie in ``kernels/<key>`` of the user's cache folder, or of the folder that the environment
variable BIASLAB_CACHE names. The key covers all that machine code comes from: every file of kernels and the
modules that decorate them, the versions of Python, numpy, numba and llvmlite, the settings of numba, and the
processor that they are compiled for (`biaslab.core.processor` says which). So an edit to a kernel that
another one calls cannot leave old code behind; numba's own cache, which knows one file a kernel, would run
it.

Each compiled signature is one file, written under another name and renamed, and never changed afterwards.
There is no index and no lock: any number of processes may read and write, on a shared file system too.
Whatever is wrong with the cache (missing, unwritable, full, damaged, another numba), kernels are compiled as
without one.

numba keeps compiled code as a pickle, and unpickles it. These files are the one exception to the rule that
nothing is unpickled; so files and folders are read only if they are the user's and nobody else can write
them.
"""

import contextlib
import functools
import hashlib
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from biaslab.core.cache import VARIABLE, cache_folder, is_only_ours, is_private, make_private
from biaslab.core.errors import InputError

_PACKAGE = Path(__file__).parents[1]
_DECORATORS = (Path(__file__), Path(__file__).with_name("jit.py"))
_SUFFIX = ".kernel"
_CHECKSUM = hashlib.sha256().digest_size
_KEY_DIGITS = 32


class Usage(NamedTuple):
    """What the cache holds: files of kernels, and their size in bytes."""

    n_kernels: int
    size: int


class KernelCache:
    """The cache of one kernel, with the methods that numba's dispatcher calls."""

    def __init__(self, function: Callable, options: dict[str, Any]):
        code = function.__code__
        bytecode = hashlib.sha256(code.co_code).hexdigest()
        self._kernel = [function.__module__, function.__qualname__, code.co_firstlineno, bytecode]
        for name, value in sorted(options.items()):  # sets are written the same in every process
            self._kernel.append((name, sorted(value) if isinstance(value, set | frozenset) else value))
        self._sources = _sources_at_import()

    @property
    def cache_path(self) -> Path | None:
        """The folder of all kernels."""
        return kernel_folder()

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled code for some types of arguments, or None."""
        with contextlib.suppress(Exception):  # an unusable cache is as good as none, whatever is wrong
            from numba.core import serialize
            from numba.core.compiler import CompileResult

            target_context.refresh()  # as numba does: the code may call what is not registered yet
            _keep_objects(target_context.codegen())
            path = self._path(signature, target_context.codegen())
            if path and is_private(path.parent):
                called, compiled = serialize.loads(_read_checked(path))
                *_, initializers, _ = compiled
                for initialize in initializers:  # before what is called, which may need threads, too
                    initialize()
                libraries = [_load_library(library, target_context.codegen()) for library in called]
                result = CompileResult._rebuild(target_context, *compiled)
                _serialized[result.library] = compiled[0]
                result.library._linking_libraries += libraries  # so that its callers keep all this, too
                result.library._reload_init.update(initializers)
                return result
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep the code that was compiled for some types of arguments, if that can be done."""
        with contextlib.suppress(Exception):  # as above
            from numba.core import serialize

            path = self._path(signature, result.library.codegen)
            if path and not result.lifted and not result.library.has_dynamic_globals:
                make_private(path.parents[1])
                make_private(path.parent)
                _write_checked(path, serialize.dumps((_called(result.library), result._reduce())))

    def flush(self) -> None:
        """Do nothing: no kernel is compiled a second time on purpose."""

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        """Return the file of a signature; None when there is no folder, or a source has changed meanwhile.

        A process that imported a kernel before it was edited has other code than the files that are read now.
        """
        folder = kernel_folder()
        if folder is None or _digest_of_sources() != self._sources:
            return None
        arguments = getattr(signature, "args", signature)
        description = repr((self._kernel, signature, _named_tuples(arguments), codegen.magic_tuple()))
        name = hashlib.sha256(description.encode()).hexdigest()
        return folder / _key(self._sources, codegen.magic_tuple()) / (name + _SUFFIX)


def attach(dispatcher: Any) -> Any:
    """Give a compiled kernel of this package its cache, and return it; plain functions stay as they are.

    Functions of other modules, and those that close over variables, get none: the key does not cover them.
    """
    with contextlib.suppress(Exception):  # numba's internals may be others
        function = dispatcher.py_func
        if function.__closure__ is None and Path(function.__code__.co_filename) in _files_of_kernels():
            dispatcher._cache = KernelCache(function, dispatcher.targetoptions)
    return dispatcher


def kernel_folder() -> Path | None:
    """Return the folder of the compiled kernels, whether it exists or not; None when there is no home."""
    return cache_folder("kernels")


def usage(folder: Path) -> Usage:
    """Count the kernels in a folder as `kernel_folder` names it, for all keys."""
    try:
        sizes = [path.stat().st_size for key in _keys(folder) for path in key.glob("*" + _SUFFIX)]
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; choose another folder with {VARIABLE}") from error
    return Usage(len(sizes), sum(sizes))


def clear(folder: Path) -> None:
    """Delete the kernels in a folder as `kernel_folder` names it, for all keys, and nothing else."""
    try:
        for key in _keys(folder):
            shutil.rmtree(key)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; delete it by hand") from error


def _keep_objects(codegen: Any) -> None:
    """Let numba keep the object of all that it compiles from now on.

    It drops those of the functions that it compiles on the side (numpy's, loops of parallel kernels); but a
    kernel is kept with all that it calls, see `_called`.
    """
    if "create_library" in vars(codegen):
        return
    create = codegen.create_library

    def create_library(name: str, **options: Any) -> Any:
        library = create(name, **options)
        library.enable_object_caching()
        return library

    codegen.create_library = create_library


def _called(library: Any) -> list[tuple]:
    """Return the libraries, serialized, whose functions a library calls, each after those that it calls.

    A process that compiled a kernel runs the functions that it calls as these were compiled by themselves.
    The copies of them in the kernel's own code have been optimized once more: where sums may be regrouped,
    they give other last bits. So whoever loads the kernel loads the functions first, as they were. A kernel
    that calls one whose own code is lost (compiled before `_keep_objects`) is not kept: ValueError.
    """
    found: dict[int, Any] = {}

    def visit(caller: Any) -> None:
        for called in caller._linking_libraries:
            if id(called) not in found:
                visit(called)
                found[id(called)] = called

    visit(library)
    serialized = {}  # by content: what was loaded with two kernels is kept once
    for called in found.values():
        if called.name != "nrt":  # numba's runtime, which every process makes first
            serialized[_serialized.get(called) or called.serialize_using_object_code()] = None
    return list(serialized)


_loaded: dict[str, Any] = {}  # kept as long as the process: code that is loaded may refer to them
_serialized: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # what loaded libraries came from


def _load_library(serialized: tuple, codegen: Any) -> Any:
    from numba.core import serialize

    digest = hashlib.sha256(serialize.dumps(serialized)).hexdigest()
    if digest not in _loaded:
        _loaded[digest] = codegen.unserialize_library(serialized)
        _serialized[_loaded[digest]] = serialized
    return _loaded[digest]


def _keys(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [key for key in folder.glob("[0-9a-f]" * _KEY_DIGITS) if key.is_dir() and not key.is_symlink()]


@functools.cache
def _files_of_kernels() -> frozenset[Path]:
    return frozenset(_PACKAGE.rglob("_*kernels.py"))


def _digest_of_sources() -> str:
    """Return a digest of all code that kernels are made of, as it is on disk now, wherever it lies."""
    digest = hashlib.sha256()
    for path in sorted({*_files_of_kernels(), *_DECORATORS}):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


_sources_at_import = functools.cache(_digest_of_sources)


def _key(sources: str, processor: tuple) -> str:
    """Return the key of all kernels; `processor` is its name and its features as numba knows them."""
    import llvmlite
    import numba
    import numpy as np

    versions = sys.version, np.__version__, numba.__version__, llvmlite.__version__
    # The number of threads changes from job to job, and is read when a kernel runs.
    settings = {
        name: value
        for name, value in vars(numba.config).items()
        if name.isupper() and "THREAD" not in name and not callable(value)
    }
    description = repr((sources, versions, processor, sorted(settings.items())))
    return hashlib.sha256(description.encode()).hexdigest()[:_KEY_DIGITS]


def _named_tuples(arguments: Iterable[Any]) -> list[tuple]:
    """Return the class and the fields of all named tuples; their types, written down, lack these."""
    found = []
    for argument in arguments:
        if hasattr(argument, "instance_class"):
            own = argument.instance_class
            found.append((own.__module__, own.__qualname__, argument.fields))
        found += _named_tuples(getattr(argument, "types", ()))
    return found


def _read_checked(path: Path) -> bytes:
    """Return what `_write_checked` wrote; raise OSError for a file that is damaged or not the user's."""
    with path.open("rb") as file:
        if not is_only_ours(os.fstat(file.fileno())):
            raise PermissionError(path)
        checksum, content = file.read(_CHECKSUM), file.read()
    if hashlib.sha256(content).digest() != checksum:
        raise OSError(path)
    return content


def _write_checked(path: Path, content: bytes) -> None:
    """Write a checksum and the content, under another name first."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")  # for the user alone
    try:
        with open(handle, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
