"""What the area does: in one line what its experiment will do."""

from collections.abc import Mapping


def summaries(config: Mapping) -> list[str]:
    """Say in one line what will be tested.

    Parameters
    ----------
    config : mapping
        The complete configuration.
    """
    testing = config["fairness_testing"]
    otherwise = f" (or else {', '.join(testing['otherwise'])})" if testing["otherwise"] else ""
    return [
        f"four testers search {', '.join(testing['run'])}{otherwise} for discriminatory samples:"
        f" {testing['seeds']:,} seeds, {testing['hops']:,} hops from each find,"
        f" {testing['repetitions']:,} repetitions"
    ]
