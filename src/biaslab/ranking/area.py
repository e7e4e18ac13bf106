"""What the area does: in one line what its experiment will do."""

from collections.abc import Mapping


def summaries(config: Mapping) -> list[str]:
    """Say in one line what the simulation will do.

    Parameters
    ----------
    config : mapping
        The complete configuration.
    """
    ranking = config["ranking"]
    sizes, n = ranking["attribute_values"], ranking["distributions"]
    return [
        f"simulation of {len(sizes) * n:,} lists: {n:,} desired distributions each for an attribute with"
        f" {', '.join(map(str, sizes))} values, five rankings of the top {ranking['top']}"
    ]
