"""Steps as forks of one process that has imported their libraries, which take longer than most steps.

``python -m biaslab.starter PROGRAM ...`` runs a program, Snakemake, and until it ends starts those of its
steps that ask for it: `start` asks, by the socket that BIASLAB_STARTER names, with the arguments, folder,
environment and open files that the step would have had. Nothing of the package is shared: a step runs the
code that stands on the disk. Libraries are imported here once a step has needed them. Without the variable,
as on a cluster, a step is a process like any other, and its files have the same bytes.
"""

import contextlib
import gc
import importlib
import io
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

VARIABLE = "BIASLAB_STARTER"
LIBRARIES = (
    *("typer", "pydantic.main", "pydantic.types", "jsonschema", "numpy", "pandas", "pandas.io.formats.style"),
    *("pyarrow.parquet", "pyarrow.dataset"),
    *("scipy.stats", "scipy.optimize", "numba", "numba.core.typing.cffi_utils", "numba.cpython.charseq"),
    *("numba.np.arraymath", "numba.np.random.generator_methods", "threadpoolctl", "matplotlib.pyplot"),
    *("matplotlib.backends.backend_svg", "matplotlib.backends.backend_pdf"),
    *("sklearn.linear_model", "sklearn.svm", "sklearn.cluster", "gensim.models"),
    *("torch", "torch._dynamo", "safetensors.torch", "transformers.models.bert.modeling_bert"),
)
"""Modules that take long to import."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def start(arguments: Sequence[str]) -> int | None:
    """Let the starter run a command (`sys.argv`); return its exit code, or None where there is none."""
    if VARIABLE not in os.environ:
        return None
    with socket.socket(socket.AF_UNIX) as connection:
        request = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
        try:
            connection.connect(os.environ[VARIABLE])
            socket.send_fds(connection, [_who()], [0, 1, 2])
            connection.sendall(json.dumps(request).encode() + b"\n")
            answers = connection.makefile("r")
            step = int(answers.readline() or 0)
        except OSError:
            return None
        if not step:  # another environment's starter
            return None
        for number in _SIGNALS:  # the first of which a terminal sends to all
            signal.signal(number, lambda number, _: number == signal.SIGINT or _send(step, number))
        return int(answers.readline() or 128 + signal.SIGKILL)


def run_with_starter(program: Sequence[str]) -> int:
    """Run a program, start its steps, and return its exit code: 128 and the signal where one ended it."""
    with _listener() as listener:
        if listener is None:
            return _exit_code(subprocess.run(program, check=False).returncode)
        news, tells = os.pipe()
        woken = _wake_at(signal.SIGCHLD, *_SIGNALS)
        running = subprocess.Popen(program, env=os.environ | {VARIABLE: listener.getsockname()})
        os.environ["OPENBLAS_NUM_THREADS"] = "1"  # here; a step sets its own
        while running.poll() is None:
            ready, _, _ = select.select([listener, woken, news], [], [])
            if woken in ready:
                woken.recv(4096)
                _reap(running)
            if news in ready:
                _import(os.read(news, 65536).decode().split())
            if listener in ready:
                connection, _ = listener.accept()
                _fork(_mind, connection, tells, listener)
                connection.close()
        return _exit_code(running.returncode)


@contextlib.contextmanager
def _listener() -> Iterator[socket.socket | None]:
    """Yield a socket in a folder of its own; None where there is no room for one, or its name is too long."""
    with contextlib.ExitStack() as stack:
        try:
            folder = tempfile.mkdtemp(prefix="biaslab-")
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(f"{folder}/socket")
            listener.listen(256)
        except OSError:
            listener = None
        yield listener


def _who() -> bytes:
    """Return what a step and its starter must agree on."""
    return f"{sys.prefix} {Path(__file__).parent}\n".encode()


def _wake_at(*numbers: int) -> socket.socket:
    """Do nothing at some signals but make a socket readable."""
    reader, writer = socket.socketpair()
    for end in (reader, writer):
        end.setblocking(False)
    for number in numbers:
        signal.signal(number, lambda *_: writer)
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    return reader


def _reap(running: subprocess.Popen) -> None:
    """Wait for those that have ended."""
    with contextlib.suppress(ChildProcessError):
        while True:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None or running.poll() is not None:
                return
            os.waitpid(ended.si_pid, os.WNOHANG)


def _import(names: Sequence[str]) -> None:
    new = [name for name in LIBRARIES if name in names and name not in sys.modules]
    for name in new:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if new:
        gc.collect()
        gc.freeze()


def _fork(what: Callable[..., int], *arguments: object) -> int:
    """Call a function in a forked process, whose exit code it returns; nothing else is done there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Arrow's thread needs nothing of what is forked
        process = os.fork()
    if process:
        return process
    code = 1
    try:
        code = what(*arguments)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _mind(connection: socket.socket, tells: int, listener: socket.socket) -> int:
    """Fork a step, tell how it ended, and end it when nobody waits for it any more."""
    listener.close()  # or those who ask would wait, when the starter is gone
    who, files, *_ = socket.recv_fds(connection, len(_who()), 3)
    if who != _who():
        return 0
    request = json.loads(connection.makefile("rb").readline())
    woken = _wake_at(signal.SIGCHLD, *_SIGNALS)
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # a signal waits until the step takes it as its own
    step = _fork(_step, connection, request, files, tells)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    with contextlib.suppress(OSError):
        connection.sendall(f"{step}\n".encode())
        while True:
            ready, _, _ = select.select([connection, woken], [], [])
            ended, status = os.waitpid(step, os.WNOHANG)
            if ended:
                connection.sendall(f"{_exit_code(os.waitstatus_to_exitcode(status))}\n".encode())
                return 0
            if connection in ready and not connection.recv(1):
                break
            if woken in ready:
                woken.recv(4096)
    _send(step, signal.SIGKILL)
    return 0


def _step(connection: socket.socket, request: Mapping[str, Any], files: Sequence[int], tells: int) -> int:
    connection.close()
    _become(**request, files=files)
    return _run(tells)


def _become(
    arguments: Sequence[str], folder: str, environment: Mapping[str, str], files: Sequence[int]
) -> None:
    """Take on what a process is started with."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    for place, file in enumerate(files):
        os.dup2(file, place)
        os.close(file)
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = _text(1, sys.stdout)
    sys.stderr = sys.__stderr__ = _text(2, sys.stderr)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = arguments
    sys.path[0] = str(Path(arguments[0]).parent)
    tempfile.tempdir = None
    importlib.invalidate_caches()
    threads = environment.get("OPENBLAS_NUM_THREADS", "")
    if "threadpoolctl" in sys.modules and threads.isdecimal():
        sys.modules["threadpoolctl"].threadpool_limits(int(threads))


def _text(place: int, before: io.TextIOWrapper) -> io.TextIOWrapper:
    raw = open(place, "wb", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(raw, before.encoding, before.errors, line_buffering=place == 2 or raw.isatty())


def _run(tells: int) -> int:
    """Run the command of this process and return its exit code; tell which libraries it needed."""
    import atexit
    import threading

    from biaslab.cli import main

    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os.write(tells, " ".join(["", *(name for name in LIBRARIES if name in sys.modules), ""]).encode())
    return code


def _exit_code(code: int) -> int:
    """Return an exit code as a shell gives it: 128 and the signal where one ended the process."""
    return code if code >= 0 else 128 - code


def _send(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


if __name__ == "__main__":
    sys.exit(run_with_starter(sys.argv[1:]))
