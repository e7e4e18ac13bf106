"""The result folder of one setup: what tables and figures read from it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from biaslab.core.errors import InputError, suggest
from biaslab.core.files import read_yaml
from biaslab.core.io import read_parquet, read_tsv
from biaslab.core.stats import mean_interval
from biaslab.run.area import Item

ESTIMATORS = ("influence", "newton", "gradient")
"""The three approximations of a retrained embedding, the paper's own (its Equation 8) first."""

METADATA_COLUMNS = ("year", "section", "date")
"""What a corpus may tell about its documents."""

SMALL_BASELINE = 0.05
"""Below this absolute effect size, percent of the baseline means nothing."""


@dataclass(frozen=True)
class SetupItem(Item):
    """A table or figure, with the setup and the test that it covers; ``"all"`` when it covers every one."""

    setup: str = "all"
    weat: str = "all"


def list_items(
    folder: str,
    setups: Mapping[str, Sequence[str]],
    across: Mapping[str, str],
    of_setup: Mapping[str, str],
    of_weat: Mapping[str, str],
) -> list[SetupItem]:
    """List tables or figures: those over all setups, then those of each setup, and of each of its tests.

    Parameters
    ----------
    folder : str
        The folder they lie in, ``tables`` or ``figures``; of one setup, inside the folder of the setup.
    setups : mapping of str to sequence of str
        Names of the association tests, by setup.
    across, of_setup, of_weat : mapping of str to str
        The paper's item of each caption.
    """
    items = [SetupItem(f"{folder}/{caption}", caption, name) for caption, name in across.items()]
    for setup, weats in setups.items():
        stem = f"{setup}/{folder}"
        items += [SetupItem(f"{stem}/{c}", c, name, setup) for c, name in of_setup.items()]
        items += [
            SetupItem(f"{stem}/{c}_{w}", c, name, setup, w) for w in weats for c, name in of_weat.items()
        ]
    return items


@dataclass(frozen=True)
class Setup:
    """One setup: its name, result folder and options.

    Attributes
    ----------
    name : str
        Key of the setup in the configuration.
    folder : pathlib.Path
        Where its results are.
    options : mapping
        What the configuration says under ``setups.<name>``.
    """

    name: str
    folder: Path
    options: Mapping[str, Any]

    def option(self, *keys: str) -> Any:
        """Return one option, e.g. ``option("glove", "window")``; InputError when it is missing."""
        value: Any = self.options
        for key in keys:
            if not isinstance(value, Mapping) or key not in value:
                raise InputError(f"configuration: key setups.{self.name}.{'.'.join(keys)} is missing; add it")
            value = value[key]
        return value

    @property
    def weats(self) -> tuple[str, ...]:
        """Names of the association tests of this setup, in the order of the configuration."""
        return tuple(self.option("bias", "weats"))

    def table(self, name: str, *columns: str) -> pd.DataFrame:
        """Read ``<name>.tsv`` of this setup, which must have `columns`."""
        return read_tsv(self.folder / f"{name}.tsv", columns)

    def of_weat(self, name: str, weat: str, *columns: str) -> pd.DataFrame:
        """Read the rows of ``<name>.tsv`` that belong to one association test; there must be some."""
        table = self.table(name, "weat", *columns)
        rows = table[table["weat"] == weat]
        if rows.empty:
            near = suggest(weat, table["weat"].dropna().unique())
            raise InputError(f"{self.folder / name}.tsv: no row for '{weat}'{near}; make the file anew")
        return rows.reset_index(drop=True)

    def baseline_mean(self, weat: str) -> float:
        """Return the mean effect size of the baseline embeddings."""
        return float(self.of_weat("baseline", weat, "effect_size")["effect_size"].mean())

    def documents(self) -> pd.DataFrame:
        """Return the corpus' documents with their metadata as text (empty where there is none)."""
        table = read_parquet(self.folder / "documents.parquet")
        for column in table.columns.intersection(METADATA_COLUMNS):
            table[column] = table[column].astype(object).fillna("").astype(str)
        return table

    def differential_bias(self, weat: str) -> pd.DataFrame:
        """Return the differential bias of every document, all columns, in the order of the documents."""
        return self._of_documents("differential_bias", weat)

    def ppmi(self, weat: str) -> pd.DataFrame:
        """Return the differential bias of every document by PPMI, in the order of the documents."""
        return self._of_documents("ppmi", weat)

    def _of_documents(self, folder: str, weat: str) -> pd.DataFrame:
        table = read_parquet(self.folder / folder / f"{weat}.parquet")
        return table.sort_values("document", kind="stable").reset_index(drop=True)


def read_setups(folders: Sequence[str], config: str | os.PathLike) -> list[Setup]:
    """Pair result folders with the options they were made with.

    Parameters
    ----------
    folders : sequence of str
        ``NAME=FOLDER``, in the order in which tables and figures show them.
    config : path-like
        The configuration of the run, JSON or YAML. Read here and later: ``setups.NAME.bias.weats`` and, for
        the table of setups, ``corpus``, ``vocabulary`` and ``glove``.

    Returns
    -------
    list of Setup

    Raises
    ------
    InputError
        When an argument has no ``=``, or the configuration is no readable mapping or lacks the setup.
    """
    options = read_yaml(Path(config))
    known = options.get("setups")
    if not isinstance(known, Mapping):
        raise InputError(f"{config}: key setups is missing; name the configuration of the run")
    setups = []
    for argument in folders:
        name, equals, folder = argument.partition("=")
        if not (name and equals and folder):
            raise InputError(f"--setup {argument}: write NAME=FOLDER")
        if name not in known:
            raise InputError(f"{config}: setups.{name} is missing{suggest(name, known)}")
        setups.append(Setup(name, Path(folder), known[name]))
    return setups


def percent_scale(baseline_mean: float) -> tuple[float, str]:
    """Return the factor that turns a difference of effect sizes into the unit to show, and that unit.

    Parameters
    ----------
    baseline_mean : float
        Mean effect size of the baseline embeddings.

    Returns
    -------
    factor : float
        ``100 / |baseline_mean|``, or 1 when the baseline is too near to zero for percentages.
    unit : str
        ``"% of baseline mean"`` or ``"effect size"``.
    """
    if abs(baseline_mean) < SMALL_BASELINE:
        return 1.0, "effect size"
    return 100 / abs(baseline_mean), "% of baseline mean"


def metadata_columns(documents: pd.DataFrame) -> list[str]:
    """Return the metadata columns that say anything about these documents."""
    return [c for c in METADATA_COLUMNS if c in documents and (documents[c] != "").any()]


def aggregate_by_metadata(differential_bias: pd.DataFrame, documents: pd.DataFrame) -> pd.DataFrame:
    """Sum the differential bias of the documents that share a metadata value.

    The differential biases of single documents nearly add up to that of their set (the paper's Appendix C),
    so a sum reads as what the group contributes to the bias. The interval is Student's at 95%, over the
    baseline embeddings: it tells how far the sum depends on the seed of the training.

    Parameters
    ----------
    differential_bias : pandas.DataFrame
        ``document`` and ``influence_seed0..``, in effect-size units, a row a document.
    documents : pandas.DataFrame
        ``document`` and any of `METADATA_COLUMNS`.

    Returns
    -------
    pandas.DataFrame
        ``column, value, n_documents, sum, sum_ci_low, sum_ci_high, mean, mean_ci_low, mean_ci_high``, in the
        order of the columns and then by sum, largest first. No row when there is no metadata.
    """
    seeds = [c for c in differential_bias.columns if c.startswith("influence_seed")]
    joined = differential_bias[["document", *seeds]].merge(documents, on="document", validate="one_to_one")
    parts = []
    for column in metadata_columns(documents):
        groups = joined.groupby(joined[column].replace("", "(none)"), sort=True)
        sums = groups[seeds].sum()
        part = pd.DataFrame({"n_documents": groups.size(), "sum": sums.mean(axis=1)})
        part["sum_ci_low"], part["sum_ci_high"] = zip(*sums.apply(mean_interval, axis=1), strict=True)
        for name in ("mean", "mean_ci_low", "mean_ci_high"):
            part[name] = part[name.replace("mean", "sum")] / part["n_documents"]
        part = part.rename_axis("value").reset_index()
        part.insert(0, "column", column)
        parts.append(part.sort_values(["sum", "value"], ascending=[False, True]))
    names = ["column", "value", "n_documents", "sum", "sum_ci_low", "sum_ci_high"]
    names += ["mean", "mean_ci_low", "mean_ci_high"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=names)
