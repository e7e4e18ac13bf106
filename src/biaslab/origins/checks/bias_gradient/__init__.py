"""Which co-occurrences matter (Brunet et al. 2019, Appendix A)."""
