"""What ``biaslab init`` writes of an area for a person's own data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Start:
    """The section of an area, filled in."""

    section: str  # YAML, with comments
    files: Mapping[str, str] = field(default_factory=dict)  # further files to write, with their text
    said: Sequence[str] = ()  # lines for the person
