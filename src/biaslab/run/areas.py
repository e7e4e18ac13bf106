"""The list of areas."""

AREAS = ("origins", "ranking", "debiasing", "fairness_testing", "hate_speech")
"""Every area, in the order in which they choose, run and report: one line adds one."""

SETUPS = ("origins", "setups")
"""Where the corpora stand, with their embeddings, that other areas take, too."""
