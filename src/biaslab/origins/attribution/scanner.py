"""Differential bias over all baseline embeddings: of every document, and of every perturbation set."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from biaslab.bias.measures.registry import PARAMETERS
from biaslab.bias.weat import weat_words
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, read_parquet, write_parquet, write_tsv
from biaslab.embeddings.cooccurrence import Cooccurrence
from biaslab.embeddings.word_maps import WordMaps, read_word_maps
from biaslab.origins.attribution.influence import (
    DifferentialBias,
    WeatRows,
    bias_gradient,
    differential_bias,
    removals_of_documents,
    removals_of_sets,
    step_lengths,
    summarise,
    weat_rows,
)
from biaslab.origins.counted import read_counted, read_tests
from biaslab.origins.grid import ESTIMATORS
from biaslab.origins.perturbation import members
from biaslab.origins.settings import InfluenceParameters


class Scanner:
    """Everything that estimating the differential bias of one bias test needs but the units to remove.

    `batches` are the baselines with all parameters; `tokens` (n,) int32 and `offsets` (n_documents + 1,)
    int64.
    """

    def __init__(
        self,
        batches: Sequence[str | os.PathLike],
        x: Cooccurrence,
        tokens: np.ndarray,
        offsets: np.ndarray,
        words: Sequence[str],
        parameters: InfluenceParameters,
        threads: int,
    ) -> None:
        self.batches, self.x, self.tokens, self.offsets = batches, x, tokens, offsets
        self.words, self.parameters, self.threads = words, parameters, threads
        if x.n_words != len(words):
            raise InputError(
                f"X has {x.n_words} words and the vocabulary {len(words)}; make both from one corpus"
            )

    def documents(self, weat: WeatIndices, maps: WordMaps | None = None) -> list[DifferentialBias]:
        """Estimate the removal of every document, by each baseline; with `maps`, in mapped word vectors."""
        return self._scan(weat, lambda rows, documents: documents, maps)

    def sets(self, weat: WeatIndices, sets: Sequence[np.ndarray]) -> list[DifferentialBias]:
        """Estimate the removal of whole sets of documents, one result for each baseline."""
        return self._scan(weat, lambda rows, documents: removals_of_sets(rows, documents, sets))

    def gradients(self, weat: WeatIndices) -> tuple[WeatRows, np.ndarray]:
        """Return the rows of a test's words and dB/dX at their places, (n_embeddings, nnz) (Appendix A)."""
        rows = self._rows(weat)
        values = [
            bias_gradient(rows, weat, embedding, self.parameters.damping, self.words, self.threads)
            for _, embedding in self._embeddings()
        ]
        return rows, np.stack(values)

    def step_lengths(self, weat: WeatIndices) -> list[np.ndarray]:
        """Return how far the removal of every document moves the words of a test, for each baseline."""
        rows = self._rows(weat)
        removals = removals_of_documents(rows, self.tokens, self.offsets)
        damping, words, threads = self.parameters.damping, self.words, self.threads
        return [
            step_lengths(rows, removals, weat, embedding, damping, words, threads)
            for _, embedding in self._embeddings()
        ]

    def _scan(
        self, weat: WeatIndices, units: Callable, maps: WordMaps | None = None
    ) -> list[DifferentialBias]:
        rows = self._rows(weat)
        removals = units(rows, removals_of_documents(rows, self.tokens, self.offsets))
        return [
            differential_bias(
                rows,
                removals,
                weat,
                embedding,
                self.parameters.damping,
                self.words,
                self.threads,
                None if maps is None else maps.of(replicate),
            )
            for replicate, embedding in tqdm(
                self._embeddings(), desc=weat.name, unit="embedding", disable=None
            )
        ]

    def _rows(self, weat: WeatIndices) -> WeatRows:
        return weat_rows(self.x, weat_words(weat), self.parameters.x_max, self.parameters.alpha)

    def _embeddings(self) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """Yield number and parameters of every baseline."""
        names = ("W", "U", "b", "c")
        for path in self.batches:
            arrays = read_npz(path, ("replicates", *names))
            if arrays["W"].shape[1] != len(self.words):
                raise InputError(
                    f"{path}: {arrays['W'].shape[1]} words, not the vocabulary's {len(self.words)}"
                )
            for k, replicate in enumerate(arrays["replicates"].tolist()):
                yield replicate, {name: arrays[name][k] for name in names}


def document_table(estimates: Sequence[DifferentialBias], documents: pd.DataFrame) -> pd.DataFrame:
    """Lay out the differential bias of every document: ``differential_bias/TEST.parquet``."""
    values, mean, sd = summarise(estimates)
    if len(documents) != mean.shape[0]:
        raise InputError(
            f"{len(documents)} documents listed, {mean.shape[0]} in the corpus; read the corpus again"
        )
    columns = {name: documents[name] for name in ("document", "id", "title")}
    for k, estimator in enumerate(ESTIMATORS):
        columns |= {f"{estimator}_mean": mean[:, k], f"{estimator}_sd": sd[:, k]}
        columns |= {f"{estimator}_seed{s}": values[s, :, k] for s in range(len(values))}
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


def mapped_document_table(
    scanner: Scanner, weat: WeatIndices, maps: Mapping[str, WordMaps], documents: pd.DataFrame
) -> pd.DataFrame:
    """Lay out the differential bias of every document in mapped word vectors, after debiasing for instance.

    The tables of `document_table` below each other, with the name of the map in a first column stage.
    """
    tables = []
    for stage, of_stage in maps.items():
        table = document_table(scanner.documents(weat, of_stage), documents)
        table.insert(0, "stage", stage)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def set_table(scanner: Scanner, weats: Sequence[WeatIndices], sets: pd.DataFrame) -> pd.DataFrame:
    """Predict the effect size of the tests after the removal of every set: ``predictions.tsv``.

    A targeted set is predicted for its own test.
    """
    described = sets.drop_duplicates("set")[["set", "weat", "kind", "size", "replicate"]]
    frames = []
    for weat in weats:
        chosen = described[described["weat"].isin(["", weat.name])].assign(weat=weat.name)
        units = list(members(sets, chosen["set"]).values())
        for seed, estimate in enumerate(scanner.sets(weat, units)):
            for k, estimator in enumerate(ESTIMATORS):
                fallbacks = estimate.fallbacks if estimator == "newton" else 0
                frames.append(
                    chosen.assign(
                        estimator=estimator,
                        seed=seed,
                        predicted=estimate.baseline - estimate.values[:, k],
                        fallback_words=fallbacks,
                    )
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
    transforms: Sequence[Path] = (),
    threads: int = 1,
) -> None:
    """Estimate how much every document contributes to a bias, without retraining.

    With `transforms`, in the words as each debiasing maps them: the table names the file of each row in a
    column stage.
    """
    scanner, (test,) = read_scanner(
        embeddings, cooccurrence, corpus, vocabulary, word_sets, influence, threads
    )
    titles = read_parquet(documents, ["document", "id", "title"])
    maps = {path.stem: read_word_maps(path, len(scanner.words)) for path in transforms}
    if maps:
        table = mapped_document_table(scanner, test, maps, titles)
    else:
        counts = count_test_words(scanner.tokens, scanner.offsets, test)
        table = document_table(scanner.documents(test), titles).join(counts)
    write_parquet(out, table)


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


def read_scanner(
    embeddings: Sequence[Path],
    cooccurrence: Path,
    corpus: Path,
    vocabulary: Path,
    word_sets: Sequence[Path],
    influence: InfluenceParameters,
    threads: int,
) -> tuple[Scanner, list[WeatIndices]]:
    """Read what estimating the differential bias needs; return the scanner and the tests."""
    words, x, tokens, offsets = read_counted(cooccurrence, corpus, vocabulary)
    tests = read_tests(word_sets, words, PARAMETERS)
    return Scanner(embeddings, x, tokens, offsets, words.words, influence, threads), tests
