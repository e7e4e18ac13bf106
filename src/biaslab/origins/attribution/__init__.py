"""Contribution of each document to a bias: estimated by influence functions on GloVe, and exact by PPMI."""
