"""Optional dependencies: what an area needs beyond the package's own."""

import importlib.metadata
import re
import sys

PACKAGE = "biaslab"
_CHOOSE = "choose its build, for CPU or GPU, as docs/installation.md says"


def missing_extra(extra: str) -> str:
    """Return why an extra of the package is not usable, in one clause; "" where nothing is missing.

    Parameters
    ----------
    extra : str
        The name of the extra; "" needs nothing.
    """
    for name, is_required in _requirements(extra).items():
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            remedy = f"pip install '{PACKAGE}[{extra}]'" if is_required else _CHOOSE
            return f"{name} is not installed; {remedy}"
    return ""


def _requirements(extra: str) -> dict[str, bool]:
    """Return the packages of an extra, each with whether pip installs it here by itself."""
    found = {}
    for requirement in importlib.metadata.requires(PACKAGE) or []:
        text = requirement.replace("'", '"')
        if extra and f'extra == "{extra}"' in text:
            is_left_to_user = "sys_platform" in text and sys.platform == "linux"
            found[re.match(r"[\w.-]+", text)[0]] = not is_left_to_user
    return found
