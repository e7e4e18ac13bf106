"""The list of attributions: one row adds one."""

from biaslab.bias.names import PPMI, RANDOM
from biaslab.core.errors import InputError
from biaslab.origins.attribution.contract import Attribution

_ONE_PASS = {"documents": "estimators:of_documents", "sets": "estimators:of_sets"}

ATTRIBUTIONS = (
    Attribution("influence", "is the paper's (Equation 8)", "VERMILLION", **_ONE_PASS),
    Attribution("newton", "takes the Hessian of the perturbed corpus", "BLUE", **_ONE_PASS),
    Attribution("gradient", "is first order in the co-occurrences", "GREEN", **_ONE_PASS),
    Attribution(
        PPMI,
        "is exact in the PPMI representation",
        "PURPLE",
        documents="ppmi:of_documents",
        sets="ppmi:of_sets",
        table="ppmi",
        per_baseline=False,
        in_words="PPMI",
    ),
)
"""Those of the workflow, in the order of tables; the paper's first."""

OTHERS = (
    Attribution(
        "unrolled",
        "goes back through the training",
        "BLACK",
        line="--",
        documents="unrolled:of_documents",
        sets="unrolled:of_sets",
    ),
)
"""Those that `biaslab.origins.documents.attribute` calls and the workflow does not."""

ESTIMATED = tuple(a for a in ATTRIBUTIONS if a.table == Attribution.table)
"""Those of the trained embeddings, which ``differential_bias/TEST.parquet`` and ``predictions.tsv`` hold."""

ESTIMATORS = tuple(a.name for a in ESTIMATED)
"""Their names."""

PREDICTING = tuple(a for a in ATTRIBUTIONS if a.predicts)
"""Those that predict the bias without some documents."""

RANKINGS = (*(a.name for a in PREDICTING), RANDOM)
"""What ranks the documents whose removal flips the sign of a test, the null last."""

TABLES = tuple(dict.fromkeys(a.table for a in ATTRIBUTIONS))
"""The folders of the tables of each test that hold what attributions say of every document."""

BY_SEED = "by_seed"
"""The folder inside of those, of the tables that hold what each baseline says."""


def attribution(name: str) -> Attribution:
    """Return the attribution of a name."""
    known = {a.name: a for a in (*ATTRIBUTIONS, *OTHERS)}
    if name not in known:
        raise InputError(f"'{name}' is no attribution; choose {', '.join(known)}")
    return known[name]
