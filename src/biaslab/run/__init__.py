"""Runtime of the workflow: areas as plug-ins, configuration, datasets, provenance, reports."""

from pathlib import Path

REGISTRY = Path("workflow/resources/datasets.tsv")
"""The table of registered datasets, relative to the repository."""
FAILED = "failed"
"""The configuration key of the results that are lost to failed steps (`biaslab.run.travel.failures`)."""
