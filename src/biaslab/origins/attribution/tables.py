"""Tables of what attributions say: of every document, and of every perturbation set."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, write_tsv
from biaslab.origins.attribution.asking import of_documents, of_sets
from biaslab.origins.attribution.estimates import by_baseline, write_by_seed
from biaslab.origins.attribution.registry import ESTIMATORS
from biaslab.origins.attribution.scanner import Scanner, read_scanner
from biaslab.origins.attribution.settings import InfluenceParameters
from biaslab.origins.sets.selection import COLUMNS, members


def document_table(scanner: Scanner, weat: WeatIndices, documents: pd.DataFrame) -> pd.DataFrame:
    """Lay out what every attribution says of every document, in the mean and by each baseline."""
    columns = {name: documents[name] for name in ("document", "id", "title")}
    for name in ESTIMATORS:
        values = of_documents(name, scanner, weat).values
        if len(documents) != values.shape[1]:
            raise InputError(
                f"{len(documents)} documents listed, {values.shape[1]} in the corpus; read the corpus again"
            )
        columns |= by_baseline(name, values)
    return pd.DataFrame(columns)


def count_test_words(tokens: np.ndarray, offsets: np.ndarray, weat: WeatIndices) -> pd.DataFrame:
    """Count the words of a test in every document (Brunet et al. 2019, Section 5.5).

    ``n_S`` to ``n_B``: how often words of the set occur; ``rarest_S`` to ``rarest_B``: how often its
    rarest word does, the one with the largest id, as ids fall with the words' frequency.
    """
    sets = {"S": weat.S, "T": weat.T, "A": weat.A, "B": weat.B}
    counts = {f"n_{name}": _count(tokens, offsets, ids) for name, ids in sets.items()}
    rarest = {name: ids.max(keepdims=True) for name, ids in sets.items()}
    counts |= {f"rarest_{name}": _count(tokens, offsets, ids) for name, ids in rarest.items()}
    return pd.DataFrame(counts)


def _count(tokens: np.ndarray, offsets: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return how many tokens of every document are among some words."""
    is_one = np.zeros(1 + max(tokens.max(initial=0), ids.max()), bool)
    is_one[ids] = True
    places = np.flatnonzero(is_one[tokens])
    return np.diff(np.searchsorted(places, offsets))


def set_table(scanner: Scanner, weats: Sequence[WeatIndices], sets: pd.DataFrame) -> pd.DataFrame:
    """Predict the effect size of the tests after the removal of every set: ``predictions.tsv``.

    A targeted set is predicted for its own test.
    """
    described = sets.drop_duplicates("set")[list(COLUMNS[:-1])]
    frames = []
    for weat in weats:
        chosen = described[described["weat"].isin(["", weat.name])].assign(weat=weat.name)
        units = list(members(sets, chosen["set"]).values())
        made = {name: of_sets(name, scanner, weat, units) for name in ESTIMATORS}
        for seed in range(len(made[ESTIMATORS[0]].bias)):
            for name, estimates in made.items():
                predicted, fallbacks = estimates.without[seed], estimates.fallbacks[seed]
                frames.append(
                    chosen.assign(estimator=name, seed=seed, predicted=predicted, fallback_words=fallbacks)
                )
    return pd.concat(frames, ignore_index=True)


def write_differential_bias(
    embeddings: list[Path],
    cooccurrence: Path,
    corpus: Path,
    documents: Path,
    vocabulary: Path,
    word_sets: list[Path],
    influence: InfluenceParameters,
    out: Path,
    by_seed: Path,
    threads: int = 1,
) -> None:
    """Estimate how much every document contributes to a bias, without retraining.

    The means over the baselines, and what each baseline says by itself (`by_seed`).
    """
    scanner, (test,) = read_scanner(
        embeddings, cooccurrence, corpus, vocabulary, word_sets, influence, threads
    )
    titles = read_parquet(documents, ["document", "id", "title"])
    counts = count_test_words(scanner.tokens, scanner.offsets, test)
    write_by_seed(document_table(scanner, test, titles).join(counts), out, by_seed)


def write_predictions(
    embeddings: list[Path],
    cooccurrence: Path,
    corpus: Path,
    vocabulary: Path,
    sets: Path,
    word_sets: list[Path],
    influence: InfluenceParameters,
    out: Path,
    threads: int = 1,
) -> None:
    """Predict the bias after the removal of every set of documents, as a set."""
    scanner, tests = read_scanner(embeddings, cooccurrence, corpus, vocabulary, word_sets, influence, threads)
    write_tsv(out, set_table(scanner, tests, read_parquet(sets)))
