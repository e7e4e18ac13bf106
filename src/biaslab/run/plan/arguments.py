"""Arguments of Snakemake."""

import re
from collections.abc import Sequence

_LOOKS_ONLY = re.compile(
    r"-[A-Za-z]*n[A-Za-z]*|-h|--(dry-?run|lint|report|unlock|touch|dag|d3dag|rulegraph|filegraph|help|version"
    r"|summary|detailed-summary|archive|list\S*|delete-\S*|cleanup-\S*|containerize|generate-unit-tests)(=.*)?"
)


def only_looks(arguments: Sequence[str]) -> bool:
    """Return whether arguments of Snakemake run no step and need no downloads."""
    return any(map(_LOOKS_ONLY.fullmatch, arguments))
