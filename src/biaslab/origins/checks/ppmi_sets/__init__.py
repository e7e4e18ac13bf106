"""The sets of documents that the PPMI baseline finds (Brunet et al. 2019, Table 5)."""
