"""Compare documents selected by PPMI and by an estimator (Brunet et al. 2019, Table 5)."""

import pandas as pd

from biaslab.core.stats import percent_change
from biaslab.core.tables import Table, text_columns
from biaslab.origins.report.results import Setup
from biaslab.origins.sets import DECREASE, INCREASE, PPMI
from biaslab.origins.sets.selection import members

_OBJECTIVES = {DECREASE: "correct", INCREASE: "aggravate"}
_NOTE = (
    "Change of the mean effect size in percent of the baseline mean when the documents are removed and GloVe"
    " is retrained, with its 95% interval (Welch, by the delta method), and the number of trainings."
    " PPMI: the documents with the largest exact differential bias in the PPMI representation. Our method:"
    " those that the configured estimator finds. Correct removes the documents that raise the effect size,"
    " aggravate those that lower it. Shared: documents in both sets."
)


def compare_identification(setup: Setup) -> Table:
    """Table 5: change of the bias by removing documents that PPMI selects, and documents that we select.

    The sets are those of the first test, with a row for each objective and size in the paper's order. Without
    sets by PPMI, the table has no rows.
    """
    weat = setup.weats[0]
    by_ppmi, ours = setup.parquet("ppmi/perturbation_sets"), setup.parquet("perturbation_sets")
    rows = [
        _row(setup, weat, (name, name.removeprefix(f"{PPMI}-")), key, (by_ppmi, ours))
        for key, name in by_ppmi.groupby(["kind", "size"])["set"].first().items()
    ]
    columns = [
        f"{method}_{column}"
        for method in ("ppmi", "method")
        for column in ("change", "change_ci_low", "change_ci_high", "retrainings")
    ]
    data = pd.DataFrame(rows, columns=["weat", "objective", "size", *columns, "n_shared"])
    order = data["size"].where(data["objective"] == "aggravate", -data["size"])
    data = data.assign(order=order).sort_values(["objective", "order"], ascending=[False, True])
    data = data.drop(columns="order").reset_index(drop=True)
    templates = {"WEAT": "{weat}", "Objective": "{objective}", "Documents": "{size}"}
    for method, heading in (("ppmi", "PPMI"), ("method", "our method")):
        interval = f"[{{{method}_change_ci_low:+.0f}}, {{{method}_change_ci_high:+.0f}}]"
        templates[f"Change, {heading} (%)"] = f"{{{method}_change:+.0f}} {interval}"
        templates[f"Retrainings, {heading}"] = f"{{{method}_retrainings}}"
    templates["Shared"] = "{n_shared}"
    title = f"Removing the documents found by PPMI and by our method ({setup.name})"
    note = _NOTE if rows else "The setup has no sets by PPMI."
    return Table(data, text_columns(data, templates), title, note)


def _row(setup, weat, names, key, sets):
    """Return the row of one kind and size, for the sets of PPMI and of the estimator."""
    baseline = setup.effect_sizes(weat)
    values = [weat, _OBJECTIVES[key[0]], key[1]]
    for file, name in zip(("ppmi/observed", "observed"), names, strict=True):
        observed = setup.of_weat(file, weat, "set", "effect_size")
        after = observed.loc[observed["set"] == name, "effect_size"]
        values += [*percent_change(after, baseline)[:3], len(after)]
    first, second = (set(members(s, [n])[n]) for s, n in zip(sets, names, strict=True))
    return [*values, len(first & second)]
