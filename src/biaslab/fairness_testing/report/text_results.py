"""The result files on texts: reading those of several corpora, names for people, paired comparisons."""

from collections.abc import Callable, Sequence

import pandas as pd

from biaslab.fairness_testing.names import TEXT_PREFIX
from biaslab.fairness_testing.report.results import ratio
from biaslab.fairness_testing.text.names import (
    CERTIFIED,
    COLUMNS,
    CONTROL,
    OWN,
    SETTING,
)
from biaslab.fairness_testing.text.strategies import STRATEGIES
from biaslab.run.reports import Results
from biaslab.text.masking import masker as text_masker

BENCHMARK = ["corpus", *SETTING]
"""A row of the paper's tables on texts."""
NETWORK_NAMES = {"lstm": "LSTM", "gru": "GRU"}
"""What people call kinds of networks."""
STRATEGY_NAMES = {strategy.name: strategy.title for strategy in STRATEGIES.values()}
"""What people call the global strategies, in the order of the paper's tables."""
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
"""What a network is trained again with."""
METRIC_NAMES = {
    "l0": "Words changed (L0)",
    "l2": "Distance of vectors (L2)",
    "jaccard": "Jaccard",
    "bleu": "BLEU-4",
    "similarity": "Similarity of sentences",
    "perplexity": "Perplexity",
    "seed_perplexity": "Perplexity of the seeds",
}
"""How near texts are to their seeds; of `FARTHER` less is nearer."""
FARTHER = ("l0", "l2", "perplexity")


def read_all(units: Sequence[Results], name: str) -> pd.DataFrame:
    """Read one of the files `COLUMNS` of several corpora, below each other, with the column corpus first."""
    parts = [unit.table(name, *COLUMNS[name]).assign(corpus=corpus_of(unit)) for unit in units]
    data = pd.concat(parts, ignore_index=True)
    for column in {"label_rule", "term", "value"} & set(data):
        data[column] = data[column].fillna("").astype(str)
    return data[["corpus", *COLUMNS[name]]]


def corpus_of(unit: Results) -> str:
    """Return the name of a unit's corpus."""
    return unit.name.removeprefix(TEXT_PREFIX)


def masker(unit: Results) -> Callable[[str], str]:
    """Return what masks the words of a corpus that must not be shown; nothing where its option says so."""
    return text_masker(None if unit.option("unmask") else unit.file("masked_words"))


def with_calls(data: pd.DataFrame) -> pd.DataFrame:
    """Add what a discriminatory text of a local search costs, and success in percent of its texts."""
    found = data["n_discriminatory"]
    queries, gradients = (ratio(data[name], found) for name in ("n_queries", "n_gradients"))
    return data.assign(
        success=100 * ratio(found, data["n_texts"]),
        queries_per_text=queries,
        gradients_per_text=gradients,
        calls_per_text=queries + gradients,
    )


def own_starts(local: pd.DataFrame) -> pd.DataFrame:
    """Return the local searches from what their own global phase found, as the paper runs them."""
    return local[local["start"] == OWN]


def training_name(tester: str, rule: str) -> str:
    """Return what people call a training, with the label that added texts get, where it has one."""
    name = TRAINING_NAMES.get(tester, tester)
    return f"{name}, label: {rule}" if rule else name


def in_order(data: pd.DataFrame, column: str, names: Sequence[str]) -> pd.DataFrame:
    """Return the rows by benchmark as they come, then by `column` in the order of names, others last."""
    places = list(dict.fromkeys([*names, *data[column].unique()]))
    keys = pd.DataFrame(
        {
            "benchmark": data.groupby([key for key in BENCHMARK if key in data], sort=False).ngroup(),
            "place": data[column].map(places.index),
        }
    )
    return data.loc[keys.sort_values(["benchmark", "place"], kind="stable").index].reset_index(drop=True)
