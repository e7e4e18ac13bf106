"""Documents at both ends of the differential bias (Brunet et al. 2019, Equation 5 and Appendix E)."""

import pandas as pd

from biaslab.bias.names import LOWERS, RAISES
from biaslab.core.tables import Table, text_columns
from biaslab.origins.report.results import Setup, percent_scale

N_INFLUENTIAL = 25
"""Documents listed at each end of the differential bias."""

_WORD_COUNTS = [f"{what}_{name}" for what in ("n", "rarest") for name in "STAB"]

_NOTE = (
    "ΔB = B(w) − B(w without the document) in units of the effect size, approximated by influence "
    "functions; mean ± standard deviation over the baseline embeddings. Raises (ΔB > 0): the document raises "
    "the effect size, its removal lowers it; bias increasing, in the paper's words. Lowers (ΔB < 0): the "
    "document lowers the effect size, its removal raises it; bias decreasing."
)


def influential_documents(setup: Setup, weat: str) -> Table:
    """Appendix E: the documents at both ends of the differential bias (Equation 5), by `influence_mean`."""
    columns = ["document", "id", "title", "influence_mean", "influence_sd"]
    bias = setup.differential_bias(weat)[[*columns, *_WORD_COUNTS]]
    bias = bias.merge(setup.documents()[["document", "excerpt"]], on="document", how="left")
    factor, unit = percent_scale(setup.baseline_mean(weat))
    bias["percent_of_baseline"] = bias["influence_mean"] * factor if unit.startswith("%") else float("nan")
    by_value = bias.sort_values(["influence_mean", "document"])
    raising = by_value[by_value["influence_mean"] > 0].tail(N_INFLUENTIAL)[::-1]
    lowering = by_value[by_value["influence_mean"] < 0].head(N_INFLUENTIAL)
    data = pd.concat(
        [
            part.assign(effect=name, rank=range(1, len(part) + 1))
            for name, part in ((RAISES, raising), (LOWERS, lowering))
        ],
        ignore_index=True,
    )
    data = data[["effect", "rank", *columns, "percent_of_baseline", *_WORD_COUNTS, "excerpt"]]
    shown = {
        "Effect on the bias": "{effect}",
        "ΔB": "{influence_mean:.4f} ± {influence_sd:.4f}",
        "% of baseline": "{percent_of_baseline:.2f}",
        "Title": "{title}",
        "ID": "{id}",
        "Excerpt": "{excerpt}",
    }
    return Table(
        data,
        text_columns(data, shown),
        f"Documents with the most influence on the bias ({setup.name}, {weat})",
        _NOTE,
    )
