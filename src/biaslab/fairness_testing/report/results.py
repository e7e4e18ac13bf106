"""The result files of the area: reading those of several classifiers, means over repetitions."""

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.stats import mean_interval
from biaslab.core.tables import MISSING, text_columns
from biaslab.fairness_testing.names import COLUMNS, CONTROL, NO_RULE
from biaslab.fairness_testing.testers.registry import TESTERS
from biaslab.run.reports import CLAIMS, Results

AUTHORS_DATA = ("census", "bank", "credit")
"""Classifiers whose data and weights are the authors', in the order of the paper's tables."""

_TESTERS = sorted(
    TESTERS.values(), key=lambda tester: (tester.is_later, tester.is_proposed, tester.is_retrained)
)
TESTER_NAMES = {tester.name: tester.title for tester in _TESTERS}
"""What people call the testers, in the order of the tables: the baseline first, the paper's own last."""
FINDS_NAMES = TESTER_NAMES | {CONTROL: "Nothing added"}
"""What people call that with which a classifier is retrained."""
RIVALS = ("aequitas", "symbolic")
"""The testers that the paper compares ADF with."""
_MEAN = re.compile(r"\{(\w+):±([^}]*)\}")


def setting_in_words(setting: Sequence[str], between: str = ", ") -> str:
    """Return what a figure calls a classifier and what is protected."""
    classifier, protected = setting
    return f"{classifier.replace('_', ' ')}{between}{protected.replace('_', ' ').replace(',', ' and ')}"


def read_all(units: Sequence[Results], name: str) -> pd.DataFrame:
    """Read one of the files `COLUMNS` of several classifiers, the authors' first, then by name."""
    ordered = sorted(units, key=lambda unit: _place(unit.name))
    data = pd.concat([unit.table(name, *COLUMNS[name]) for unit in ordered], ignore_index=True)
    return data.fillna({"label_rule": NO_RULE} if "label_rule" in data else {})


def printed_numbers(units: Sequence[Results]) -> dict[str, str]:
    """Return what the paper prints, by the identifier of its claim."""
    printed = units[0].printed()
    if not any(name.startswith("adf-table") for name in printed):
        raise InputError(
            f"{units[0].file(CLAIMS)}: there is no claim 'adf-table…'; name the registry of the fairness"
            " testing claims"
        )
    return printed


def summarize(data: pd.DataFrame, keys: Sequence[str], values: Sequence[str]) -> pd.DataFrame:
    """Return the means of columns over the repetitions, with Student's 95% intervals.

    In the order of the data: the keys, ``n_repetitions``, and for each value VALUE its mean ``VALUE`` and
    ``VALUE_ci_low``, ``VALUE_ci_high`` (missing for fewer than two repetitions). Missing values do not count.
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
    """Add success in percent of the different samples, and yield and cost by 1,000; missing over nothing."""
    samples, found, queries = (counts[n] for n in ("n_samples", "n_discriminatory", "n_queries"))
    return counts.assign(
        success=100 * ratio(found, samples),
        samples_per_1000=1000 * ratio(samples, queries),
        discriminatory_per_1000=1000 * ratio(found, queries),
        queries_per_1000=1000 * ratio(queries, found),
    )


def mean_texts(data: pd.DataFrame, value: str, form: str) -> list[str]:
    """Return means of `summarize` with half the width of their intervals, where there is one."""
    halves = (data[f"{value}_ci_high"] - data[f"{value}_ci_low"]) / 2
    plain = ".2g" if "g" in form else form.removeprefix("+")
    return [
        MISSING if pd.isna(mean) else f"{mean:{form}}" + ("" if pd.isna(half) else f" ± {half:{plain}}")
        for mean, half in zip(data[value], halves, strict=True)
    ]


def show(data: pd.DataFrame, templates: Mapping[str, str]) -> pd.DataFrame:
    """Return the text of a table; ``{VALUE:±FORM}`` in a template is what `mean_texts` says of a value."""
    texts = {f"{v}_text": mean_texts(data, v, f) for t in templates.values() for v, f in _MEAN.findall(t)}
    plain = {head: _MEAN.sub(r"{\1_text}", template) for head, template in templates.items()}
    return text_columns(data.assign(**texts), plain)


def name_averages(data: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Add the names of averages, with the label that added samples get, and the ends of ``mean``."""
    rules, name = data["label_rule"].str.replace("_", " "), data["measure"].map(names)
    called = name.where(rules == "", name + ", label: " + rules)
    return data.assign(name=called, mean_ci_low=data["ci_low"], mean_ci_high=data["ci_high"])


def ratio(x: pd.Series, y: pd.Series) -> pd.Series:
    """Return x / y, missing where y is not positive."""
    return x / y.where(y > 0)


def short_count(value: float, _: int) -> str:
    """Write large counts short, as the format of an axis."""
    return f"{value / 1000:g}k" if abs(value) >= 1000 else f"{value:g}"


def _place(classifier: str) -> tuple[int, str]:
    """Order the authors' classifiers as their tables do, others after them by name."""
    known = classifier in AUTHORS_DATA
    return (AUTHORS_DATA.index(classifier) if known else len(AUTHORS_DATA), classifier)
