"""Plant documents with a known bias in a corpus.

A planted document is a copy of a random document of the corpus. Pairs of neighbouring tokens are replaced by
two words of a bias test. With the sets S, T of targets and A, B of attributes (Brunet et al. 2019, Section
3.3), the pairs (s, a) and (t, b) raise the bias, (s, b) and (t, a) lower it. Every random document has three
copies, which differ only in the pairing:

``raise``
    All pairs raise the bias.
``lower``
    The same targets in the same places, each with an attribute of the other set.
``control``
    The same targets, but pairs that raise and pairs that lower alternate. The copy has as many words of the
    test and no bias, except for an odd number of pairs. A method that only detects words of the test also
    ranks controls highly.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WeatIndices, read_tests
from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, read_parquet
from biaslab.core.rng import stream
from biaslab.embeddings.cooccurrence import count_corpus
from biaslab.embeddings.corpus import Corpus, read_tokens, write_corpus
from biaslab.embeddings.vocabulary import Vocabulary, read_vocabulary

KINDS = RAISE, LOWER, CONTROL = ("raise", "lower", "control")  # effects of planted documents on the bias


def write_planted(
    corpus: Path,
    documents: Path,
    vocabulary: Path,
    word_sets: list[Path],
    count: int,
    dose: float,
    window: int,
    seed: int,
    out_corpus: Path,
    out_documents: Path,
    out_vocabulary: Path,
    out_cooccurrence: Path,
    threads: int = 1,
) -> None:
    """Write a copy of the corpus with planted documents that raise, lower or keep a bias, and its counts."""
    words = read_vocabulary(vocabulary)
    tokens, offsets = read_tokens(corpus, words)
    titles, tests = read_parquet(documents, ["id", "title"]), read_tests(word_sets, words.ids)
    n_source_tokens = int(read_npz(corpus, ("n_source_tokens",))["n_source_tokens"])
    planted = plant(tokens, offsets, titles, words, tests, count, dose, seed, n_source_tokens)
    write_corpus(planted, out_corpus, out_documents, out_vocabulary)
    count_corpus(out_corpus, out_vocabulary, window, out_cooccurrence, threads)


def plant(
    tokens: np.ndarray,
    offsets: np.ndarray,
    documents: pd.DataFrame,
    vocabulary: Vocabulary,
    tests: Sequence[WeatIndices],
    count: int,
    dose: float,
    seed: int,
    n_source_tokens: int,
) -> Corpus:
    """Plant `count` documents of each of `KINDS` for every test at the end of a corpus.

    `dose` is the share of replaced tokens of a document, from 0 (an unchanged copy) to 1. All doses have the
    same documents, and a larger dose includes the pairs of a smaller dose.
    """
    n_documents = len(offsets) - 1
    if count > n_documents:
        raise InputError(
            f"planted.documents: {count} copies exceed the {n_documents} documents of the corpus; plant"
            " fewer documents"
        )
    if not 0 <= dose <= 1:
        raise InputError(f"planted.doses: {dose:g} is not a share; choose doses from 0 to 1")
    titles = documents["title"].to_numpy()
    texts, rows = [], []
    for test in tests:
        sources = stream(seed, "planted", test.name).choice(n_documents, count, replace=False)
        for source in sources.tolist():
            text = tokens[offsets[source] : offsets[source + 1]]
            copies = plant_pairs(text, test, dose, stream(seed, "planted", test.name, source))
            texts += copies.values()
            pairs = n_pairs(len(text), dose)
            rows += [
                (f"planted-{test.name}-{kind}-{source}", titles[source], kind, test.name, source, pairs)
                for kind in copies
            ]
    planted = pd.DataFrame(rows, columns=["id", "title", "kind", "weat", "source", "pairs"])
    real = documents[["id", "title"]].assign(kind="", weat="", source=-1, pairs=0)
    table = pd.concat([real, planted], ignore_index=True).assign(dose=float(dose))
    table.insert(0, "document", np.arange(len(table)))
    all_tokens = np.concatenate([tokens, *texts]).astype(np.int32)
    ends = offsets[-1] + np.cumsum([len(text) for text in texts], dtype=np.int64)
    # Renumber words by decreasing count, which every step assumes; ties keep their order.
    counts = np.bincount(all_tokens, minlength=len(vocabulary))
    order = np.argsort(-counts, kind="stable")
    new_id = np.empty(len(order), np.int32)
    new_id[order] = np.arange(len(order))
    words = pd.DataFrame({"word": [vocabulary.words[i] for i in order], "count": counts[order]})
    return Corpus(new_id[all_tokens], np.concatenate([offsets, ends]), words, table, n_source_tokens)


def n_pairs(n_tokens: int, dose: float) -> int:
    """Return the number of pairs of words in a document: half the share of its tokens, rounded."""
    return min(round(dose * n_tokens / 2), n_tokens // 2)


def plant_pairs(
    text: np.ndarray, test: WeatIndices, dose: float, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return the three copies of a document, (n,) word ids, by kind."""
    max_pairs = len(text) // 2
    first = 2 * rng.permutation(max_pairs) + rng.integers(1 + len(text) % 2)
    is_s = rng.random(max_pairs) < 0.5
    s, t, a, b = (rng.choice(ids, max_pairs) for ids in (test.S, test.T, test.A, test.B))
    is_raising = (np.arange(max_pairs) + rng.integers(2)) % 2 == 0
    raising = {RAISE: np.ones(max_pairs, bool), LOWER: np.zeros(max_pairs, bool), CONTROL: is_raising}
    used = slice(n_pairs(len(text), dose))
    copies = {}
    for kind, rises in raising.items():
        copies[kind] = text.copy()
        copies[kind][first[used]] = np.where(is_s, s, t)[used]
        copies[kind][first[used] + 1] = np.where(is_s == rises, a, b)[used]
    return copies
