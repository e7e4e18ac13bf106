"""From the predictions of all methods to the tables of results of a corpus."""

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from biaslab.core.io import read_parquet, read_tsv, write_tsv
from biaslab.hate_speech.columns import COLUMNS
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
    """Write the tables of encoders alone: the importance of identifiers, and what trainings cost."""
    tables = [read_tsv(folder.path / f"attributions/{name}.tsv") for name in methods]
    filled = [table for table in tables if len(table)]
    write_tsv(folder.path / "attributions.tsv", pd.concat(filled or tables[:1], ignore_index=True))
    parsed = [parse_method(name) for name in sorted(methods, key=lambda name: name != VANILLA)]
    cost = count_work(folder.train.tokens, list(folder.ids.values()), parsed, contexts, batch_size)
    write_tsv(folder.path / "cost.tsv", cost)


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
    columns = COLUMNS["functionalities"]
    tables = [pd.DataFrame(columns=columns)]
    for method, predicted in predictions.items():
        for seed, name, scores in _scores(predicted):
            if name == HATECHECK:
                labels, names = folder.tested[name].labels, folder.column("functionality", name)
                tables.append(functionality_table(scores, labels, names).assign(method=method, seed=seed))
    return pd.concat(tables[1:] or tables, ignore_index=True)[list(columns)]
