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
TEXT_SETTING = ["model", "feature"]
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

COLUMNS, TEXT_COLUMNS = (columns_of(Path(__file__).parent / f) for f in ("columns.tsv", "text/columns.tsv"))
"""The columns of the tables on classifiers of tables, and of those on classifiers of texts."""
