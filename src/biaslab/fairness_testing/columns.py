"""The columns of the tables of a classifier."""

from biaslab.core.columns import columns_of

COLUMNS = columns_of("fairness_testing")
