"""Tables of the predictions against retraining (Brunet et al. 2019, Table 4 and Section 5.2)."""

from collections.abc import Sequence

import pandas as pd

from biaslab.core.stats import welch
from biaslab.core.tables import Table, text_columns
from biaslab.origins.attribution.registry import ESTIMATED
from biaslab.origins.checks.retraining.analysis import COLUMNS
from biaslab.origins.report.results import FIT_SHOWN, Setup, pairs, rows_of_tests
from biaslab.origins.sets.names import BASELINE, NAMES_NOTE, RANDOM

SIGNIFICANT = 0.05
"""Level of Welch's test."""

_CORRELATION_NOTE = (
    "Least squares of the observed on the predicted mean effect size, a point a targeted set; intervals "
    "by bootstrap. A slope of 1 says that predictions have the right size. Estimators: "
    + ", ".join(f"{a.name} {a.about}" for a in ESTIMATED)
    + "."
)
_TESTS_NOTE = (
    "Welch's two-sided test of the retrained embeddings against the baseline embeddings, p < 0.05, not "
    "corrected for the number of sets, as in the paper."
)
_ANALOGIES_NOTE = (
    "TOP-1 analogies in percent of the questions whose words are all in the vocabulary, mean ± standard "
    "deviation over embeddings. Welch's two-sided test against the baseline, not corrected for the "
    "number of sets: of {n_tested} sets {n_significant} differ (p < 0.05), {n_expected:.1f} would by "
    "chance."
)
_WORD2VEC_NOTE = (
    "TOP-1 analogies in percent of the questions whose words are all in the vocabulary, mean ± standard"
    " deviation over word2vec embeddings of the whole corpus and without the largest sets. Welch's two-sided"
    " test against the baseline."
)


def correlation(setups: Sequence[Setup]) -> Table:
    """Table 4: how well predicted mean biases explain the observed ones over the targeted sets."""
    data = rows_of_tests(setups, "correlation", *COLUMNS["correlation"][1:])
    shown = {"Setup": "{setup}", "WEAT": "{weat}", "Estimator": "{estimator}", "Sets": "{n_sets}"} | FIT_SHOWN
    title = "Correlation of approximated and validated mean biases"
    return Table(data, text_columns(data, shown), title, _CORRELATION_NOTE)


def significance_counts(setups: Sequence[Setup]) -> Table:
    """Count the perturbation sets that differ significantly from the baseline."""
    rows = []
    for setup, weat in pairs(setups):
        # The observed bias does not depend on the estimator.
        tests = setup.of_weat("perturbations", weat, "set", "kind", "welch_p").drop_duplicates("set")
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
    return Table(data, text_columns(data, shown), "Perturbation sets that change the bias", _TESTS_NOTE)


def glove_analogies(setup: Setup) -> Table:
    """TOP-1 analogies of the baseline and without each perturbation set (Section 5.2)."""
    data = compare_analogies(setup.table("analogies", "set", "accuracy"))
    tested = data["welch_p"].notna().sum()
    significant = (data["welch_p"] < SIGNIFICANT).sum()
    counts = {"n_tested": tested, "n_significant": significant, "n_expected": SIGNIFICANT * tested}
    title = f"Analogies after the removal of each perturbation set ({setup.name})"
    return Table(data, _shown(data), title, f"{_ANALOGIES_NOTE.format(**counts)} {NAMES_NOTE}")


def word2vec_analogies(setup: Setup) -> Table:
    """TOP-1 analogies of word2vec with and without the largest sets (Section 5.4)."""
    data = compare_analogies(setup.table("word2vec/analogies", "set", "accuracy"))
    return Table(
        data,
        _shown(data),
        f"Analogies in word2vec after removals ({setup.name})",
        f"{_WORD2VEC_NOTE} {NAMES_NOTE}",
    )


def compare_analogies(analogies: pd.DataFrame) -> pd.DataFrame:
    """Compare the analogies that retrained embeddings solve with those of the baselines, set by set.

    From columns set and accuracy (TOP-1, a share), the set ``baseline`` among them, which comes first.
    Welch's test is missing for the baseline, and where samples are too small or constant.
    """
    samples = {name: part["accuracy"].to_numpy() for name, part in analogies.groupby("set", sort=False)}
    baseline = samples.pop(BASELINE)
    rows = [_row(BASELINE, baseline, baseline)]
    rows += [_row(name, sample, baseline) for name, sample in samples.items()]
    return pd.DataFrame(rows)


def _shown(data: pd.DataFrame) -> pd.DataFrame:
    percent = data[["accuracy_mean", "accuracy_sd", "accuracy_change"]].astype(float) * 100
    shown = {
        "Set": "{set}",
        "Embeddings": "{n_embeddings}",
        "TOP-1 (%)": "{accuracy_mean:.2f} ± {accuracy_sd:.2f}",
        "Change": "{accuracy_change:+.2f}",
        "t": "{welch_t:.2f}",
        "p": "{welch_p:.2g}",
    }
    return text_columns(data.assign(**percent), shown)


def _row(name, sample, baseline) -> dict[str, object]:
    is_baseline = name == BASELINE
    t, p = (None, None) if is_baseline else welch(sample, baseline)
    return {
        "set": name,
        "n_embeddings": len(sample),
        "accuracy_mean": sample.mean(),
        "accuracy_sd": pd.Series(sample).std(ddof=1),
        "accuracy_change": None if is_baseline else sample.mean() - baseline.mean(),
        "welch_t": t,
        "welch_p": p,
    }
