"""The columns of the tables of a classifier."""

from pathlib import Path

from biaslab.core.columns import columns_of

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))
