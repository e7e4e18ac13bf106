"""The sets of documents whose removal is measured: how their names are built, and how they are read.

===================================  =================================================================
``baseline``                         removes nothing
``<weat>-<kind>-<size>``             documents that an estimator ranks at an end; kind: `TARGETED_KINDS`
``random-<size>-<replicate>``        random documents
``ppmi-<weat>-<kind>-<size>``        as the second, but documents that the PPMI representation ranks
``subset-<size>-<replicate>``        what a random subset of the corpus lacks (``checks/lds``)
``flip-<weat>-<ranking>-<size>``     the first documents of a ranking (``checks/brittleness``)
===================================  =================================================================

No test is called as one of the words is (`biaslab.bias.names.RESERVED`).
"""

from collections.abc import Sequence

from biaslab.bias.names import LOWERS, PPMI, RAISES, RANDOM
from biaslab.embeddings import BASELINE as BASELINE

INCREASE, DECREASE = TARGETED_KINDS = ("increase", "decrease")
"""Sets whose removal raises the bias, and sets whose removal lowers it: the paper names them by that."""

EFFECT_OF = {DECREASE: RAISES, INCREASE: LOWERS}
"""What the documents of a targeted set do to the bias, as readers are told; what raises it comes first."""

DOCUMENTS = {DECREASE: "raise the bias", RANDOM: "random", INCREASE: "lower the bias"}
"""What the documents of a set are, in the order in which figures have them."""

NAMES_NOTE = (
    "Sets are named, as in the paper, by what their removal does: TEST-decrease-N holds the N documents that"
    " raise the bias most, TEST-increase-N those that lower it most."
)
"""What a table says that shows the names of sets."""

PATTERN = rf"({PPMI}-)?[a-z][a-z0-9_]*-({INCREASE}|{DECREASE})-\d+|{RANDOM}-\d+-\d+"
"""Regular expression of every name but `BASELINE`."""


def targeted_set(ranking: str, kind: str, size: int) -> str:
    """Return the name of a targeted set; `ranking` is the test, or that by PPMI (`by_ppmi`)."""
    return f"{ranking}-{kind}-{size}"


def targeted_sets(rankings: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Return the names of the targeted sets: an increase and a decrease set per ranking and size."""
    return [targeted_set(name, kind, size) for name in rankings for kind in TARGETED_KINDS for size in sizes]


def random_set(size: int, replicate: int) -> str:
    """Return the name of a random set."""
    return f"{RANDOM}-{size}-{replicate}"


def random_sets(sizes: Sequence[int], replicates: int) -> list[str]:
    """Return the names of the random sets: `replicates` per size."""
    return [random_set(size, replicate) for size in sizes for replicate in range(replicates)]


def flip_set(weat: str, ranking: str, size: int) -> str:
    """Return the name of the first documents of a ranking, which are to flip the sign of a test."""
    return f"flip-{weat}-{ranking}-{size}"


def by_ppmi(name: str) -> str:
    """Return what PPMI has instead of an estimator's: the name of a ranking, or of a targeted set."""
    return f"{PPMI}-{name}"


def is_by_ppmi(set_name: str) -> bool:
    """Tell whether PPMI found the documents of a set."""
    return set_name.startswith(f"{PPMI}-")


def is_random(set_name: str) -> bool:
    """Tell whether the documents of a set are random ones."""
    return set_name.startswith(f"{RANDOM}-")


def weat_and_kind(set_name: str) -> tuple[str, str] | None:
    """Return test and kind of a set that an estimator found for a test, None of any other set."""
    match set_name.split("-"):
        case weat, kind, _ if kind in TARGETED_KINDS:
            return weat, kind
    return None
