"""The tables of words: importance by explanations, group identifiers in the linear model (Tables 2 to 4).

Words that may be slurs are masked unless the configuration says otherwise, in every file of a table.
"""

from collections.abc import Sequence

import pandas as pd

from biaslab.core.tables import MISSING, Table, text_columns
from biaslab.hate_speech.report.names import VANILLA, is_plain, title
from biaslab.hate_speech.report.results import of_methods, read, read_all
from biaslab.hate_speech.report.summaries import stacked
from biaslab.run.reports import Results
from biaslab.text.masking import Masker

N_WORDS = 20
"""Words of each list of Table 2."""
N_LARGEST = 150
"""Weights of a linear model among which identifiers are counted."""
BEFORE, AFTER = "before", "after"
_IDENTIFIER = "†"


def word_importance(unit: Results) -> Table:
    """Return the most important words before and after regularization, with the change of rank (Table 2)."""
    found = rank_changes(read(unit, "importance"))
    if not unit.option("unmask"):
        masked = Masker.load(unit.file("masked_words"))
        found["word"] = found["word"].map(masked)
    shown = _side_by_side(found)
    note = (
        f"The {N_WORDS} words with the largest mean φ (SOC, Equation 1) on test sentences, under the encoder"
        " without and with regularization, and by how many places regularization moves them: up is positive."
        f" {_IDENTIFIER}: group identifier."
    )
    if not unit.option("unmask"):
        note += " Slurs are masked."
    return Table(found, shown, "Most important words", note)


def rank_changes(importance: pd.DataFrame) -> pd.DataFrame:
    """Return the first words of every regularized method and of the encoder without, and their moves.

    The method is the regularized one ("" when there is none). rank_change is before minus after: positive for
    a word that rose; missing where the other classifier has not explained the word.
    """
    plain = of_methods(importance, is_plain)
    methods = [method for method in plain["method"].unique() if method != VANILLA]
    before = plain[plain["method"] == VANILLA]
    columns = ["word", "is_identifier", "n", "mean_phi"]
    parts = []
    for method in methods or [""]:
        after = plain[plain["method"] == method]
        for name, own in ((BEFORE, before), (AFTER, after)):
            top = own.sort_values("rank", kind="stable").head(N_WORDS)[columns]
            top = top.assign(method=method, list=name, place=range(1, len(top) + 1))
            top["rank_before"] = top["word"].map(before.set_index("word")["rank"]).astype(float)
            top["rank_after"] = top["word"].map(after.set_index("word")["rank"]).astype(float)
            parts.append(top)
    found = stacked(parts)
    found["rank_change"] = found["rank_before"] - found["rank_after"]
    return found[["method", "list", "place", *columns, "rank_before", "rank_after", "rank_change"]]


def identifiers(units: Sequence[Results]) -> Table:
    """Return the group identifiers with their weights and ranks in our linear model (Tables 3 and 4)."""
    weights = read_all(units, "linear_weights")
    own = weights.loc[weights["is_identifier"], ["corpus", "term", "weight", "rank", "n_features"]]
    parts = [part.sort_values("rank", kind="stable") for _, part in own.groupby("corpus", sort=False)]
    data = stacked(parts or [own])
    shown = {
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
    return Table(data, text_columns(data, shown), title_, note)


def _side_by_side(found: pd.DataFrame) -> pd.DataFrame:
    """Return the text of Table 2: in each row a word before, and one after regularization."""
    marked = found["word"] + found["is_identifier"].map({True: _IDENTIFIER, False: ""})
    change = found["rank_change"].map(lambda x: MISSING if pd.isna(x) else f"{x:+.0f}")
    phi = found["mean_phi"].map("{:.2f}".format)
    cells = found.assign(marked=marked, change=change, phi=phi)
    keys, columns = ["method", "place"], ["marked", "phi", "change"]
    before, after = (cells.loc[cells["list"] == name, [*keys, *columns]] for name in (BEFORE, AFTER))
    wide = before.merge(after, on=keys, how="outer", suffixes=("_before", "_after"))
    order = list(found["method"].unique())
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
