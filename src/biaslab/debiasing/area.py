"""What the area does: in one line what its experiment will do."""

from collections.abc import Mapping


def summaries(config: Mapping) -> list[str]:
    """Say in one line what will be debiased.

    Parameters
    ----------
    config : mapping
        The complete configuration.
    """
    names = ", ".join(config["debiasing"]["embeddings"])
    return [f"bias and benchmarks of {names} before and after hard and soft debiasing"]
