"""Arguments of Snakemake."""

import re
from collections.abc import Sequence

DRY_RUN = re.compile(r"-[A-Za-z]*n[A-Za-z]*|--dry-?run")
_LOOKS_ONLY = re.compile(
    DRY_RUN.pattern + r"|--(lint|report|unlock|touch|dag|d3dag|rulegraph|filegraph|help|version"
    r"|summary|detailed-summary|archive|list\S*|delete-\S*|cleanup-\S*|containerize|generate-unit-tests)(=.*)?|-h"
)


def only_looks(arguments: Sequence[str]) -> bool:
    """Tell whether arguments of Snakemake run no step: nothing is downloaded for them."""
    return any(map(_LOOKS_ONLY.fullmatch, arguments))
