"""Whether sets chosen by GloVe change other representations: results, steps, table and figure."""

from biaslab.origins.grid.analyses import OR, Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_COMPARED = _CHANGES, _RESPONSES = "transfer/changes.tsv", "transfer/responses.tsv"
_WORD2VEC = tuple(f"word2vec/{name}.tsv" for name in ("analogies", "word_sets", "correlation"))
_TRAININGS, _RANDOM_TESTS = "word2vec.trainings", "ppmi_comparison.random_tests"

ANALYSIS = Analysis(
    "transfer",
    results=(*_WORD2VEC, *_COMPARED),
    more_needs={
        "word2vec/analogies.tsv": (_TRAININGS, "analogies"),
        **dict.fromkeys(_WORD2VEC[1:], (_TRAININGS, _RANDOM_TESTS)),
        **dict.fromkeys(_COMPARED, ("perturbations.retrainings", f"{_TRAININGS}{OR}{_RANDOM_TESTS}")),
    },
    items=(
        Item("transfer", TABLE, "Section 5.4", "report:transfer_table", (_RESPONSES,)),
        Item("figure4_transfer", FIGURE, "Figure 4", "report:draw_transfer", (_CHANGES,), TEST),
    ),
    steps={
        "compare-word2vec": "analysis:write_word2vec",
        "measure-ppmi-sets": "analysis:write_ppmi_sets",
        "compare-transfer": "analysis:write_transfer",
    },
)
