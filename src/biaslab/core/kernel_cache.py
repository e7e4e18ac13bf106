"""A cache of compiled kernels on disk, so that a kernel is compiled once and not in every process.

The kernels are in ``kernels/<key>`` of the user's cache folder, or of the folder in the environment variable
BIASLAB_CACHE. The key covers all inputs of the machine code: every file of kernels and the modules that
decorate them, the versions of Python, numpy, numba and llvmlite, the settings of numba, and the target
processor (see `biaslab.core.processor`). Editing a kernel therefore invalidates all kernels that call it.
numba's own cache tracks one file a kernel and would run outdated code.

Each compiled signature is one file. It is written under a temporary name, renamed, and never changed. There
is no index and no lock: any number of processes may read and write, also on a shared file system. With an
unusable cache (missing, unwritable, full, damaged, another numba), kernels are compiled as without a cache.

numba stores compiled code as a pickle, and unpickles it. These files are the only exception to the rule that
biaslab unpickles no file. They are read only if the user owns files and folders and nobody else can write
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
from typing import Any

from biaslab.core.cache import VARIABLE, cache_folder, is_only_ours, is_private, make_private
from biaslab.core.errors import InputError

_PACKAGE = Path(__file__).parents[1]
_DECORATORS = (Path(__file__), Path(__file__).with_name("jit.py"))
_SUFFIX = ".kernel"
_CHECKSUM = hashlib.sha256().digest_size
_KEY_DIGITS = 32


class KernelCache:
    """The cache of one kernel, with the methods that numba's dispatcher calls."""

    def __init__(self, function: Callable, options: dict[str, Any]):
        code = function.__code__
        bytecode = hashlib.sha256(code.co_code).hexdigest()
        self._kernel = [function.__module__, function.__qualname__, code.co_firstlineno, bytecode]
        for name, value in sorted(options.items()):  # sort sets: their order differs between processes
            self._kernel.append((name, sorted(value) if isinstance(value, set | frozenset) else value))
        self._sources = _sources_at_import()

    @property
    def cache_path(self) -> Path | None:
        """Folder of all kernels."""
        return kernel_folder()

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature, or None."""
        with contextlib.suppress(Exception):  # treat an unusable cache as an empty one
            from numba.core import serialize
            from numba.core.compiler import CompileResult

            target_context.refresh()  # as numba does: the code may call functions that are not registered yet
            _keep_objects(target_context.codegen())
            path = self._path(signature, target_context.codegen())
            if path and is_private(path.parent):
                called, compiled = serialize.loads(_read_checked(path))
                *_, initializers, _ = compiled
                for initialize in initializers:  # before the called libraries, which may also need threads
                    initialize()
                libraries = [_load_library(library, target_context.codegen()) for library in called]
                result = CompileResult._rebuild(target_context, *compiled)
                _serialized[result.library] = compiled[0]
                result.library._linking_libraries += libraries  # so that callers keep them
                result.library._reload_init.update(initializers)
                return result
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Save the code compiled for a signature, if possible."""
        with contextlib.suppress(Exception):  # as above
            from numba.core import serialize

            path = self._path(signature, result.library.codegen)
            if path and not result.lifted and not result.library.has_dynamic_globals:
                make_private(path.parents[1])
                make_private(path.parent)
                _write_checked(path, serialize.dumps((_called(result.library), result._reduce())))

    def flush(self) -> None:
        """Do nothing: kernels are never recompiled deliberately."""

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        """Return the file of a signature; None without a folder, or if a source changed after its import.

        In the latter case the code of this process differs from the files on disk.
        """
        folder = kernel_folder()
        if folder is None or _digest_of_sources() != self._sources:
            return None
        arguments = getattr(signature, "args", signature)
        description = repr((self._kernel, signature, _named_tuples(arguments), codegen.magic_tuple()))
        name = hashlib.sha256(description.encode()).hexdigest()
        return folder / _key(self._sources, codegen.magic_tuple()) / (name + _SUFFIX)


def attach(dispatcher: Any) -> Any:
    """Attach the cache to a compiled kernel of this package, and return the kernel.

    Functions of other modules and closures get no cache, because the key does not cover them.
    """
    with contextlib.suppress(Exception):  # numba's internals may differ
        function = dispatcher.py_func
        if function.__closure__ is None and Path(function.__code__.co_filename) in _files_of_kernels():
            dispatcher._cache = KernelCache(function, dispatcher.targetoptions)
    return dispatcher


def kernel_folder() -> Path | None:
    """Return the folder of the compiled kernels, which may not exist yet; None without a home folder."""
    return cache_folder("kernels")


def usage(folder: Path) -> tuple[int, int]:
    """Return the number of kernels of all keys in a folder from `kernel_folder`, and their size in bytes."""
    try:
        sizes = [path.stat().st_size for key in _keys(folder) for path in key.glob("*" + _SUFFIX)]
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; choose another folder with {VARIABLE}") from error
    return len(sizes), sum(sizes)


def clear(folder: Path) -> None:
    """Delete only the kernels of all keys in a folder from `kernel_folder`."""
    try:
        for key in _keys(folder):
            shutil.rmtree(key)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; delete it by hand") from error


def _keep_objects(codegen: Any) -> None:
    """Make numba keep the object code of all libraries that it compiles from now on.

    By default numba drops the code of auxiliary functions (numpy's, loops of parallel kernels). A kernel is
    saved together with all functions that it calls, see `_called`.
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
    """Return the serialized libraries that a library calls, in order of dependence.

    A process that compiled a kernel runs the called functions as they were compiled separately. The copies in
    the kernel's own code are optimized once more: if sums may be regrouped, their last bits differ. A process
    that loads the kernel therefore loads the separate functions first. A kernel is not saved (ValueError) if
    the code of a called function is lost, because it was compiled before `_keep_objects`.
    """
    libraries: dict[int, Any] = {}

    def visit(caller: Any) -> None:
        for called in caller._linking_libraries:
            if id(called) not in libraries:
                visit(called)
                libraries[id(called)] = called

    visit(library)
    serialized = {}  # by content: libraries of several kernels are kept once
    for called in libraries.values():
        if called.name != "nrt":  # numba's runtime, which every process creates first
            serialized[_serialized.get(called) or called.serialize_using_object_code()] = None
    return list(serialized)


_loaded: dict[str, Any] = {}  # kept for the entire process: loaded code may refer to them
_serialized: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # serialized form of loaded libraries


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
    """Return a digest of all source files of kernels on disk, independent of the package's location."""
    digest = hashlib.sha256()
    for path in sorted({*_files_of_kernels(), *_DECORATORS}):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


_sources_at_import = functools.cache(_digest_of_sources)


def _key(sources: str, processor: tuple) -> str:
    """Return the key of all kernels; `processor` is numba's name and feature list of the processor."""
    import llvmlite
    import numba
    import numpy as np

    versions = sys.version, np.__version__, numba.__version__, llvmlite.__version__
    # The number of threads differs between jobs, and is read when a kernel runs.
    settings = {
        name: value
        for name, value in vars(numba.config).items()
        if name.isupper() and "THREAD" not in name and not callable(value)
    }
    description = repr((sources, versions, processor, sorted(settings.items())))
    return hashlib.sha256(description.encode()).hexdigest()[:_KEY_DIGITS]


def _named_tuples(arguments: Iterable[Any]) -> list[tuple]:
    """Return the class and the fields of all named tuples, which the text form of their types omits."""
    named_tuples = []
    for argument in arguments:
        if hasattr(argument, "instance_class"):
            tuple_class = argument.instance_class
            named_tuples.append((tuple_class.__module__, tuple_class.__qualname__, argument.fields))
        named_tuples += _named_tuples(getattr(argument, "types", ()))
    return named_tuples


def _read_checked(path: Path) -> bytes:
    """Read a file of `_write_checked`; raise OSError if it is damaged or not owned by the user."""
    with path.open("rb") as file:
        if not is_only_ours(os.fstat(file.fileno())):
            raise PermissionError(path)
        checksum, content = file.read(_CHECKSUM), file.read()
    if hashlib.sha256(content).digest() != checksum:
        raise OSError(path)
    return content


def _write_checked(path: Path, content: bytes) -> None:
    """Write a checksum and the content to a temporary file, and rename it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")  # readable by the user only
    try:
        with open(handle, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
