"""Jobs on control embeddings: the kinds there are, and what these jobs are counted by."""

from collections.abc import Mapping

KINDS = UNTRAINED, SHUFFLED = ("untrained", "shuffled")
EMBEDDINGS, TEST = "kind of randomised embeddings", "test of randomised embeddings"


class Jobs:
    """See `biaslab.origins.grid.analyses.Jobs`."""

    def work(self, parts: tuple[str, ...], setup: Mapping) -> tuple[str, int] | None:
        """Return what a job is counted by: its kind of embeddings or its test."""
        return (TEST if len(parts) > 1 else EMBEDDINGS, 1) if parts[0] in KINDS else None

    def counts(self, setup: Mapping) -> dict[str, tuple[int, int]]:
        """Return how many of either there are."""
        n_kinds = len(KINDS) if setup["randomised"]["embeddings"] else 0
        n_tests = n_kinds * len(setup["bias"]["weats"])
        return {EMBEDDINGS: (n_kinds, n_kinds), TEST: (n_tests, n_tests)}
