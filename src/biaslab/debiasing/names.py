"""Names shared by writers and readers of the area's results."""

from pathlib import Path

from biaslab.core.columns import columns_of

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))
"""The columns of the tables of the area."""
PAIRS, UNITS = CHANCE = ("random_pairs", "random_units")
"""Hard debiasing along directions that are unrelated to the bias, as values of the column of methods."""
