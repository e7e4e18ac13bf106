"""Retraining with what each tester found, and what it does to fairness and accuracy (Table XII)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.io import write_tsv
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.fairness_testing.cases import Case, load_cases, load_labels
from biaslab.fairness_testing.columns import COLUMNS
from biaslab.fairness_testing.found import load_found
from biaslab.fairness_testing.names import CONTROL
from biaslab.fairness_testing.retraining import (
    DEFAULT,
    ENSEMBLE,
    LABEL_RULES,
    Ensemble,
    Retrained,
    controls,
    retrain_by_rules,
    retraining_table,
)
from biaslab.fairness_testing.testers.registry import paper_testers

N_OTHER_RULES = 2
"""Retrainings by each rule for labels but the first, which show what the rule does."""


@dataclass(frozen=True)
class Effort:
    """How often is retrained, and with how much; see ``fairness_testing`` in the configuration."""

    retrainings: int
    share: float
    uniform_samples: int
    seed: int


def retrain_classifier(
    folder: Path, schema: Path, found: Path, effort: Effort, retraining: Path, threads: int = 1
) -> None:
    """Retrain with what each tester found, and write fairness and accuracy after it."""
    set_threads(threads)
    y, cases = load_labels(folder), list(load_cases(folder, schema))
    first = cases[0]
    nothing = controls(first.subject, first.X, y, repetitions=effort.retrainings, seed=effort.seed)
    tables = [retrain_case(case, y, load_found(found, case.attribute), effort, nothing) for case in cases]
    write_tsv(retraining, pd.concat(tables, ignore_index=True))


def retrain_case(
    case: Case, y: np.ndarray, found: Mapping[str, np.ndarray], effort: Effort, nothing: Sequence[Retrained]
) -> pd.DataFrame:
    """Retrain with the finds of every tester; of the paper's own by every rule for their labels.

    Before them stand the networks that were retrained with nothing added.
    """
    rng = stream(effort.seed, "retraining", "uniform", case.attribute)
    uniform = case.subject.domain.draw(effort.uniform_samples, rng)
    of_case = case.subject, case.X, y
    tables = [retraining_table(*of_case, uniform, nothing).assign(tester=CONTROL)]
    for tester, rules, repetitions in _runs(effort.retrainings):
        if not len(found[tester]):
            continue
        networks = retrain_by_rules(
            *of_case,
            found[tester],
            label_rules=rules,
            repetitions=repetitions,
            seed=effort.seed,
            settings=replace(DEFAULT, share=effort.share),
            ensemble=Ensemble(case.X, y, effort.seed) if ENSEMBLE in rules else None,
        )
        tables.append(retraining_table(*of_case, uniform, networks).assign(tester=tester))
    named = pd.concat(tables, ignore_index=True).assign(classifier=case.classifier, protected=case.attribute)
    return named.reindex(columns=COLUMNS["retraining"])


def _runs(retrainings: int) -> list[tuple[str, Sequence[str], int]]:
    """Return testers, the paper's own last, each with rules for labels and how often is retrained by each."""
    testers = sorted(paper_testers().values(), key=lambda tester: tester.is_proposed)
    first = [(tester.name, LABEL_RULES[:1], retrainings) for tester in testers if tester.is_retrained]
    n_others = min(N_OTHER_RULES, retrainings)
    others = [(tester.name, LABEL_RULES[1:], n_others) for tester in testers if tester.is_proposed]
    return first + others
