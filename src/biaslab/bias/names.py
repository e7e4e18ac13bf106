"""The names that an association test cannot bear, and what documents do to its bias.

A test's name becomes part of the names of files and of sets of documents, where these words have another
meaning.
"""

import re

RANDOM, PPMI = "random", "ppmi"
"""What the names of sets of documents begin with, where they do not begin with that of a test."""

PERTURBATION_SETS = "perturbation_sets"
"""The file that lists these documents."""

RAISES, LOWERS = EFFECTS = ("raises", "lowers")
"""What a document does to a bias by being in the corpus: the words of every table, page and figure."""

RESERVED = ("baseline", RANDOM, PPMI, PERTURBATION_SETS)

_NUMBERED = {"weat": "WEAT", "caliskan": "Caliskan"}


def in_words(test: str) -> str:
    """Return what a figure calls an association test: the papers' by their numbers, others by their names."""
    found = re.fullmatch(r"([a-z]+)(\d+)", test)
    if found and found[1] in _NUMBERED:
        return f"{_NUMBERED[found[1]]} {found[2]}"
    return test.replace("_", " ")
