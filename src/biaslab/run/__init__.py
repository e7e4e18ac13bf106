"""The workflow's runtime: areas as plug-ins, configuration, datasets, provenance, reports."""

from pathlib import Path

REGISTRY = Path("workflow/resources/datasets.tsv")
"""The table of registered datasets, relative to the repository."""
FAILED = "failed"
"""The key of the configuration that names the results which failed steps cost (`biaslab.run.failures`)."""
