"""Which perturbation sets change the bias: Welch's tests against the baselines (Section 5.2)."""

from collections.abc import Sequence

import pandas as pd

from biaslab.core.tables import Table, text_columns
from biaslab.origins.report.results import Setup, pairs
from biaslab.origins.sets.names import NAMES_NOTE, RANDOM

SIGNIFICANT = 0.05
"""Level of Welch's test."""

_NOTE = (
    "Welch's two-sided test of the retrained embeddings against the baseline embeddings, p < 0.05, not "
    "corrected for the number of sets, as in the paper."
)


def significance_counts(setups: Sequence[Setup]) -> Table:
    """Count the perturbation sets that differ significantly from the baseline."""
    rows = []
    for setup, weat in pairs(setups):
        tests = _welch_tests(setup, weat)
        for name, part in (
            ("targeted", tests[tests["kind"] != RANDOM]),
            ("random", tests[tests["kind"] == RANDOM]),
        ):
            tested = part["welch_p"].notna().sum()
            rows.append(
                {
                    "setup": setup.name,
                    "weat": weat,
                    "sets": name,
                    "n_tested": tested,
                    "n_significant": (part["welch_p"] < SIGNIFICANT).sum(),
                    "n_expected_by_chance": SIGNIFICANT * tested,
                }
            )
    data = pd.DataFrame(rows)
    shown = {
        "Setup": "{setup}",
        "WEAT": "{weat}",
        "Sets": "{sets}",
        "Tested": "{n_tested}",
        "Significant": "{n_significant}",
        "Expected by chance": "{n_expected_by_chance:.1f}",
    }
    return Table(data, text_columns(data, shown), "Perturbation sets that change the bias", _NOTE)


def set_tests(setup: Setup) -> Table:
    """Welch's test of every perturbation set of a setup against its baseline."""
    data = pd.concat([_welch_tests(setup, weat) for weat in setup.weats], ignore_index=True)
    shown = {
        "WEAT": "{weat}",
        "Set": "{set}",
        "Documents": "{size}",
        "Baseline": "{baseline_mean:.3f} ± {baseline_sd:.3f}",
        "After removal": "{observed_mean:.3f} ± {observed_sd:.3f}",
        "Retrainings": "{n_retrains}",
        "t": "{welch_t:.2f}",
        "p": "{welch_p:.2g}",
        "p < 0.05": "{significant}",
    }
    return Table(
        data,
        text_columns(data, shown),
        f"Bias after the removal of each perturbation set ({setup.name})",
        f"Effect sizes, mean ± standard deviation over embeddings. {NAMES_NOTE} {_NOTE}",
    )


def _welch_tests(setup: Setup, weat: str) -> pd.DataFrame:
    """Return one row a perturbation set; the observed bias does not depend on the estimator."""
    columns = ["weat", "set", "kind", "size", "replicate", "baseline_mean", "baseline_sd"]
    columns += ["observed_mean", "observed_sd", "n_retrains", "welch_t", "welch_p"]
    tests = setup.of_weat("perturbations", weat, *columns)[columns].drop_duplicates("set")
    return tests.assign(significant=(tests["welch_p"] < SIGNIFICANT).map({True: "yes", False: "no"}))
