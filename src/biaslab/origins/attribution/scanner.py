"""Estimate the effect of removing documents, or sets, on a bias, in passes over all baseline embeddings."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from biaslab.bias.measures import PARAMETERS
from biaslab.bias.weat import weat_words
from biaslab.bias.word_sets import WeatIndices, read_tests
from biaslab.core.errors import InputError
from biaslab.core.io import read_npz
from biaslab.embeddings.cooccurrence import Cooccurrence, read_counted
from biaslab.embeddings.glove import GloveEmbedding, GloveParameters
from biaslab.embeddings.vocabulary import check_words
from biaslab.origins.attribution.influence import (
    DifferentialBias,
    WeatRows,
    differential_bias,
    local_loss,
    removals_of_documents,
    removals_of_sets,
    weat_rows,
)
from biaslab.origins.attribution.settings import InfluenceParameters


class Training(NamedTuple):
    """The training of the baselines, for attributions that differentiate it."""

    parameters: GloveParameters
    seed: int  # of the run, or of `biaslab.origins.documents.train_baselines`
    memory: float = 1000.0  # megabytes for states of a training


class Scanner:
    """The inputs of estimating differential bias, except the test and the units to remove.

    `batches` are the baselines with all parameters, in files or in memory; `tokens` (n,) int32 and `offsets`
    (n_documents + 1,) int64.
    """

    def __init__(
        self,
        batches: Sequence[str | os.PathLike | GloveEmbedding],
        x: Cooccurrence,
        tokens: np.ndarray,
        offsets: np.ndarray,
        words: Sequence[str],
        parameters: InfluenceParameters,
        threads: int,
        training: Training | None = None,
    ) -> None:
        self.training = training
        self.last_derivatives: tuple = ()  # last test of `unrolled`, and its bias and derivatives
        self.batches, self.x, self.tokens, self.offsets = batches, x, tokens, offsets
        self.words, self.parameters, self.threads = words, parameters, threads
        self._last_arguments: tuple = ()
        self._last_result: list[DifferentialBias] = []
        if x.n_words != len(words):
            raise InputError(
                f"X has {x.n_words} words and the vocabulary has {len(words)}; name files of the same corpus"
            )

    def gradients(self, weat: WeatIndices) -> tuple[WeatRows, np.ndarray]:
        """Return the rows of a test's words, and dB/dX at their places, (n_embeddings, nnz) (Appendix A)."""
        from biaslab.core.jit import set_threads

        set_threads(self.threads)
        rows, damping = self._rows(weat), self.parameters.damping
        values = [
            local_loss(rows, weat, embedding, damping, self.words).bias_gradient
            for _, embedding in self.embeddings()
        ]
        return rows, np.stack(values)

    def scan(self, weat: WeatIndices, sets: Sequence[np.ndarray] | None = None) -> list[DifferentialBias]:
        """Estimate the removal of every document, or of each set, by each baseline.

        The last result is cached, because three attributions request it in turn.
        """
        arguments = weat, sets
        last = self._last_arguments
        if last and all(new is old for new, old in zip(arguments, last, strict=True)):
            return self._last_result
        rows = self._rows(weat)
        removals = removals_of_documents(rows, self.tokens, self.offsets)
        if sets is not None:
            removals = removals_of_sets(rows, removals, sets)
        damping, words = self.parameters.damping, self.words
        self._last_result = [
            differential_bias(rows, removals, weat, embedding, damping, words, self.threads)
            for _, embedding in tqdm(self.embeddings(), desc=weat.name, unit="embedding", disable=None)
        ]
        self._last_arguments = arguments
        return self._last_result

    def _rows(self, weat: WeatIndices) -> WeatRows:
        return weat_rows(self.x, weat_words(weat), self.parameters.x_max, self.parameters.alpha)

    def embeddings(self) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """Yield the number and the parameters of every baseline."""
        names = ("W", "U", "b", "c")
        for number, path in enumerate(self.batches):
            if isinstance(path, GloveEmbedding):
                yield number, {name: getattr(path, name) for name in names}
                continue
            arrays = read_npz(path, ("replicates", *names))
            if arrays["W"].shape[1] != len(self.words):
                raise InputError(
                    f"{path}: expected {len(self.words)} words as in the vocabulary, found"
                    f" {arrays['W'].shape[1]}; name files of the same corpus"
                )
            for k, replicate in enumerate(arrays["replicates"].tolist()):
                yield replicate, {name: arrays[name][k] for name in names}


def read_scanner(
    embeddings: Sequence[Path],
    cooccurrence: Path,
    corpus: Path,
    vocabulary: Path,
    word_sets: Sequence[Path],
    influence: InfluenceParameters,
    threads: int,
) -> tuple[Scanner, list[WeatIndices]]:
    """Read the inputs of differential bias; return the scanner and the tests."""
    words, x, tokens, offsets = read_counted(cooccurrence, corpus, vocabulary)
    for path in embeddings:
        check_words(path, words)
    tests = read_tests(word_sets, words.ids, PARAMETERS)
    return Scanner(embeddings, x, tokens, offsets, words.words, influence, threads), tests
