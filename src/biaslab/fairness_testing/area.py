"""What the area makes: its tables and figures, and in one line what its experiment does."""

from collections.abc import Mapping

from biaslab.run.area import Item

TABLES = (
    Item("tables/table3_classifiers", "fairness_classifiers", "Table 3: classifiers"),
    Item("tables/table4_aequitas", "fairness_aequitas", "Table 4: comparison with AEQUITAS"),
    Item("tables/table5_symbolic", "fairness_symbolic", "Table 5: comparison with SG"),
    Item("tables/table6_global", "fairness_global", "Table 6: global generation"),
    Item("tables/table7_local", "fairness_local", "Table 7: local generation"),
    Item("tables/table10_cost", "fairness_cost", "Table 10: cost in model queries"),
    Item("tables/table12_retraining", "fairness_retraining", "Table 12: retraining"),
    Item("tables/averages", "fairness_averages", "Averages over the settings"),
    Item("tables/ablation", "fairness_ablation", "What each published quirk is worth"),
    Item("tables/modes", "fairness_modes", "As published and as printed"),
)
"""Of all classifiers together, each with the files ``<stem>.tsv``, ``.md`` and ``.tex``."""

FIGURES = (
    Item("figures/figure7_local", "fairness_figure7", "Figure 7: growth with the seeds"),
    Item("figures/coverage", "fairness_coverage", "Discriminatory samples against model queries"),
    Item("figures/ablation", "fairness_ablation", "What each published quirk is worth"),
    Item("figures/retraining", "fairness_retraining", "Discrimination before and after retraining"),
)
"""Of all classifiers together, each with the files ``<stem>.svg``, ``.pdf``, ``.png`` and ``.tsv``."""


def summaries(config: Mapping) -> list[str]:
    """Say in one line what will be tested.

    Parameters
    ----------
    config : mapping
        The complete configuration.
    """
    testing = config["fairness_testing"]
    otherwise = f" (or else {', '.join(testing['otherwise'])})" if testing["otherwise"] else ""
    return [
        f"four testers search {', '.join(testing['run'])}{otherwise} for discriminatory samples:"
        f" {testing['seeds']:,} seeds, {testing['hops']:,} hops from each find,"
        f" {testing['repetitions']:,} repetitions"
    ]
