"""The list of areas."""

AREAS = ("origins", "ranking", "debiasing", "fairness_testing")
"""Every area, in the order in which they choose, run and report: one line adds one."""
