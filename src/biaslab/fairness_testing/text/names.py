"""What writers and readers of the results on texts call things."""

from pathlib import Path

from biaslab.core.columns import columns_of
from biaslab.fairness_testing.names import CONTROL as CONTROL

SETTING = ["model", "feature"]
"""What the paper calls a benchmark: a classifier of texts and the sensitive feature that varies."""

PROPOSED = "adf_asc"
"""The strategy whose finds ADF's local phase starts from (Section 5.2, footnote 9)."""
CERTIFIED = "certified"
"""A training of retraining.tsv that adds no finds of a strategy, as does `CONTROL`."""
OWN, SAME = "own", "same"
"""Where a local phase starts: from the tester's own finds, as in Table VIII, or from those of ADF."""

EXAMPLE = "example.json"
"""Sentences before and after the search: a list of objects with `EXAMPLE_KEYS`."""
EXAMPLE_KEYS = ("corpus", "model", "feature", "sentence", "global", "partner", "local", "labels")


COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))
