"""The association tests: their words, and the bias of the baselines (Brunet et al. 2019, Tables 1 and 2)."""

from collections.abc import Sequence

import pandas as pd

from biaslab.bias.word_sets import WordSets
from biaslab.core.tables import Table, text_columns
from biaslab.origins.report.results import Setup, pairs

_SYMBOLS = ("S", "T", "A", "B")
_WORDS_NOTE = "A word is lost when it is not in the vocabulary of a setup; the test is measured without it."
_BASELINE_NOTE = (
    "Mean ± standard deviation over embeddings of the whole corpus that differ in their seed alone; p "
    "from the permutation test of the target sets, median over the embeddings."
)


def weat_sets(setups: Sequence[Setup]) -> Table:
    """Table 1: names of the target sets S, T and attribute sets A, B of every association test."""
    tests = _tests(setups)
    rows = [
        {"weat": weat, "symbol": symbol, "role": _role(symbol), "set": name, "n_words": len(words)}
        for weat, word_sets in tests.items()
        for symbol, (name, words) in zip(_SYMBOLS, word_sets.sets.items(), strict=True)
    ]
    data = pd.DataFrame(rows)
    shown = data.pivot(index=["role", "symbol"], columns="weat", values="set")
    shown = shown.reindex(index=[(_role(s), s) for s in _SYMBOLS], columns=list(tests)).reset_index()
    shown = shown.rename(columns={"role": "Sets", "symbol": "Symbol"}).rename_axis(columns=None)
    return Table(data, shown, "WEAT target and attribute sets")


def weat_words(setups: Sequence[Setup]) -> Table:
    """Appendix B: the words of every set, and those that each setup's vocabulary lacks."""
    rows = []
    for weat, word_sets in _tests(setups).items():
        lost = {s.name: _lost_words(s, weat) for s in setups if weat in s.weats}
        for symbol, (name, words) in zip(_SYMBOLS, word_sets.sets.items(), strict=True):
            row = {"weat": weat, "symbol": symbol, "set": name, "words": ", ".join(words)}
            for setup in setups:
                missing = [w for w in words if w in lost.get(setup.name, ())]
                row[f"lost_{setup.name}"] = ", ".join(missing) if setup.name in lost else None
            rows.append(row)
    data = pd.DataFrame(rows)
    templates = {"WEAT": "{weat}", "Set": "{symbol}: {set}", "Words": "{words}"}
    templates |= {f"Lost in {s.name}": f"{{lost_{s.name}}}" for s in setups}
    shown = text_columns(data, templates).replace("", "none")
    return Table(data, shown, "Words of the WEAT target and attribute sets", _WORDS_NOTE)


def baseline_bias(setups: Sequence[Setup]) -> Table:
    """Table 2: effect sizes of the embeddings of the whole corpus."""
    rows = []
    for setup, weat in pairs(setups):
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
    return Table(data, text_columns(data, shown), "Baseline WEAT effect sizes", _BASELINE_NOTE)


def _tests(setups: Sequence[Setup]) -> dict[str, WordSets]:
    """Return the word sets of every test that a setup measures, in the order of the setups."""
    return {weat: setup.word_sets(weat) for setup, weat in pairs(setups)}


def _role(symbol: str) -> str:
    return "Target sets" if symbol in "ST" else "Attribute sets"


def _lost_words(setup: Setup, weat: str) -> set[str]:
    lists = setup.of_weat("baseline", weat, "missing_words")["missing_words"].dropna()
    return {word.strip() for words in lists for word in str(words).split(",")}
