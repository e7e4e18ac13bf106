"""How much of the ranking of documents by their influence on a bias survives debiasing.

The ranking is that of the origins of bias (Brunet et al. 2019): by B(w) - B(w~), the effect size of the word
vectors minus that without a document. Afterwards it is by B(T w) - B(T w~), where T is what debiasing does to
the words (Bolukbasi et al. 2016): the same before and after the removal.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.names import EFFECTS
from biaslab.bias.weat import effect_size
from biaslab.bias.word_sets import WeatIndices, in_vocabulary, read_word_sets
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, write_tsv
from biaslab.core.rankings import agreement
from biaslab.core.stats import mean_interval
from biaslab.debiasing.columns import COLUMNS
from biaslab.embeddings.unit import read_unit_trainings
from biaslab.embeddings.vocabulary import read_vocabulary
from biaslab.embeddings.word_maps import WordMaps, read_word_maps

BEFORE = "before"
OTHER_SEED = "other-seed"
"""The stage that other stages are to be compared with: no debiasing, but another seed of the training."""

_PREFIX = "influence_seed"


def write_comparison(
    embeddings: list[Path],
    vocabulary: Path,
    word_sets: list[Path],
    before: list[Path],
    after: list[Path],
    transforms: list[Path],
    out: Path,
) -> None:
    """Compare the rankings of every test, and write the table; `before` and `after` in the tests' order."""
    known = read_vocabulary(vocabulary)
    trainings = read_unit_trainings(embeddings, known)
    maps = {path.stem: read_word_maps(path, len(known.words)) for path in transforms}
    tables = []
    for file, *influences in zip(word_sets, before, after, strict=True):
        test = read_word_sets(file)
        sizes = effect_sizes(trainings, maps, in_vocabulary(test, known.ids))
        tables.append(compare_rankings(*map(read_parquet, influences), sizes, test.name))
    write_tsv(out, pd.concat(tables, ignore_index=True))


def effect_sizes(
    trainings: Sequence[tuple[int, np.ndarray]], maps: Mapping[str, WordMaps], weat: WeatIndices
) -> dict[str, np.ndarray]:
    """Measure a bias by stage, `BEFORE` first, in each training's vectors (V, D): (n,), perhaps NaN."""
    found = {BEFORE: np.array([effect_size(vectors, weat) for _, vectors in trainings])}
    for stage, of_stage in maps.items():
        mapped = (of_stage.of(number).apply(vectors) for number, vectors in trainings)
        found[stage] = np.array([effect_size(vectors, weat) for vectors in mapped])
    return found


def compare_rankings(
    before: pd.DataFrame, after: pd.DataFrame, sizes: Mapping[str, np.ndarray], weat: str
) -> pd.DataFrame:
    """Compare the ranking of documents after debiasing with that before, for one test: document_ranking.tsv.

    Documents without a word of the test, all of whose estimates before are 0, do not count. In the stage
    `OTHER_SEED` each seed's ranking before is compared with that of the next seed.
    """
    names = [column for column in before.columns if column.startswith(_PREFIX)]
    stages = {BEFORE: before} | {str(stage): part for stage, part in after.groupby("stage", sort=False)}
    values = {stage: _values(part, before, names, weat) for stage, part in stages.items()}
    known = (values[BEFORE] != 0).any(axis=1)
    if known.sum() < 2 or len(names) < 2:
        raise InputError(
            f"{weat}: {len(names)} baselines and {known.sum()} documents with words of the test; it takes two"
            " of each"
        )
    values = {stage: of_stage[known] for stage, of_stage in values.items()}
    rows = [(weat, stage, "effect_size", "", 0, *_summary(x, x.mean())) for stage, x in sizes.items()]
    first = values.pop(BEFORE)
    rows += _agreements(weat, OTHER_SEED, first, np.roll(first, -1, axis=1))
    for stage, second in values.items():
        rows += _agreements(weat, stage, first, second, second.mean(axis=1))
        share = np.abs(second).sum(axis=0) / np.abs(first).sum(axis=0)
        of_mean = np.abs(second.mean(axis=1)).sum() / np.abs(first.mean(axis=1)).sum()
        rows.append((weat, stage, "influence", "", 0, *_summary(share, of_mean)))
    return pd.DataFrame(rows, columns=COLUMNS["document_ranking"])


def _values(table: pd.DataFrame, before: pd.DataFrame, names: list[str], weat: str) -> np.ndarray:
    """Return the influence by document and seed, (n_documents, n_seeds)."""
    found = [column for column in table.columns if column.startswith(_PREFIX)]
    if found != names or not np.array_equal(np.sort(table["document"]), np.sort(before["document"])):
        raise InputError(
            f"{weat}: the documents or seeds after debiasing are not those before; make both from one corpus"
        )
    return table.sort_values("document", kind="stable")[names].to_numpy(np.float64)


def _agreements(
    weat: str, stage: str, first: np.ndarray, second: np.ndarray, mean: np.ndarray | None = None
) -> list[tuple]:
    """Return the rows of one stage; without `mean`, the mean over the seeds is not compared."""
    of_seeds = [_agreement(a, b) for a, b in zip(first.T, second.T, strict=True)]
    of_mean = {} if mean is None else _agreement(first.mean(axis=1), mean)
    rows = []
    for key in of_seeds[0]:
        values = np.array([found[key] for found in of_seeds])
        rows.append((weat, stage, *key, *_summary(values, of_mean.get(key, math.nan))))
    return rows


def _agreement(a: np.ndarray, b: np.ndarray) -> dict[tuple[str, str, int], float]:
    """Return the agreement of two rankings; NaN where one ranks nothing."""
    ranks = all(np.isfinite(x).all() and np.ptp(x) > 0 for x in (a, b))
    return {key: value if ranks else math.nan for key, value in agreement(a, b, EFFECTS).items()}


def _summary(of_seeds: np.ndarray, of_mean: float) -> tuple[int, float, float, float, float]:
    return len(of_seeds), float(of_mean), float(of_seeds.mean()), *mean_interval(of_seeds)
