"""What the rules of planted documents ask for, from their wildcards."""

from typing import Any

from biaslab.embeddings import BASELINE
from biaslab.origins.attribution.registry import TABLES
from biaslab.origins.checks.planted.items import batches, doses
from biaslab.origins.grid.expansion import BATCH
from biaslab.origins.inputs import FOLDER, Inputs, share


class PlantedInputs:
    """Functions of wildcards for these rules; ``dose`` is the share of planted words."""

    def __init__(self, origins: Inputs) -> None:
        self.origins = origins

    def planted(self, wildcards: Any) -> dict[str, Any]:
        """Return what is planted in one corpus."""
        count = self.origins.setups[wildcards.setup]["planted"]["documents"]
        return {"count": count, "dose": float(wildcards.dose)}

    def batch(self, wildcards: Any) -> dict[str, Any]:
        """Return the replicates of a batch of trainings on one corpus."""
        batch = batches(self.origins.setups[wildcards.setup])[int(wildcards.batch)]
        return {"set": BASELINE} | share(batch)

    def embeddings(self, wildcards: Any) -> list[str]:
        """Return the files of the embeddings of one corpus."""
        folder = f"{FOLDER}/{wildcards.setup}/planted/{wildcards.dose}/embeddings/{BASELINE}"
        own = batches(self.origins.setups[wildcards.setup])
        return [f"{folder}/{BATCH}{batch.index}.npz" for batch in own]

    def documents(self, wildcards: Any) -> list[str]:
        """Return the tables of documents of all corpora."""
        own = doses(self.origins.setups[wildcards.setup])
        return [f"{FOLDER}/{wildcards.setup}/planted/{dose}/documents.parquet" for dose in own]

    def tables(self, wildcards: Any) -> list[str]:
        """Return what was estimated on all corpora, which lies beside their tables of documents."""
        return [
            f"{FOLDER}/{wildcards.setup}/planted/{dose}/{kind}/{weat}.parquet"
            for dose in doses(self.origins.setups[wildcards.setup])
            for kind in TABLES
            for weat in self.origins.tests(wildcards)
        ]
