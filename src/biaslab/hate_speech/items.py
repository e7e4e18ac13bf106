"""The tables and figures of the area."""

from biaslab.run.area import UNIT, item_makers

ENCODERS = "encoders"
"""Marks a corpus on which encoders are trained."""
ENCODER_FILES = (
    "models/*",
    *(f"{name}.tsv" for name in ("attributions", "cost", "importance")),
)
"""Files that claims need and that corpora without encoders lack."""
_table, _figure = item_makers("hate_speech", "hate")
_encoder_table, _encoder_figure = item_makers("hate_speech", "hate", of=ENCODERS)

ITEMS = (
    _table("corpora", "Corpora, and what was cut", "tables:corpora", "corpus"),
    _table("table1_performance", "Table 1: performance", "tables:performance", "metrics"),
    _table("differences", "Differences from the baseline", "tables:differences", "differences"),
    _encoder_table(
        "table2_word_importance",
        "Table 2: word importance",
        "explanations:word_importance",
        "importance",
        per=UNIT,
    ),
    _table(
        "table3_4_identifiers",
        "Tables 3 and 4: group identifiers",
        "explanations:identifiers",
        "linear_weights",
    ),
    _table("table5_transfer", "Table 5: other corpora", "tables:transfer", "metrics"),
    _encoder_table("table6_cost", "Table 6: cost", "tables:cost", "cost"),
    _table("hatecheck", "HateCheck by functionality", "hatecheck:hatecheck", "functionalities"),
    _encoder_table("attributions", "Importance of identifiers", "explanations:attributions", "attributions"),
    _encoder_table(
        "ablation", "What each published quirk is worth", "explanations:ablation", "metrics", "attributions"
    ),
    _figure("figure2_removal", "Figure 2: removal of identifiers", "figures:draw_removal", "removal"),
    _encoder_figure(
        "figure3_hierarchies",
        "Figures 3 to 5: hierarchical explanations",
        "hierarchies:draw_hierarchies",
        "hierarchies.json",
    ),
    _figure(
        "performance",
        "Table 1 as a figure",
        "figures:draw_performance",
        "metrics",
        caption="performance_figure",
    ),
    _figure(
        "hatecheck",
        "HateCheck by functionality",
        "hatecheck:draw_hatecheck",
        "functionalities",
        caption="hatecheck_figure",
        per=UNIT,
    ),
)
