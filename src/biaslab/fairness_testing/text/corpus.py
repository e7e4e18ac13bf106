"""The texts of an experiment, prepared once for all steps: split, as words, with terms and neighbours."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError, suggest
from biaslab.core.io import read_npz, write_npz, write_tsv
from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence, glove
from biaslab.embeddings.corpus import build_corpus
from biaslab.embeddings.formats import read_embedding
from biaslab.embeddings.readers import read_documents
from biaslab.embeddings.settings import Choice
from biaslab.fairness_testing.text.discrimination import have_marked
from biaslab.fairness_testing.text.terms import EVERY_TEXT, read_terms
from biaslab.text.corpora import PARTS, TEST, TRAIN, Source
from biaslab.text.labelled import read_texts
from biaslab.text.similarity import nearest_words
from biaslab.text.splits import split_shares
from biaslab.text.words import Lexicon, Texts, build_lexicon, split_words

SHARES = (0.6, 0.1, 0.3)
"""Shares of the parts, unless the corpus has its own; the test share is large, as searches start there."""
K = 10
"""Candidate neighbours for the substitute of a word (Table II)."""
MAX_WORDS = 200
"""The largest number of words of a text; longer texts are cut, because the paper gives no length."""
SENTENCES = "sentences"
LEXICON, TEXTS = "lexicon.npz", "texts.npz"


class Labelled(NamedTuple):
    """Texts with labels."""

    texts: Texts
    labels: np.ndarray  # (n,) int64, 1 = positive


@dataclass(frozen=True)
class Prepared:
    """A prepared corpus."""

    lexicon: Lexicon
    parts: dict[str, Labelled]  # by `PARTS`
    values: dict[str, np.ndarray]  # ids of each feature's values, (k,) int32
    neighbours: np.ndarray  # (V, K) int32, see `nearest_words`; without values of any feature
    sentences: Texts  # neutral sentences that demonstrate the search


def prepare(
    folder: Path,
    source: Source,
    vectors: Path,
    terms: Path,
    features: Sequence[str],
    sentences: Path,
    seed: int,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Write ``lexicon.npz``, ``texts.npz``, ``texts.tsv`` and ``vectors.tsv`` of a corpus."""
    listed = read_terms(terms)
    for feature in features:
        if feature not in listed:
            raise InputError(
                f"{terms}: unknown feature '{feature}' (known: {', '.join(listed)}){suggest(feature, listed)}"
            )
    values = {name: listed[name] for name in features}

    def draw(table: pd.DataFrame) -> Sequence[np.ndarray]:
        if "part" in table:  # the split of the release
            return [np.flatnonzero(table["part"] == part) for part in PARTS]
        return split_shares(table["label"], SHARES, stream(seed, "text parts"))  # equal shares of labels

    tables = source.parts(draw, say=say)
    words = {name: _words(table["text"], name, say) for name, table in tables.items()}
    words[SENTENCES] = _words(read_texts(sentences)["text"], SENTENCES, say)
    read_vectors = Lexicon.load(vectors)
    all_texts = [text for texts in words.values() for text in texts]
    lexicon = build_lexicon(read_vectors.words, read_vectors.vectors, [*all_texts, *listed.values()])
    encoded = {name: lexicon.encode(texts) for name, texts in words.items()}
    ids = {name: np.array([lexicon.ids[v] for v in group], np.int32) for name, group in values.items()}
    protected = [lexicon.ids[value] for group in listed.values() for value in group]
    arrays: dict[str, np.ndarray] = {}
    for name, texts in encoded.items():
        labels = np.zeros(len(texts)) if name == SENTENCES else tables[name]["label"]
        arrays |= texts.arrays(name) | {f"{name}_labels": np.asarray(labels, np.int64)}
    counts = _counts(encoded, tables, ids, lexicon)
    empty = counts[counts["part"].isin([TRAIN, TEST]) & (counts["n_texts"] == 0)]
    for row in empty.itertuples():
        raise InputError(
            f"{terms}: no text for {row.part}ing of {source.train} contains a value of '{row.feature}'; test"
            " another feature, or name other terms"
        )
    lexicon.save(folder / LEXICON)
    neighbours = nearest_words(lexicon, K, protected)
    write_npz(folder / TEXTS, **arrays, neighbours=neighbours, **{f"values_{n}": v for n, v in ids.items()})
    write_tsv(folder / "texts.tsv", counts)
    size = {"n_words": int(read_vectors.is_known.sum()), "dimension": read_vectors.vectors.shape[1]}
    write_tsv(folder / "vectors.tsv", pd.DataFrame([size]))


def load_prepared(folder: Path) -> Prepared:
    """Read the files of `prepare`."""
    arrays = read_npz(folder / TEXTS)
    names = [key.removesuffix("_labels") for key in arrays if key.endswith("_labels")]
    parts = {name: Labelled(Texts.of_arrays(arrays, name), arrays[f"{name}_labels"]) for name in names}
    values = {key.removeprefix("values_"): ids for key, ids in arrays.items() if key.startswith("values_")}
    sentences = parts.pop(SENTENCES).texts
    return Prepared(Lexicon.load(folder / LEXICON), parts, values, arrays["neighbours"], sentences)


def holding(texts: Texts, ids: np.ndarray) -> np.ndarray:
    """Return whether texts contain one of some words, (n,) bool."""
    return have_marked(texts, np.isin(texts.ids, ids))


def _words(texts: Iterable[str], name: str, say: Callable[[str], None]) -> list[list[str]]:
    """Return texts as words, cut to `MAX_WORDS`; report how many are cut."""
    words = [split_words(text) for text in texts]
    if n_cut := sum(len(text_words) > MAX_WORDS for text_words in words):
        say(f"{name}: {n_cut:,} of {len(words):,} texts are cut after {MAX_WORDS} words")
    return [text_words[:MAX_WORDS] for text_words in words]


def _counts(
    encoded: Mapping[str, Texts],
    tables: Mapping[str, pd.DataFrame],
    values: Mapping[str, np.ndarray],
    lexicon: Lexicon,
) -> pd.DataFrame:
    """Return texts.tsv: statistics of each part, for all texts and for each feature."""
    rows = []
    for part, table in tables.items():
        texts, labels = encoded[part], table["label"].to_numpy()
        for feature in (EVERY_TEXT, *values):
            is_kept = np.ones(len(texts), bool) if feature == EVERY_TEXT else holding(texts, values[feature])
            kept = np.flatnonzero(is_kept)
            kept_texts = texts.take(kept)
            rows.append(
                {
                    "part": part,
                    "feature": feature,
                    "n_texts": len(kept_texts),
                    "n_positive": int(labels[kept].sum()),
                    "mean_words": kept_texts.lengths.mean() if len(kept_texts) else np.nan,
                    "known_share": lexicon.is_known[kept_texts.ids].mean() if len(kept_texts.ids) else np.nan,
                }
            )
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Training:
    """Settings for training word vectors."""

    format: str  # of the corpus, see `read_documents`
    choice: Choice  # the kept part of the corpus
    window: int  # words on each side that count as context
    glove: glove.GloveParameters


def make_vectors(
    source: Path, vectors: Path, seed: int, training: Training | None = None, threads: int = 1
) -> None:
    """Train GloVe on a corpus, with equal results for any threads, or read GloVe or word2vec vectors."""
    if training is None:
        build_lexicon(*read_embedding(source)).save(vectors)
        return
    corpus = build_corpus(read_documents(source, training.format), **vars(training.choice))
    words = list(corpus.vocabulary["word"])
    counts = cooccurrence.count(corpus.tokens, corpus.offsets, len(words), training.window, threads)
    trained = glove.train(counts, training.glove, stream(seed, "text vectors"), threads)
    build_lexicon(words, trained.W).save(vectors)
