"""Transfer of sets selected by GloVe to other representations: results, steps, table and figure."""

from biaslab.origins.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_COMPARED = _CHANGES, _RESPONSES = "transfer/changes.tsv", "transfer/responses.tsv"
_WORD2VEC = tuple(f"word2vec/{name}.tsv" for name in ("analogies", "word_sets", "correlation"))

ANALYSIS = Analysis(
    "transfer",
    results=(*_WORD2VEC, *_COMPARED),
    needs="word2vec.trainings",
    needing=_WORD2VEC,
    items=(
        Item("transfer", TABLE, "Section 5.4", "report:transfer_table", (_RESPONSES,)),
        Item("figure4_transfer", FIGURE, "Figure 4", "report:draw_transfer", (_CHANGES,), TEST),
    ),
    steps={"measure-word2vec": "analysis:measure_word2vec"},
)
