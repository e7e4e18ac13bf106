"""The tables and figures of the area."""

from biaslab.run.area import ALL, FIGURE, TABLE, UNIT, Item

_REPORT = "biaslab.hate_speech.report"


def _table(stem: str, label: str, make: str, *files: str, caption: str = "", per: str = ALL) -> Item:
    return Item(stem, TABLE, label, f"{_REPORT}.{make}", files, per, f"hate_{caption or stem}")


def _figure(stem: str, label: str, make: str, *files: str, caption: str = "", per: str = ALL) -> Item:
    return Item(stem, FIGURE, label, f"{_REPORT}.{make}", files, per, f"hate_{caption or stem}")


ITEMS = (
    _table("corpora", "Corpora, and what was cut", "tables:corpora", "corpus.tsv"),
    _table(
        "table1_performance",
        "Table 1: performance",
        "tables:performance",
        "metrics.tsv",
        caption="performance",
    ),
    _table("differences", "Differences from the baseline", "tables:differences", "differences.tsv"),
    _table(
        "table2_word_importance",
        "Table 2: word importance",
        "words:word_importance",
        "importance.tsv",
        caption="word_importance",
        per=UNIT,
    ),
    _table(
        "table3_4_identifiers",
        "Tables 3 and 4: group identifiers",
        "words:identifiers",
        "linear_weights.tsv",
        caption="identifiers",
    ),
    _table("table5_transfer", "Table 5: other corpora", "tables:transfer", "metrics.tsv", caption="transfer"),
    _table("table6_cost", "Table 6: cost", "tables:cost", "cost.tsv", caption="cost"),
    _table("splits", "Labels, splits and features", "tables:splits", "linear.tsv"),
    _table("identity", "Single identifiers", "probes:identity", "identity.tsv"),
    _table("hatecheck", "HateCheck by functionality", "probes:hatecheck", "functionalities.tsv"),
    _table("attributions", "Importance of identifiers", "explanations:attributions", "attributions.tsv"),
    _table("faithfulness", "Faithfulness of explanations", "explanations:faithfulness", "faithfulness.tsv"),
    _table("held_out", "Identifiers that were not regularized", "held_out:held_out", "held_out.tsv"),
    _table(
        "ablation",
        "What each published quirk is worth",
        "explanations:ablation",
        "metrics.tsv",
        "attributions.tsv",
    ),
    _figure(
        "figure2_removal",
        "Figure 2: removal of identifiers",
        "figures:draw_removal",
        "removal.tsv",
        caption="removal",
    ),
    _figure(
        "figure3_hierarchies",
        "Figures 3 to 5: hierarchical explanations",
        "hierarchies:draw_hierarchies",
        "hierarchies.json",
        caption="hierarchies",
    ),
    _figure(
        "performance",
        "Table 1 as a figure",
        "figures:draw_performance",
        "metrics.tsv",
        caption="performance_figure",
    ),
    _figure(
        "false_positives",
        "False positives by identifier",
        "dots:draw_false_positives",
        "identity.tsv",
        per=UNIT,
    ),
    _figure(
        "hatecheck",
        "HateCheck by functionality",
        "dots:draw_hatecheck",
        "functionalities.tsv",
        caption="hatecheck_figure",
        per=UNIT,
    ),
)
