"""Names shared by writers and readers of the area's results."""

from pathlib import Path

from biaslab.core.columns import columns_of

PUBLISHED, PAPER = "published", "paper"
"""A tester as in the authors' code, and as printed in the paper."""

TRAIN = "train"
"""Value in place of a network file: train a network on the data."""

FULL, SHARED = "full", "shared"
"""Budgets of compared local phases: the configured hops, or the samples that a costly tester has per seed
from its seeds."""

TABULAR, TEXT, NEURAL = "tabular", "text", "neural"
"""Marks of units: a classifier of tables; a corpus of texts; a corpus with torch available."""
TEXT_PREFIX = "text-"
"""Prefix of the names of corpus units."""

CONTROL, NO_RULE = "none", ""
"""Source and label rule of the control of retraining, which trains equally long without added samples."""

SETTING = ["classifier", "protected"]
"""A benchmark of the paper: a classifier and its varied protected attribute."""


COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))
