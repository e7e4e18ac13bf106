"""Reserved names of association tests, and the names of a document's effects on bias.

The name of a test becomes part of the names of files and of sets of documents. There, the reserved names have
another meaning.
"""

import re

RANDOM, PPMI = "random", "ppmi"
"""Prefixes of the names of document sets that do not begin with the name of a test."""

PERTURBATION_SETS = "perturbation_sets"
"""Name, without suffix, of the file that lists the documents of each set."""

RAISES, LOWERS = EFFECTS = ("raises", "lowers")
"""Effects of a document in the corpus on bias: the words used in all tables, pages and figures."""

RESERVED = ("baseline", RANDOM, PPMI, PERTURBATION_SETS)

_NUMBERED = {"weat": "WEAT", "caliskan": "Caliskan"}


def in_words(test: str) -> str:
    """Return the label of an association test in figures: the papers' tests by number, others by name."""
    match = re.fullmatch(r"([a-z]+)(\d+)", test)
    if match and match[1] in _NUMBERED:
        return f"{_NUMBERED[match[1]]} {match[2]}"
    return test.replace("_", " ")
