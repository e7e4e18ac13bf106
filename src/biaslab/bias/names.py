"""The names that an association test cannot bear.

A test's name becomes part of the names of files and of sets of documents, where these words have another
meaning.
"""

RANDOM, PPMI, SINGLE = "random", "ppmi", "single"
"""What the names of sets of documents begin with, where they do not begin with that of a test."""

PERTURBATION_SETS = "perturbation_sets"
"""The file that lists these documents."""

RESERVED = ("baseline", RANDOM, PPMI, SINGLE, PERTURBATION_SETS)
