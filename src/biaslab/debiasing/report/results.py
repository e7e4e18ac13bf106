"""The result files of an embedding, and what people call what is in them."""

from collections.abc import Sequence

import pandas as pd

from biaslab.run.reports import Results

COLUMNS = {
    "subspace": (
        "component",
        "share",
        *(f"{name}_{part}" for name in ("random", "unit") for part in ("mean", "ci_low", "ci_high")),
    ),
    "bias": ("stage", "measure", "value", "n_words"),
    "weat": ("stage", "weat", "effect_size", "p_value", "n_missing_words", "missing_words"),
    "occupations": ("word", "stage", "projection", "rank"),
    "analogies": ("stage", "once", "rank", "she", "he", "score"),
    "puzzles": ("stage", "first", "second", "third", "answer"),
    "indirect": ("stage", "word", "axis", "projection", "beta"),
    "axes": ("word", "she_he", "neutrality", "gender_specific", "stage"),
    "classifier": ("fold", "F", "n_specific_found"),
    "classifier_authors": ("fold", "F", "n_specific_found"),
    "benchmarks": ("stage", "benchmark", "convention", "value", "n_used", "n_total"),
    "lambda_path": ("lambda", "direct_bias", "direct_bias_refit"),
    "lost_words": ("list", "word"),
    "methods": ("method", "measure", "value", "ci_low", "ci_high", "n"),
    "professions": ("method", "word", "bias", "share"),
}
"""The files of an embedding, and what tables, figures and claims read of them."""

STAGES = {"before": "Before", "soft": "Soft", "hard": "Hard", "hard_authors": "Hard, the authors' lists"}
BENCHMARKS = {"rg65": "RG-65", "wordsim353": "WordSim-353", "msr": "MSR analogies"}

_TEXT = ("missing_words", "word", "she", "he")


def read(unit: Results, name: str) -> pd.DataFrame:
    """Read one of the files `COLUMNS` of an embedding."""
    return unit.table(name, *COLUMNS[name], text=_TEXT)


def read_all(units: Sequence[Results], name: str) -> pd.DataFrame:
    """Read one of the files `COLUMNS` of several embeddings; their names become the first column."""
    parts = {unit.name: read(unit, name) for unit in units}
    return pd.concat(parts, names=["embedding", None]).reset_index(0).reset_index(drop=True)


def extremes(occupations: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the occupations at both ends of the axis before debiasing: `n` of each, at most half of all.

    Columns end (she, he), place (1 is the most extreme), word, and the projection at each stage.
    """
    wide = occupations.pivot(index="word", columns="stage", values="projection")
    wide = wide.sort_values("before", ascending=False, kind="stable")
    n = min(n, len(wide) // 2)
    ends = pd.concat({"she": wide.head(n), "he": wide.tail(n)[::-1]}, names=["end", "word"]).reset_index()
    ends.insert(1, "place", ends.groupby("end", sort=False).cumcount() + 1)
    return ends[["end", "place", "word", *(s for s in STAGES if s in wide)]]
