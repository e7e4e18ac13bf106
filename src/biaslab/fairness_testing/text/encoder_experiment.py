"""The encoder as a network of an experiment: its quality, and which pairs found on the others hold on it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from biaslab.core.io import write_tsv
from biaslab.fairness_testing.text.agreement import agreement_of_encoder
from biaslab.fairness_testing.text.corpus import load_prepared
from biaslab.fairness_testing.text.experiment import quality_of, seed_of
from biaslab.fairness_testing.text.finds import load_finds
from biaslab.fairness_testing.text.names import ENCODER_KIND
from biaslab.text.corpora import TEST, TRAIN


def train_encoder_network(
    folder: Path,
    kinds: Sequence[str],
    pairs: int,
    encoder: Mapping[str, Path | None],
    layers: int | None,
    epochs: int,
    negative_weight: float,
    seed: int,
) -> None:
    """Fine-tune an encoder on a corpus: ``encoder/models.tsv`` and ``encoder/agreement.tsv``.

    The weights of the last epoch stay. One thread computes, so that the files have the same bytes whatever
    the number of cores. Without a file of its weights they are drawn.
    """
    from biaslab.fairness_testing.text.encoder_training import EncoderSettings, load_start, train_encoder
    from biaslab.text.devices import make_deterministic
    from biaslab.text.encoder import EncoderFiles

    make_deterministic(1)
    prepared = load_prepared(folder)
    found = {kind: load_finds(folder / kind / "found.npz") for kind in kinds}
    of_seed = seed_of(seed, ENCODER_KIND, 0)
    files = EncoderFiles(encoder["config"], encoder["vocabulary"], encoder.get("weights"))
    model, tokenizer = load_start(files, layers, of_seed)
    train, test = prepared.parts[TRAIN], prepared.parts[TEST]
    settings = EncoderSettings(epochs, negative_weight)
    network = train_encoder(model, tokenizer, prepared.lexicon, train, settings, of_seed)
    sizes = {"n_train": len(train.texts), "n_test": len(test.texts)}
    row = {"model": ENCODER_KIND, "repetition": 0} | sizes | quality_of(network, test) | {"epoch": epochs}
    write_tsv(folder / ENCODER_KIND / "models.tsv", pd.DataFrame([row]))
    write_tsv(folder / ENCODER_KIND / "agreement.tsv", agreement_of_encoder(found, network, pairs, seed))
