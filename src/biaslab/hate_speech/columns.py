"""The columns of the tables of a corpus."""

from biaslab.core.columns import columns_of

COLUMNS = columns_of("hate_speech")
