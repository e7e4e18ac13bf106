"""Describe the provenance of results: digests of files, software and machine."""

import hashlib
import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path

from biaslab.core import processor
from biaslab.core.errors import InputError
from biaslab.run import root
from biaslab.run.extras import PACKAGE, WORKFLOW, requirements

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)

NOT_INSTALLED = "not installed"  # the version entry of a missing package

_EXTRAS = ("neural", WORKFLOW)  # the extras that steps import


def sha256_file(path: str | os.PathLike) -> str:
    """Return the sha256 of a file, as 64 hexadecimal digits."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from error


def environment() -> dict[str, object]:
    """Return what may differ between runs of the same input: software, machine, threads, commit."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "gpus": gpu_models(),
        "processor": processor.state(),  # target of the results
        "packages": _package_versions(),
        "threads": {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
        "git": git_state(root.PACKAGE),
    }


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    match = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", text, flags=re.MULTILINE)
    return match[1].strip() if match else platform.processor() or platform.machine()


def gpu_models(driver: Path = Path("/proc/driver/nvidia")) -> list[str]:
    """Return the models of the local GPUs: networks trained on a GPU have other bytes."""
    files = sorted(driver.glob("gpus/*/information"))
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    return [model for text in texts for model in re.findall(r"^Model:\s*(.*\S)", text, flags=re.MULTILINE)]


def _package_versions() -> dict[str, str]:
    """Return the installed versions of this package and its requirements, including extras of steps."""
    try:
        names = requirements(["", *_EXTRAS])
    except importlib.metadata.PackageNotFoundError:
        return {}
    versions = {}
    for name in sorted({PACKAGE, *names}):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = NOT_INSTALLED
    return versions


def git_state(folder: Path) -> dict[str, object] | None:
    """Return the commit of the checkout that holds `folder`, and whether tracked files were changed."""
    try:
        _git(folder, "ls-files", "--error-unmatch", ".")  # fails for an environment inside another project
        commit = _git(folder, "rev-parse", "HEAD")
        changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit.strip(), "dirty": bool(changes.strip())}


def _git(folder: Path, *arguments: str) -> str:
    process = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    return process.stdout
