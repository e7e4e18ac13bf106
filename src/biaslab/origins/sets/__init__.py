"""Names of the sets of removed documents: format and parsing.

===================================  =================================================================
``baseline``                         no document is removed
``<weat>-<kind>-<size>``             documents at an end of an estimator's ranking; `TARGETED_KINDS`
``random-<size>-<replicate>``        random documents
``ppmi-<weat>-<kind>-<size>``        documents at an end of the ranking by the PPMI representation
``subset-<size>-<replicate>``        documents that a random subset of the corpus lacks (``checks/lds``)
``flip-<weat>-<ranking>-<size>``     the first documents of a ranking (``checks/brittleness``)
===================================  =================================================================

The first words are not allowed as names of tests (`biaslab.bias.word_sets.RESERVED`).
"""

from collections.abc import Sequence

from biaslab.embeddings import BASELINE as BASELINE

RANDOM, PPMI = "random", "ppmi"  # prefixes of the names of sets that do not begin with the name of a test

RAISES, LOWERS = EFFECTS = ("raises", "lowers")
"""Effects of a document in the corpus on bias: the words used in all tables, pages and figures."""

INCREASE, DECREASE = TARGETED_KINDS = ("increase", "decrease")
"""As in the paper: the removal of an increase set raises the bias, that of a decrease set lowers it."""

EFFECT_OF = {DECREASE: RAISES, INCREASE: LOWERS}
"""Effect of the documents of a targeted set on the bias, raising first."""

DOCUMENTS = {DECREASE: "raise the bias", RANDOM: "random", INCREASE: "lower the bias"}
"""Description of the documents of a set, in the order of figures."""

NAMES_NOTE = (
    "Sets are named, as in the paper, by what their removal does: TEST-decrease-N holds the N documents that"
    " raise the bias most, TEST-increase-N those that lower it most."
)
"""Note of tables that show the names of sets."""

PATTERN = rf"({PPMI}-)?[a-z][a-z0-9_]*-({INCREASE}|{DECREASE})-\d+|{RANDOM}-\d+-\d+"
"""Regular expression of the names of targeted and random sets."""


def targeted_set(ranking: str, kind: str, size: int) -> str:
    """Return the name of a targeted set; `ranking` is the name of the test, or `by_ppmi` of it."""
    return f"{ranking}-{kind}-{size}"


def targeted_sets(rankings: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Return the names of an increase and a decrease set per ranking and size."""
    return [targeted_set(name, kind, size) for name in rankings for kind in TARGETED_KINDS for size in sizes]


def random_set(size: int, replicate: int) -> str:
    """Return the name of a random set."""
    return f"{RANDOM}-{size}-{replicate}"


def flip_set(weat: str, ranking: str, size: int) -> str:
    """Return the name of the set of the first documents of a ranking, to flip the sign of a test."""
    return f"flip-{weat}-{ranking}-{size}"


def by_ppmi(name: str) -> str:
    """Return the PPMI counterpart of the name of an estimator's ranking or targeted set."""
    return f"{PPMI}-{name}"


def is_by_ppmi(set_name: str) -> bool:
    """Return whether PPMI selected the documents of a set."""
    return set_name.startswith(f"{PPMI}-")


def is_random(set_name: str) -> bool:
    """Return whether the documents of a set are random."""
    return set_name.startswith(f"{RANDOM}-")


def weat_and_kind(set_name: str) -> tuple[str, str] | None:
    """Return the test and kind of a set that an estimator selected, None for any other set."""
    match set_name.split("-"):
        case weat, kind, _ if kind in TARGETED_KINDS:
            return weat, kind
    return None
