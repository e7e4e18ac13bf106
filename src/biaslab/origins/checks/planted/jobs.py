"""Jobs on corpora with planted documents: what they train."""

from collections.abc import Mapping

from biaslab.origins.grid import expansion


def doses(setup: Mapping) -> list[str]:
    """Return the shares of planted words, as the folders of the corpora with planted documents are called."""
    return [f"{dose:g}" for dose in setup["planted"]["doses"]] if setup["planted"]["documents"] else []


def batches(setup: Mapping) -> list[expansion.Batch]:
    """Return the batches of embeddings that a setup trains on each of these corpora."""
    return expansion.batches(setup["planted"]["baselines"], setup["trainings_per_job"])


def trainings(setup: Mapping) -> int:
    """Return how many embeddings a setup trains on all of them."""
    return len(doses(setup)) * setup["planted"]["baselines"]
