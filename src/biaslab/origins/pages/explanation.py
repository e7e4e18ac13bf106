"""One document's contribution to a bias: its scores, its words of the test, its co-occurrences."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biaslab.bias.measures import PARAMETERS
from biaslab.bias.names import LOWERS, RAISES
from biaslab.bias.word_sets import WordSets, read_word_sets
from biaslab.core.errors import InputError, suggest
from biaslab.core.files import locate, read_yaml
from biaslab.core.io import read_npz, read_parquet
from biaslab.core.settings import build, fields_of
from biaslab.embeddings.corpus import read_tokens
from biaslab.embeddings.settings import GloveParameters
from biaslab.embeddings.vocabulary import read_vocabulary
from biaslab.origins.attribution.registry import ESTIMATORS
from biaslab.origins.checks.bias_gradient.analysis import contributions, token_contributions
from biaslab.origins.report.results import Setup
from biaslab.run.area import Unit

TESTS = "tests"
"""The folder with the word sets of the tests beside what ``biaslab origins attribute`` wrote."""


@dataclass(frozen=True)
class Document:
    """A document of a corpus: its number there, and its words that are in the vocabulary."""

    number: int
    id: str
    title: str
    tokens: list[str]


class Corpus:
    """The documents of a setup, with what their contributions to a bias are."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self._documents = setup.documents()
        vocabulary = read_vocabulary(setup.folder / "vocabulary.tsv")
        self._words = np.array(vocabulary.words, dtype=object)
        self._tokens, self._offsets = read_tokens(setup.folder / "corpus.npz", vocabulary)

    @cached_property
    def window(self) -> int:
        """Tokens on either side that count as context."""
        return int(read_npz(self.setup.folder / "cooccurrence.npz", ("window",))["window"])

    def find(self, identifier: str) -> Document:
        """Return the document with an id, or say which ids are near."""
        ids = self._documents["id"].astype(str)
        places = np.flatnonzero(ids == identifier)
        if len(places):
            return self.document(int(places[0]))
        titles = self._documents["title"].astype(str)
        near = list(ids[titles.str.casefold() == identifier.casefold()][:3])
        near = near or difflib.get_close_matches(identifier, list(ids), n=3)
        hint = f"; did you mean {' or '.join(repr(name) for name in near)}?" if near else ""
        raise InputError(f"setup {self.setup.name} has no document '{identifier}'{hint}")

    def document(self, number: int) -> Document:
        """Return the document with a number."""
        row = self._documents.iloc[number]
        ids = self._tokens[self._offsets[number] : self._offsets[number + 1]]
        return Document(number, str(row["id"]), str(row["title"]), self._words[ids].tolist())


@dataclass(frozen=True)
class Explanation:
    """What one document contributes to one bias."""

    scores: pd.DataFrame  # what `scores` returned
    words: pd.DataFrame  # set, word, count of the test's words that it has
    pairs: pd.DataFrame  # word, context, x, contribution, contribution_sd; the strongest first
    by_token: np.ndarray  # (n_tokens,) float64, each co-occurrence's contribution split between its tokens


def explain(corpus: Corpus, document: Document, word_sets: WordSets, gradients: pd.DataFrame) -> Explanation:
    """Explain the contribution of a document to the bias of a test, from what `read_gradients` returned."""
    setup = corpus.setup
    test = {word for words in word_sets.sets.values() for word in words}
    found = contributions(document.tokens, test, gradients, corpus.window)
    # Standard deviations of one pair's occurrences add up: all have the same gradient.
    pairs = found.groupby(["word", "context"], as_index=False)[["x", "contribution", "contribution_sd"]].sum()
    strength = pairs["contribution"].abs().rename("strength")
    order = pairs.assign(strength=-strength).sort_values(["strength", "word", "context"]).index
    return Explanation(
        scores(setup.differential_bias(word_sets.name), document.number),
        words_of_test(document.tokens, word_sets.sets),
        pairs.loc[order].reset_index(drop=True),
        token_contributions(found, len(document.tokens)),
    )


def read_gradients(setup: Setup, word_sets: WordSets) -> pd.DataFrame:
    """Read the gradient of the bias of a test by every co-occurrence."""
    return read_parquet(setup.folder / "bias_gradient" / f"{word_sets.name}.parquet")


def scores(differential_bias: pd.DataFrame, document: int) -> pd.DataFrame:
    """Return the differential bias of one document by each estimator, and its rank from the largest."""
    rows = []
    for estimator in ESTIMATORS:
        means, sds = (differential_bias[f"{estimator}_{of}"] for of in ("mean", "sd"))
        rank = int((means > means[document]).sum()) + 1
        rows.append([estimator, means[document], sds[document], rank, len(means)])
    return pd.DataFrame(rows, columns=["estimator", "mean", "sd", "rank", "n_documents"])


def words_of_test(tokens: list[str], sets: Mapping[str, list[str]]) -> pd.DataFrame:
    """Count the words of each set in a document; words that it has not are left out."""
    rows = [
        (name, word, tokens.count(word)) for name, words in sets.items() for word in words if word in tokens
    ]
    return pd.DataFrame(rows, columns=["set", "word", "count"])


def open_setup(name: str, results: Path, config: Path) -> Setup:
    """Open the results of a setup, with the tests that it measures and their words, which `config` names.

    Files that the working directory lacks are looked for beside the folder of all `results`.
    """
    weats = _look_up(config, "origins", "setups", name, "bias", "weats")
    home = results.absolute().parent
    files = {weat: str(locate(_look_up(config, "origins", "weats", weat), home)) for weat in weats}
    return Setup(Unit(name, tuple(weats), files=files), results / "origins" / name)


def open_attributed(folder: Path) -> Setup:
    """Open what ``biaslab origins attribute`` wrote into a folder."""
    tests = sorted((folder / TESTS).glob("*.yaml"))
    if not tests:
        raise InputError(f"{folder}/{TESTS}: no tests; name the folder of origins attribute, or a --setup")
    files = {read_word_sets(test, PARAMETERS).name: str(test) for test in tests}
    return Setup(Unit(folder.absolute().name, tuple(files), files=files), folder)


def glove_of(name: str, config: Path) -> GloveParameters:
    """Return the hyperparameters of a setup's embeddings, which `config` names."""
    glove = _look_up(config, "origins", "setups", name, "glove")
    return build(GloveParameters, {key: glove[key] for key in fields_of(GloveParameters)}, "glove")


def seed_of(config: Path) -> int:
    """Return the seed of a run, which `config` names."""
    return int(_look_up(config, "seed"))


def chosen_tests(setup: Setup, weat: str | None = None) -> list[WordSets]:
    """Read the words of the tests that a setup measures, or of the one that is named."""
    if weat is not None and weat not in setup.weats:
        known = ", ".join(setup.weats)
        near = suggest(weat, setup.weats)
        raise InputError(f"setup {setup.name} does not measure '{weat}' (it measures {known}){near}")
    names = [weat] if weat else setup.weats
    return [read_word_sets(setup.file(name), PARAMETERS) for name in names]


def _look_up(config: Path, *keys: str) -> Any:
    """Return what a configuration says under a key inside others."""
    value = read_yaml(config)
    for depth, key in enumerate(keys, start=1):
        if not isinstance(value, Mapping) or key not in value:
            near = suggest(key, value) if isinstance(value, Mapping) else ""
            raise InputError(
                f"{config}: {'.'.join(keys[:depth])} is missing{near}; name the configuration of the run"
            )
        value = value[key]
    return value


def extremes(setup: Setup, weat: str) -> dict[str, int]:
    """Return the document that raises the bias most, and the one that lowers it most."""
    means = setup.differential_bias(weat)["influence_mean"]
    return {RAISES: int(means.idxmax()), LOWERS: int(means.idxmin())}
