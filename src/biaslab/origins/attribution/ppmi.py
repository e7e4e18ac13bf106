"""The PPMI baseline (Brunet et al. 2019, Section 5.3): differential bias of every document in PPMI rows.

The change of the effect size is exact, because counts without a document are whole numbers. A removal changes
the entries of the document, the row and column sums of its words, and the total. Only the logarithms of these
are recomputed. The PPMI of all other entries shifts by a constant for each row, unless the maximum with 0
applies. Therefore one pass over the rows of the test gives the effect size.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from tqdm import tqdm

from biaslab.bias.weat import effect_size, weat_words
from biaslab.bias.word_sets import WEAT, WeatIndices
from biaslab.core.errors import InputError
from biaslab.embeddings import BASELINE
from biaslab.embeddings.cooccurrence import Cooccurrence
from biaslab.embeddings.ppmi import ppmi_rows, row_sums
from biaslab.embeddings.retraining import without_documents
from biaslab.origins.attribution.estimates import Estimates, from_values
from biaslab.origins.attribution.influence import distance_weights, places_in_test, rows_of, slots_of
from biaslab.origins.attribution.scanner import Scanner


def ppmi_effect_size(x: Cooccurrence, sums: np.ndarray, weat: WeatIndices) -> float:
    """Return the WEAT effect size (Equation 4) in the PPMI representation; `sums` are the row sums of X."""
    if weat.measure != WEAT:
        raise InputError(
            f"{weat.name}: ppmi attributes only {WEAT}, not {weat.measure}; choose another method"
        )
    words = weat_words(weat)
    rows = ppmi_rows(x, words, sums)
    filled = np.unique(rows.indices)  # empty columns do not contribute to a cosine
    places = {name: np.searchsorted(words, getattr(weat, name)) for name in ("S", "T", "A", "B")}
    empty = np.diff(rows.indptr) == 0
    if empty.any():
        word = int(words[empty.argmax()])
        raise InputError(
            f"{weat.name}: the PPMI row of word id {word} (line {word + 2} of the vocabulary) is zero, so it"
            " has no cosine; remove the word"
        )
    return effect_size(rows[:, filled].toarray(), WeatIndices(weat.name, **places))


def differential_bias(
    x: Cooccurrence, tokens: np.ndarray, offsets: np.ndarray, weat: WeatIndices, threads: int = 1
) -> np.ndarray:
    """Return B - B~ (Equation 5) in the PPMI representation for the removal of every single document.

    NaN if the effect size without the document is undefined, because a word of the test has a zero row.
    """
    from biaslab.core.jit import set_threads
    from biaslab.origins.attribution._ppmi_kernels import effect_sizes_without

    words, sums = weat_words(weat), row_sums(x)
    ppmi_effect_size(x, sums, weat)  # raises InputError for words with a zero row
    _check_corpus(x, tokens, offsets, sums)
    starts, columns, counts = rows_of(x, words)
    targets, attribute_weights = places_in_test(words, weat)
    weights, slot_of = distance_weights(x.window, x.unit), slots_of(words, x.n_words)
    arguments = (
        weights, np.cumsum(weights), slot_of, words, starts, columns, counts, np.log(counts), sums,
        np.log(np.maximum(sums, 1)), int(sums.sum()), targets, len(weat.S), attribute_weights,
        int(np.diff(starts).max()),
    )  # fmt: skip
    set_threads(threads)
    before, without = np.empty(1), np.empty(len(offsets) - 1)
    effect_sizes_without(tokens, np.zeros(2, np.int64), *arguments, before)
    effect_sizes_without(tokens, offsets, *arguments, without)
    return before[0] - without


def measure_sets(
    x: Cooccurrence,
    tokens: np.ndarray,
    offsets: np.ndarray,
    sets: Mapping[str, np.ndarray],
    weats: Sequence[WeatIndices],
    threads: int = 1,
) -> pd.DataFrame:
    """Measure bias tests in PPMI of the corpus without each set of documents, exactly: ``ppmi/sets.tsv``.

    The first set is `BASELINE`. NaN if a word of the test loses its entire row.
    """
    rows = [(BASELINE, weat.name, ppmi_effect_size(x, row_sums(x), weat)) for weat in weats]
    for name, documents in tqdm(sets.items(), desc="PPMI", unit="set", disable=None):
        remaining = without_documents(x, tokens, offsets, documents, threads)
        sums = row_sums(remaining)
        for weat in weats:
            try:
                value = ppmi_effect_size(remaining, sums, weat)
            except InputError:  # a word of the test has a zero row
                value = np.nan
            rows.append((name, weat.name, value))
    return pd.DataFrame(rows, columns=["set", "weat", "effect_size"])


def estimate_documents(scanner: Scanner, weat: WeatIndices) -> Estimates:
    """Estimate the removal of every document; no change if the effect size without it is undefined."""
    bias = ppmi_effect_size(scanner.x, row_sums(scanner.x), weat)
    values = differential_bias(scanner.x, scanner.tokens, scanner.offsets, weat, scanner.threads)
    return from_values(np.array([bias]), np.nan_to_num(values)[None])


def estimate_sets(scanner: Scanner, weat: WeatIndices, sets: Sequence[np.ndarray]) -> Estimates:
    """Estimate the removal of each set in the PPMI representation."""
    numbered = {str(number): documents for number, documents in enumerate(sets)}
    table = measure_sets(scanner.x, scanner.tokens, scanner.offsets, numbered, [weat], scanner.threads)
    bias, without = np.split(table["effect_size"].to_numpy(np.float64), [1])
    values = (bias - without)[None]
    return Estimates(bias, values, without[None], np.zeros(values.shape, np.int64))


def _check_corpus(x: Cooccurrence, tokens: np.ndarray, offsets: np.ndarray, sums: np.ndarray) -> None:
    """Raise InputError unless every row sum of X equals the sum computed from the corpus."""
    reach = np.cumsum(distance_weights(x.window, x.unit))
    lengths = np.diff(offsets)
    before = np.arange(len(tokens)) - np.repeat(offsets[:-1], lengths)
    after = np.repeat(lengths, lengths) - 1 - before
    token_sums = reach[np.minimum(before, x.window)] + reach[np.minimum(after, x.window)]
    in_corpus = np.zeros(x.n_words, np.int64)
    if len(tokens) and (int(tokens.max()) >= x.n_words):
        in_corpus[:] = -1
    else:
        np.add.at(in_corpus, tokens, token_sums)
    if not np.array_equal(in_corpus, sums):
        raise InputError("X differs from this corpus in the sums of its rows; count the corpus again")
