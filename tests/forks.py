"""A Python that has imported what takes long, and runs scripts in forks of itself, which start at once."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

_SERVE = """
import json, os, sys, threading, traceback

def run(request):
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    places = request["environment"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [request["folder"], *filter(None, places)]
    sys.argv = request["arguments"]
    try:
        exec(compile(request["script"], "<string>", "exec"), {"__name__": "__main__"})
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
answers.write("ready\\n")
answers.flush()
for line in requests:
    pipes = [os.pipe(), os.pipe()]
    child = os.fork()
    if not child:
        for place, (_, end) in enumerate(pipes, 1):
            os.dup2(end, place)
        for end in (end for pipe in pipes for end in pipe):
            os.close(end)
        run(json.loads(line))
    for _, end in pipes:
        os.close(end)
    said = [os.fdopen(end, encoding="utf-8").read() for end, _ in pipes]
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    answers.write(json.dumps([code, *said]) + "\\n")
    answers.flush()
"""


class Forks:
    """A process that waits for scripts; a context, at whose end it ends."""

    def __init__(self, *modules: str):
        imports = "".join(f"import {module}\n" for module in modules)
        self._process = subprocess.Popen(
            [sys.executable, "-B", "-c", imports + _SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout.readline() == "ready\n"

    def __enter__(self) -> "Forks":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(
        self, script: str, folder: Path, environment: dict[str, str], arguments: Iterable[object] = ()
    ) -> subprocess.CompletedProcess:
        """Run a script as ``python -c SCRIPT ARGUMENTS`` in a folder.

        Variables that Python or a library reads when it starts or is imported have no effect.
        """
        request = {
            "script": script,
            "folder": str(folder),
            "environment": environment,
            "arguments": ["-c", *map(str, arguments)],
        }
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        code, output, error = json.loads(self._process.stdout.readline())
        return subprocess.CompletedProcess(request["arguments"], code, output, error)
