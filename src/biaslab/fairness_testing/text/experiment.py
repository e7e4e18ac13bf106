"""The networks of an experiment: training on a corpus, and quality (Table III)."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.fairness_testing.text.answers import labels_of, probabilities
from biaslab.fairness_testing.text.corpus import Labelled, Prepared, load_prepared
from biaslab.text.corpora import TEST, TRAIN, VALIDATION
from biaslab.text.models import TextModel
from biaslab.text.recurrent import Recurrent, initial_recurrent, load_recurrent
from biaslab.text.recurrent_training import TrainingSettings, train_recurrent
from biaslab.text.scores import chance_probability, precision_recall_f1


def seed_of(seed: int, kind: str, number: int) -> int:
    """Return the seed of a training."""
    return int(stream(seed, "text network", kind, number).integers(2**31))


def train_networks(
    folder: Path, kinds: Sequence[str], repetitions: int, training: TrainingSettings, seed: int
) -> None:
    """Train networks several times: KIND/network-N.npz, models.tsv and training.tsv of each type."""
    prepared = load_prepared(folder)
    sizes = {f"n_{part}": len(prepared.parts[part].texts) for part in (TRAIN, TEST)}
    for kind in kinds:
        models, histories = [], []
        for number in range(repetitions):
            network, history = train_once(prepared, kind, training, seed_of(seed, kind, number))
            network.save(network_file(folder, kind, number))
            measured = measure_quality(network, prepared.parts[TEST])
            kept = int(history.loc[history["is_kept"].astype(bool), "epoch"].iloc[0])
            models.append({"model": kind, "repetition": number} | sizes | measured | {"epoch": kept})
            histories.append(history.assign(repetition=number))
        write_tsv(folder / kind / "models.tsv", pd.DataFrame(models))
        write_tsv(folder / kind / "training.tsv", pd.concat(histories, ignore_index=True))


def train_once(
    prepared: Prepared, kind: str, settings: TrainingSettings, seed: int
) -> tuple[Recurrent, pd.DataFrame]:
    """Train a network on a corpus; return it and its history, see `train_recurrent`."""
    train, validation = prepared.parts[TRAIN], prepared.parts[VALIDATION]
    start = initial_recurrent(kind, prepared.lexicon.vectors, seed)
    return train_recurrent(start, *train, settings, seed, validation)


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


def network_file(folder: Path, kind: str, number: int) -> Path:
    """Return the file of a network's weights."""
    return folder / kind / f"network-{number}.npz"


def load_network(folder: Path, kind: str, number: int, prepared: Prepared) -> Recurrent:
    """Read a network of the experiment."""
    return load_recurrent(network_file(folder, kind, number), prepared.lexicon.vectors)
