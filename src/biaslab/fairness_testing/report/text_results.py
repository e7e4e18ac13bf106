"""The result files on texts: files of several corpora, display names, and paired comparisons."""

from collections.abc import Sequence

import pandas as pd

from biaslab.fairness_testing.names import CERTIFIED, CONTROL, OWN, TEXT_COLUMNS, TEXT_PREFIX, TEXT_SETTING
from biaslab.fairness_testing.report.results import ratio
from biaslab.fairness_testing.text.strategies import STRATEGIES
from biaslab.run.reports import Results

BENCHMARK = ["corpus", *TEXT_SETTING]
"""A row of the paper's tables on texts."""
NETWORK_NAMES = {"lstm": "LSTM", "gru": "GRU"}
"""Display names of network types."""
STRATEGY_NAMES = {strategy.name: strategy.title for strategy in STRATEGIES.values()}
"""Display names of the global strategies, in the order of the paper's tables."""
TESTER_NAMES = {"rp": "RP", "adf": "ADF"}
"""The local testers; their global strategies are those of `GLOBAL_OF`."""
GLOBAL_OF = {"rp": "rp", "adf": "adf_asc"}
TRAINING_NAMES = {
    "adf_asc": "ADF_ASC",
    "asc": "ASC",
    "hf": "HF",
    "adf_hf": "ADF_HF",
    CERTIFIED: "Certified training",
    CONTROL: "Nothing added",
}
"""Display names of the sources of retraining."""
METRIC_NAMES = {
    "l0": "Words changed (L0)",
    "l2": "Distance of vectors (L2)",
    "jaccard": "Jaccard",
    "bleu": "BLEU-4",
    "similarity": "Similarity of sentences",
    "perplexity": "Perplexity",
    "seed_perplexity": "Perplexity of the seeds",
}
"""Metrics of the nearness of texts to their seeds; for metrics in `FARTHER`, less is nearer."""
FARTHER = ("l0", "l2", "perplexity")


def read_all(units: Sequence[Results], name: str) -> pd.DataFrame:
    """Read a file of `TEXT_COLUMNS` of several corpora as one table, with the column corpus first."""
    parts = [unit.table(name, *TEXT_COLUMNS[name]).assign(corpus=corpus_of(unit)) for unit in units]
    data = pd.concat(parts, ignore_index=True)
    for column in {"label_rule", "term", "value"} & set(data):
        data[column] = data[column].fillna("").astype(str)
    return data[["corpus", *TEXT_COLUMNS[name]]]


def corpus_of(unit: Results) -> str:
    """Return the name of a unit's corpus."""
    return unit.name.removeprefix(TEXT_PREFIX)


def with_calls(data: pd.DataFrame) -> pd.DataFrame:
    """Add the cost of a discriminatory text of a local search, and success in percent of its texts."""
    n_discriminatory = data["n_discriminatory"]
    queries, gradients = (ratio(data[name], n_discriminatory) for name in ("n_queries", "n_gradients"))
    return data.assign(
        success=100 * ratio(n_discriminatory, data["n_texts"]),
        queries_per_text=queries,
        gradients_per_text=gradients,
        calls_per_text=queries + gradients,
    )


def own_starts(local: pd.DataFrame) -> pd.DataFrame:
    """Return the local searches from the finds of their own global phase, as in the paper."""
    return local[local["start"] == OWN]


def training_name(tester: str, rule: str) -> str:
    """Return the display name of a training, with the label of added texts, if any."""
    name = TRAINING_NAMES.get(tester, tester)
    return f"{name}, label: {rule}" if rule else name


def in_order(data: pd.DataFrame, column: str, names: Sequence[str]) -> pd.DataFrame:
    """Return the rows by benchmark in their order, then by `column` in the order of names, others last."""
    places = list(dict.fromkeys([*names, *data[column].unique()]))
    keys = pd.DataFrame(
        {
            "benchmark": data.groupby([key for key in BENCHMARK if key in data], sort=False).ngroup(),
            "place": data[column].map(places.index),
        }
    )
    return data.loc[keys.sort_values(["benchmark", "place"], kind="stable").index].reset_index(drop=True)
