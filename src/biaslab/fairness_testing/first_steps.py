"""ADF's first steps from the first seeds, attribute by attribute (Zhang et al. 2021, Examples 4.3, 4.5)."""

import numpy as np
import pandas as pd

from biaslab.fairness_testing.cases import Case
from biaslab.fairness_testing.names import COLUMNS, PUBLISHED
from biaslab.fairness_testing.testers import adf
from biaslab.fairness_testing.testers.adf import Walks, attribute_weights, choose_steps
from biaslab.fairness_testing.testers.discrimination import are_discriminatory, check

N_SEEDS = 4
"""The number of seeds in the table: one of each cluster."""
_WORDS = np.array(["no", "yes"], object)


def show_first_steps(case: Case) -> pd.DataFrame:
    """Return the first step of the global phase from the first seeds, and the local phase's next steps.

    Uses the mode ``published`` with the bounds of the domain. Without information from gradients, the first
    attribute increases. Local steps are missing if the moved seed is not discriminatory.
    """
    subject, X = case.subject, case.seeds[:N_SEEDS]
    settings = adf.TESTER.settings(PUBLISHED)
    start = check(subject, X, with_outputs=True)
    partners, agreed, steps = choose_steps(subject, X, start, np.zeros((len(X), 2)), settings)
    moved = subject.domain.clip(X + steps)
    arrived = check(subject, moved)
    values = subject.protected.values[arrived.partners]
    walks = Walks(moved, arrived.labels, arrived.variant_labels, arrived.discriminatory, values)
    tables = []
    for number in range(len(X)):
        table = {
            "seed": number + 1,
            "attribute": subject.domain.names,
            "start": X[number],
            "partner": partners[number],
            "direction": agreed[number],
            "moved": moved[number],
            "start_found": _WORDS[int(start.discriminatory[number])],
            "moved_found": _WORDS[int(arrived.discriminatory[number])],
        }
        if arrived.discriminatory[number]:
            table["probability"] = _probabilities(case, walks.take(np.array([number])))
            for name, step in (("lower_found", -1), ("upper_found", 1)):
                neighbours = subject.domain.clip(
                    moved[number] + step * np.eye(len(moved[number]), dtype=np.int32)
                )
                table[name] = _WORDS[are_discriminatory(subject, neighbours).astype(int)]
        tables.append(pd.DataFrame(table))
    named = pd.concat(tables, ignore_index=True).assign(classifier=case.classifier, protected=case.attribute)
    return named.reindex(columns=COLUMNS["steps"])


def _probabilities(case: Case, walk: Walks) -> np.ndarray:
    """Return the probability that the local phase moves each attribute of a walk; 0 if protected."""
    (weights,), _ = attribute_weights(case.subject, walk, adf.TESTER.settings(PUBLISHED))
    probabilities = np.zeros(case.subject.domain.n_attributes)
    probabilities[case.subject.free] = weights / weights.sum()
    return probabilities
