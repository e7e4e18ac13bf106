"""Tables of the origins area: Tables 1 to 4 and Appendix E of Brunet et al. 2019, tests, and metadata."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from biaslab.bias.word_sets import WordSets
from biaslab.core.errors import InputError
from biaslab.core.tables import MISSING, Table, text_columns, write_table
from biaslab.origins.report.axis import frequency_table
from biaslab.origins.report.estimators import compare_estimators
from biaslab.origins.report.gradient import gradient_table
from biaslab.origins.report.ppmi import document_rankings
from biaslab.origins.report.ppmi_sets import compare_identification
from biaslab.origins.report.quality import compare_analogies
from biaslab.origins.report.results import Setup, SetupItem, aggregate_by_metadata, list_items, percent_scale
from biaslab.origins.report.seeds import stability_table
from biaslab.origins.report.single_documents import correlation_table, documents_table
from biaslab.origins.report.transfer import transfer_table, word2vec_analogies

SIGNIFICANT = 0.05
"""Level of Welch's test."""

N_INFLUENTIAL = 25
"""Documents listed at each end of the differential bias."""

N_GROUPS = 25
"""Groups of one metadata column shown at each end; the .tsv has all."""

_SYMBOLS = ("S", "T", "A", "B")

# Caption (also the file's name) -> the paper's item.
_ACROSS = {
    "table1_weat_sets": "Table 1",
    "table1_weat_words": "Appendix B",
    "table2_baseline_bias": "Table 2",
    "table3_setups": "Table 3",
    "table4_correlation": "Table 4",
    "tests_summary": "Welch's tests",
    "axis_frequency": "Section 5.5",
    "ppmi_rankings": "Section 5.3",
    "transfer": "Section 5.4",
    "estimators": "Estimators",
}
_OF_SETUP = {
    "table5_ppmi_baseline": "Table 5",
    "single_documents": "Single documents",
    "single_correlation": "Single documents",
    "tests_sets": "Welch's tests",
    "analogies_sets": "Analogies",
    "analogies_word2vec": "Section 5.4",
}
_OF_WEAT = {
    "tableE_influential_documents": "Appendix E",
    "metadata": "Metadata",
    "bias_gradient": "Appendix A",
    "seed_stability": "Seeds",
}

_NOTES = {
    "table1_weat_words": (
        "A word is lost when it is not in the vocabulary of a setup; the test is measured without it."
    ),
    "table2_baseline_bias": (
        "Mean ± standard deviation over embeddings of the whole corpus that differ in their seed alone; p "
        "from the permutation test of the target sets, median over the embeddings."
    ),
    "table3_setups": (
        "Lengths count the tokens of an article before the vocabulary is applied, the number of tokens those "
        "in the vocabulary. Analogies: mean ± standard deviation over the baseline embeddings, of the "
        "questions whose words are all in the vocabulary; coverage is their share of all questions."
    ),
    "table4_correlation": (
        "Least squares of the observed on the predicted mean effect size, a point a targeted set; intervals "
        "by bootstrap. A slope of 1 says that predictions have the right size. Estimators: influence is the "
        "paper's (Equation 8), newton takes the Hessian of the perturbed corpus, gradient is first order in "
        "the co-occurrences."
    ),
    "tests": (
        "Welch's two-sided test of the retrained embeddings against the baseline embeddings, p < 0.05, not "
        "corrected for the number of sets, as in the paper."
    ),
    "analogies_sets": (
        "TOP-1 analogies in percent of the questions whose words are all in the vocabulary, mean ± standard "
        "deviation over embeddings. Welch's two-sided test against the baseline, not corrected for the "
        "number of sets: of {n_tested} sets {n_significant} differ (p < 0.05), {n_expected:.1f} would by "
        "chance."
    ),
    "tableE_influential_documents": (
        "ΔB = B(w) − B(w without the document) in units of the effect size, approximated by influence "
        "functions; mean ± standard deviation over the baseline embeddings. Bias decreasing (ΔB < 0): the "
        "document lowers the effect size, its removal raises it. Bias increasing (ΔB > 0): the document "
        "raises the effect size, its removal lowers it."
    ),
    "metadata": (
        "ΔB = B(w) − B(w without the document), summed over the documents of a group: positive groups raise "
        "the effect size. The interval is Student's over the baseline embeddings. Of a column with many "
        f"values, the {N_GROUPS} largest and the {N_GROUPS} smallest sums are shown."
    ),
}


def table_items(setups: Mapping[str, Sequence[str]]) -> list[SetupItem]:
    """List the tables that `write_tables` writes.

    Parameters
    ----------
    setups : mapping of str to sequence of str
        Names of the association tests, by setup.

    Returns
    -------
    list of SetupItem
        Each with the files ``<stem>.tsv``, ``.md`` and ``.tex``.
    """
    return list_items("tables", setups, _ACROSS, _OF_SETUP, _OF_WEAT)


def write_tables(
    setups: Sequence[Setup], word_sets: Mapping[str, WordSets], out_dir: str | os.PathLike
) -> None:
    """Write every table that `table_items` lists.

    Parameters
    ----------
    setups : sequence of Setup
        Result folders with their options, in the order of the tables.
    word_sets : mapping of str to WordSets
        The word sets of every association test of the setups.
    out_dir : path-like
        Results folder of the area.

    Raises
    ------
    InputError
        When a result file, one of its columns, an option or a word set is missing.
    """
    for item in table_items({setup.name: setup.weats for setup in setups}):
        write_table(Path(out_dir) / item.stem, _build(item, setups, word_sets))


def _build(item: SetupItem, setups: Sequence[Setup], word_sets: Mapping[str, WordSets]) -> Table:
    setup = next((s for s in setups if s.name == item.setup), None)
    match item.caption:
        case "table1_weat_sets":
            return weat_sets(setups, word_sets)
        case "table1_weat_words":
            return weat_words(setups, word_sets)
        case "table2_baseline_bias":
            return baseline_bias(setups)
        case "table3_setups":
            return experimental_setups(setups)
        case "table4_correlation":
            return correlation(setups)
        case "tests_summary":
            return significance_counts(setups)
        case "axis_frequency":
            return frequency_table(setups)
        case "ppmi_rankings":
            return document_rankings(setups)
        case "transfer":
            return transfer_table(setups)
        case "analogies_word2vec":
            return word2vec_analogies(setup)
        case "estimators":
            return compare_estimators(setups)
        case "table5_ppmi_baseline":
            return compare_identification(setup)
        case "tests_sets":
            return set_tests(setup)
        case "analogies_sets":
            return analogy_tests(setup)
        case "tableE_influential_documents":
            return influential_documents(setup, item.weat)
        case "bias_gradient":
            return gradient_table(setup, item.weat)
        case "single_documents":
            return documents_table(setup)
        case "single_correlation":
            return correlation_table(setup)
        case "seed_stability":
            return stability_table(setup, item.weat)
        case _:
            return metadata(setup, item.weat)


def weat_sets(setups: Sequence[Setup], word_sets: Mapping[str, WordSets]) -> Table:
    """Table 1: names of the target sets S, T and attribute sets A, B of every association test."""
    rows = [
        {"weat": weat, "symbol": symbol, "role": _role(symbol), "set": name, "n_words": len(words)}
        for weat in _weats(setups)
        for symbol, (name, words) in zip(_SYMBOLS, _sets(word_sets, weat).items(), strict=True)
    ]
    data = pd.DataFrame(rows)
    shown = data.pivot(index=["role", "symbol"], columns="weat", values="set")
    shown = shown.reindex(index=[(_role(s), s) for s in _SYMBOLS], columns=_weats(setups)).reset_index()
    shown = shown.rename(columns={"role": "Sets", "symbol": "Symbol"}).rename_axis(columns=None)
    return Table(data, shown, "WEAT target and attribute sets")


def weat_words(setups: Sequence[Setup], word_sets: Mapping[str, WordSets]) -> Table:
    """Appendix B: the words of every set, and those that each setup's vocabulary lacks."""
    rows = []
    for weat in _weats(setups):
        lost = {s.name: _lost_words(s, weat) for s in setups if weat in s.weats}
        for symbol, (name, words) in zip(_SYMBOLS, _sets(word_sets, weat).items(), strict=True):
            row = {"weat": weat, "symbol": symbol, "set": name, "words": ", ".join(words)}
            for setup in setups:
                missing = [w for w in words if w in lost.get(setup.name, ())]
                row[f"lost_{setup.name}"] = ", ".join(missing) if setup.name in lost else None
            rows.append(row)
    data = pd.DataFrame(rows)
    templates = {"WEAT": "{weat}", "Set": "{symbol}: {set}", "Words": "{words}"}
    templates |= {f"Lost in {s.name}": f"{{lost_{s.name}}}" for s in setups}
    return Table(
        data,
        text_columns(data, templates).replace("", "none"),
        "Words of the WEAT target and attribute sets",
        _NOTES["table1_weat_words"],
    )


def baseline_bias(setups: Sequence[Setup]) -> Table:
    """Table 2: effect sizes of the embeddings of the whole corpus."""
    rows = []
    for setup, weat in _pairs(setups):
        baseline = setup.of_weat("baseline", weat, "effect_size", "p_value", "n_missing_words")
        rows.append(
            {
                "setup": setup.name,
                "weat": weat,
                "n_seeds": len(baseline),
                "effect_size_mean": baseline["effect_size"].mean(),
                "effect_size_sd": baseline["effect_size"].std(ddof=1),
                "p_value_median": baseline["p_value"].median(),
                "n_lost_words": baseline["n_missing_words"].max(),
            }
        )
    data = pd.DataFrame(rows)
    shown = {
        "Setup": "{setup}",
        "WEAT": "{weat}",
        "Effect size": "{effect_size_mean:.3f} ± {effect_size_sd:.3f}",
        "p (median)": "{p_value_median:.2g}",
        "Embeddings": "{n_seeds}",
        "Words lost": "{n_lost_words}",
    }
    text = text_columns(data, shown)
    return Table(data, text, "Baseline WEAT effect sizes", _NOTES["table2_baseline_bias"])


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
    shown = pd.DataFrame({"Section": [row[0] for row in first], "Parameter": [row[2] for row in first]})
    shown["Section"] = shown["Section"].where(~shown["Section"].duplicated(), "")
    for name, rows in columns.items():
        shown[name] = [
            MISSING if pd.isna(value) else format(value, spec) if spec else str(value)
            for *_, spec, value in rows
        ]
    return Table(data, shown, "Experimental setups", _NOTES["table3_setups"])


def correlation(setups: Sequence[Setup]) -> Table:
    """Table 4: how well predicted mean biases explain the observed ones over the targeted sets."""
    columns = ["weat", "estimator", "n_sets", "r2", "r2_ci_low", "r2_ci_high"]
    columns += ["slope", "slope_ci_low", "slope_ci_high", "intercept"]
    parts = []
    for setup, weat in _pairs(setups):
        part = setup.of_weat("correlation", weat, *columns)[columns]
        part.insert(0, "setup", setup.name)
        parts.append(part)
    data = pd.concat(parts, ignore_index=True)
    shown = {
        "Setup": "{setup}",
        "WEAT": "{weat}",
        "Estimator": "{estimator}",
        "Sets": "{n_sets}",
        "r²": "{r2:.3f}",
        "95% interval of r²": "[{r2_ci_low:.3f}, {r2_ci_high:.3f}]",
        "Slope": "{slope:.2f}",
        "95% interval of the slope": "[{slope_ci_low:.2f}, {slope_ci_high:.2f}]",
    }
    return Table(
        data,
        text_columns(data, shown),
        "Correlation of approximated and validated mean biases",
        _NOTES["table4_correlation"],
    )


def significance_counts(setups: Sequence[Setup]) -> Table:
    """Count the perturbation sets that differ significantly from the baseline."""
    rows = []
    for setup, weat in _pairs(setups):
        tests = _welch_tests(setup, weat)
        for name, part in (
            ("targeted", tests[tests["kind"] != "random"]),
            ("random", tests[tests["kind"] == "random"]),
        ):
            tested = part["welch_p"].notna().sum()
            rows.append(
                {
                    "setup": setup.name,
                    "weat": weat,
                    "sets": name,
                    "n_tested": tested,
                    "n_significant": (part["welch_p"] < SIGNIFICANT).sum(),
                    "n_expected_by_chance": SIGNIFICANT * tested,
                }
            )
    data = pd.DataFrame(rows)
    shown = {
        "Setup": "{setup}",
        "WEAT": "{weat}",
        "Sets": "{sets}",
        "Tested": "{n_tested}",
        "Significant": "{n_significant}",
        "Expected by chance": "{n_expected_by_chance:.1f}",
    }
    return Table(data, text_columns(data, shown), "Perturbation sets that change the bias", _NOTES["tests"])


def set_tests(setup: Setup) -> Table:
    """Welch's test of every perturbation set of a setup against its baseline."""
    data = pd.concat([_welch_tests(setup, weat) for weat in setup.weats], ignore_index=True)
    shown = {
        "WEAT": "{weat}",
        "Set": "{set}",
        "Documents": "{size}",
        "Baseline": "{baseline_mean:.3f} ± {baseline_sd:.3f}",
        "After removal": "{observed_mean:.3f} ± {observed_sd:.3f}",
        "Retrainings": "{n_retrains}",
        "t": "{welch_t:.2f}",
        "p": "{welch_p:.2g}",
        "p < 0.05": "{significant}",
    }
    return Table(
        data,
        text_columns(data, shown),
        f"Bias after the removal of each perturbation set ({setup.name})",
        f"Effect sizes, mean ± standard deviation over embeddings. {_NOTES['tests']}",
    )


def analogy_tests(setup: Setup) -> Table:
    """TOP-1 analogies of the baseline and without each perturbation set (Section 5.2)."""
    data = compare_analogies(setup.table("analogies", "set", "accuracy"))
    tested = data["welch_p"].notna().sum()
    significant = (data["welch_p"] < SIGNIFICANT).sum()
    percent = data[["accuracy_mean", "accuracy_sd", "accuracy_change"]].astype(float) * 100
    shown = {
        "Set": "{set}",
        "Embeddings": "{n_embeddings}",
        "TOP-1 (%)": "{accuracy_mean:.2f} ± {accuracy_sd:.2f}",
        "Change": "{accuracy_change:+.2f}",
        "t": "{welch_t:.2f}",
        "p": "{welch_p:.2g}",
    }
    counts = {"n_tested": tested, "n_significant": significant, "n_expected": SIGNIFICANT * tested}
    return Table(
        data,
        text_columns(data.assign(**percent), shown),
        f"Analogies after the removal of each perturbation set ({setup.name})",
        _NOTES["analogies_sets"].format(**counts),
    )


def influential_documents(setup: Setup, weat: str) -> Table:
    """Appendix E: the documents at both ends of the differential bias (Equation 5), by `influence_mean`."""
    columns = ["document", "id", "title", "influence_mean", "influence_sd"]
    bias = setup.differential_bias(weat)[columns]
    bias = bias.merge(setup.documents()[["document", "excerpt"]], on="document", how="left")
    factor, unit = percent_scale(setup.baseline_mean(weat))
    bias["percent_of_baseline"] = bias["influence_mean"] * factor if unit.startswith("%") else float("nan")
    by_value = bias.sort_values(["influence_mean", "document"])
    decreasing = by_value[by_value["influence_mean"] < 0].head(N_INFLUENTIAL)
    increasing = by_value[by_value["influence_mean"] > 0].tail(N_INFLUENTIAL)[::-1]
    data = pd.concat(
        [
            part.assign(effect=name, rank=range(1, len(part) + 1))
            for name, part in (("decreasing", decreasing), ("increasing", increasing))
        ],
        ignore_index=True,
    )
    data = data[["effect", "rank", *columns, "percent_of_baseline", "excerpt"]]
    shown = {
        "Bias": "{effect}",
        "ΔB": "{influence_mean:.4f} ± {influence_sd:.4f}",
        "% of baseline": "{percent_of_baseline:.2f}",
        "Title": "{title}",
        "ID": "{id}",
        "Excerpt": "{excerpt}",
    }
    return Table(
        data,
        text_columns(data, shown),
        f"Documents with the most influence on the bias ({setup.name}, {weat})",
        _NOTES["tableE_influential_documents"],
    )


def metadata(setup: Setup, weat: str) -> Table:
    """Differential bias summed over the documents that share a year, section or date."""
    title = f"Differential bias by metadata ({setup.name}, {weat})"
    data = aggregate_by_metadata(setup.differential_bias(weat), setup.documents())
    rank = data.groupby("column", sort=False).cumcount()
    rank_from_end = data.groupby("column", sort=False).cumcount(ascending=False)
    ends = data[(rank < N_GROUPS) | (rank_from_end < N_GROUPS)]
    shown = {
        "Column": "{column}",
        "Value": "{value}",
        "Documents": "{n_documents}",
        "Sum of ΔB": "{sum:.4f}",
        "95% interval of the sum": "[{sum_ci_low:.4f}, {sum_ci_high:.4f}]",
        "Mean of ΔB": "{mean:.2e}",
    }
    if data.empty:
        return Table(data, text_columns(data, shown), title, "The corpus has no metadata column.")
    return Table(data, text_columns(ends, shown), title, _NOTES["metadata"])


def _weats(setups: Sequence[Setup]) -> list[str]:
    """Return the association tests of all setups, each once."""
    return list(dict.fromkeys(weat for setup in setups for weat in setup.weats))


def _pairs(setups: Sequence[Setup]) -> list[tuple[Setup, str]]:
    return [(setup, weat) for setup in setups for weat in setup.weats]


def _sets(word_sets: Mapping[str, WordSets], weat: str) -> dict[str, list[str]]:
    """Return the sets S, T, A, B of a test by name."""
    if weat not in word_sets:
        raise InputError(f"no word sets for '{weat}', which a setup measures; add its file with --weat")
    return word_sets[weat].sets


def _role(symbol: str) -> str:
    return "Target sets" if symbol in "ST" else "Attribute sets"


def _lost_words(setup: Setup, weat: str) -> set[str]:
    lists = setup.of_weat("baseline", weat, "missing_words")["missing_words"].dropna()
    return {word.strip() for words in lists for word in str(words).split(",")}


def _welch_tests(setup: Setup, weat: str) -> pd.DataFrame:
    """Return one row a perturbation set; the observed bias does not depend on the estimator."""
    columns = ["weat", "set", "kind", "size", "replicate", "baseline_mean", "baseline_sd"]
    columns += ["observed_mean", "observed_sd", "n_retrains", "welch_t", "welch_p"]
    tests = setup.of_weat("perturbations", weat, *columns)[columns].drop_duplicates("set")
    return tests.assign(significant=(tests["welch_p"] < SIGNIFICANT).map({True: "yes", False: "no"}))


def _setup_rows(setup: Setup) -> list[tuple[str, str, str, str, object]]:
    """Return section, machine name, human name, format and value of every parameter of a setup."""
    documents = setup.documents()
    analogies = setup.table("analogies", "set", "accuracy", "coverage")
    analogies = analogies[analogies["set"] == "baseline"]
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
