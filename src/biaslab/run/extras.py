"""Optional dependencies: what an area needs beyond the package's own."""

import importlib.metadata
import re

PACKAGE = "biaslab"


def missing_extra(extra: str) -> str:
    """Return why an extra of the package is not usable, in one clause; "" where nothing is missing."""
    if not extra:
        return ""
    remedy = f"pip install '{PACKAGE}[{extra}]'"
    try:
        needed = _requirements(extra)
    except importlib.metadata.PackageNotFoundError:  # its source alone is here, to plan a run
        return f"{PACKAGE} is not installed; {remedy}"
    for name in needed:
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return f"{name} is not installed; {remedy}"
    return ""


def _requirements(extra: str) -> list[str]:
    """Return the packages of an extra."""
    required = [text.replace("'", '"') for text in importlib.metadata.requires(PACKAGE) or []]
    return [re.match(r"[\w.-]+", text)[0] for text in required if f'extra == "{extra}"' in text]
