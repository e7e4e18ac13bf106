"""Slow, literal oracles: each follows the text of the paper, word by word."""
