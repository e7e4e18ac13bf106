"""The workflow on another machine: a copy of the checkout whose code can be edited, perhaps without torch."""

import contextlib
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from processes import MARK, kill_all, wait_for

DEADLINE = 600  # seconds
ROOT = Path(__file__).parents[1]
WITHOUT_TORCH = """
import importlib.metadata
import sys

HIDDEN = {"torch", "transformers", "tokenizers"}
version = importlib.metadata.version


class Hider:
    def find_spec(self, name, path=None, target=None):
        if name in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def shown_version(name):
    if name in HIDDEN:
        raise importlib.metadata.PackageNotFoundError(name)
    return version(name)


sys.meta_path.insert(0, Hider())
importlib.metadata.version = shown_version
"""


class Elsewhere:
    """Another machine: its checkout, and the folder that runs are made in."""

    def __init__(self, folder: Path, has_torch: bool = True):
        self.checkout, self.folder = folder / "checkout", folder / "run"
        self.folder.mkdir()
        for name in ("src", "workflow", "envs"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, self.checkout / name, ignore=ignored)
        for name in ("Snakefile", "config.yaml", "pyproject.toml"):
            shutil.copy(ROOT / name, self.checkout)
        if not has_torch:
            (self.checkout / "src/sitecustomize.py").write_text(WITHOUT_TORCH, encoding="utf-8")

    def command(self, *arguments: object) -> dict:
        """Return how the command is started there, as `subprocess.Popen` takes it."""
        path = os.pathsep.join([str(self.checkout / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
        return {
            "args": [sys.executable, "-m", "biaslab", *map(str, arguments)],
            "cwd": self.folder,
            "env": os.environ | {"PYTHONPATH": path, "PIP_NO_INDEX": "1"},
        }

    def biaslab(self, *arguments: object, code: int = 0) -> str:
        finished = subprocess.run(**self.command(*arguments), capture_output=True, text=True, check=False)
        assert finished.returncode == code, finished.stdout + finished.stderr
        return finished.stdout + finished.stderr

    def kill(self, arguments: Iterable[object], condition: Callable[[], object]) -> None:
        """Run the command there until something is true, and kill all that it started at once."""
        mark, started = uuid.uuid4().hex, self.command(*arguments)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
        with subprocess.Popen(**started | {"env": started["env"] | {MARK: mark}}, **quiet) as run:
            is_true = wait_for(lambda: condition() or run.poll() is not None, DEADLINE)
            kill_all(mark)
        assert is_true, "too little came"
        assert run.returncode < 0, "it ended by itself"

    @contextlib.contextmanager
    def edited(self, module: str, change: Callable[[str], str]) -> Iterator[None]:
        """Let a module have other code."""
        file = self.checkout / "src" / module
        before = file.read_text(encoding="utf-8")
        assert change(before) != before
        file.write_text(change(before), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(before, encoding="utf-8")
