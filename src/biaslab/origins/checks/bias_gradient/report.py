"""Table of the bias gradient (Brunet et al. 2019, Appendix A)."""

from biaslab.core.tables import Table, text_columns
from biaslab.origins.checks.bias_gradient.analysis import COLUMNS
from biaslab.origins.report.results import Setup

_NOTE = (
    "X is the pair's co-occurrence count, dB/dX the gradient of the effect size, X·dB/dX its elasticity: to "
    "first order, what the effect size would lose if the pair never co-occurred. Mean ± standard deviation "
    "over the baseline embeddings; ordered by the mean elasticity. Two words of the test are one pair."
)


def gradient_table(setup: Setup, weat: str) -> Table:
    """List the co-occurrences that raise and lower the bias most."""
    data = setup.table(f"bias_gradient/ends/{weat}", *COLUMNS, text=("word", "context"))
    templates = {
        "The pair": "{effect} the bias",
        "Word": "{word}",
        "Context": "{context}",
        "X": "{x:.2f}",
        "dB/dX": "{gradient_mean:.5f} ± {gradient_sd:.5f}",
        "X·dB/dX": "{elasticity_mean:.4f} ± {elasticity_sd:.4f}",
    }
    title = f"Co-occurrences with the most influence on the bias ({setup.name}, {weat})"
    return Table(data, text_columns(data, templates), title, _NOTE)
