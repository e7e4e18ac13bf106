"""Build the tables of classifiers over all corpora, and of their explanations (Kennedy et al. 2020)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from biaslab.core.tables import MISSING, Table, text_columns
from biaslab.hate_speech.methods import BOW, VANILLA
from biaslab.hate_speech.report.results import (
    ENCODERS,
    HATECHECK,
    MEASURES,
    NEWS,
    QUIRKS,
    SETS,
    TEST,
    baseline,
    over_seeds,
    paired,
    printed_numbers,
    quirks_of,
    read,
    read_all,
    stacked,
    title,
    together,
    with_interval,
    with_sd,
    without_quirks,
)
from biaslab.run.area import UNIT, table
from biaslab.run.plan.reports import Results
from biaslab.text.masking import Masker

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


@table("table1_performance", "Table 1: performance", "metrics")
def performance(units: Sequence[Results]) -> Table:
    """Return every method's performance on the test set and news, next to the paper's numbers (Table 1)."""
    trainings = by_seed(without_quirks(read_all(units, "metrics")))
    data = over_seeds(trainings, ["corpus", "method", "n_train"], list(_HEADS))
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


def by_seed(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return one row of test and news performance for each training; missing for absent sets."""
    keys = ["corpus", "method", "seed", "n_train"]
    test = metrics.loc[metrics["set"] == TEST, [*keys, *_OWN]]
    news = metrics.loc[metrics["set"] == NEWS, [*keys, *_NEWS]].rename(columns=_NEWS)
    trainings = metrics[keys].drop_duplicates()
    return trainings.merge(test, on=keys, how="left").merge(news, on=keys, how="left")


@table("table5_transfer", "Table 5: other corpora", "metrics")
def transfer(units: Sequence[Results]) -> Table:
    """Return F1 on the test sets of other corpora (Table 5)."""
    metrics = without_quirks(read_all(units, "metrics"))
    data = over_seeds(
        metrics[~metrics["set"].isin(list(SETS))], ["corpus", "set", "method", "n_train"], ["f1"]
    )
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


@table("table6_cost", "Table 6: cost", "cost", of=ENCODERS)
def cost(units: Sequence[Results]) -> Table:
    """Return the cost of a training step of each method in word pieces (Table 6 without times)."""
    data = without_quirks(read_all(units, "cost"))
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


@table("differences", "Differences from the baseline", "differences")
def differences(units: Sequence[Results]) -> Table:
    """Return the paired tests of every method against the encoder and the bag of words."""
    data = without_quirks(read_all(units, "differences"))
    data = data[data["method"] != BOW]
    pairs = zip(data["set"], data["measure"], strict=True)
    points = data[np.array([measure in SHOWN.get(name, ("f1",)) for name, measure in pairs], dtype=bool)]
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


@table("corpora", "Corpora, and what was cut", "corpus")
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


_EXPLANATIONS = {"oc": "OC", "soc": "SOC"}
_PHI = "mean_abs_phi"
_MEASURES = {
    "f1": ("F1", " (%)"),
    "news": ("News accuracy", " (%)"),
    "news_macro": ("News, mean over identifiers", " (%)"),
    "phi_oc": ("|φ| of OC", ""),
    "phi_soc": ("|φ| of SOC", ""),
}


@table("attributions", "Importance of identifiers", "attributions", of=ENCODERS)
def attributions(units: Sequence[Results]) -> Table:
    """Return the mean importance of identifiers by method, paired with the unregularized encoder."""
    phi = without_quirks(phi_by_seed(read_all(units, "attributions")))
    keys = ["corpus", "explanation", "method"]
    data = over_seeds(phi, [*keys, "n"], ["mean_phi", _PHI])
    against = phi.assign(baseline=phi["method"].map(baseline))
    data = together(data.merge(paired(against, phi, keys, _PHI), on=keys, how="left"), keys[:2])
    ends = (data[f"{_PHI}_{end}"] for end in ("difference", "ci_low", "ci_high"))
    named = data.assign(
        title=data["method"].map(title),
        explanation=data["explanation"].replace(_EXPLANATIONS),
        absolute=with_sd(data[f"{_PHI}_mean"], data[f"{_PHI}_sd"], ".3f"),
        signed=with_sd(data["mean_phi_mean"], data["mean_phi_sd"], "+.3f"),
        change=with_interval(*ends, "+.3f"),
    )
    templates = {
        "Corpus": "{corpus}",
        "Explanation": "{explanation}",
        "Method": "{title}",
        "Occurrences": "{n:,.0f}",
        "Seeds": "{n_seeds}",
        "Mean |φ|": "{absolute}",
        "Mean φ": "{signed}",
        "Change of |φ|": "{change}",
        "Lower in (seeds)": "{n_lower:.0f} of {n_pairs:.0f}",
    }
    note = (
        "Importance φ of group identifiers (Equation 1: the difference of the logits of hate speech and not,"
        " with and without the word), over all occurrences in test sentences. Mean ± standard deviation over"
        " the seeds; change against the encoder without regularization with the same seed, with Student's 95%"
        " interval."
    )
    shown = text_columns(named, templates).replace(f"{MISSING} of {MISSING}", MISSING)
    return Table(data, shown, "Importance of identifiers", note)


def phi_by_seed(data: pd.DataFrame) -> pd.DataFrame:
    """Average the importance of identifiers over their occurrences in each training."""
    keys, values = ["corpus", "explanation", "method", "seed"], ["mean_phi", _PHI]
    counted = data[data["n"] > 0]
    sums = counted.assign(**{value: counted["n"] * counted[value] for value in values})
    table = sums.groupby(keys, sort=False)[["n", *values]].sum().reset_index()
    return table.assign(**{value: table[value] / table["n"] for value in values})


@table("ablation", "What each published quirk is worth", "metrics", "attributions", of=ENCODERS)
def ablation(units: Sequence[Results]) -> Table:
    """Return the effect of each quirk of the published code."""
    data = quirks(read_all(units, "metrics"), read_all(units, "attributions"))
    quirk_titles = [", ".join(QUIRKS[name] for name in quirks_of(method)) for method in data["method"]]
    named = data.assign(title=data["method"].map(title), quirk=[names or "none" for names in quirk_titles])
    templates = {"Corpus": "{corpus}", "Method": "{title}", "Quirk": "{quirk}", "Pairs": "{n_pairs:.0f}"}
    for value, (head, percent) in _MEASURES.items():
        scale, form = (100, ".1f") if percent else (1, ".3f")
        ends = (scale * data[f"{value}_{end}"] for end in ("difference", "ci_low", "ci_high"))
        named[f"{value}_mean"] = scale * data[value]
        named[f"{value}_change"] = with_interval(*ends, f"+{form}")
        templates |= {head + percent: f"{{{value}_mean:{form}}}", f"Change, {head}": f"{{{value}_change}}"}
    note = (
        "Each row switches on what the published code does and is repaired here by default. Mean over the"
        " seeds; change against the classifier without quirk and with the same seed, with Student's 95%"
        " interval where there are two seeds or more. |φ|: importance of identifiers in test sentences."
    )
    return Table(data, text_columns(named, templates), "What each quirk of the published code is worth", note)


def quirks(metrics: pd.DataFrame, attributions: pd.DataFrame) -> pd.DataFrame:
    """Compare each method with and without quirks of the published code, seed by seed.

    Columns: corpus, method, n_pairs (shared seeds). For each VALUE of `_MEASURES`, ``VALUE`` is the mean over
    the seeds and ``VALUE_difference`` the mean change, with bounds.
    """
    keys, values = ["corpus", "method", "seed"], list(_MEASURES)
    phi = phi_by_seed(attributions).pivot(index=keys, columns="explanation", values=_PHI)
    phi = phi.reindex(columns=["oc", "soc"]).rename(columns="phi_{}".format).reset_index()
    table = by_seed(metrics).merge(phi, on=keys, how="left")
    table["baseline"] = [method.partition("@")[0] for method in table["method"]]
    has_quirk = table["method"] != table["baseline"]
    ablated = table.loc[has_quirk, ["corpus", "baseline"]].drop_duplicates()
    results = table.merge(ablated).groupby(keys[:2], sort=False)[values].mean().reset_index()
    pairs = []
    for value in values:
        change = paired(table[has_quirk], table, keys[:2], value)
        pairs.append(change[[*keys[:2], "n_pairs"]])
        results = results.merge(change.drop(columns=["n_pairs", "n_lower"]), on=keys[:2], how="left")
    most = stacked(pairs).groupby(keys[:2], sort=False)["n_pairs"].max().reset_index()
    results = results.merge(most, on=keys[:2], how="left")
    ends = ("", "_difference", "_ci_low", "_ci_high")
    return results[[*keys[:2], "n_pairs", *(f"{value}{end}" for value in values for end in ends)]]


N_WORDS = 20  # words of each list of Table 2
N_LARGEST = 150  # number of largest weights of a linear model among which identifiers are counted
BEFORE, AFTER = "before", "after"
_IDENTIFIER = "†"


@table("table2_word_importance", "Table 2: word importance", "importance", per=UNIT, of=ENCODERS)
def word_importance(unit: Results) -> Table:
    """Return the most important words before and after regularization, with changes of rank (Table 2)."""
    changes = rank_changes(read(unit, "importance"))
    note = (
        f"The {N_WORDS} words with the largest mean φ (SOC, Equation 1) on test sentences, under the encoder"
        " without and with regularization, and by how many places regularization moves them: up is positive."
        f" {_IDENTIFIER}: group identifier."
    )
    if not unit.option("unmask"):
        changes["word"] = changes["word"].map(Masker.load(unit.file("masked_words")))
        note += " Slurs are masked."
    return Table(changes, _side_by_side(changes), "Most important words", note)


def rank_changes(importance: pd.DataFrame) -> pd.DataFrame:
    """Return the top words of the unregularized encoder and of every regularized method, and rank changes.

    rank_change is positive for rising words, and missing for words explained by one classifier only.
    """
    plain = without_quirks(importance)
    methods = [method for method in plain["method"].unique() if method != VANILLA]
    before = plain[plain["method"] == VANILLA]
    columns = ["word", "is_identifier", "n", "mean_phi"]
    parts = []
    for method in methods or [""]:
        after = plain[plain["method"] == method]
        for name, words in ((BEFORE, before), (AFTER, after)):
            top = words.sort_values("rank", kind="stable").head(N_WORDS)[columns]
            top = top.assign(method=method, list=name, place=range(1, len(top) + 1))
            top["rank_before"] = top["word"].map(before.set_index("word")["rank"]).astype(float)
            top["rank_after"] = top["word"].map(after.set_index("word")["rank"]).astype(float)
            parts.append(top)
    table = stacked(parts)
    table["rank_change"] = table["rank_before"] - table["rank_after"]
    return table[["method", "list", "place", *columns, "rank_before", "rank_after", "rank_change"]]


@table("table3_4_identifiers", "Tables 3 and 4: group identifiers", "linear_weights")
def identifiers(units: Sequence[Results]) -> Table:
    """Return the weights and ranks of group identifiers in our linear model (Tables 3 and 4)."""
    weights = read_all(units, "linear_weights")
    terms = weights.loc[weights["is_identifier"], ["corpus", "term", "weight", "rank", "n_features"]]
    parts = [part.sort_values("rank", kind="stable") for _, part in terms.groupby("corpus", sort=False)]
    data = stacked(parts or [terms])
    templates = {
        "Corpus": "{corpus}",
        "Identifier": "{term}",
        "Weight": "{weight:+.2f}",
        "Rank": "{rank:,.0f}",
        "of features": "{n_features:,.0f}",
    }
    counts = [
        f"{corpus}: {(part['rank'] <= N_LARGEST).sum()} of {len(part)}"
        for corpus, part in data.groupby("corpus", sort=False)
    ]
    note = (
        "The identifiers by their weight in the bag-of-words model that was trained here; rank 1 is the"
        f" largest weight. Among the {N_LARGEST} largest weights are {', '.join(counts) or 'none'}."
    )
    title_ = "Group identifiers in the linear model"
    return Table(data, text_columns(data, templates), title_, note)


def _side_by_side(changes: pd.DataFrame) -> pd.DataFrame:
    """Return the text of Table 2; each row has a word before and a word after regularization."""
    words = changes["word"] + changes["is_identifier"].map({True: _IDENTIFIER, False: ""})
    change = changes["rank_change"].map(lambda x: MISSING if pd.isna(x) else f"{x:+.0f}")
    phi = changes["mean_phi"].map("{:.2f}".format)
    cells = changes.assign(marked=words, change=change, phi=phi)
    keys, columns = ["method", "place"], ["marked", "phi", "change"]
    before, after = (cells.loc[cells["list"] == name, [*keys, *columns]] for name in (BEFORE, AFTER))
    wide = before.merge(after, on=keys, how="outer", suffixes=("_before", "_after"))
    order = list(changes["method"].unique())
    wide = wide.sort_values("method", key=lambda x: x.map(order.index), kind="stable")
    wide["title"] = wide["method"].map(lambda method: title(method) if method else MISSING)
    templates = {
        "Place": "{place}",
        "Encoder": "{marked_before}",
        "φ": "{phi_before}",
        "Δ rank": "{change_before}",
        "Regularized by": "{title}",
        "Word": "{marked_after}",
        "φ after": "{phi_after}",
        "Δ rank after": "{change_after}",
    }
    return text_columns(wide, templates)
