"""Select the documents of perturbation sets (Brunet et al. 2019, Section 5.2 and Appendix C, III)."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, write_parquet
from biaslab.core.rng import stream
from biaslab.origins.sets import DECREASE, INCREASE, RANDOM, by_ppmi, is_random, random_set, targeted_set

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))["perturbation_sets"]


def write_sets(
    differential_bias: list[Path],
    scan: Path,
    estimator: str,
    sizes: list[int],
    sizes_by_ppmi: list[int],
    random_sizes: list[int],
    random_sets: int,
    seed: int,
    out: Path,
    out_by_ppmi: Path,
) -> None:
    """Write the documents of every perturbation set, and of the sets of the PPMI baseline.

    `differential_bias` has a file for each test; `scan` is the differential bias by PPMI of the first test.
    """
    column = f"{estimator}_mean"
    means = {path.stem: read_parquet(path, [column])[column].to_numpy() for path in differential_bias}
    write_parquet(out, select_sets(means, sizes, random_sizes, random_sets, seed))
    ppmi = read_parquet(scan, ["ppmi"])["ppmi"].to_numpy()
    write_parquet(out_by_ppmi, select_ppmi_sets(ppmi, scan.stem, sizes_by_ppmi))


def select_sets(
    differential_bias: Mapping[str, np.ndarray],
    sizes: Sequence[int],
    random_sizes: Sequence[int],
    random_sets: int,
    seed: int,
) -> pd.DataFrame:
    """Select documents that raise or lower a bias most, and random documents: ``perturbation_sets.parquet``.

    `differential_bias` is the mean estimate of B(w) - B(w~) (Eq. 5) by test. ``decrease`` sets contain the
    documents with the largest differential bias, which raise the bias; ``increase`` sets those that lower it.
    The names refer to the effect of the removal. Ties are in the order of the corpus.
    """
    counts = {len(values) for values in differential_bias.values()}
    if len(counts) != 1:
        raise InputError(
            f"the bias tests rank different numbers of documents ({counts}); regenerate the estimates"
        )
    n_documents = counts.pop()
    for size in (*sizes, *random_sizes):
        if size > n_documents:
            raise InputError(
                f"a set of {size} documents exceeds the corpus of {n_documents}; choose smaller"
                " perturbation sizes"
            )
    frames = []
    for weat, values in differential_bias.items():
        if np.isnan(values).any():
            raise InputError(
                f"{weat}: document {np.isnan(values).argmax()} has no estimate; choose another estimator"
            )
        frames.append(select_targeted(weat, weat, values, sizes))
    for size in random_sizes:
        for replicate in range(random_sets):
            rng = stream(seed, "random set", size, replicate)
            documents = rng.choice(n_documents, size, replace=False)
            frames.append(frame(random_set(size, replicate), "", RANDOM, size, replicate, documents))
    return pd.concat(frames, ignore_index=True)


def select_ppmi_sets(ppmi: np.ndarray, weat: str, sizes: Sequence[int]) -> pd.DataFrame:
    """Select the documents whose removal changes the bias in PPMI most (Section 5.3, Table 5)."""
    n_ranked = int(np.isfinite(ppmi).sum())
    if sizes and max(sizes) > n_ranked:
        raise InputError(
            f"a set of {max(sizes)} documents exceeds the {n_ranked} documents with a differential bias by"
            " PPMI; choose smaller ppmi_sets.sizes"
        )
    return select_targeted(by_ppmi(weat), weat, ppmi, sizes)


def select_targeted(ranking: str, weat: str, values: np.ndarray, sizes: Sequence[int]) -> pd.DataFrame:
    """Select the documents at both ends of a ranking: those that lower a bias, and those that raise it.

    `ranking` is the name of the ranking, as for `biaslab.origins.sets.targeted_set`. NaN is last in both
    directions. Without `sizes`, the table has no rows.
    """
    frames = [frame("", weat, "", 0, 0, [])]
    for kind, scores in ((INCREASE, values), (DECREASE, -values)):
        order = np.argsort(scores, kind="stable")
        frames += [frame(targeted_set(ranking, kind, n), weat, kind, n, 0, order[:n]) for n in sizes]
    return pd.concat(frames, ignore_index=True)


def frame(
    name: str, weat: str, kind: str, size: int, replicate: int, documents: Sequence[int]
) -> pd.DataFrame:
    """Return the rows of one set in ``perturbation_sets.parquet``, one per document."""
    values = [name, weat, kind, size, replicate, np.sort(np.asarray(documents, dtype=np.int64))]
    return pd.DataFrame(dict(zip(COLUMNS, values, strict=True)))


def only_removed(table: pd.DataFrame, measured: Iterable[str]) -> pd.DataFrame:
    """Return the rows of removed sets: without random sets if none of them was measured.

    A setup can only predict its random sets, without retraining (``perturbations.random_retrainings: 0``).
    """
    return table if any(map(is_random, measured)) else table[table["kind"] != RANDOM]


def members(sets: pd.DataFrame, names: Iterable[str] | None = None) -> dict[str, np.ndarray]:
    """Return the document numbers of each set in the order of the table, or of the sets `names`."""
    groups = {str(name): group.to_numpy() for name, group in sets.groupby("set", sort=False)["document"]}
    chosen = list(groups if names is None else names)
    for name in chosen:
        if name not in groups:
            raise InputError(f"the table has no perturbation set '{name}'; rerun the selection of sets")
    return {name: groups[name] for name in chosen}
