"""The names that an association test cannot bear, and what documents do to its bias.

A test's name becomes part of the names of files and of sets of documents, where these words have another
meaning.
"""

RANDOM, PPMI, SINGLE = "random", "ppmi", "single"
"""What the names of sets of documents begin with, where they do not begin with that of a test."""

PERTURBATION_SETS = "perturbation_sets"
"""The file that lists these documents."""

RAISES, LOWERS = EFFECTS = ("raises", "lowers")
"""What a document does to a bias by being in the corpus: the words of every table, page and figure."""

RESERVED = ("baseline", RANDOM, PPMI, SINGLE, PERTURBATION_SETS)
