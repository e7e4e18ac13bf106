"""Names shared by writers and readers of the results on texts."""

from pathlib import Path

from biaslab.core.columns import columns_of
from biaslab.fairness_testing.names import CONTROL as CONTROL

SETTING = ["model", "feature"]
"""A benchmark of the paper: a classifier of texts and its varied sensitive feature."""

PROPOSED = "adf_asc"
"""The strategy with the finds from which ADF's local phase starts (Section 5.2, footnote 9)."""
CERTIFIED = "certified"
"""A training in retraining.tsv without added finds, like `CONTROL`."""
OWN, SAME = "own", "same"
"""The start of a local phase: the tester's own finds, as in Table VIII, or the finds of ADF."""

EXAMPLE = "example.json"
"""Sentences before and after the search: a list of objects with `EXAMPLE_KEYS`."""
EXAMPLE_KEYS = ("corpus", "model", "feature", "sentence", "global", "partner", "local", "labels")


COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))
