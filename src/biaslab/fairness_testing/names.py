"""What writers and readers of the area's results call things."""

from pathlib import Path

from biaslab.core.columns import columns_of

PUBLISHED, PAPER = "published", "paper"
"""A tester as the authors' code does it, and as the paper prints it."""

TRAIN = "train"
"""In place of a file with a network: train one on the data."""

FULL, SHARED = "full", "shared"
"""How far local phases go that are compared: as far as is configured, or from a costly tester's seeds with
the share of its samples that each of these has."""

TABULAR, TEXT, NEURAL = "tabular", "text", "neural"
"""Marks of units: a classifier of tables; a corpus of texts; one for which torch is there."""
TEXT_PREFIX = "text-"
"""What the names of units begin with that are corpora."""

CONTROL, NO_RULE = "none", ""
"""The control of retraining, which trains on as long with nothing added: whose finds, by which label rule."""

SETTING = ["classifier", "protected"]
"""What the paper calls a benchmark: a classifier and the protected attribute that varies."""


COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))
