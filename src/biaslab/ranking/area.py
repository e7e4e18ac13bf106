"""What the area makes: its tables and figures, and in one line what its experiment does."""

from collections.abc import Mapping

from biaslab.run.area import Item

TABLES = (
    Item("tables/simulation", "ranking_simulation", "Measures of the simulation"),
    Item("tables/feasibility", "ranking_feasibility", "Infeasible lists"),
    Item("tables/differences", "ranking_differences", "Differences between the algorithms"),
    Item("tables/enumeration", "ranking_enumeration", "Search for infeasible rankings"),
    Item("tables/counterexamples", "ranking_counterexamples", "Infeasible rankings"),
    Item("tables/worked_example", "ranking_worked_example", "Worked example of the skew"),
)
"""Each with the files ``<stem>.tsv``, ``.md`` and ``.tex``."""

FIGURES = (Item("figures/simulation", "ranking_simulation", "Measures against the number of values"),)
"""Each with the files ``<stem>.svg``, ``.pdf``, ``.png`` and ``.tsv``."""


def summaries(config: Mapping) -> list[str]:
    """Say in one line what the simulation will do.

    Parameters
    ----------
    config : mapping
        The complete configuration.
    """
    ranking = config["ranking"]
    sizes, n = ranking["attribute_values"], ranking["distributions"]
    return [
        f"simulation of {len(sizes) * n:,} lists: {n:,} desired distributions each for an attribute with"
        f" {', '.join(map(str, sizes))} values, five rankings of the top {ranking['top']}"
    ]
