"""Compare bias in GloVe and in the PPMI representation (Brunet et al. 2019, Section 5.3, Figure 9 left)."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.weat import effect_size
from biaslab.bias.word_sets import WeatIndices, in_vocabulary, read_word_sets
from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import fit_columns
from biaslab.embeddings.batches import read_trainings
from biaslab.embeddings.cooccurrence import Cooccurrence, read_counts
from biaslab.embeddings.ppmi import row_sums
from biaslab.embeddings.vocabulary import Vocabulary, read_vocabulary
from biaslab.origins.attribution.ppmi import ppmi_effect_size
from biaslab.origins.baseline import measure

_COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))["ppmi/word_sets"]

CONTEXTS = 50  # minimum number of contexts of a word of a random test


def measure_baselines(
    embeddings: list[Path],
    cooccurrence: Path,
    vocabulary: Path,
    word_sets: list[Path],
    permutations: int,
    random_tests: int,
    seed: int,
    out: Path,
    by_ppmi: Path,
    random_sets: Path,
    correlation: Path,
) -> None:
    """Measure the bias of the baselines and of the PPMI representation, and compare the two."""
    words = read_vocabulary(vocabulary)
    tests = [read_word_sets(path) for path in word_sets]
    write_tsv(out, measure(embeddings, words, tests, permutations, seed))
    x = read_counts(cooccurrence, words)
    sums, weats = row_sums(x), [in_vocabulary(test, words.ids) for test in tests]
    ppmi_rows = [(weat.name, ppmi_effect_size(x, sums, weat)) for weat in weats]
    write_tsv(by_ppmi, pd.DataFrame(ppmi_rows, columns=["weat", "effect_size"]))
    sizes = [len(names) for names in tests[0].sets.values()]
    table = compare_word_sets(embeddings, x, random_word_sets(x, sizes, random_tests, CONTEXTS, seed), words)
    write_tsv(random_sets, table)
    write_tsv(correlation, correlate_word_sets(table, "ppmi", seed))


def random_word_sets(
    x: Cooccurrence, sizes: Sequence[int], n_sets: int, least_contexts: int, seed: int
) -> list[WeatIndices]:
    """Draw tests S, T, A, B with distinct words from the words with at least `least_contexts` contexts.

    Each test has its own random stream, so that the first tests do not depend on `n_sets`.
    """
    eligible = np.flatnonzero(np.diff(x.indptr) >= least_contexts)
    if len(eligible) < sum(sizes):
        raise InputError(
            f"a random test requires {sum(sizes)} words with at least {least_contexts} contexts, found"
            f" {len(eligible)}; require fewer contexts or use a larger corpus"
        )
    tests = []
    for k in range(n_sets):
        words = stream(seed, "random word sets", k).choice(eligible, sum(sizes), replace=False)
        tests.append(WeatIndices(f"random{k}", *np.split(words, np.cumsum(sizes)[:-1])))
    return tests


def compare_word_sets(
    batches: Sequence[str | os.PathLike],
    x: Cooccurrence,
    tests: Sequence[WeatIndices],
    vocabulary: Vocabulary,
) -> pd.DataFrame:
    """Measure random tests in every baseline embedding and in PPMI: ``ppmi/word_sets.tsv``."""
    sums = row_sums(x)
    ppmi = [ppmi_effect_size(x, sums, test) for test in tests]
    words = np.array(vocabulary.words, dtype=object)
    sets = [[",".join(words[getattr(test, name)]) for test in tests] for name in _COLUMNS[-4:]]
    values = np.arange(len(tests)), ppmi, *effect_sizes(batches, vocabulary, tests), *sets
    return pd.DataFrame(dict(zip(_COLUMNS, values, strict=True)))


def effect_sizes(
    batches: Sequence[str | os.PathLike], vocabulary: Vocabulary, tests: Sequence[WeatIndices]
) -> tuple[np.ndarray, np.ndarray | float]:
    """Return the mean and the standard deviation of each random test over the embeddings of batch files."""
    trainings = read_trainings(batches, vocabulary, "random tests")
    values = np.array([[effect_size(training.W, test) for test in tests] for training in trainings])
    return values.mean(axis=0), values.std(axis=0, ddof=1) if len(values) > 1 else np.nan


def correlate_word_sets(word_sets: pd.DataFrame, representation: str, seed: int) -> pd.DataFrame:
    """Regress effect sizes of random tests in GloVe on those in another representation (ppmi, word2vec).

    `representation` also selects the random stream of the bootstrap over the tests.
    """
    x = word_sets[representation if representation in word_sets else f"{representation}_mean"]
    fit = fit_columns(x, word_sets["glove_mean"], stream(seed, "bootstrap", representation))
    return pd.DataFrame([{"n_sets": len(word_sets), **fit}])
