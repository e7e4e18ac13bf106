"""The page that ``biaslab debiasing`` prints: tables on a terminal, plain text in a pipe or file."""

from collections.abc import Callable, Sequence
from io import StringIO

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from biaslab.debiasing.measurement import Lists, Measurement, lost_words
from biaslab.run.terminal import plain_console, plain_table

N_COMPONENTS = 3
N_LOST = 10
"""Lost words of a list to print; the table has them all."""

_WIDTH = 100
_NAMES = {
    "direct_bias": "DirectBias, all occupations",
    "direct_bias_neutral": "DirectBias, neutral occupations",
    "direct_bias_own_subspace": "the same, along the subspace found anew",
    "pair_bias": "Mean difference of similarity to the two words of a pair",
    "component_1_share": "Share of the first component",
}
_MEASURES = {
    "direct_bias": "DirectBias",
    "cluster_accuracy": "clusters",
    "classifier_accuracy": "classifier",
    "neighbour_correlation": "neighbours",
    "moved": "distance moved",
}
_HEADERS = {"none": "before", "double_hard": "double", "random_pairs": "pairs", "random_units": "units"}


def both(show: Callable[..., None], *arguments: object) -> str:
    """Print a page to standard output, and return it as plain text."""
    text = StringIO()
    for options in ({}, {"file": text, "width": _WIDTH}):
        show(plain_console(**options), *arguments)
    return text.getvalue()


def show_measurement(
    console: Console,
    name: str,
    n_words: int,
    lists: Lists,
    notes: Sequence[str],
    found: Measurement,
    top: int,
) -> None:
    """Print what was measured in an embedding."""
    _show_head(console, name, n_words, lists, notes)
    shares = found.subspace.shares
    listed = ", ".join(f"{share:.3f}" for share in shares[:N_COMPONENTS])
    pairs = [(_NAMES[key], f"{value:.4f}") for key, value in found.values.items() if "own" not in key]
    rows = [*pairs, (f"Shares of the first {min(N_COMPONENTS, len(shares))} components", listed)]
    _print(console, plain_table(["Measure", "Value"], rows, numbers=(1,)))
    _print(console, _extremes(found, top))
    _print(console, _tests(found.weats))
    _show_limits(console, found.weats)
    _show_lost(console, lists, found.weats)


def show_comparison(
    console: Console,
    name: str,
    n_words: int,
    lists: Lists,
    notes: Sequence[str],
    table: pd.DataFrame,
    weats: pd.DataFrame,
) -> None:
    """Print what debiasing changed."""
    _show_head(console, name, n_words, lists, notes)
    rows = [
        (_NAMES.get(row.measure, row.measure), _number(row.before), _number(row.after))
        for row in table.itertuples()
        if row.measure in _NAMES or not row.measure.startswith("component_")
    ]
    _print(console, plain_table(["Measure", "Before", "After"], rows, numbers=(1, 2)))
    console.print(
        "(An effect size is a share of the spread of the associations: it stays large where debiasing made"
        " all of them small.)"
    )
    for test in weats[weats["problem"] == ""].itertuples():
        console.print(f"(p of {test.weat}: {_how(test)})")
    _show_limits(console, weats)
    _show_lost(console, lists, weats)


def show_analogies(console: Console, pair: tuple[str, str], table: pd.DataFrame, top: int) -> None:
    """Print the first analogies."""
    console.print(
        f"{len(table)} analogies: {pair[0]} is to x as {pair[1]} is to y; the first {min(top, len(table))}"
    )
    rows = [(a.x, a.y, f"{a.score:.3f}", f"{a.distance:.3f}") for a in table.head(top).itertuples()]
    _print(console, plain_table(["x", "y", "Score", "Distance"], rows, numbers=(2, 3)))


def show_methods(
    console: Console, name: str, n_words: int, lists: Lists, notes: Sequence[str], table: pd.DataFrame
) -> None:
    """Print methods of debiasing side by side, a column each."""
    _show_head(console, name, n_words, lists, notes)
    methods = list(dict.fromkeys(table["method"]))
    wide = table.pivot(index="measure", columns="method", values="value")
    wide = wide.loc[list(dict.fromkeys(table["measure"])), methods]
    rows = [
        (_MEASURES.get(measure, measure.removesuffix("_effect_size")), *map(_short, row))
        for measure, *row in wide.itertuples()
    ]
    headers = ["Measure", *(_HEADERS.get(method, method) for method in methods)]
    _print(console, plain_table(headers, rows, numbers=range(1, len(headers))))


def _short(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.3f}"


def _show_head(console: Console, name: str, n_words: int, lists: Lists, notes: Sequence[str]) -> None:
    sets, dropped = len(lists.defining.rows), len(lists.defining.dropped)
    console.print(Text(name, style="bold"))
    console.print(
        f"{n_words} words; {sets} defining sets{f' ({dropped} dropped)' if dropped else ''},"
        f" {len(lists.equalize.rows)} equality sets, {len(lists.occupations.rows)} occupations, of which"
        f" {len(lists.neutral_occupations)} neutral; {len(lists.not_neutral)} words specific by definition"
    )
    for note in notes:
        console.print(Text(note))


def _extremes(found: Measurement, top: int) -> Table:
    """Return the occupations at the two ends of the axis; none is at both."""
    n = min(top, len(found.occupations) // 2)
    ends = found.occupations.head(n), found.occupations.tail(n)[::-1]
    rows = [
        (one.word, f"{one.projection:+.3f}", other.word, f"{other.projection:+.3f}")
        for one, other in zip(*(end.itertuples() for end in ends), strict=True)
    ]
    first, second = found.axis
    return plain_table([f"Extreme {first}", "Cosine", f"Extreme {second}", "Cosine"], rows, numbers=(1, 3))


def _tests(weats: pd.DataFrame) -> Table:
    rows = [
        (
            test.weat,
            test.title,
            "nan" if pd.isna(test.effect_size) else f"{test.effect_size:+.3f}",
            f"{test.p_value:.3g}",
            _how(test),
        )
        for test in weats[weats["problem"] == ""].itertuples()
    ]
    return plain_table(["WEAT", "", "Effect size", "p", ""], rows, numbers=(2, 3))


def _show_limits(console: Console, weats: pd.DataFrame) -> None:
    """Print what the numbers of the tests can be, and why one is undefined."""
    measured = weats[weats["problem"] == ""]
    if len(measured):
        largest = ", ".join(f"{test.weat} {test.largest:.2f}" for test in measured.itertuples())
        console.print(f"(p is one-sided. The most an effect size can be for sets of these sizes: {largest}.)")
    for name in measured.loc[measured["effect_size"].isna(), "weat"]:
        console.print(f"{name}: no effect size, because all targets are equally near but for rounding")


def _how(test: object) -> str:
    return f"{'exact' if test.exact else 'random'}, {test.permutations:,} partitions"


def _show_lost(console: Console, lists: Lists, weats: pd.DataFrame) -> None:
    rows = [(name, str(len(words)), _listed(words)) for name, words in lost_words(lists, weats).items()]
    _print(console, plain_table(["Words lost from", "", "(not in the embedding)"], rows, numbers=(1,)))
    for test in weats[weats["problem"] != ""].itertuples():
        console.print(f"not measured: {test.problem}")


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - N_LOST} more" if len(words) > N_LOST else ""
    return (", ".join(words[:N_LOST]) or "none") + more


def _number(value: float) -> str:
    return f"{value:.2e}" if 0 < abs(value) < 1e-4 else f"{value:.4f}"


def _print(console: Console, table: Table) -> None:
    console.print()
    console.print(table)
