"""Whether embeddings without some documents solve as many analogies (Brunet et al. 2019, Section 5.2)."""

import pandas as pd

from biaslab.core.stats import welch
from biaslab.origins.grid import BASELINE


def compare_analogies(analogies: pd.DataFrame) -> pd.DataFrame:
    """Compare the analogies that retrained embeddings solve with those of the baselines, set by set.

    Parameters
    ----------
    analogies : pandas.DataFrame
        Columns set and accuracy (TOP-1, a share), a row an embedding; the set ``baseline`` among them.

    Returns
    -------
    pandas.DataFrame
        Columns set, n_embeddings, accuracy_mean, accuracy_sd (ddof 1), accuracy_change (difference of the
        means, set minus baseline), welch_t, welch_p (two-sided; missing for the baseline, and where samples
        are too small or constant). The baseline first, the sets in the order of the table.
    """
    samples = {name: part["accuracy"].to_numpy() for name, part in analogies.groupby("set", sort=False)}
    baseline = samples.pop(BASELINE)
    rows = [_row(BASELINE, baseline, baseline)]
    rows += [_row(name, sample, baseline) for name, sample in samples.items()]
    return pd.DataFrame(rows)


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
