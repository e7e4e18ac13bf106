"""How often exchanging a word of a feature, or putting one in, changes the label of a text."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biaslab.core.stats import share_interval
from biaslab.fairness_testing.text.discrimination import answer_variants
from biaslab.fairness_testing.text.subject import TextSubject
from biaslab.text.words import Texts


@dataclass(frozen=True)
class Flips:
    """How often each of k values of a feature changes the label of texts, (k,) int64 each."""

    with_term: np.ndarray  # texts that hold the value
    flipped_without: np.ndarray  # those of them in which some other value in its place changes the label
    without_term: np.ndarray  # texts with another value
    # Those of them whose label changes when this value takes its place (that of one where there are several).
    flipped_with: np.ndarray


def count_flips(subject: TextSubject, texts: Texts) -> Flips:
    """Count whose label the exchange of each value changes."""
    k = len(subject.values)
    counts = np.zeros((4, k), np.int64)
    for answer in answer_variants(subject, texts):
        variants, flips = answer.variants, answer.flips
        for offset, words in enumerate((variants.replaced, variants.values)):
            of = variants.rows * k + subject.value_numbers[words]
            counts[2 * offset] += np.bincount(np.unique(of) % k, minlength=k)
            counts[2 * offset + 1] += np.bincount(np.unique(of[flips]) % k, minlength=k)
    return Flips(*counts)


def flip_table(names: Sequence[str], n_texts: np.ndarray, n_flips: np.ndarray, column: str) -> pd.DataFrame:
    """Return counts, (k,), as shares with Clopper and Pearson's 95% intervals; NaN for no text."""
    shares = [
        (n_flip / n if n else np.nan, *share_interval(n_flip, n))
        for n_flip, n in zip(n_flips.tolist(), n_texts.tolist(), strict=True)
    ]
    share, low, high = np.array(shares, np.float64).reshape(-1, 3).T
    columns = {column: list(names), "n_texts": n_texts, "n_flips": n_flips}
    return pd.DataFrame({**columns, "share": share, "ci_low": low, "ci_high": high})
