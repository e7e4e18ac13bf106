"""Corpus, baselines and documents: Tables 1 to 3, Figures 1, 6, Appendices A, B, E (Brunet et al. 2019)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WordSets
from biaslab.core.plotting import GREY, Axes, save_with_data
from biaslab.core.tables import MISSING, Table, text_columns
from biaslab.origins.checks.bias_gradient import COLUMNS, both_ends
from biaslab.origins.report.panels import EFFECT_COLOURS, grid
from biaslab.origins.report.results import Setup, pairs, percent_scale
from biaslab.origins.sets import BASELINE, LOWERS, RAISES
from biaslab.run.area import TEST, figure, table

N_INFLUENTIAL = 25  # number of documents listed at each end of the differential bias

_ROLES = dict.fromkeys("ST", "Target sets") | dict.fromkeys("AB", "Attribute sets")
_WORDS_NOTE = "A word is lost when it is not in the vocabulary of a setup; the test is measured without it."
_BASELINE_NOTE = (
    "Mean ± standard deviation over embeddings of the whole corpus that differ in their seed alone; p "
    "from the permutation test of the target sets, median over the embeddings."
)
_SETUPS_NOTE = (
    "Lengths count the tokens of an article before the vocabulary is applied, the number of tokens those "
    "in the vocabulary. Analogies: mean ± standard deviation over the baseline embeddings, of the "
    "questions whose words are all in the vocabulary; coverage is their share of all questions."
)
_WORD_COUNTS = [f"{prefix}_{name}" for prefix in ("n", "rarest") for name in "STAB"]
_DOCUMENTS_NOTE = (
    "ΔB = B(w) − B(w without the document) in units of the effect size, approximated by influence "
    "functions; mean ± standard deviation over the baseline embeddings. Raises (ΔB > 0): the document raises "
    "the effect size, its removal lowers it; bias increasing, in the paper's words. Lowers (ΔB < 0): the "
    "document lowers the effect size, its removal raises it; bias decreasing."
)


@table("table1_weat_sets", "Table 1")
def weat_sets(setups: Sequence[Setup]) -> Table:
    """Table 1: names of the target sets S, T and attribute sets A, B of every association test."""
    tests = _tests(setups)
    rows = [
        {"weat": weat, "symbol": symbol, "role": _ROLES[symbol], "set": name, "n_words": len(words)}
        for weat, word_sets in tests.items()
        for symbol, (name, words) in zip(_ROLES, word_sets.sets.items(), strict=True)
    ]
    data = pd.DataFrame(rows)
    text = data.pivot(index=["role", "symbol"], columns="weat", values="set")
    text = text.reindex(
        index=[(role, symbol) for symbol, role in _ROLES.items()], columns=list(tests)
    ).reset_index()
    text = text.rename(columns={"role": "Sets", "symbol": "Symbol"}).rename_axis(columns=None)
    return Table(data, text, "WEAT target and attribute sets")


@table("table1_weat_words", "Appendix B", "baseline")
def weat_words(setups: Sequence[Setup]) -> Table:
    """Appendix B: the words of every set, and the words that are not in each setup's vocabulary."""
    rows = []
    for weat, word_sets in _tests(setups).items():
        lost = {}
        for setup in (s for s in setups if weat in s.weats):
            lists = setup.of_weat("baseline", weat, "missing_words")["missing_words"].dropna()
            lost[setup.name] = {word.strip() for words in lists for word in str(words).split(",")}
        for symbol, (name, words) in zip(_ROLES, word_sets.sets.items(), strict=True):
            row = {"weat": weat, "symbol": symbol, "set": name, "words": ", ".join(words)}
            for setup in setups:
                missing = [w for w in words if w in lost.get(setup.name, ())]
                row[f"lost_{setup.name}"] = ", ".join(missing) if setup.name in lost else None
            rows.append(row)
    data = pd.DataFrame(rows)
    templates = {"WEAT": "{weat}", "Set": "{symbol}: {set}", "Words": "{words}"}
    templates |= {f"Lost in {s.name}": f"{{lost_{s.name}}}" for s in setups}
    text = text_columns(data, templates).replace("", "none")
    return Table(data, text, "Words of the WEAT target and attribute sets", _WORDS_NOTE)


@table("table2_baseline_bias", "Table 2", "baseline")
def baseline_bias(setups: Sequence[Setup]) -> Table:
    """Table 2: effect sizes of the embeddings of the entire corpus."""
    rows = []
    for setup, weat in pairs(setups):
        baseline = setup.of_weat("baseline", weat, "effect_size", "p_value", "n_missing_words")
        effects, p_values = baseline["effect_size"], baseline["p_value"]
        row = [setup.name, weat, len(baseline), effects.mean(), effects.std(ddof=1), p_values.median()]
        rows.append([*row, baseline["n_missing_words"].max()])
    columns = ["setup", "weat", "n_seeds", "effect_size_mean", "effect_size_sd", "p_value_median"]
    data = pd.DataFrame(rows, columns=[*columns, "n_lost_words"])
    templates = {
        "Setup": "{setup}",
        "WEAT": "{weat}",
        "Effect size": "{effect_size_mean:.3f} ± {effect_size_sd:.3f}",
        "p (median)": "{p_value_median:.2g}",
        "Embeddings": "{n_seeds}",
        "Words lost": "{n_lost_words}",
    }
    return Table(data, text_columns(data, templates), "Baseline WEAT effect sizes", _BASELINE_NOTE)


@table("table3_setups", "Table 3", "documents.parquet", "vocabulary", "analogies")
def experimental_setups(setups: Sequence[Setup]) -> Table:
    """Table 3: corpus, vocabulary, hyperparameters and analogies of every setup."""
    columns = {setup.name: _setup_rows(setup) for setup in setups}
    data = pd.DataFrame(
        [
            {"setup": name, "section": section, "parameter": parameter, "value": _plain(value)}
            for name, rows in columns.items()
            for section, parameter, _, _, value in rows
        ]
    )
    first = next(iter(columns.values()))
    text = pd.DataFrame({"Section": [row[0] for row in first], "Parameter": [row[2] for row in first]})
    text["Section"] = text["Section"].where(~text["Section"].duplicated(), "")
    for name, rows in columns.items():
        text[name] = [
            MISSING if pd.isna(value) else format(value, spec) if spec else str(value)
            for *_, spec, value in rows
        ]
    return Table(data, text, "Experimental setups", _SETUPS_NOTE)


@table(
    "tableE_influential_documents",
    "Appendix E",
    *("differential_bias/{test}.parquet", "documents.parquet", "baseline"),
    per=TEST,
)
def influential_documents(setup: Setup, weat: str) -> Table:
    """Appendix E: the documents at both ends of the differential bias (Equation 5), by `influence_mean`."""
    columns = ["document", "id", "title", "influence_mean", "influence_sd"]
    bias = setup.differential_bias(weat)[[*columns, *_WORD_COUNTS]]
    bias = bias.merge(setup.documents()[["document", "excerpt"]], on="document", how="left")
    factor, unit = percent_scale(setup.baseline_mean(weat))
    bias["percent_of_baseline"] = bias["influence_mean"] * factor if unit.startswith("%") else float("nan")
    data = both_ends(bias, ["influence_mean", "document"], N_INFLUENTIAL)
    data = data[["effect", "rank", *columns, "percent_of_baseline", *_WORD_COUNTS, "excerpt"]]
    templates = {
        "Effect on the bias": "{effect}",
        "ΔB": "{influence_mean:.4f} ± {influence_sd:.4f}",
        "% of baseline": "{percent_of_baseline:.2f}",
        "Title": "{title}",
        "ID": "{id}",
        "Excerpt": "{excerpt}",
    }
    title = f"Documents with the most influence on the bias ({setup.name}, {weat})"
    return Table(data, text_columns(data, templates), title, _DOCUMENTS_NOTE)


def _tests(setups: Sequence[Setup]) -> dict[str, WordSets]:
    """Return the word sets of every measured test, in the order of the setups."""
    return {weat: setup.word_sets(weat) for setup, weat in pairs(setups)}


def _setup_rows(setup: Setup) -> list[tuple[str, str, str, str, object]]:
    """Return section, identifier, display name, format and value of every parameter of a setup."""
    documents = setup.documents()
    analogies = setup.table("analogies", "set", "accuracy", "coverage")
    analogies = analogies[analogies["set"] == BASELINE]
    accuracy = analogies["accuracy"]
    is_part = setup.option("corpus", "unit") == "part"
    unit = f"parts of {setup.option('corpus', 'part_length')} tokens" if is_part else "articles"
    articles = documents["id"].str.rsplit("#", n=1).str[0] if is_part else documents["id"]
    return [
        ("Corpus", "unit", "Documents are", "", unit),
        ("Corpus", "min_length", "Min. article length", ",", setup.option("corpus", "min_length")),
        ("Corpus", "max_length", "Max. article length", ",", setup.option("corpus", "max_length")),
        ("Corpus", "n_articles", "Num. articles", ",", articles.nunique()),
        ("Corpus", "n_documents", "Num. documents", ",", len(documents)),
        ("Corpus", "n_tokens", "Num. tokens", ",", int(documents["n_tokens"].sum())),
        ("Vocabulary", "min_count", "Token min. count", ",", setup.option("vocabulary", "min_count")),
        ("Vocabulary", "vocabulary_size", "Vocabulary size", ",", len(setup.table("vocabulary", "word"))),
        ("GloVe", "context_window", "Context window", "", "symmetric"),
        ("GloVe", "window", "Window size", "", setup.option("glove", "window")),
        ("GloVe", "alpha", "α", "g", setup.option("glove", "alpha")),
        ("GloVe", "x_max", "x_max", "g", setup.option("glove", "x_max")),
        ("GloVe", "dimension", "Vector dimension", ",", setup.option("glove", "dimension")),
        ("GloVe", "epochs", "Training epochs", ",", setup.option("glove", "epochs")),
        ("Performance", "top1_analogies", "TOP-1 analogies", ".1%", accuracy.mean()),
        ("Performance", "top1_analogies_sd", "± std. dev.", ".1%", accuracy.std(ddof=1)),
        ("Performance", "analogy_coverage", "Analogy coverage", ".1%", analogies["coverage"].mean()),
    ]


def _plain(value: object) -> str:
    return "" if pd.isna(value) else f"{value:.10g}" if isinstance(value, float) else str(value)


_GRADIENT_NOTE = (
    "X is the pair's co-occurrence count, dB/dX the gradient of the effect size, X·dB/dX its elasticity: to "
    "first order, what the effect size would lose if the pair never co-occurred. Mean ± standard deviation "
    "over the baseline embeddings; ordered by the mean elasticity. Two words of the test are one pair."
)


@table("bias_gradient", "Appendix A", "bias_gradient/ends/{test}", per=TEST)
def gradient_table(setup: Setup, weat: str) -> Table:
    """List the co-occurrences that raise and lower the bias most."""
    data = setup.table(f"bias_gradient/ends/{weat}", *COLUMNS, text=("word", "context"))
    templates = {
        "The pair": "{effect} the bias",
        "Word": "{word}",
        "Context": "{context}",
        "X": "{x:.2f}",
        "dB/dX": "{gradient_mean:.5f} ± {gradient_sd:.5f}",
        "X·dB/dX": "{elasticity_mean:.4f} ± {elasticity_sd:.4f}",
    }
    title = f"Co-occurrences with the most influence on the bias ({setup.name}, {weat})"
    return Table(data, text_columns(data, templates), title, _GRADIENT_NOTE)


N_BINS = 60  # number of bins of a histogram; one bin is centred on zero

_HEIGHT = 1.9  # inches


@figure("figure6_histograms", "Figure 6", "differential_bias/{test}.parquet", "baseline")
def draw_histograms(setups: Sequence[Setup], stem: Path) -> None:
    """Draw Figure 6: histograms of the differential bias of documents (Equations 5 and 8)."""
    with grid(setups, [_HEIGHT] * len(setups)) as (fig, panels):
        parts = []
        for setup, weat, ax in panels:
            data = _histogram(setup, weat)
            _draw_histogram(ax, data)
            parts.append(data)
        save_with_data(fig, stem, pd.concat(parts, ignore_index=True))


@figure("figure1_histogram", "Figure 1", "differential_bias/{test}.parquet", "baseline", per=TEST)
def draw_histogram(setup: Setup, weat: str, stem: Path) -> None:
    """Draw Figure 1: Figure 6 of one test."""
    draw_histograms([setup.only(weat)], stem)


def _histogram(setup: Setup, weat: str) -> pd.DataFrame:
    mean = setup.baseline_mean(weat)
    factor, unit = percent_scale(mean)
    values = setup.differential_bias(weat)["influence_mean"].to_numpy() * factor
    width = (max(values.max(), 0) - min(values.min(), 0)) / N_BINS or 1.0
    first, last = np.floor(np.array([min(values.min(), 0), max(values.max(), 0)]) / width + 0.5)
    edges = (np.arange(first, last + 2) - 0.5) * width
    counts, _ = np.histogram(values, bins=edges)
    data = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "n_documents": counts})
    return data.assign(setup=setup.name, weat=weat, unit=unit, baseline_mean=mean)


def _draw_histogram(ax: Axes, data: pd.DataFrame) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    bars = data[data["n_documents"] > 0]
    colours = np.select(
        [bars["high"] < 0, bars["low"] > 0], [EFFECT_COLOURS[LOWERS], EFFECT_COLOURS[RAISES]], GREY
    )
    ax.bar(bars["low"], bars["n_documents"], bars["high"] - bars["low"], align="edge", color=colours)
    ax.set_yscale("log")
    ax.set_ylim(0.7, 3 * data["n_documents"].max())
    ax.margins(x=0.03)
    ax.locator_params(axis="x", nbins=7)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set(xlabel=f"Differential bias ({data['unit'].iloc[0]})", ylabel="Documents")
    for x, side, effect, text in (
        (0.98, "right", RAISES, "raise the bias"),
        (0.02, "left", LOWERS, "lower the bias"),
    ):
        ax.text(
            x, 0.99, text, color=EFFECT_COLOURS[effect], fontsize=6, ha=side, va="top", transform=ax.transAxes
        )
