"""Relative influence of documents (RelatIF: Barshan et al. 2020).

Influence functions favour documents that change a model much in any respect. Relative influence asks which
document has the most influence for the change that it makes, and divides its influence by the length of the
step delta that its removal makes in the parameters (Equation 8 of Brunet et al. 2019):

``theta``
    |delta|, the Euclidean length (theta-relative influence).
``l``
    The root of delta^T H delta (l-relative influence). The loss is quadratic in the vectors of the words that
    move, with Hessian H, so that half of the square is by how much the step raises the training loss from its
    minimum.

The parameters are the vectors of the test's words, all that moves in Brunet et al.'s approximation.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.embeddings.word_maps import WordMaps
from biaslab.origins.attribution.estimates import (
    Estimates,
    by_baseline,
    from_values,
    read_with_seeds,
    seed_values,
    write_by_seed,
)
from biaslab.origins.attribution.estimators import of_documents as influence_of_documents
from biaslab.origins.attribution.registry import attribution
from biaslab.origins.attribution.scanner import Scanner, read_scanner
from biaslab.origins.attribution.settings import InfluenceParameters

RELATIVE = ("theta", "l")
"""By what length influence is divided."""


def write_relative(
    embeddings: list[Path],
    cooccurrence: Path,
    corpus: Path,
    differential_bias: Path,
    influence_by_seed: Path,
    vocabulary: Path,
    word_sets: list[Path],
    influence: InfluenceParameters,
    out: Path,
    by_seed: Path,
    threads: int = 1,
) -> None:
    """Divide the influence of every document by how far its removal moves the words of the test."""
    scanner, (test,) = read_scanner(
        embeddings, cooccurrence, corpus, vocabulary, word_sets, influence, threads
    )
    table = read_with_seeds(differential_bias, influence_by_seed)
    write_by_seed(relative_table(table, scanner.step_lengths(test)), out, by_seed)


def of_documents(name: str, scanner: Scanner, weat: WeatIndices, maps: WordMaps | None) -> Estimates:
    """Return the influence of every document divided by the length that the name asks for."""
    if maps is not None:
        raise InputError(
            f"{weat.name}: relative influence is not defined in mapped words; leave the maps out"
        )
    made = influence_of_documents("influence", scanner, weat, None)
    lengths = np.stack(scanner.step_lengths(weat))[..., RELATIVE.index(attribution(name).prefix)]
    return from_values(made.bias, _divided(made.values, lengths))


def relative_table(differential_bias: pd.DataFrame, lengths: Sequence[np.ndarray]) -> pd.DataFrame:
    """Divide influence by the lengths of the documents' steps: ``relative_influence/TEST.parquet``.

    `lengths` (n_documents, 2) are `theta` and `l` of each of the baselines of `differential_bias`; 0
    where nothing moves.
    """
    influence = seed_values(differential_bias, "influence")
    if influence.shape != (len(lengths), len(lengths[0])):
        raise InputError(
            f"the differential bias is of {influence.shape[0]} baselines and {influence.shape[1]} documents,"
            f" the embeddings are {len(lengths)} and the corpus has {len(lengths[0])}; estimate it again"
        )
    columns = {name: differential_bias[name] for name in ("document", "id", "title")}
    for k, name in enumerate(RELATIVE):
        by = np.stack([of[:, k] for of in lengths])
        columns |= by_baseline(name, _divided(influence, by))
    return pd.DataFrame(columns | {"step_mean": np.mean([of[:, 0] for of in lengths], axis=0)})


def _divided(influence: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Divide, but where nothing moves."""
    return np.divide(influence, by, out=np.zeros_like(influence), where=by > 0)
