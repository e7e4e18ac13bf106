"""Geyik, Ambler and Kenthapadi 2019, Fairness-Aware Ranking in Search and Recommendation Systems."""

__all__ = ["algorithms", "measures", "targets"]
