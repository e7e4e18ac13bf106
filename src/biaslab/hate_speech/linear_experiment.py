"""Run linear models on one corpus: BoW in Table 1, Tables 3 and 4, Figure 2, and random splits."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biaslab.core.io import write_parquet, write_tsv
from biaslab.hate_speech import corpus
from biaslab.hate_speech.folder import Folder, prediction_table
from biaslab.hate_speech.linear import Linear, Part, documents, fit_linear, removal_curve, weights_table
from biaslab.hate_speech.methods import BOW, BOW_WR, LINEAR
from biaslab.hate_speech.metrics import measure
from biaslab.text import corpora
from biaslab.text.corpora import Source
from biaslab.text.tokens import Tokens

N_WEIGHTS = 500
"""Number of features to keep weights of, in addition to the identifiers."""


@dataclass(frozen=True)
class LinearEffort:
    """Settings of the linear experiment."""

    negative_weight: float  # weight of a negative text in the loss
    n_splits: int  # random splits
    n_subsets: int  # random subsets of identifiers of each size (Figure 2)
    seed: int


def run_linear(folder: Folder, source: Source, effort: LinearEffort, say: Callable[[str], None]) -> None:
    """Write the predictions, weights, removals and splits of the linear models of a corpus."""
    for model in LINEAR:
        linear = _fit(folder, folder.splits[corpora.TRAIN], model, effort)
        tables = [  # a linear model has no seed but 0
            prediction_table(0, name, _scores(folder, linear, texts, model))
            for name, texts in folder.tested.items()
        ]
        write_parquet(folder.path / f"predictions/{model}.parquet", pd.concat(tables, ignore_index=True))
        if model == BOW:
            weights = weights_table(linear, list(folder.ids), N_WEIGHTS)
            write_tsv(folder.path / "linear_weights.tsv", weights)
    say("trained on the split that all classifiers share")
    write_tsv(folder.path / "removal.tsv", _removal(folder, effort))
    say("removed identifiers")
    write_tsv(folder.path / "linear.tsv", pd.DataFrame(_splits(folder, source, effort, say)))


def _fit(folder: Folder, train: corpus.Texts, model: str, effort: LinearEffort) -> Linear:
    """Train `BOW` or `BOW_WR`."""
    texts = documents(_removed(folder, train.tokens, model), folder.tokenizer.vocabulary)
    return fit_linear(texts, train.labels, effort.negative_weight)


def _removed(folder: Folder, tokens: Tokens, model: str) -> Tokens:
    """Return texts as a model reads them, in training and in test: without identifiers for `BOW_WR`."""
    return tokens.without(list(folder.ids.values())) if model == BOW_WR else tokens


def _scores(folder: Folder, linear: Linear, texts: corpus.Texts, model: str) -> np.ndarray:
    """Return the scores of texts, (n,) float64."""
    return linear.scores(documents(_removed(folder, texts.tokens, model), folder.tokenizer.vocabulary))


def _removal(folder: Folder, effort: LinearEffort) -> pd.DataFrame:
    """Return Figure 2's curve; without rows if news are missing."""
    if corpus.NEWS not in folder.tested:
        columns = ("n_removed", "subset", "precision", "recall", "f1", "news_accuracy", "news_macro_accuracy")
        return pd.DataFrame(columns=list(columns))
    train, test, news = (
        Part(texts.tokens, texts.labels)
        for texts in (folder.splits[corpora.TRAIN], folder.splits[corpora.TEST], folder.tested[corpus.NEWS])
    )
    return removal_curve(
        train,
        test,
        news._replace(identifiers=folder.column("identifier", corpus.NEWS)),
        folder.tokenizer.vocabulary,
        folder.ids,
        effort.negative_weight,
        effort.seed,
        effort.n_subsets,
    )


def _splits(
    folder: Folder, source: Source, effort: LinearEffort, say: Callable[[str], None]
) -> Iterator[Mapping[str, object]]:
    """Yield the rows of ``linear.tsv``: every split, with and without WR."""
    rule = source.positive or ("released" if source.is_released_split else "given")
    if source.format == corpus.STORMFRONT and source.positive is None:
        rule = corpus.NOT_NOHATE
    split_type = "release" if source.is_released_split else "random"
    for number, splits in enumerate(_texts_by_split(folder, source, effort, say)):
        for model in LINEAR:
            names = {"model": model, "features": "binary", "label_rule": rule, "split_kind": split_type}
            yield from _measured(folder, splits, names | {"split": number}, effort)


def _texts_by_split(
    folder: Folder, source: Source, effort: LinearEffort, say: Callable[[str], None]
) -> Iterator[dict[str, corpus.Texts]]:
    """Yield the splits of a corpus; read and tokenise the corpus once."""
    if source.is_released_split:
        tables = corpus.read_splits(source, effort.seed, say=say)
        yield {name: corpus.tokenize(table, folder.tokenizer) for name, table in tables.items()}
        return
    table = source.read(say=say)
    texts = corpus.tokenize(table, folder.tokenizer)
    for number in range(effort.n_splits):
        parts = corpus.split_rows(table, source, effort.seed, number)
        yield {name: texts.take(rows) for name, rows in parts.items()}


def _measured(
    folder: Folder, splits: Mapping[str, corpus.Texts], names: Mapping[str, object], effort: LinearEffort
) -> Iterator[Mapping[str, object]]:
    """Yield the rows of one linear model on one split: the test set, and news if present."""
    model = str(names["model"])
    linear = _fit(folder, splits[corpora.TRAIN], model, effort)
    sets = {corpora.TEST: (splits[corpora.TEST], None)}
    if corpus.NEWS in folder.tested:
        sets[corpus.NEWS] = (folder.tested[corpus.NEWS], folder.column("identifier", corpus.NEWS))
    for name, (texts, identifiers) in sets.items():
        measures = measure(_scores(folder, linear, texts, model), texts.labels, identifiers)._asdict()
        values = {key: value for key, value in measures.items() if key not in ("n", "n_positive")}
        yield {**names, "set": name, "n_train": len(splits[corpora.TRAIN]), **values}
