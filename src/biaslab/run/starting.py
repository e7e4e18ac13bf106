"""What ``biaslab init`` writes of an area for a person's own data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Start:
    """The section of an area, filled in."""

    section: str  # YAML, with comments
    files: Mapping[str, str] = field(default_factory=dict)  # further files to write, with their text
    said: Sequence[str] = ()  # lines for the person


def quoted(value: Path | str) -> str:
    """Return a path or a name as YAML has it in one line, in quotes where it needs them."""
    return yaml.safe_dump(str(value), default_flow_style=True, width=2**31, allow_unicode=True).splitlines()[
        0
    ]
