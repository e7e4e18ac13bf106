"""The tables of debiasing over all embeddings, and the readers of its results."""

from collections.abc import Sequence

import pandas as pd

from biaslab.bias.word_sets import in_words
from biaslab.core.tables import Table, text_columns
from biaslab.debiasing import settings
from biaslab.debiasing.settings import COLUMNS, PAIRS, UNITS
from biaslab.run.area import table
from biaslab.run.plan.reports import Results

STAGES = {"before": "Before", "soft": "Soft", "hard": "Hard", "hard_authors": "Hard, the authors' lists"}
BENCHMARKS = {name: benchmark.title for name, benchmark in settings.BENCHMARKS.items()}
MEASURES = {
    "direct_bias": "DirectBias of all occupations",
    "direct_bias_neutral": "DirectBias of the neutral occupations",
    "direct_bias_own_subspace": "DirectBias of the neutral occupations, direction found anew",
    "direct_bias_authors": "DirectBias of the authors' occupations",
    "pair_bias": "Mean difference of an occupation's similarity to the words of a pair",
    "pair_bias_max": "Largest difference of a neutral word's similarity to the words of a pair",
    "equidistance_max": "Largest difference of a neutral word's distance to the words of a pair",
}
N_EXTREME = 20  # the number of occupations at each end of the axis in the table
N_INDIRECT = 10  # the number of occupations at each end of the axis of indirect bias

METHODS = settings.METHODS | {PAIRS: "Random pairs of words", UNITS: "Random unit vectors"}
"""The titles of the methods, and of the random directions."""

REMAINING = {
    "direct_bias": "DirectBias",
    "cluster_accuracy": "Clusters, accuracy",
    "classifier_accuracy": "Classifier, accuracy",
    "neighbour_correlation": "Neighbours, correlation",
}
"""Measures of bias in the figure, one panel each."""

_QUALITY = {**BENCHMARKS, "moved": "Mean distance moved"}
_TEXT = ("missing_words", "word", "she", "he")
_MULTIPLY = "-multiply"
_SEEDS = {"this project's list": "classifier", "the authors' list": "classifier_authors"}


def read(unit: Results, name: str) -> pd.DataFrame:
    """Read a file of `COLUMNS` of an embedding."""
    return unit.table(name, *COLUMNS[name], text=_TEXT)


def read_all(units: Sequence[Results], name: str) -> pd.DataFrame:
    """Read a file of `COLUMNS` of several embeddings; their names become the first column."""
    parts = {unit.name: read(unit, name) for unit in units}
    return pd.concat(parts, names=["embedding", None]).reset_index(0).reset_index(drop=True)


def extremes(occupations: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the `n` occupations at either end of the axis before debiasing (at most half), at each stage."""
    wide = occupations.pivot(index="word", columns="stage", values="projection")
    wide = wide.sort_values("before", ascending=False, kind="stable")
    n = min(n, len(wide) // 2)
    ends = pd.concat({"she": wide.head(n), "he": wide.tail(n)[::-1]}, names=["end", "word"]).reset_index()
    ends.insert(1, "place", ends.groupby("end", sort=False).cumcount() + 1)
    return ends[["end", "place", "word", *(s for s in STAGES if s in wide)]]


@table("figure1_occupations", "Figure 1: extreme occupations", "occupations")
def extreme_occupations(units: Sequence[Results]) -> Table:
    """Return the occupations at the ends of the she-he axis (Figure 1, left)."""
    data = read_all(units, "occupations")
    parts = {name: extremes(part, N_EXTREME) for name, part in data.groupby("embedding", sort=False)}
    ends = pd.concat(parts, names=["embedding", None]).reset_index(0)
    wide = ends.pivot(index=["embedding", "place"], columns="end").swaplevel(axis=1)
    wide.columns = ["_".join(names) for names in wide.columns]
    templates = {"Embedding": "{embedding}", "Place": "{place}"}
    for end in ("she", "he"):
        templates[f"Extreme {end}"] = f"{{{end}_word}}"
        templates |= {
            f"{name} ({end})": f"{{{end}_{stage}:+.3f}}" for stage, name in STAGES.items() if stage in ends
        }
    note = (
        "Occupations by cosine with she - he before debiasing, and the same cosines after it. Words that tell"
        " a gender by themselves are not in the list of occupations."
    )
    return Table(ends, text_columns(wide.reset_index(), templates), "Extreme occupations", note)


@table("figure1_analogies", "Figure 1: analogies before and after", "analogies")
def analogies(units: Sequence[Results]) -> Table:
    """Return the generated analogies at each stage (Figure 1, right)."""
    data = read_all(units, "analogies")
    named = data.assign(pair=data["she"] + " – " + data["he"])
    texts = named.pivot(index=["embedding", "once", "rank"], columns="stage", values=["pair", "score"])
    stages = [stage for stage in STAGES if stage in texts["pair"]]
    texts.columns = ["_".join(names) for names in texts.columns]
    texts = texts.astype({f"score_{stage}": float for stage in stages})
    templates = {"Embedding": "{embedding}", "Used once": "{once}", "Rank": "{rank}"}
    for stage in stages:
        templates |= {STAGES[stage]: f"{{pair_{stage}}}", f"Score {stage}": f"{{score_{stage}:.3f}}"}
    note = (
        "She is to the first word of a pair as he is to the second: pairs at a distance of at most 1, by the"
        " cosine of their difference with she - he. A word is used once: as first word of a pair (the paper's"
        " text), or on each side (side; the authors' code). Whether a pair is a stereotype is for people to"
        " judge."
    )
    title = "Generated analogies before and after debiasing"
    return Table(data, text_columns(texts.reset_index(), templates), title, note)


@table("figure2_benchmarks", "Figure 2: benchmarks before and after", "benchmarks")
def benchmarks(units: Sequence[Results]) -> Table:
    """Return the benchmark scores at each stage, under every treatment of unknown words (Figure 2, right)."""
    data = read_all(units, "benchmarks")
    wide = _by_stage(data, ["embedding", "benchmark", "convention", "n_used", "n_total"])
    wide["name"] = wide["benchmark"].map(BENCHMARKS)
    wide["treatment"] = wide["convention"].str.removesuffix(_MULTIPLY)
    wide["method"] = wide["convention"].str.endswith(_MULTIPLY).map({True: "multiply", False: "add"})
    wide.loc[wide["benchmark"] != "msr", "method"] = ""
    templates = {
        "Embedding": "{embedding}",
        "Benchmark": "{name}",
        "Unknown words": "{treatment}",
        "Method": "{method}",
        "Answerable": "{n_used:,} of {n_total:,}",
    }
    note = (
        "Spearman's rank correlation with human ratings times 100 (RG-65, WordSim-353); percentage of right"
        " answers (MSR). Unknown words: answerable leaves out what has one; scaled multiplies by the share"
        " that has none; zero gives the pair similarity 0, wrong counts the question as wrong; mean gives the"
        " word the mean of all vectors (mean-cosine: with unit length; mean-product: without; mean-letters:"
        " after words lost their punctuation). Method: add is 3CosAdd, multiply is 3CosMul."
    )
    texts = text_columns(wide, templates | _stages(data, "{%s:.1f}"))
    return Table(data, texts, "Benchmarks before and after debiasing", note)


@table("direct_bias", "Direct bias before and after", "bias")
def direct_bias(units: Sequence[Results]) -> Table:
    """Return direct bias and the quantities that are zero by Observation 1, at each stage."""
    data = read_all(units, "bias")
    chosen = data[data["measure"].isin(MEASURES)]
    wide = _by_stage(chosen, ["embedding", "measure", "n_words"])
    wide["name"] = wide["measure"].map(MEASURES)
    templates = {"Embedding": "{embedding}", "Measure": "{name}", "Words": "{n_words:,}"}
    note = (
        "DirectBias is the mean absolute cosine with the gender direction (c = 1). After hard debiasing the"
        " neutral words have none, and are equally near to both words of a pair, up to rounding."
    )
    texts = text_columns(wide, templates | _stages(data, "{%s:.3g}"))
    return Table(data, texts, "Direct bias before and after debiasing", note)


@table("indirect_bias", "Indirect bias", "indirect")
def indirect_bias(units: Sequence[Results]) -> Table:
    """Return the words at the ends of an axis of neutral words, and its share of gender (Appendix A)."""
    data = read_all(units, "indirect")
    order = data[data["stage"] == "before"]
    order = order.assign(extent=data["projection"].abs()).sort_values(
        "extent", ascending=False, kind="stable"
    )
    texts = text_columns(
        order.groupby(["embedding", "axis"], sort=False)
        .head(N_INDIRECT)
        .sort_values(["embedding", "axis"], kind="stable"),
        {
            "Embedding": "{embedding}",
            "Nearer to": "{axis}",
            "Word": "{word}",
            "Projection": "{projection:+.3f}",
            "β": "{beta:.3f}",
        },
    )
    note = (
        f"The {N_INDIRECT} most extreme occupations of each end of the axis between two words, before"
        " debiasing. β is the share"
        " of the similarity of the word with its end that is due to the gender direction; negative where the"
        " direction hides a similarity."
    )
    return Table(data, texts, "Indirect bias", note)


@table("weat", "Association tests before and after", "weat")
def association_tests(units: Sequence[Results]) -> Table:
    """Return the word embedding association tests at each stage."""
    data = read_all(units, "weat").fillna({"missing_words": ""})
    order = data["stage"].map(list(STAGES).index)
    texts = text_columns(
        data.assign(name=data["stage"].map(STAGES), order=order).sort_values(
            ["embedding", "weat", "order"], kind="stable"
        ),
        {
            "Embedding": "{embedding}",
            "Test": "{weat}",
            "Stage": "{name}",
            "Effect size": "{effect_size:+.3f}",
            "p": "{p_value:.3g}",
            "Lost words": "{missing_words}",
        },
    )
    note = (
        "One-sided permutation test. An effect size is a share of the spread of the associations: it can stay"
        " large where debiasing made all of them small."
    )
    return Table(data, texts, "Association tests before and after debiasing", note)


@table("classifier", "Classifier of gender-specific words", "classifier", "classifier_authors")
def classifier(units: Sequence[Results]) -> Table:
    """Return the F score of the classifier of gender-specific words (Section 5)."""
    parts = [read_all(units, name).assign(seeds=seeds) for seeds, name in _SEEDS.items()]
    data = pd.concat(parts, ignore_index=True)
    summary = data.groupby(["embedding", "seeds"], sort=False).agg(
        folds=("F", "size"),
        f_mean=("F", "mean"),
        f_sd=("F", "std"),
        f_lowest=("F", "min"),
        f_highest=("F", "max"),
        n_specific_found=("n_specific_found", "max"),
    )
    texts = text_columns(
        summary.reset_index(),
        {
            "Embedding": "{embedding}",
            "Learnt from": "{seeds}",
            "Folds": "{folds}",
            "F (mean ± sd)": "{f_mean:.3f} ± {f_sd:.3f}",
            "Lowest": "{f_lowest:.3f}",
            "Highest": "{f_highest:.3f}",
            "Words found": "{n_specific_found:,}",
        },
    )
    note = (
        "Linear support vector machine, learnt from a list of gender-specific words and cross-validated; the"
        " standard deviation is over the folds (ddof 1). Words found: those on the specific side of the"
        " boundary that is learnt from all words."
    )
    return Table(data, texts, "Classifier of gender-specific words", note)


@table("methods", "Methods of debiasing side by side", "methods")
def methods(units: Sequence[Results]) -> Table:
    """Return all measures of all methods, one column per method."""
    data = read_all(units, "methods")
    titles = REMAINING | _QUALITY
    names = {
        name: titles.get(name, f"Effect size of {in_words(name.removesuffix('_effect_size'))}")
        for name in dict.fromkeys(data["measure"])
    }
    texts = data.assign(text=[_interval_text(row) for row in data.itertuples()])
    wide = texts.pivot(index=["embedding", "measure"], columns="method", values="text").fillna("–")
    order = pd.MultiIndex.from_frame(data[["embedding", "measure"]].drop_duplicates())
    wide = wide.loc[order].reset_index()
    wide["measure"] = wide["measure"].map(names)
    templates = {"Embedding": "{embedding}", "Measure": "{measure}"}
    templates |= {title: f"{{{name}}}" for name, title in METHODS.items() if name in wide}
    note = (
        "Bias of words by their cosine with she - he before debiasing. Clusters and classifier: of the most"
        " biased neutral words, 0.5 by chance. The last columns remove directions that have"
        " nothing to do with the bias and look at the words at their ends. 95% intervals in brackets;"
        " clusters have none."
    )
    return Table(data, text_columns(wide, templates), "Methods of debiasing side by side", note)


def _by_stage(data: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    order = pd.MultiIndex.from_frame(data[keys].drop_duplicates())
    return data.pivot(index=keys, columns="stage", values="value").reindex(order).reset_index()


def _stages(data: pd.DataFrame, template: str) -> dict[str, str]:
    present = set(data["stage"])
    return {name: template % stage for stage, name in STAGES.items() if stage in present}


def _interval_text(row: object) -> str:
    if pd.isna(row.value):
        return "–"
    if pd.isna(row.ci_low):
        return f"{row.value:.3f}"
    return f"{row.value:.3f} [{row.ci_low:.3f}, {row.ci_high:.3f}]"
