"""Check the optional dependencies of areas."""

import importlib.metadata
import re
from collections.abc import Collection

from packaging.specifiers import SpecifierSet

from biaslab.core.errors import InputError

PACKAGE = "biaslab"
WORKFLOW = "workflow"  # runs the workflow


def need(extra: str) -> None:
    """Raise an error if an extra of the package is missing or has an incompatible version."""
    if reason := missing_extra(extra):
        raise InputError(reason)
    for name, wanted in _required([extra]).items():
        version = importlib.metadata.version(name)
        if not SpecifierSet(wanted).contains(version, prereleases=True):
            problem = f"{name} {version} is installed, and {PACKAGE} needs {name}{wanted}"
            raise InputError(f"{problem}; pip install '{PACKAGE}[{extra}]'")


def missing_extra(extra: str, taken: Collection[str] = ()) -> str:
    """Return why an extra of the package is not usable, in one clause; "" if no package is missing.

    Extras in `taken` count as usable, because results of a run that had them are available.
    """
    if not extra or extra in taken:
        return ""
    try:
        for name in requirements([extra]):
            importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError as error:  # or of this package: only its source is present
        return f"{error.name} is not installed; pip install '{PACKAGE}[{extra}]'"
    return ""


def requirements(extras: Collection[str]) -> list[str]:
    """Return the packages that extras require; the extra "" stands for the core requirements."""
    return list(_required(extras))


def _required(extras: Collection[str]) -> dict[str, str]:
    lines = importlib.metadata.requires(PACKAGE) or []
    wanted = {}
    for line in lines:
        extra = re.search(r"extra == ['\"]([\w-]+)", line)
        if (extra[1] if extra else "") in extras:
            name, versions = re.match(r"([\w.-]+)(?:\[[^]]*\])?([^;]*)", line).groups()
            wanted[name] = versions.strip()
    return wanted
