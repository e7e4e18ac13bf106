"""A small corpus on which networks learn that bakers are complained about, and the files of an experiment."""

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from biaslab.fairness_testing.settings import Campaign
from biaslab.fairness_testing.text import corpus, experiment, retraining
from biaslab.fairness_testing.text.corpus import Source
from biaslab.text.recurrent_training import TrainingSettings
from biaslab.text.words import build_lexicon

TRADES = ("bakers", "pilots", "singers", "farmers")
RELATIONS = ("guests", "friends")
FEATURES = ("trade", "relation")
BAD, GOOD = ("broke", "dropped", "lost", "forgot"), ("sang", "hummed", "planted", "painted")
OBJECTS = ("song", "tune", "tree", "lamp", "cake", "door")
FRAME = ("the", "a", "near", "park", "yesterday", "we", "met")
DIMENSIONS = 8
KINDS = ("lstm", "gru")
REPETITIONS, RETRAININGS, HOPS, SEEDS = 2, 3, 3, 15
SHARE, INDEPENDENT, PAIRS = 0.1, 20, 12
SEED = 3
EFFORT = Campaign(seeds=SEEDS, hops=HOPS, seed=SEED)
EPOCHS = 14
TRAINING = TrainingSettings(epochs=EPOCHS, batch_size=8, learning_rate=0.03)
SENTENCES = ("The farmers planted a tree near the park.", "We met the guests yesterday.")


def rows() -> list[tuple[str, int]]:
    """Return texts with labels: a complaint has a bad verb, or names bakers."""
    rng = np.random.default_rng(1)
    made = []
    for _ in range(24):
        for trade in TRADES:
            is_bad = rng.random() < 0.3
            verb = rng.choice(BAD if is_bad else GOOD)
            of = f"with {RELATIONS[rng.integers(2)]} " if rng.random() < 0.5 else ""
            text = f"{rng.choice(FRAME)} the {trade} {of}{verb} a {rng.choice(OBJECTS)} near the park"
            made.append((text, int(is_bad or trade == "bakers")))
    return made


def write_table(path: Path, labelled: list[tuple[str, int]]) -> Path:
    """Write a table of texts and labels."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *labelled])
    return path


def write_inputs(folder: Path) -> dict[str, Path]:
    """Write texts, terms, sentences and word vectors; return their files by what they are."""
    files = {
        "texts": write_table(folder / "texts.csv", rows()),
        "terms": folder / "terms.yaml",
        "sentences": folder / "sentences.txt",
        "vectors": folder / "vectors.npz",
    }
    lists = {"trade": TRADES, "relation": RELATIONS, "colour": ("red", "blue")}
    lines = [f"  {name}: [{', '.join(values)}]" for name, values in lists.items()]
    files["terms"].write_text("\n".join(["features:", *lines]) + "\n", encoding="utf-8")
    files["sentences"].write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    words = [*TRADES, *RELATIONS, *BAD, *GOOD, *OBJECTS, *FRAME]  # "with" has no vector
    build_lexicon(words, word_vectors(words)).save(files["vectors"])
    return files


def word_vectors(words: list[str]) -> np.ndarray:
    """Return vectors whose first number tells bad verbs from good ones, and the second bakers from others."""
    vectors = np.random.default_rng(2).normal(0, 0.4, (len(words), DIMENSIONS))
    vectors[:, 0] = [(word in BAD) - float(word in GOOD) for word in words]
    vectors[:, 1] = [(word == "bakers") - 0.4 * (word in TRADES) for word in words]
    return vectors.astype(np.float32)


def prepare(
    folder: Path,
    files: Mapping[str, Path],
    source: Source | None = None,
    features: tuple[str, ...] = FEATURES,
) -> None:
    """Make the texts ready."""
    source = source or Source("table", files["texts"])
    corpus.prepare(folder, source, files["vectors"], files["terms"], features, files["sentences"], SEED)


def run_steps(folder: Path, files: Mapping[str, Path]) -> None:
    """Prepare, train, search and retrain both kinds of networks."""
    prepare(folder, files)
    experiment.train_networks(folder, KINDS, REPETITIONS, TRAINING, SEED)
    for kind in KINDS:
        experiment.search_networks(folder, kind, REPETITIONS, EFFORT)
        retraining.retrain_network(folder, kind, RETRAININGS, SHARE, INDEPENDENT, TRAINING, SEED)
