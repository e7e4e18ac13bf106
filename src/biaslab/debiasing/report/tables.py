"""The tables of debiasing, of all embeddings together (Bolukbasi et al. 2016)."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv
from biaslab.core.tables import Table, text_columns, write_table

COLUMNS = {
    "subspace": ("component", "share", "random_mean", "random_ci_low", "random_ci_high"),
    "bias": ("stage", "measure", "value", "n_words"),
    "weat": ("stage", "weat", "effect_size", "p_value", "n_missing_words", "missing_words"),
    "occupations": ("word", "stage", "projection", "rank"),
    "analogies": ("stage", "rank", "she", "he", "score"),
    "puzzles": ("stage", "first", "second", "third", "answer"),
    "indirect": ("word", "axis", "projection", "beta"),
    "axes": ("word", "she_he", "neutrality", "gender_specific", "stage"),
    "classifier": ("fold", "F", "n_specific_found"),
    "classifier_authors": ("fold", "F", "n_specific_found"),
    "benchmarks": ("stage", "benchmark", "convention", "value", "n_used", "n_total"),
    "lambda_path": ("lambda", "direct_bias", "direct_bias_refit"),
    "lost_words": ("list", "word"),
}
"""The files of an embedding, and what tables, figures and claims read of them."""

STAGES = {"before": "Before", "soft": "Soft", "hard": "Hard", "hard_authors": "Hard, the authors' lists"}
BENCHMARKS = {"rg65": "RG-65", "wordsim353": "WordSim-353", "msr": "MSR analogies"}
MEASURES = {
    "direct_bias": "DirectBias of all occupations",
    "direct_bias_neutral": "DirectBias of the neutral occupations",
    "direct_bias_own_subspace": "DirectBias of the neutral occupations, direction found anew",
    "direct_bias_authors": "DirectBias of the authors' occupations",
    "pair_bias": "Mean difference of an occupation's similarity to the words of a pair",
    "pair_bias_max": "Largest difference of a neutral word's similarity to the words of a pair",
    "equidistance_max": "Largest difference of a neutral word's distance to the words of a pair",
}
N_EXTREME = 20
"""Occupations at each end of the axis that the table shows."""
N_INDIRECT = 10
"""The same for the axis of indirect bias."""

_TEXT = ("missing_words", "word", "she", "he")
_PATH = {
    "direct_bias": "DirectBias",
    "direct_bias_refit": "DirectBias, direction found anew",
    "moved": "Mean distance moved",
    "constrained": "Cone binds",
}
_MULTIPLY = "-multiply"


def write_tables(folders: Mapping[str, Path], out: Path) -> None:
    """Write every table of the area.

    Parameters
    ----------
    folders : mapping of str to pathlib.Path
        The folder of results of each embedding, by its name.
    out : pathlib.Path
        Folder for the tables.

    Raises
    ------
    InputError
        When a file is missing or lacks a column, or there is no embedding.
    """
    makers = {
        "figure1_occupations": ("occupations", extreme_occupations),
        "figure1_analogies": ("analogies", analogies),
        "figure2_benchmarks": ("benchmarks", benchmarks),
        "direct_bias": ("bias", direct_bias),
        "indirect_bias": ("indirect", indirect_bias),
        "weat": ("weat", association_tests),
        "lambda_path": ("lambda_path", lambda_path),
        "lost_words": ("lost_words", lost_words),
    }
    if not folders:
        raise InputError("tables of no embedding; give at least one --embedding NAME=FOLDER")
    for stem, (name, make) in makers.items():
        write_table(out / stem, make(_read_all(folders, name)))
    lists = {"this project's list": "classifier", "the authors' list": "classifier_authors"}
    parts = [_read_all(folders, name).assign(seeds=seeds) for seeds, name in lists.items()]
    write_table(out / "classifier", classifier(pd.concat(parts, ignore_index=True)))


def read_results(folder: Path, name: str) -> pd.DataFrame:
    """Read one of the files `COLUMNS` of an embedding.

    Raises
    ------
    InputError
        When it is missing or lacks a column.
    """
    return read_tsv(folder / f"{name}.tsv", COLUMNS[name], text=_TEXT)


def extremes(occupations: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the occupations at both ends of the axis before debiasing.

    Parameters
    ----------
    occupations : pandas.DataFrame
        occupations.tsv of one embedding.
    n : int
        Words of each end; fewer when there are not twice as many.

    Returns
    -------
    pandas.DataFrame
        Columns end (she, he), place (1 is the most extreme), word, and the projection at each stage.
    """
    wide = occupations.pivot(index="word", columns="stage", values="projection")
    wide = wide.sort_values("before", ascending=False, kind="stable")
    n = min(n, len(wide) // 2)
    ends = pd.concat({"she": wide.head(n), "he": wide.tail(n)[::-1]}, names=["end", "word"]).reset_index()
    ends.insert(1, "place", ends.groupby("end", sort=False).cumcount() + 1)
    return ends[["end", "place", "word", *(s for s in STAGES if s in wide)]]


def extreme_occupations(data: pd.DataFrame) -> Table:
    """Return the occupations at the ends of the she-he axis (Figure 1, left)."""
    parts = {name: extremes(part, N_EXTREME) for name, part in data.groupby("embedding", sort=False)}
    found = pd.concat(parts, names=["embedding", None]).reset_index(0)
    shown = found.pivot(index=["embedding", "place"], columns="end").swaplevel(axis=1)
    shown.columns = ["_".join(names) for names in shown.columns]
    templates = {"Embedding": "{embedding}", "Place": "{place}"}
    for end in ("she", "he"):
        templates[f"Extreme {end}"] = f"{{{end}_word}}"
        templates |= {
            f"{name} ({end})": f"{{{end}_{stage}:+.3f}}" for stage, name in STAGES.items() if stage in found
        }
    note = (
        "Occupations by cosine with she - he before debiasing, and the same cosines after it. Words that tell"
        " a gender by themselves are not in the list of occupations."
    )
    return Table(found, text_columns(shown.reset_index(), templates), "Extreme occupations", note)


def analogies(data: pd.DataFrame) -> Table:
    """Return the generated analogies at each stage (Figure 1, right)."""
    named = data.assign(pair=data["she"] + " – " + data["he"])
    shown = named.pivot(index=["embedding", "rank"], columns="stage", values=["pair", "score"])
    stages = [stage for stage in STAGES if stage in shown["pair"]]
    shown.columns = ["_".join(names) for names in shown.columns]
    shown = shown.astype({f"score_{stage}": float for stage in stages})
    templates = {"Embedding": "{embedding}", "Rank": "{rank}"}
    for stage in stages:
        templates |= {STAGES[stage]: f"{{pair_{stage}}}", f"Score {stage}": f"{{score_{stage}:.3f}}"}
    note = (
        "She is to the first word of a pair as he is to the second: pairs at a distance of at most 1, by the"
        " cosine of their difference with she - he. Whether a pair is a stereotype is for people to judge."
    )
    title = "Generated analogies before and after debiasing"
    return Table(data, text_columns(shown.reset_index(), templates), title, note)


def benchmarks(data: pd.DataFrame) -> Table:
    """Return the benchmark scores at each stage, under every treatment of unknown words (Figure 2, right)."""
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
    shown = text_columns(wide, templates | _stages(data, "{%s:.1f}"))
    return Table(data, shown, "Benchmarks before and after debiasing", note)


def direct_bias(data: pd.DataFrame) -> Table:
    """Return direct bias and what Observation 1 says to be zero, at each stage."""
    chosen = data[data["measure"].isin(MEASURES)]
    wide = _by_stage(chosen, ["embedding", "measure", "n_words"])
    wide["name"] = wide["measure"].map(MEASURES)
    templates = {"Embedding": "{embedding}", "Measure": "{name}", "Words": "{n_words:,}"}
    note = (
        "DirectBias is the mean absolute cosine with the gender direction (c = 1). After hard debiasing the"
        " neutral words have none, and are equally near to both words of a pair, up to rounding."
    )
    shown = text_columns(wide, templates | _stages(data, "{%s:.3g}"))
    return Table(data, shown, "Direct bias before and after debiasing", note)


def indirect_bias(data: pd.DataFrame) -> Table:
    """Return the words at the ends of an axis of neutral words, and what of it is gender (Appendix A)."""
    order = data.assign(extent=data["projection"].abs()).sort_values("extent", ascending=False, kind="stable")
    shown = text_columns(
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
        f"The {N_INDIRECT} most extreme occupations of each end of the axis between two words. β is the share"
        " of the similarity of the word with its end that is due to the gender direction; negative where the"
        " direction hides a similarity."
    )
    return Table(data, shown, "Indirect bias", note)


def association_tests(data: pd.DataFrame) -> Table:
    """Return the word embedding association tests at each stage."""
    data = data.assign(missing_words=data["missing_words"].fillna(""))
    order = data["stage"].map(list(STAGES).index)
    shown = text_columns(
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
    return Table(data, shown, "Association tests before and after debiasing", note)


def lambda_path(data: pd.DataFrame) -> Table:
    """Return bias and benchmark scores at each weight of soft debiasing."""
    names = _PATH | BENCHMARKS
    templates = {"Embedding": "{embedding}", "λ": "{lambda:g}"}
    for column in data.columns.drop(["embedding", "lambda"]):
        form = ":.1f" if column in BENCHMARKS else ":.4g" if column != "constrained" else ""
        templates[names.get(column, column.replace("_", " "))] = f"{{{column}{form}}}"
    note = (
        "Soft debiasing weighs bias (λ) against the similarities of all words; the paper takes one λ. Scores"
        " over the pairs and questions whose words are known."
    )
    return Table(data, text_columns(data, templates), "Soft debiasing at every weight", note)


def classifier(data: pd.DataFrame) -> Table:
    """Return the F score of the classifier of gender-specific words (Section 5).

    Parameters
    ----------
    data : pandas.DataFrame
        classifier.tsv of all embeddings, with the list of words in column seeds.
    """
    found = data.groupby(["embedding", "seeds"], sort=False).agg(
        folds=("F", "size"),
        f_mean=("F", "mean"),
        f_sd=("F", "std"),
        f_lowest=("F", "min"),
        f_highest=("F", "max"),
        n_specific_found=("n_specific_found", "max"),
    )
    shown = text_columns(
        found.reset_index(),
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
    return Table(data, shown, "Classifier of gender-specific words", note)


def lost_words(data: pd.DataFrame) -> Table:
    """Return the words of each list that an embedding lacks."""
    found = data.groupby(["embedding", "list"], sort=False)["word"].agg(["size", ", ".join]).reset_index()
    shown = text_columns(
        found, {"Embedding": "{embedding}", "List": "{list}", "Lost": "{size}", "Words": "{join}"}
    )
    return Table(data, shown, "Words that the embeddings lack", "They count nowhere.")


def _read_all(folders: Mapping[str, Path], name: str) -> pd.DataFrame:
    """Return a file of all embeddings, with the embedding as first column."""
    parts = {embedding: read_results(folder, name) for embedding, folder in folders.items()}
    return pd.concat(parts, names=["embedding", None]).reset_index(0).reset_index(drop=True)


def _by_stage(data: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return a column of values for each stage, in the order of the data."""
    order = pd.MultiIndex.from_frame(data[keys].drop_duplicates())
    return data.pivot(index=keys, columns="stage", values="value").reindex(order).reset_index()


def _stages(data: pd.DataFrame, template: str) -> dict[str, str]:
    """Return the columns of the stages that there are."""
    present = set(data["stage"])
    return {name: template % stage for stage, name in STAGES.items() if stage in present}
