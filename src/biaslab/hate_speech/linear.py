"""Fit logistic regression to bags of WordPieces (Kennedy et al. 2020, Section 4.1, A.1).

Texts are read as in the authors' published code: the WordPieces, including [CLS] and [SEP], are joined by
spaces and passed to scikit-learn's vectorizer. Its default token pattern drops pieces of one character,
strips the ``##`` of a continuation piece, and keeps "cls" and "sep" as features of every text.
Features are binary, as in their code; the paper states TF-IDF (A.1). Word removal (WR) applies
`Tokens.without` first, in training and in test.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from biaslab.core.errors import InputError
from biaslab.core.io import write_parquet, write_tsv
from biaslab.core.rng import stream
from biaslab.hate_speech import corpus
from biaslab.hate_speech.corpus import NEWS, Folder, Texts, prediction_table
from biaslab.hate_speech.methods import BOW, BOW_WR, LINEAR
from biaslab.hate_speech.metrics import COLUMNS, MEASURES, measure
from biaslab.text.corpora import TEST, TRAIN, Source
from biaslab.text.tokens import Tokens

N_WEIGHTS = 500  # number of features to keep weights of, in addition to the identifiers
_SOLVER = {"solver": "newton-cg", "tol": 1e-8, "max_iter": 1000}
# The objective is scikit-learn's default (l2, C = 1, free intercept). The default solver stops with scores
# about 0.05 from the optimum; this solver reaches the optimum in the same time.


@dataclass(frozen=True)
class Linear:
    """A linear classifier of texts."""

    vectorizer: CountVectorizer
    model: LogisticRegression

    @property
    def terms(self) -> np.ndarray:
        """The features, (f,) str, in the order of their names."""
        return self.vectorizer.get_feature_names_out()

    @property
    def weights(self) -> np.ndarray:
        """Weight of each feature in a score, (f,) float64."""
        return self.model.coef_[0]

    def scores(self, documents: Sequence[str]) -> np.ndarray:
        """Return the logit of every document, (n,) float64; above 0 means positive."""
        return self.model.decision_function(self.vectorizer.transform(documents))


def documents(tokens: Tokens, vocabulary: Sequence[str]) -> list[str]:
    """Return the texts as the authors' code passes them to a vectorizer: WordPieces joined by spaces."""
    pieces = np.asarray(vocabulary, dtype=object)[tokens.ids].tolist()
    ends = tokens.offsets.tolist()
    return [" ".join(pieces[start:end]) for start, end in pairwise(ends)]


def fit_linear(documents: Sequence[str], labels: np.ndarray, negative_weight: float = 1.0) -> Linear:
    """Fit logistic regression to the bag of words of `documents`, with labels (n,) 1 or 0."""
    vectorizer = CountVectorizer(binary=True)
    try:
        X = vectorizer.fit_transform(documents)
    except ValueError as error:  # no texts, or an empty vocabulary
        raise InputError("no training text has a word of two or more letters; supply more texts") from error
    return Linear(vectorizer, fit_logistic(X, labels, negative_weight))


def fit_logistic(X: scipy.sparse.csr_array, labels: np.ndarray, negative_weight: float) -> LogisticRegression:
    """Fit the logistic regression of `fit_linear` to features, (n, f) sparse."""
    labels = np.asarray(labels)
    for label, name in enumerate(("negative", "positive")):
        if not np.any(labels == label):
            raise InputError(f"no training text is {name}; supply texts of both classes")
    model = LogisticRegression(class_weight={0: negative_weight, 1: 1.0}, **_SOLVER)
    with threadpool_limits(1):  # more threads change the order of summation
        return model.fit(X, labels)


def weights_table(linear: Linear, identifiers: Collection[str]) -> pd.DataFrame:
    """Return the `N_WEIGHTS` largest weights and all identifiers, by rank; last, identifiers in no text."""
    order = np.argsort(-linear.weights, kind="stable")
    table = pd.DataFrame({"term": linear.terms[order], "weight": linear.weights[order]})
    table["rank"] = pd.array(np.arange(1, len(table) + 1), "Int64")
    absent = sorted(set(identifiers) - set(table["term"]))
    table = pd.concat([table, pd.DataFrame({"term": absent})], ignore_index=True)
    table["is_identifier"] = table["term"].isin(identifiers)
    table["n_features"] = len(linear.terms)
    table = table[table["is_identifier"] | (table["rank"] <= N_WEIGHTS).fillna(False)]
    return table[list(COLUMNS["linear_weights"])].reset_index(drop=True)


@dataclass(frozen=True)
class LinearEffort:
    """Settings of the linear experiment."""

    negative_weight: float  # weight of a negative text in the loss
    n_splits: int  # random splits
    n_subsets: int  # random subsets of identifiers of each size (Figure 2)
    seed: int


def removal_curve(
    parts: Sequence[Texts],
    news_identifiers: np.ndarray,
    vocabulary: Sequence[str],
    identifier_ids: Mapping[str, int],
    effort: LinearEffort,
) -> pd.DataFrame:
    """Return F1 on test texts and accuracy on news after removing k identifiers, for every k.

    `parts` are train, test and news. `news_identifiers`, (n,), has the identifier for which each negative
    text of news was drawn.
    """
    train, test, news = parts
    ids = np.array(list(identifier_ids.values()), dtype=np.int64)
    vectorizer = CountVectorizer(binary=True)
    vectorizer.fit(documents(train.tokens, vocabulary))
    bags = []  # binary features, (n, f) sparse, and the part that vanishes if all identifiers are removed
    for part in parts:
        full, rest = (
            vectorizer.transform(documents(tokens, vocabulary)).astype(np.float64)
            for tokens in (part.tokens, part.tokens.without(ids))
        )
        bags.append((full, full - rest))
    columns = _columns(vectorizer, vocabulary, identifier_ids)
    rows = []
    for n_removed in range(len(ids) + 1):
        rng = stream(effort.seed, "removal", n_removed)
        subsets: dict[tuple[int, ...], None] = {}
        while len(subsets) < min(effort.n_subsets, math.comb(len(ids), n_removed)):
            subsets[tuple(sorted(rng.choice(len(ids), n_removed, replace=False).tolist()))] = None
        for subset, removed in enumerate(subsets):
            is_removed = np.zeros(len(vectorizer.vocabulary_))
            is_removed[[columns[i] for i in removed if i in columns]] = 1
            X, X_test, X_news = (_without(*bag, is_removed) for bag in bags)
            model = fit_logistic(X, train.labels, effort.negative_weight)
            on_test = measure(model.decision_function(X_test), test.labels)
            on_news = measure(model.decision_function(X_news), news.labels, news_identifiers)
            rows.append((n_removed, subset, on_test.precision, on_test.recall, on_test.f1, *on_news[-2:]))
    return pd.DataFrame(rows, columns=COLUMNS["removal"])


def _without(
    full: scipy.sparse.csr_array, lost: scipy.sparse.csr_array, is_removed: np.ndarray
) -> scipy.sparse.csr_array:
    """Return binary features after the columns `is_removed` of the part `lost` vanished."""
    left = (full - lost @ scipy.sparse.diags_array(is_removed)).tocsr()
    left.eliminate_zeros()
    return left


def _columns(
    vectorizer: CountVectorizer, vocabulary: Sequence[str], identifier_ids: Mapping[str, int]
) -> dict[int, int]:
    """Return the feature of each identifier by its position; omit identifiers that are no feature."""
    words = vectorizer.build_analyzer()
    columns, holders = {}, {}
    for place, (name, i) in enumerate(identifier_ids.items()):
        for word in words(vocabulary[i]):
            if word in holders:
                raise InputError(f"identifiers '{holders[word]}' and '{name}' are one feature; remove one")
            holders[word] = name
            if word in vectorizer.vocabulary_:
                columns[place] = vectorizer.vocabulary_[word]
    return columns


def run_linear(folder: Folder, source: Source, effort: LinearEffort, say: Callable[[str], None]) -> None:
    """Write the predictions, weights, removals and splits of the linear models of a corpus."""
    train, test = folder.splits[TRAIN], folder.splits[TEST]
    for model in LINEAR:
        linear = fit_linear(_read(folder, train.tokens, model), train.labels, effort.negative_weight)
        tables = [  # a linear model has no seed but 0
            prediction_table(0, name, linear.scores(_read(folder, texts.tokens, model)))
            for name, texts in folder.tested.items()
        ]
        write_parquet(folder.path / f"predictions/{model}.parquet", pd.concat(tables, ignore_index=True))
        if model == BOW:
            write_tsv(folder.path / "linear_weights.tsv", weights_table(linear, list(folder.ids)))
    say("trained on the split that all classifiers share")
    removal = pd.DataFrame(columns=COLUMNS["removal"])
    if NEWS in folder.tested:
        parts, drawn_for = (train, test, folder.tested[NEWS]), folder.column("identifier", NEWS)
        removal = removal_curve(parts, drawn_for, folder.tokenizer.vocabulary, folder.ids, effort)
    write_tsv(folder.path / "removal.tsv", removal)
    say("removed identifiers")
    write_tsv(folder.path / "linear.tsv", pd.DataFrame(_measure_splits(folder, source, effort, say)))


def _read(folder: Folder, tokens: Tokens, model: str) -> list[str]:
    """Return texts as a model reads them, in training and in test: without identifiers for `BOW_WR`."""
    tokens = tokens.without(list(folder.ids.values())) if model == BOW_WR else tokens
    return documents(tokens, folder.tokenizer.vocabulary)


def _measure_splits(
    folder: Folder, source: Source, effort: LinearEffort, say: Callable[[str], None]
) -> Iterator[Mapping[str, object]]:
    """Yield the rows of ``linear.tsv``: the test set of every split and news, with and without WR."""
    rule = source.positive or ("released" if source.is_released_split else "given")
    if source.format == corpus.STORMFRONT and source.positive is None:
        rule = corpus.NOT_NOHATE
    split_type = "release" if source.is_released_split else "random"
    for number, texts in enumerate(_texts_by_split(folder, source, effort, say)):
        sets = {TEST: (texts[TEST], None)}
        if NEWS in folder.tested:
            sets[NEWS] = (folder.tested[NEWS], folder.column("identifier", NEWS))
        for model in LINEAR:
            train = texts[TRAIN]
            linear = fit_linear(_read(folder, train.tokens, model), train.labels, effort.negative_weight)
            names = {"model": model, "features": "binary", "label_rule": rule, "split_kind": split_type}
            for name, (part, identifiers) in sets.items():
                scores = linear.scores(_read(folder, part.tokens, model))
                measures = measure(scores, part.labels, identifiers)
                values = {key: getattr(measures, key) for key in MEASURES}
                yield {**names, "split": number, "set": name, "n_train": len(train), **values}


def _texts_by_split(
    folder: Folder, source: Source, effort: LinearEffort, say: Callable[[str], None]
) -> Iterator[dict[str, Texts]]:
    """Yield the splits of a corpus; read and tokenise the corpus once."""
    if source.is_released_split:
        tables = corpus.read_splits(source, effort.seed, say=say)
        yield {name: corpus.tokenize(table, folder.tokenizer) for name, table in tables.items()}
        return
    table = source.read(say=say)
    texts = corpus.tokenize(table, folder.tokenizer)
    for number in range(effort.n_splits):
        draw = partial(corpus.split, source=source, seed=effort.seed, number=number)
        yield {name: texts.take(rows) for name, rows in source.drawn(table, draw).items()}
