"""Rankings of a chosen unfairness (Yang and Stoyanovich 2017, Measuring Fairness in Ranked Outputs).

From the protected and the other candidates of a list, each in its own order, places are filled from the top:
with chance f the next protected candidate takes a place, else the next of the others; when one kind has run
out, the rest of the other follows. f = 0 puts all protected candidates last and f = 1 puts them first; where
f is their share among the candidates, places are drawn as FA*IR's test assumes, until one kind runs out.
"""

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.rng import stream

MAX_CANDIDATES = 2**31 - 1
"""The most candidates of all lists that are drawn at once."""


def generate(
    n_lists: int, size: int, n_protected: int, fairness: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw rankings with `n_protected` protected candidates of `size` each; `fairness` is the chance f.

    (n_lists, size) bool: who is protected, best place first.
    """
    if min(n_lists, size) < 1 or not 0 <= n_protected <= size:
        raise InputError(
            f"{n_lists} lists of {size} candidates, {n_protected} of them protected; ask for 1 or more lists"
            " and candidates, and for no more protected candidates than there are"
        )
    if n_lists * size > MAX_CANDIDATES:
        raise InputError(
            f"{n_lists} lists of {size} candidates are more than {MAX_CANDIDATES:,} candidates; ask for fewer"
        )
    if not 0 <= fairness <= 1:
        raise InputError(f"the chance of a protected candidate is {fairness:g}; give one from 0 to 1")
    wanted = rng.random((n_lists, size)) < fairness
    n_wanted = np.cumsum(wanted, axis=1)
    n_others = np.arange(1, size + 1) - n_wanted
    return np.where(n_wanted > n_protected, False, wanted | (n_others > size - n_protected))


def generated_table(n_lists: int, size: int, n_protected: int, fairness: float, seed: int) -> pd.DataFrame:
    """Draw rankings as `generate` does, uniform scores sorted in each list: list, place, value, score."""
    rng = stream(seed, "ranking generator")
    protected = generate(n_lists, size, n_protected, fairness, rng)
    scores = -np.sort(-rng.random((n_lists, size)), axis=1)
    return pd.DataFrame(
        {
            "list": np.repeat(np.arange(1, n_lists + 1), size),
            "place": np.tile(np.arange(1, size + 1), n_lists),
            "value": np.where(protected, "protected", "other").ravel(),
            "score": scores.ravel(),
        }
    )
