"""The answer to which documents of a corpus raise a bias and which lower it: lines, page and numbers."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.names import LOWERS, RAISES
from biaslab.bias.word_sets import WordSets
from biaslab.core.answers import Answer, Section, dots, link, listed, with_ends
from biaslab.core.io import read_parquet, read_tsv
from biaslab.core.stats import LEVEL, mean_interval
from biaslab.core.tables import text_columns
from biaslab.origins.attribution.estimates import seed_values
from biaslab.origins.attribution.registry import BY_SEED

COMMAND = "biaslab origins attribute"
ESTIMATOR = "newton"

_LIMITS = [
    "An estimate says what becomes of the bias when a document fades. Taken out whole, or with many others,"
    f" it may do less: {COMMAND} --verify trains again without the documents that raise the bias most.",
    "The largest of many estimates are too large in the mean, for they were chosen for their size.",
    "A bias is what these words of a test say of embeddings of this kind; other words, or other embeddings,"
    " may have other documents behind them.",
    "That a document raises a bias does not say that it is wrong, or that others are not.",
]


def answer(
    source: Path,
    out: Path,
    tests: Sequence[WordSets],
    ends: pd.DataFrame,
    facts: Mapping[str, str],
    said: Mapping[str, Sequence[str]],
) -> Answer:
    """Say what was found in the folder `out`; `ends` are the rows of its ``documents.tsv``.

    Of `facts` the page says how it was found; `said` has further lines, by the name of their test.
    """
    bias = read_tsv(out / "baseline.tsv", ("weat", "effect_size"))
    of_test = {one.name: bias[bias["weat"] == one.name]["effect_size"].to_numpy() for one in tests}
    shown = {one.name: _with_intervals(out, one.name, ends[ends["test"] == one.name]) for one in tests}
    lines = []
    for one in tests:
        lines += [_bias_line(one, of_test[one.name]), *_document_lines(shown[one.name])]
        lines += said[one.name]
    return Answer(
        command=COMMAND,
        question=f"Which documents of {source.name} raise {' and '.join(of_test)}, and which lower it?",
        data=facts,
        files=[source],
        lines=lines,
        sections=[_section(one, shown[one.name], len(of_test[one.name])) for one in tests],
        limits=_LIMITS,
        numbers={name: {"bias": of_test[name], "documents": shown[name]} for name in of_test},
    )


def _with_intervals(out: Path, test: str, ends: pd.DataFrame) -> pd.DataFrame:
    """Return the documents at either end, with the mean of their estimates and its interval.

    The documents are the largest of all, so that the intervals hold for all documents at once (Bonferroni).
    """
    estimates = seed_values(read_parquet(out / f"differential_bias/{BY_SEED}/{test}.parquet"), ESTIMATOR)
    of_seeds = estimates[:, ends["document"]].T
    level = 1 - (1 - LEVEL) / estimates.shape[1]
    intervals = np.array([mean_interval(values, level) for values in of_seeds]).reshape(-1, 2)
    kept = ends[["document", "id", "title", "effect", "rank", "page"]]
    return kept.assign(fall=of_seeds.mean(axis=1), fall_low=intervals[:, 0], fall_high=intervals[:, 1])


def _bias_line(one: WordSets, values: np.ndarray) -> str:
    low, high = mean_interval(values)
    return (
        f"{one.title} ({one.name}): bias {values.mean():+.3f} in the mean of {len(values)} embeddings"
        f" (95% {low:+.3f} to {high:+.3f})."
    )


def _document_lines(shown: pd.DataFrame) -> list[str]:
    """Say which document is first at either end, unless its estimate has the sign of the other."""
    lines = []
    for effect, sign, moves in ((RAISES, 1, "fall"), (LOWERS, -1, "rise")):
        first = shown[shown["effect"] == effect].iloc[0]
        if sign * first["fall"] > 0:
            ends = sorted(sign * first[["fall_low", "fall_high"]].astype(float))
            reaches = "; it reaches 0, so train more embeddings (--baselines)" if ends[0] <= 0 else ""
            lines.append(
                f"'{first['title']}' {effect} it most: without this document it would {moves} by"
                f" {sign * first['fall']:.3g} (95% {ends[0]:.3g} to {ends[1]:.3g}, for the largest of all"
                f" documents{reaches})."
            )
        else:
            lines.append(f"No document {effect} it.")
    return lines


def _section(one: WordSets, shown: pd.DataFrame, n_embeddings: int) -> Section:
    templates = {"Document": "{title}", "It": "{effect}"}
    templates["Fall of the bias without it"] = "{fall:+.3g} ({fall_low:+.3g} to {fall_high:+.3g})"
    pages = [link("words in colour", page) for page in shown["page"]]
    table = text_columns(shown, templates)
    return Section(
        f"{one.name}: documents at either end",
        [
            "How much the bias falls without each document (above 0: the document raises the bias), by"
            f" {ESTIMATOR}'s step with the damping of the training, in the mean of {n_embeddings} embeddings."
        ],
        dots(shown["title"], {"documents": with_ends(shown, "fall")}, "Fall of the bias without it", 0.0),
        listed(shown, "{title} {fall:+.3g}"),
        table.assign(Page=pd.Series(pages, index=table.index, dtype=object)),
        "Bars: 95% intervals of the mean over embeddings, by Student's t, which hold for all documents of the"
        " corpus at once (Bonferroni), because these documents were chosen for the size of their estimates.",
    )
