"""Predictions by baselines that had no part in the choice of the documents."""
