"""The list of areas."""

AREAS = ("origins", "ranking", "debiasing", "fairness_testing", "hate_speech")
"""All areas, in the order in which they choose units, run and report."""

SETUPS = ("origins", "setups")  # the area and key of the corpora with embeddings, which other areas also use
