"""Jobs on corpora with planted documents: what they train, and what they are counted by."""

from collections.abc import Mapping

from biaslab.origins.grid import expansion

CORPUS, TEST, TRAINING = "planted corpus", "test of a planted corpus", "planted training"


def doses(setup: Mapping) -> list[str]:
    """Return the shares of planted words, as the folders of the corpora with planted documents are called."""
    return [f"{dose:g}" for dose in setup["planted"]["doses"]] if setup["planted"]["documents"] else []


def batches(setup: Mapping) -> list[expansion.Batch]:
    """Return the batches of embeddings that a setup trains on each of these corpora."""
    return expansion.batches(setup["planted"]["baselines"], setup["trainings_per_job"])


def trainings(setup: Mapping) -> int:
    """Return how many embeddings a setup trains on all of them."""
    return len(doses(setup)) * setup["planted"]["baselines"]


class Jobs:
    """See `biaslab.origins.grid.analyses.Jobs`."""

    def work(self, parts: tuple[str, ...], setup: Mapping) -> tuple[str, int] | None:
        """Return what a job is counted by: its corpus, its test or its trainings."""
        dose, *rest = parts
        if dose not in doses(setup):
            return None
        if not rest:
            return CORPUS, 1
        if not rest[0].startswith(expansion.BATCH):
            return TEST, 1
        return TRAINING, expansion.n_trainings(batches(setup), rest[0], setup)

    def counts(self, setup: Mapping) -> dict[str, tuple[int, int]]:
        """Return how many of each there are."""
        n_corpora = len(doses(setup))
        n_tests = n_corpora * len(setup["bias"]["weats"])
        jobs = n_corpora * len(batches(setup))
        return {CORPUS: (n_corpora, n_corpora), TEST: (n_tests, n_tests), TRAINING: (trainings(setup), jobs)}
