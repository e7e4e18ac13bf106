"""From the predictions of all methods to the tables of results of a corpus."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.io import read_parquet, read_tsv, write_tsv
from biaslab.hate_speech.comparisons import paired_differences
from biaslab.hate_speech.contexts import ContextSettings
from biaslab.hate_speech.corpus import NEWS
from biaslab.hate_speech.cost import count_work
from biaslab.hate_speech.folder import Folder
from biaslab.hate_speech.identity_metrics import functionality_table, holding, identity_table
from biaslab.hate_speech.methods import BOW, LINEAR, VANILLA, parse_method
from biaslab.hate_speech.metrics import measure
from biaslab.hate_speech.probes import HATECHECK
from biaslab.text.corpora import TRAIN
from biaslab.text.scores import chance_probability

_HELD_OUT = ("identifier", "seed", "method", "is_regularized", "n", "news_accuracy", "mean_abs_phi")


def measure_corpus(folder: Folder, methods: Sequence[str], settings: Mapping[str, float]) -> None:
    """Write the tables of all methods of a corpus on all sets, methods in the order of the tables.

    `settings`, what trainings and explanations were made with, are written beside their results.
    """
    predictions = _predictions(folder, methods)
    metrics = pd.DataFrame(_metrics(folder, predictions))
    write_tsv(folder.path / "metrics.tsv", metrics)
    write_tsv(folder.path / "identity.tsv", _identity(folder, predictions))
    write_tsv(folder.path / "functionalities.tsv", _functionalities(folder, predictions))
    differences = [paired_differences(metrics, name) for name in (VANILLA, BOW) if name in methods]
    write_tsv(folder.path / "differences.tsv", pd.concat(differences, ignore_index=True))
    write_tsv(folder.path / "settings.tsv", _settings(folder, settings))


def measure_encoders(
    folder: Folder, methods: Sequence[str], contexts: ContextSettings, batch_size: int
) -> None:
    """Write the tables of encoders alone: their explanations, what they cost, what was held out."""
    attributions = _together(folder.path, "attributions", methods)
    write_tsv(folder.path / "attributions.tsv", attributions)
    write_tsv(folder.path / "faithfulness.tsv", _together(folder.path, "faithfulness", methods))
    parsed = [parse_method(name) for name in sorted(methods, key=lambda name: name != VANILLA)]
    cost = count_work(folder.train.tokens, list(folder.ids.values()), parsed, contexts, batch_size)
    write_tsv(folder.path / "cost.tsv", cost)
    identity = _identity(folder, _predictions(folder, methods))  # identity.tsv is rounded
    write_tsv(folder.path / "held_out.tsv", _held_out(folder, methods, identity, attributions))


def _predictions(folder: Folder, methods: Sequence[str]) -> dict[str, pd.DataFrame]:
    return {name: read_parquet(folder.path / f"predictions/{name}.parquet") for name in methods}


def _settings(folder: Folder, given: Mapping[str, float]) -> pd.DataFrame:
    """Return the settings with the size of the encoder, by name."""
    described = json.loads((folder.encoder / "config.json").read_text(encoding="utf-8"))
    encoder = {"encoder_layers": described["num_hidden_layers"], "encoder_width": described["hidden_size"]}
    return pd.DataFrame(sorted({**given, **encoder}.items()), columns=["setting", "value"]).astype(
        {"value": float}
    )


def _scores(predictions: pd.DataFrame) -> Iterator[tuple[int, str, np.ndarray]]:
    """Yield seed, set and the scores of its texts in their order."""
    for (seed, name), table in predictions.groupby(["seed", "set"], sort=False):
        yield seed, name, table.sort_values("row")["score"].to_numpy()


def _metrics(folder: Folder, predictions: dict[str, pd.DataFrame]) -> Iterator[dict[str, object]]:
    """Yield the rows of ``metrics.tsv``; linear models are trained on all texts, encoders on those used."""
    sizes = {True: len(folder.splits[TRAIN]), False: len(folder.used)}
    for method, table in predictions.items():
        for seed, name, scores in _scores(table):
            identifiers = folder.column("identifier", NEWS) if name == NEWS else None
            labels = folder.tested[name].labels
            found = measure(scores, labels, identifiers)._asdict()
            found["p_chance"] = chance_probability(scores > 0, labels)
            n_train = sizes[method in LINEAR]
            yield {"method": method, "seed": seed, "set": name, "n_train": n_train, **found}


def _identity(folder: Folder, predictions: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the measures of every identifier on every set."""
    pieces = list(folder.ids.values())
    held = {name: holding(texts.tokens, pieces) for name, texts in folder.tested.items()}
    tables = [
        identity_table(scores, folder.tested[name].labels, held[name], list(folder.ids)).assign(
            method=method, seed=seed, set=name
        )
        for method, predicted in predictions.items()
        for seed, name, scores in _scores(predicted)
    ]
    table = pd.concat(tables, ignore_index=True)
    names = ["method", "seed", "set"]
    return table[[*names, *(column for column in table if column not in names)]]


def _functionalities(folder: Folder, predictions: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the pass rates of HateCheck; without rows where it is not there."""
    columns = ["method", "seed", "functionality", "is_hateful", "n", "passed", "rate", "ci_low", "ci_high"]
    tables = [pd.DataFrame(columns=columns)]
    for method, predicted in predictions.items():
        for seed, name, scores in _scores(predicted):
            if name == HATECHECK:
                found = functionality_table(
                    scores, folder.tested[name].labels, folder.column("functionality", name)
                )
                tables.append(found.assign(method=method, seed=seed))
    return pd.concat(tables[1:] or tables, ignore_index=True)[columns]


def _together(path: Path, kind: str, methods: Sequence[str]) -> pd.DataFrame:
    """Return the tables of a kind of all methods, one below the other."""
    tables = [read_tsv(path / f"{kind}/{name}.tsv") for name in methods]
    filled = [table for table in tables if len(table)]
    return pd.concat(filled or tables[:1], ignore_index=True)


def _held_out(
    folder: Folder, methods: Sequence[str], identity: pd.DataFrame, attributions: pd.DataFrame
) -> pd.DataFrame:
    """Return how each identifier fares where it is regularized, where others are, and where none is."""
    parsed = {name: parse_method(name) for name in methods}
    folds = [name for name, method in parsed.items() if method.fold is not None]
    bases = dict.fromkeys(name.partition("@")[0] for name in folds)
    rows = []
    for name in [VANILLA, *bases, *folds] if folds else []:
        fold = parsed[name].fold if name in parsed else None
        for place, identifier in enumerate(folder.ids):
            is_regularized = name != VANILLA and (fold is None or place % fold[1] != fold[0])
            rows.append({"identifier": identifier, "method": name, "is_regularized": is_regularized})
    table = pd.DataFrame(rows, columns=["identifier", "method", "is_regularized"])
    news = identity[identity["set"] == NEWS]
    news = news.assign(news_accuracy=1 - news["false_positive_rate"])
    table = table.merge(
        news[["method", "seed", "identifier", "n", "news_accuracy"]], on=["method", "identifier"]
    )
    phi = attributions[attributions["explanation"] == "soc"]
    table = table.merge(
        phi[["method", "seed", "identifier", "mean_abs_phi"]], on=["method", "seed", "identifier"], how="left"
    )
    return table[list(_HELD_OUT)]
