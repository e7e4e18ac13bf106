"""Read the results of one setup for tables and figures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from biaslab.bias.word_sets import WordSets, in_words, read_word_sets
from biaslab.core.errors import InputError, suggest
from biaslab.run.plan.reports import Results

METADATA_COLUMNS = ("year", "section", "date")  # metadata that a corpus can have for its documents
SMALL_BASELINE = 0.05  # absolute effect size below which percentages of the baseline are meaningless

FIT_SHOWN = {
    "r²": "{r2:.3f}",
    "95% interval of r²": "[{r2_ci_low:.3f}, {r2_ci_high:.3f}]",
    "Slope": "{slope:.2f}",
    "95% interval of the slope": "[{slope_ci_low:.2f}, {slope_ci_high:.2f}]",
}
"""Templates of the table columns of a regression."""


@dataclass(frozen=True)
class Setup(Results):
    """The results of one setup; `unit.tests` are its association tests, `unit.files` their word sets."""

    @property
    def weats(self) -> tuple[str, ...]:
        """Names of the association tests of this setup, in the order of the configuration."""
        return self.unit.tests

    def only(self, weat: str) -> "Setup":
        """Return the results restricted to one test."""
        return replace(self, unit=replace(self.unit, tests=(weat,)))

    def word_sets(self, weat: str) -> WordSets:
        """Return the word sets of an association test."""
        return read_word_sets(self.file(weat))

    def title(self, weat: str) -> str:
        """Return the title of an association test: the compared sets."""
        sets = self.word_sets(weat)
        return f"{'/'.join(sets.targets)} × {'/'.join(sets.attributes)}"

    @property
    def corpus(self) -> str:
        """Name of the corpus in figures."""
        return f"{self.name.replace('_', ' ')} corpus"

    def of_test(self, weat: str) -> str:
        """Return the name of this setup and one of its association tests in figures."""
        return f"{self.corpus}, {in_words(weat)}"

    def heading(self, weat: str) -> str:
        """Return the heading of a figure of an association test."""
        return f"{self.of_test(weat)}: {self.title(weat)}"

    def of_weat(self, name: str, weat: str, *columns: str) -> pd.DataFrame:
        """Read the rows of ``<name>.tsv`` of an association test; raise InputError if there are none."""
        table = self.table(name, "weat", *columns)
        rows = table[table["weat"] == weat]
        if rows.empty:
            hint = suggest(weat, table["weat"].dropna().unique())
            raise InputError(
                f"{self.folder / name}.tsv: the table has no row for '{weat}'{hint}; regenerate the file"
            )
        return rows.reset_index(drop=True)

    def effect_sizes(self, weat: str) -> pd.Series:
        """Return the effect sizes of the baseline embeddings."""
        return self.of_weat("baseline", weat, "effect_size")["effect_size"]

    def baseline_mean(self, weat: str) -> float:
        """Return the mean effect size of the baseline embeddings."""
        return float(self.effect_sizes(weat).mean())

    def documents(self) -> pd.DataFrame:
        """Return the documents of the corpus, with metadata as text (empty if missing)."""
        table = self.parquet("documents")
        for column in table.columns.intersection(METADATA_COLUMNS):
            table[column] = table[column].astype(object).fillna("").astype(str)
        return table

    def differential_bias(self, weat: str) -> pd.DataFrame:
        """Return the differential bias of every document, all columns, in the order of the documents."""
        table = self.parquet(f"differential_bias/{weat}")
        return table.sort_values("document", kind="stable").reset_index(drop=True)


def pairs(setups: Sequence[Setup]) -> list[tuple[Setup, str]]:
    """Return all pairs of a setup and one of its association tests."""
    return [(setup, weat) for setup in setups for weat in setup.weats]


def rows_of_setups(setups: Sequence[Setup], read: Callable[[Setup], pd.DataFrame]) -> pd.DataFrame:
    """Return the rows that `read` returns for every setup, after a column ``setup``."""
    parts = []
    for setup in setups:
        part = read(setup)
        part.insert(0, "setup", setup.name)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def rows_of_tests(setups: Sequence[Setup], name: str, *columns: str) -> pd.DataFrame:
    """Return `columns` of ``<name>.tsv`` of every setup and test, after ``setup`` and ``weat``."""
    chosen = ["weat", *columns]
    return rows_of_setups(
        setups, lambda s: pd.concat([s.of_weat(name, weat, *columns)[chosen] for weat in s.weats])
    )


def percent_scale(baseline_mean: float) -> tuple[float, str]:
    """Return the factor that converts a difference of effect sizes to the displayed unit, and the unit.

    The unit is percent of the baseline mean, or effect size if the baseline mean is near zero.
    """
    if abs(baseline_mean) < SMALL_BASELINE:
        return 1.0, "effect size"
    return 100 / abs(baseline_mean), "% of baseline mean"
