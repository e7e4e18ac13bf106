"""The result files of several classifiers or corpora, display names, and means over repetitions."""

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from biaslab.core.stats import mean_interval
from biaslab.core.tables import MISSING, text_columns
from biaslab.fairness_testing.settings import (
    CERTIFIED,
    COLUMNS,
    CONTROL,
    NO_RULE,
    TEXT_COLUMNS,
    TEXT_PREFIX,
    TEXT_SETTING,
)
from biaslab.run.plan.reports import Results

AUTHORS_DATA = ("census", "bank", "credit")
"""Classifiers with the authors' data and weights, in the order of the paper's tables."""

RIVALS = ("aequitas", "symbolic")  # the testers that the paper compares ADF with
REPETITIONS = " Mean ± half the width of its 95% interval (Student's t) over the repetitions."
_MEAN = re.compile(r"\{(\w+):±([^}]*)\}")


def tester_names() -> dict[str, str]:
    """Return the names of the testers as the tables order them: the baseline first, the paper's own last."""
    from biaslab.fairness_testing.testers.registry import TESTERS

    testers = sorted(TESTERS.values(), key=lambda t: (t.is_later, t.is_proposed, t.is_retrained))
    return {tester.name: tester.title for tester in testers}


def finds_names() -> dict[str, str]:
    """Return the display names of the samples used for retraining."""
    return tester_names() | {CONTROL: "Nothing added"}


def strategy_names() -> dict[str, str]:
    """Return the display names of the global strategies, in the order of the paper's tables."""
    from biaslab.fairness_testing.text.search import STRATEGIES

    return {strategy.name: strategy.title for strategy in STRATEGIES.values()}


def setting_in_words(setting: Sequence[str], between: str = ", ") -> str:
    """Return the name of a classifier and its protected attribute in figures."""
    classifier, protected = setting
    return f"{classifier.replace('_', ' ')}{between}{protected.replace('_', ' ').replace(',', ' and ')}"


def read_all(units: Sequence[Results], name: str) -> pd.DataFrame:
    """Read a file of `COLUMNS` of several classifiers, the authors' first, then by name."""
    first = [unit for author in AUTHORS_DATA for unit in units if unit.name == author]
    ordered = first + sorted((u for u in units if u.name not in AUTHORS_DATA), key=lambda unit: unit.name)
    data = pd.concat([unit.table(name, *COLUMNS[name]) for unit in ordered], ignore_index=True)
    return data.fillna({"label_rule": NO_RULE} if "label_rule" in data else {})


def summarize(data: pd.DataFrame, keys: Sequence[str], values: Sequence[str]) -> pd.DataFrame:
    """Return the means of columns over the repetitions, with Student's 95% intervals.

    Columns, in the order of the data: the keys, ``n_repetitions``, and for each VALUE its mean ``VALUE`` with
    ``VALUE_ci_low`` and ``VALUE_ci_high`` (missing for fewer than two repetitions). Missing values are
    ignored.
    """
    columns = [*keys, "n_repetitions"]
    columns += [f"{value}{end}" for value in values for end in ("", "_ci_low", "_ci_high")]
    rows = []
    for key, part in data.groupby(list(keys), sort=False):
        row = [*key, len(part)]
        for value in values:
            x = part[value].dropna()
            row += [x.mean(), *mean_interval(x)]
        rows.append(row)
    return pd.DataFrame(rows, columns=columns)


def with_rates(counts: pd.DataFrame) -> pd.DataFrame:
    """Add success in percent of the distinct samples, and yield and cost per 1,000; missing if undefined."""
    samples, discriminatory, queries = (counts[n] for n in ("n_samples", "n_discriminatory", "n_queries"))
    return counts.assign(
        success=100 * ratio(discriminatory, samples),
        samples_per_1000=1000 * ratio(samples, queries),
        discriminatory_per_1000=1000 * ratio(discriminatory, queries),
        queries_per_1000=1000 * ratio(queries, discriminatory),
    )


def mean_texts(data: pd.DataFrame, value: str, form: str) -> list[str]:
    """Return means of `summarize` with half the width of their intervals, if present."""
    halves = (data[f"{value}_ci_high"] - data[f"{value}_ci_low"]) / 2
    plain = ".2g" if "g" in form else form.removeprefix("+")
    return [
        MISSING if pd.isna(mean) else f"{mean:{form}}" + ("" if pd.isna(half) else f" ± {half:{plain}}")
        for mean, half in zip(data[value], halves, strict=True)
    ]


def show(data: pd.DataFrame, templates: Mapping[str, str]) -> pd.DataFrame:
    """Return the text of a table; ``{VALUE:±FORM}`` in a template is replaced by `mean_texts`."""
    texts = {f"{v}_text": mean_texts(data, v, f) for t in templates.values() for v, f in _MEAN.findall(t)}
    plain = {head: _MEAN.sub(r"{\1_text}", template) for head, template in templates.items()}
    return text_columns(data.assign(**texts), plain)


def name_averages(data: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Add the names of averages, with the label of added samples, and the ends of ``mean``."""
    rules, name = data["label_rule"].str.replace("_", " "), data["measure"].map(names)
    full_name = name.where(rules == "", name + ", label: " + rules)
    return data.assign(name=full_name, mean_ci_low=data["ci_low"], mean_ci_high=data["ci_high"])


def ratio(x: pd.Series, y: pd.Series) -> pd.Series:
    """Return x / y, missing if y is not positive."""
    return x / y.where(y > 0)


def short_count(value: float, _: int) -> str:
    """Format large counts of an axis with the suffix k."""
    return f"{value / 1000:g}k" if abs(value) >= 1000 else f"{value:g}"


BENCHMARK = ["corpus", *TEXT_SETTING]  # a row of the paper's tables on texts
NETWORK_NAMES = {"lstm": "LSTM", "gru": "GRU"}  # display names of network types
TEXT_TESTER_NAMES = {"rp": "RP", "adf": "ADF"}
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


def read_texts(units: Sequence[Results], name: str) -> pd.DataFrame:
    """Read a file of `TEXT_COLUMNS` of several corpora as one table, with the column corpus first."""
    parts = [unit.table(name, *TEXT_COLUMNS[name]).assign(corpus=corpus_of(unit)) for unit in units]
    data = pd.concat(parts, ignore_index=True)
    if "label_rule" in data:
        data["label_rule"] = data["label_rule"].fillna(NO_RULE).astype(str)
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


def training_name(tester: str, rule: str) -> str:
    """Return the display name of a training, with the label of added texts, if any."""
    name = TRAINING_NAMES.get(tester, tester)
    return f"{name}, label: {rule}" if rule else name


def in_order(
    data: pd.DataFrame, column: str, names: Iterable[str], benchmark: Sequence[str] = BENCHMARK
) -> pd.DataFrame:
    """Return the rows by benchmark in their order, then by `column` in the order of names, others last."""
    places = list(dict.fromkeys([*names, *data[column].unique()]))
    place = data[column].map(places.index).astype(int)
    number = data.groupby([key for key in benchmark if key in data], sort=False).ngroup()
    return data.iloc[np.lexsort([place, number])].reset_index(drop=True)
