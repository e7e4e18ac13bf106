"""The columns of the tables of the area."""

from biaslab.core.columns import columns_of

COLUMNS = columns_of("debiasing")
