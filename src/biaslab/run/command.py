"""From values to the options of a command."""

import shlex
from collections.abc import Mapping


def options(values: Mapping[str, object]) -> list[str]:
    """Return ``--key value`` for each value but None: hyphens for underscores, commas in lists."""
    texts = {
        key: ",".join(map(str, value)) if isinstance(value, list) else value
        for key, value in values.items()
        if value is not None
    }
    return [f"--{key.replace('_', '-')} {shlex.quote(str(text))}" for key, text in texts.items()]


def repeated(option: str, values: object) -> list[str]:
    """Return an option once for each value."""
    return [f"--{option} {shlex.quote(str(value))}" for value in values]
