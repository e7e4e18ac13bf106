"""Read the folder of a corpus, which the steps of the experiment share; build its table of scores."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.io import read_npz, read_tsv
from biaslab.hate_speech.corpus import Texts, load_sets
from biaslab.text.corpora import TEST, TRAIN
from biaslab.text.identifiers import identifier_ids, read_identifiers
from biaslab.text.tokens import Tokenizer

ENCODER_VOCABULARY = "vocab.txt"
PROBE_TEXT = ("set", "identifier", "functionality", "target")


@dataclass(frozen=True)
class Folder:
    """A corpus as prepared by the step ``texts``."""

    path: Path
    encoder: Path
    identifiers_file: Path  # the identity terms

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the encoder."""
        return Tokenizer.load(self.encoder / ENCODER_VOCABULARY)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The word piece of each identity term."""
        return identifier_ids(read_identifiers(self.identifiers_file), self.tokenizer)

    @cached_property
    def splits(self) -> dict[str, Texts]:
        """The sets train (all texts), validation and test."""
        return load_sets(self.path / "texts.npz")

    @cached_property
    def used(self) -> np.ndarray:
        """Rows of the training texts that encoders are trained on, (n,) int64."""
        return read_npz(self.path / "texts.npz", ("train_used",))["train_used"]

    @property
    def train(self) -> Texts:
        """The texts that encoders are trained on."""
        return self.splits[TRAIN].take(self.used)

    @cached_property
    def tested(self) -> dict[str, Texts]:
        """The sets that classifiers are tested on: the test set first, then the probes."""
        return {TEST: self.splits[TEST]} | load_sets(self.path / "probes.npz")

    @cached_property
    def probes(self) -> pd.DataFrame:
        """The metadata of the texts of each probe, in order: columns `PROBE_TEXT`, "" if unknown."""
        table = read_tsv(self.path / "probes.tsv", PROBE_TEXT, text=PROBE_TEXT)
        return table.fillna(dict.fromkeys(PROBE_TEXT, ""))

    def column(self, name: str, of: str) -> np.ndarray:
        """Return a column of the texts of a probe, (n,) object."""
        return self.probes.loc[self.probes["set"] == of, name].to_numpy()


def prediction_table(seed: int, name: str, scores: np.ndarray) -> pd.DataFrame:
    """Return the scores of one classifier on one set: columns seed, set, row, score (float32)."""
    rows = np.arange(len(scores))
    return pd.DataFrame({"seed": seed, "set": name, "row": rows, "score": scores.astype(np.float32)})
