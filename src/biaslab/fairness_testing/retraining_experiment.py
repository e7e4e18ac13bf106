"""Retraining with what each tester found, and what it does to fairness and accuracy (Table XII)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from biaslab.core.rng import stream
from biaslab.fairness_testing.experiment import Case
from biaslab.fairness_testing.names import ADF, AEQUITAS, COLUMNS, SYMBOLIC
from biaslab.fairness_testing.retraining import DEFAULT, ENSEMBLE, LABEL_RULES, Ensemble, retraining_table

N_OTHER_RULES = 2
"""Retrainings by each rule for labels but the first, which show what the rule does."""


@dataclass(frozen=True)
class Effort:
    """How often is retrained, and with how much; see ``fairness_testing`` in the configuration."""

    retrainings: int
    share: float
    uniform_samples: int
    seed: int


def retrain_case(case: Case, y: np.ndarray, found: Mapping[str, np.ndarray], effort: Effort) -> pd.DataFrame:
    """Retrain with the finds of every tester; with those of ADF by every rule for their labels.

    Parameters
    ----------
    case : Case
    y : (N,) int64
        Labels of the data.
    found : mapping of str to (n, d) int32
        Discriminatory samples by ``ATTRIBUTE:TESTER``.
    effort : Effort

    Returns
    -------
    pandas.DataFrame
        Columns `names.COLUMNS`. A tester that found nothing has no row.
    """
    rng = stream(effort.seed, "retraining", "uniform", case.attribute)
    uniform = case.domain.draw(effort.uniform_samples, rng)
    settings = replace(DEFAULT, share=effort.share)
    tables = []
    runs = [(tester, LABEL_RULES[:1], effort.retrainings) for tester in (AEQUITAS, SYMBOLIC, ADF)]
    for tester, rules, repetitions in [*runs, (ADF, LABEL_RULES[1:], min(N_OTHER_RULES, effort.retrainings))]:
        samples = found[f"{case.attribute}:{tester}"]
        if not len(samples):
            continue
        table = retraining_table(
            case.model,
            case.X,
            y,
            samples,
            uniform,
            case.protected,
            label_rules=rules,
            repetitions=repetitions,
            seed=effort.seed,
            settings=settings,
            ensemble=Ensemble(case.X, y, effort.seed) if ENSEMBLE in rules else None,
        )
        tables.append(table.assign(tester=tester))
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    named = table.assign(classifier=case.classifier, protected=case.attribute)
    return named.reindex(columns=COLUMNS["retraining"])
