"""How often exchanging a word of a feature changes the label of a text."""

import numpy as np

from biaslab.fairness_testing.text.discrimination import answer_variants
from biaslab.fairness_testing.text.subject import TextSubject
from biaslab.text.words import Texts


def count_flips(subject: TextSubject, texts: Texts) -> tuple[np.ndarray, np.ndarray]:
    """Return how many texts hold each of k values, and in how many another value changes the label, (k,)."""
    k = len(subject.values)
    n_texts, n_flips = np.zeros((2, k), np.int64)
    for answer in answer_variants(subject, texts):
        of = answer.variants.rows * k + subject.value_numbers[answer.variants.replaced]
        n_texts += np.bincount(np.unique(of) % k, minlength=k)
        n_flips += np.bincount(np.unique(of[answer.flips]) % k, minlength=k)
    return n_texts, n_flips
