"""Build the tables of classifier performance over all corpora (Kennedy et al. 2020)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from biaslab.core.tables import Table, text_columns
from biaslab.hate_speech.methods import BOW, VANILLA
from biaslab.hate_speech.report.results import (
    HATECHECK,
    MEASURES,
    NEWS,
    SETS,
    TEST,
    is_plain,
    of_methods,
    over_seeds,
    printed_numbers,
    read_all,
    title,
    together,
    with_interval,
    with_sd,
)
from biaslab.run.reports import Results

SHOWN = {TEST: ("precision", "recall", "f1"), NEWS: ("accuracy", "macro_accuracy"), HATECHECK: ("accuracy",)}
"""Measures of each set in the displayed table of differences; F1 for all other sets."""

_SEEDS = " Mean ± standard deviation over the seeds."
_OWN = ("precision", "recall", "f1")
_NEWS = {"accuracy": "news", "macro_accuracy": "news_macro"}
_HEADS = {
    "precision": "Precision (%)",
    "recall": "Recall (%)",
    "f1": "F1 (%)",
    "news": "News accuracy (%)",
    "news_macro": "News, mean over identifiers (%)",
}
_PRINTED = {"precision": "P", "recall": "R", "f1": "F1", "news": "news"}


def performance(units: Sequence[Results]) -> Table:
    """Return every method's performance on the test set and news, next to the paper's numbers (Table 1)."""
    data = over_seeds(by_seed(read_all(units, "metrics")), ["corpus", "method", "n_train"], list(_HEADS))
    templates = {"Corpus": "{corpus}", "Method": "{title}", "Sentences": "{n_train:,}", "Seeds": "{n_seeds}"}
    for value, head in _HEADS.items():
        templates[head] = f"{{{value}_text}}"
        if value in _PRINTED:
            ids = "t1-" + data["corpus"] + "-" + data["method"] + f"-{value}"
            data[f"printed_{value}"] = printed_numbers(units, ids)
            templates[f"Printed {_PRINTED[value]}"] = f"{{printed_{value}}}"
    note = (
        "Precision, recall and F1 of the positive class on the corpus's test set; accuracy on news sentences"
        " that hold a group identifier, none of which counts as hate speech, plain and averaged over the"
        " identifiers. WR: identifiers removed; OC, SOC: explanations of identifiers regularized; EAR:"
        " entropy of the attention regularized, without a list of identifiers. Sentences: trained on."
        " Printed: the paper's, with BERT-base, its own splits and articles of the New York Times."
    )
    return Table(
        data, _show(data, list(_HEADS), templates), "Performance on test set and news", note + _SEEDS
    )


def by_seed(metrics: pd.DataFrame, with_quirks: bool = False) -> pd.DataFrame:
    """Return one row of test and news performance for each training; missing for absent sets."""
    keys = ["corpus", "method", "seed", "n_train"]
    selection = metrics if with_quirks else of_methods(metrics, is_plain)
    test = selection.loc[selection["set"] == TEST, [*keys, *_OWN]]
    news = selection.loc[selection["set"] == NEWS, [*keys, *_NEWS]].rename(columns=_NEWS)
    trainings = selection[keys].drop_duplicates()
    return trainings.merge(test, on=keys, how="left").merge(news, on=keys, how="left")


def transfer(units: Sequence[Results]) -> Table:
    """Return F1 on the test sets of other corpora (Table 5)."""
    metrics = read_all(units, "metrics")
    other = of_methods(metrics[~metrics["set"].isin(list(SETS))], is_plain)
    data = over_seeds(other, ["corpus", "set", "method", "n_train"], ["f1"])
    ids = "t5-" + data["corpus"] + "-" + data["set"] + "-" + data["method"] + "-f1"
    data["printed_f1"] = printed_numbers(units, ids)
    data = together(data, ["corpus", "set"])
    templates = {
        "Trained on": "{corpus}",
        "Tested on": "{set}",
        "Method": "{title}",
        "Sentences": "{n_train:,}",
        "Seeds": "{n_seeds}",
        "F1 (%)": "{f1_text}",
        "Printed F1": "{printed_f1}",
    }
    note = (
        "F1 of the positive class on the test set of the other corpus. Sentences: trained on. Printed: the"
        " paper's, with BERT-base and its own splits."
    )
    return Table(data, _show(data, ["f1"], templates), "Performance on other corpora", note + _SEEDS)


def cost(units: Sequence[Results]) -> Table:
    """Return the cost of a training step of each method in word pieces (Table 6 without times)."""
    data = of_methods(read_all(units, "cost"), is_plain)
    bases = data["method"].map(lambda method: method.partition("-")[0]).replace(VANILLA, "bert")
    data = data.assign(printed_time=printed_numbers(units, "t6-" + bases + "-time"))
    templates = {
        "Corpus": "{corpus}",
        "Method": "{title}",
        "Steps an epoch": "{n_steps:,.0f}",
        "Word pieces a step": "{tokens_per_step:,.0f}",
        "Times the encoder": "{ratio:.2f}",
        "Printed, an epoch": "{printed_time}",
    }
    note = (
        "Word pieces that the encoder reads in a step: those of the sentences and, for each identifier whose"
        " explanation is regularized, those of its sentence with and without it, in every context. This is"
        " the same in every run, as seconds are not. Printed: the seconds of the paper, of an epoch on its"
        " corpus from Gab."
    )
    return Table(data, _show(data, [], templates), "Cost of a training step", note)


def differences(units: Sequence[Results]) -> Table:
    """Return the paired tests of every method against the encoder and the bag of words."""
    data = of_methods(read_all(units, "differences"), lambda method: is_plain(method) and method != BOW)
    is_shown = [
        measure in SHOWN.get(name, ("f1",))
        for name, measure in zip(data["set"], data["measure"], strict=True)
    ]
    points = data[np.array(is_shown, dtype=bool)]
    is_null = points["method"] == points["baseline"]
    points = points.assign(
        **{name: 100 * points[name] for name in ("mean_difference", "ci_low", "ci_high")},
        base=points["baseline"].map(title).mask(is_null, "another seed of it"),
        set=points["set"].replace(SETS),
        measure=points["measure"].replace(MEASURES),
    )
    columns = (points[name] for name in ("mean_difference", "ci_low", "ci_high"))
    points["text"] = with_interval(*columns, "+.2f")
    templates = {
        "Corpus": "{corpus}",
        "Set": "{set}",
        "Measure": "{measure}",
        "Method": "{title}",
        "Against": "{base}",
        "Difference (points)": "{text}",
        "p": "{p_value:.2g}",
        "Higher in (seeds)": "{n_higher} of {n_seeds}",
    }
    note = (
        "Mean difference of two classifiers with the same seed, in percentage points, with the 95% interval"
        " and the two-sided p-value of the paired t-test over the seeds. Against another seed of it: how far"
        " two trainings differ whose seeds alone differ. P-values are not adjusted for the"
        " number of tests. Linear models have one training, so that one seed alone is compared with them."
    )
    return Table(data, _show(points, [], templates), "Differences between methods", note)


def corpora(units: Sequence[Results]) -> Table:
    """Return the sizes of the corpora before and after the cut."""
    data = read_all(units, "corpus")
    shares = data.assign(share=100 * data["n_positive"] / data["n"].where(data["n"] > 0))
    templates = {
        "Corpus": "{corpus}",
        "Split": "{split}",
        "Sentences": "{n:,}",
        "of": "{n_before_cut:,}",
        "Positive": "{n_positive:,}",
        "Positive (%)": "{share:.1f}",
        "With identifier": "{n_with_identifier:,}",
        "Occurrences": "{n_occurrences:,}",
    }
    note = (
        "Sentences that encoders are trained and tested on, of those that the split has: the rest was cut to"
        " save time, the share of positive ones kept. With identifier: sentences that hold one of the group"
        " identifiers, with so many occurrences."
    )
    return Table(data, text_columns(shares, templates), "Corpora", note)


def _show(data: pd.DataFrame, values: Sequence[str], templates: Mapping[str, str]) -> pd.DataFrame:
    """Return the text of a table; VALUE_text in a template is mean ± sd in percent."""
    texts = {
        f"{value}_text": with_sd(100 * data[f"{value}_mean"], 100 * data[f"{value}_sd"], ".1f")
        for value in values
    }
    return text_columns(data.assign(title=data["method"].map(title), **texts), templates)
