"""Fork steps from a process with imported libraries, because imports last longer than most steps.

``python -m biaslab.starter PROGRAM ...`` runs a program (Snakemake), and starts its steps on request. `start`
sends the request to the socket in BIASLAB_STARTER, with the arguments, folder, environment and open files of
the step. No code of the package is shared: a step runs the code on disk. Libraries are imported here once a
step has needed them. Without the variable, as on a cluster, a step is an ordinary process with equal results.
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
"""Modules with long import times."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def start(arguments: Sequence[str]) -> int | None:
    """Run a command (`sys.argv`) in the starter; return its exit code, or None without a starter."""
    if VARIABLE not in os.environ:
        return None
    with socket.socket(socket.AF_UNIX) as connection:
        request = [arguments, os.getcwd(), dict(os.environ)]
        try:
            connection.connect(os.environ[VARIABLE])
            socket.send_fds(connection, [_identity()], [0, 1, 2])
            connection.sendall(json.dumps(request).encode() + b"\n")
            answers = connection.makefile("r")
            step = int(answers.readline() or 0)
        except OSError:
            return None
        if not step:  # the starter of another environment
            return None
        for number in _SIGNALS:  # a terminal sends the first signal to all processes
            signal.signal(number, lambda number, _: number == signal.SIGINT or _send(step, number))
        return int(answers.readline() or 128 + signal.SIGKILL)


def run_with_starter(program: Sequence[str]) -> int:
    """Run a program, start its steps, and return its exit code (128 plus the signal if killed)."""
    with _listener() as listener:
        if listener is None:
            return _exit_code(subprocess.run(program, check=False).returncode)
        reader, writer = os.pipe()
        waker = _wake_on(signal.SIGCHLD, *_SIGNALS)
        running = subprocess.Popen(program, env=os.environ | {VARIABLE: listener.getsockname()})
        os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for the starter; a step sets its own value
        while running.poll() is None:
            ready, _, _ = select.select([listener, waker, reader], [], [])
            if waker in ready:
                waker.recv(4096)
                _reap(running)
            if reader in ready:
                _import(os.read(reader, 65536).decode().split())
            if listener in ready:
                connection, _ = listener.accept()
                _fork(_supervise, connection, writer, listener)
                connection.close()
        return _exit_code(running.returncode)


@contextlib.contextmanager
def _listener() -> Iterator[socket.socket | None]:
    """Yield a socket in a new folder; None if the disk is full or the path is too long."""
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


def _identity() -> bytes:
    """Return the environment and package path, which must be equal for a step and its starter."""
    return f"{sys.prefix} {Path(__file__).parent}\n".encode()


def _wake_on(*numbers: int) -> socket.socket:
    """Handle signals only by making the returned socket readable."""
    reader, writer = socket.socketpair()
    for end in (reader, writer):
        end.setblocking(False)
    for number in numbers:
        signal.signal(number, lambda *_: writer)
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    return reader


def _reap(running: subprocess.Popen) -> None:
    """Wait for ended child processes, except the program."""
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


def _fork(function: Callable[..., int], *arguments: object) -> int:
    """Call a function in a forked process; its return value is the exit code. Return the process id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Arrow's thread is not needed in the fork
        process = os.fork()
    if process:
        return process
    code = 1
    try:
        code = function(*arguments)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _supervise(connection: socket.socket, writer: int, listener: socket.socket) -> int:
    """Fork a step, send its exit code to the client, and kill it if the client is gone."""
    listener.close()  # otherwise clients would wait after the starter is gone
    identity, files, *_ = socket.recv_fds(connection, len(_identity()), 3)
    if identity != _identity():
        return 0
    request = json.loads(connection.makefile("rb").readline())
    waker = _wake_on(signal.SIGCHLD, *_SIGNALS)
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # block signals until the step has its own handlers
    step = _fork(_step, connection, writer, files, *request)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    with contextlib.suppress(OSError):
        connection.sendall(f"{step}\n".encode())
        while True:
            ready, _, _ = select.select([connection, waker], [], [])
            ended, status = os.waitpid(step, os.WNOHANG)
            if ended:
                connection.sendall(f"{_exit_code(os.waitstatus_to_exitcode(status))}\n".encode())
                return 0
            if connection in ready and not connection.recv(1):
                break
            if waker in ready:
                waker.recv(4096)
    _send(step, signal.SIGKILL)
    return 0


def _step(
    connection: socket.socket,
    writer: int,
    files: Sequence[int],
    arguments: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
) -> int:
    """Run a step in this process with the arguments, folder, environment and files of the client."""
    connection.close()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    for descriptor, file in enumerate(files):
        os.dup2(file, descriptor)
        os.close(file)
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = _open_text(1, sys.stdout)
    sys.stderr = sys.__stderr__ = _open_text(2, sys.stderr)
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
    return _run(writer)


def _open_text(descriptor: int, old: io.TextIOWrapper) -> io.TextIOWrapper:
    raw = open(descriptor, "wb", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(raw, old.encoding, old.errors, line_buffering=descriptor == 2 or raw.isatty())


def _run(writer: int) -> int:
    """Run the command of this process, report the libraries that it needed, and return its exit code."""
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
    os.write(writer, " ".join(["", *(name for name in LIBRARIES if name in sys.modules), ""]).encode())
    return code


def _exit_code(code: int) -> int:
    """Return the exit code in the convention of shells: 128 plus the signal for a killed process."""
    return code if code >= 0 else 128 - code


def _send(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


if __name__ == "__main__":
    sys.exit(run_with_starter(sys.argv[1:]))
