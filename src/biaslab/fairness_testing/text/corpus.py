"""The texts of an experiment, prepared once: split, as words, with sensitive words and neighbours."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import pandas as pd
import pydantic.dataclasses

from biaslab.core.errors import InputError, suggest
from biaslab.core.files import read_text, read_yaml
from biaslab.core.io import read_npz, write_npz, write_tsv
from biaslab.core.rng import stream
from biaslab.core.settings import PYDANTIC, validate
from biaslab.embeddings import cooccurrence, glove
from biaslab.embeddings.corpus import build_corpus
from biaslab.embeddings.formats import read_embedding
from biaslab.embeddings.readers import read_documents
from biaslab.embeddings.settings import Choice
from biaslab.fairness_testing.text.discrimination import have_marked, labels_of, probabilities
from biaslab.text.corpora import PARTS, TEST, TRAIN, Source
from biaslab.text.labelled import read_texts
from biaslab.text.models import TextModel
from biaslab.text.scores import chance_probability, precision_recall_f1
from biaslab.text.similarity import nearest_words
from biaslab.text.splits import split_shares
from biaslab.text.words import Lexicon, Texts, build_lexicon, split_words

EVERY_TEXT = "all"  # the name of the feature for all texts in results

_HEADER = ["feature", "values"]
_FEATURE = re.compile(r"[a-z0-9][a-z0-9_-]*")
_Feature = Annotated[str, "the name of a feature, in quotes if need be"]
_Word = Annotated[str, "a word in lower case, in quotes if need be"]
_Words = Annotated[list[_Word], "the values of a feature; yes, no, true and false in quotes"]

Rows = list[tuple[str, str, list[str]]]  # position, name and values of each feature


@pydantic.dataclasses.dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class _File:
    """Sensitive features."""

    features: Annotated[dict[_Feature, _Words], "the values of each feature"] = field(default_factory=dict)
    title: Annotated[str, "what the list is"] = ""
    source: Annotated[str, "where it comes from"] = ""


def read_terms(path: str | os.PathLike) -> dict[str, tuple[str, ...]]:
    """Read the values of one or several sensitive features, each one word, in the order of the file.

    ``.csv`` as published by the authors, ``.yaml`` as in `_File`, or ``.txt`` with the values of one feature,
    which is named after the file.
    """
    path = Path(path)
    if path.suffix == ".csv":
        rows = _read_csv(path)
    elif path.suffix in (".yaml", ".yml"):
        features = validate(_File, read_yaml(path), str(path)).features
        rows = [(f"{path}: features.{name}", name, values) for name, values in features.items()]
    elif path.suffix == ".txt":
        lines = [line.strip() for line in read_text(path, "term list").splitlines()]
        rows = [(str(path), path.stem, [line for line in lines if line and not line.startswith("#")])]
    else:
        raise InputError(f"{path}: unknown format of a term list; use a file .csv, .yaml or .txt")
    if not rows:
        raise InputError(f"{path}: the file has no features; write at least one feature and its values")
    terms: dict[str, tuple[str, ...]] = {}
    for where, feature, values in rows:
        if not _FEATURE.fullmatch(feature):
            raise InputError(
                f"{where}: a feature cannot be named '{feature}'; use letters a to z, digits, - and _ only"
            )
        if feature == EVERY_TEXT:
            raise InputError(f"{where}: '{EVERY_TEXT}' stands for every text in results; rename the feature")
        if feature in terms:
            raise InputError(f"{where}: the feature '{feature}' is repeated; remove one of its lines")
        _check_values(feature, values, where)
        terms[feature] = tuple(values)
    return terms


def _read_csv(path: Path) -> Rows:
    texts = read_text(path, "term list").splitlines()
    lines = [(i, [field.strip() for field in line.split(",")]) for i, line in enumerate(texts, 1)]
    lines = [(i, fields) for i, fields in lines if any(fields)]
    if lines and lines[0][1] != _HEADER:
        raise InputError(f"{path}, line {lines[0][0]}: the header is not 'feature, values'; insert it")
    return [(f"{path}, line {i}", fields[0], fields[1:]) for i, fields in lines[1:]]


def _check_values(feature: str, values: list[str], where: str) -> None:
    for i, value in enumerate(values):
        if value != value.lower():
            raise InputError(f"{where}: '{value}' has capital letters; write '{value.lower()}'")
        if split_words(value) != [value]:
            raise InputError(
                f"{where}: '{value}' is not one word; write only letters and digits, with - or ' inside"
            )
        if value in values[:i]:
            raise InputError(f"{where}: the value '{value}' is repeated; remove one")
    if len(values) < 2:
        raise InputError(
            f"{where}: the feature '{feature}' has {len(values)} value{'' if len(values) == 1 else 's'}; "
            "write at least two, to exchange them"
        )


SHARES = (0.6, 0.1, 0.3)
"""Shares of the parts, unless the corpus has its own; the test share is large, as searches start there."""
K = 10  # candidate neighbours for the substitute of a word (Table II)
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


def measure_quality(network: TextModel, test: Labelled) -> dict[str, float]:
    """Return accuracy, share of the more frequent label, F1 of the positive label, and p-value of chance."""
    predicted = labels_of(probabilities(network, test.texts))
    share = test.labels.mean()
    return {
        "accuracy": float((predicted == test.labels).mean()),
        "majority": float(max(share, 1 - share)),
        "f1": precision_recall_f1(predicted, test.labels)[2],
        "p_chance": chance_probability(predicted, test.labels),
    }


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
