"""Optional dependencies: what an area needs beyond the package's own."""

import importlib.metadata
import re
from collections.abc import Collection

from biaslab.core.errors import InputError

PACKAGE = "biaslab"
WORKFLOW = "workflow"  # what runs a grid


def need(extra: str) -> None:
    """Refuse to go on where an extra of the package is missing."""
    if reason := missing_extra(extra):
        raise InputError(reason)


def missing_extra(extra: str, taken: Collection[str] = ()) -> str:
    """Return why an extra of the package is not usable, in one clause; "" where nothing is missing.

    Those in `taken` count as usable: there are results of a run that had them.
    """
    if not extra or extra in taken:
        return ""
    remedy = f"pip install '{PACKAGE}[{extra}]'"
    try:
        needed = requirements([extra])
    except importlib.metadata.PackageNotFoundError:  # its source alone is here, to plan a run
        return f"{PACKAGE} is not installed; {remedy}"
    for name in needed:
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return f"{name} is not installed; {remedy}"
    return ""


def requirements(extras: Collection[str]) -> list[str]:
    """Return the packages that some extras need; of "", those that the package always needs."""
    required = importlib.metadata.requires(PACKAGE) or []
    found = {line: re.search(r"extra == ['\"]([\w-]+)", line) for line in required}
    return [re.match(r"[\w.-]+", line)[0] for line, of in found.items() if (of[1] if of else "") in extras]
