"""The contribution of a document to a bias: its scores, test words and co-occurrences."""

import difflib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biaslab.bias.measures import PARAMETERS
from biaslab.bias.word_sets import WordSets, read_word_sets
from biaslab.core.errors import InputError, suggest
from biaslab.core.files import locate, read_yaml
from biaslab.core.io import read_npz, read_parquet
from biaslab.core.settings import fields_of, validate
from biaslab.embeddings.corpus import read_tokens
from biaslab.embeddings.settings import GloveParameters
from biaslab.embeddings.vocabulary import read_vocabulary
from biaslab.origins.attribution.registry import ESTIMATORS
from biaslab.origins.checks.bias_gradient import contributions, token_contributions
from biaslab.origins.report.results import Setup
from biaslab.origins.sets import LOWERS, RAISES
from biaslab.run.area import Unit

TESTS = "tests"  # folder with the word sets of the tests in the output of ``biaslab origins attribute``


@dataclass(frozen=True)
class Document:
    """A document of a corpus: its number, and its in-vocabulary words."""

    number: int
    id: str
    title: str
    tokens: list[str]


class Corpus:
    """The documents of a setup, with the data to explain their contributions to a bias."""

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
        """Return the document with an id; raise InputError with similar ids if there is none."""
        ids = self._documents["id"].astype(str)
        places = np.flatnonzero(ids == identifier)
        if len(places):
            return self.document(int(places[0]))
        titles = self._documents["title"].astype(str)
        similar = list(ids[titles.str.casefold() == identifier.casefold()][:3])
        similar = similar or difflib.get_close_matches(identifier, list(ids), n=3)
        names = " or ".join(repr(name) for name in similar)
        hint = f"; did you mean {names}?" if similar else "; use an id of documents.parquet"
        raise InputError(f"setup {self.setup.name} has no document '{identifier}'{hint}")

    def document(self, number: int) -> Document:
        """Return the document with a number."""
        row = self._documents.iloc[number]
        ids = self._tokens[self._offsets[number] : self._offsets[number + 1]]
        return Document(number, str(row["id"]), str(row["title"]), self._words[ids].tolist())


@dataclass(frozen=True)
class Explanation:
    """The contribution of one document to one bias."""

    test: WordSets
    baseline: float  # mean bias of the baselines
    scores: pd.DataFrame  # result of `scores`
    words: pd.DataFrame  # set, word, count of the test words in the document
    pairs: pd.DataFrame  # word, context, x, contribution, contribution_sd; the strongest first
    by_token: np.ndarray  # (n_tokens,) float64, each co-occurrence's contribution split between its tokens


def explain(corpus: Corpus, document: Document, word_sets: WordSets, gradients: pd.DataFrame) -> Explanation:
    """Explain the contribution of a document to the bias of a test; gradients from `read_gradients`."""
    setup = corpus.setup
    members = [(name, word) for name, words in word_sets.sets.items() for word in words]
    test, tokens = {word for _, word in members}, Counter(document.tokens)
    counts = [(name, word, tokens[word]) for name, word in members if word in tokens]
    occurrences = contributions(document.tokens, test, gradients, corpus.window)
    # Standard deviations of the occurrences of a pair add up, because all have the same gradient.
    columns = ["x", "contribution", "contribution_sd"]
    pairs = occurrences.groupby(["word", "context"], as_index=False)[columns].sum()
    strength = -pairs["contribution"].abs()
    order = pairs.assign(strength=strength).sort_values(["strength", "word", "context"]).index
    return Explanation(
        word_sets,
        setup.baseline_mean(word_sets.name),
        scores(setup.differential_bias(word_sets.name), document.number),
        pd.DataFrame(counts, columns=["set", "word", "count"]),
        pairs.loc[order].reset_index(drop=True),
        token_contributions(occurrences, len(document.tokens)),
    )


def read_gradients(setup: Setup, word_sets: WordSets) -> pd.DataFrame:
    """Read the gradient of the bias of a test by every co-occurrence."""
    return read_parquet(setup.folder / "bias_gradient" / f"{word_sets.name}.parquet")


def scores(differential_bias: pd.DataFrame, document: int) -> pd.DataFrame:
    """Return the differential bias of one document by each estimator, and its rank from the largest."""
    rows = []
    for estimator in ESTIMATORS:
        means, sds = (differential_bias[f"{estimator}_{suffix}"] for suffix in ("mean", "sd"))
        rank = int((means > means[document]).sum()) + 1
        rows.append([estimator, means[document], sds[document], rank, len(means)])
    return pd.DataFrame(rows, columns=["estimator", "mean", "sd", "rank", "n_documents"])


def open_setup(name: str, results: Path, config: Path) -> Setup:
    """Open the results of a setup, with its tests and their word sets from `config`.

    Word set files that are not in the working directory are searched in the parent folder of `results`.
    """
    weats = _look_up(config, "origins", "setups", name, "bias", "weats")
    home = results.absolute().parent
    files = {weat: str(locate(_look_up(config, "origins", "weats", weat), home)) for weat in weats}
    return Setup(Unit(name, tuple(weats), files=files), results / "origins" / name)


def open_attributed(folder: Path) -> Setup:
    """Open the output folder of ``biaslab origins attribute``."""
    tests = sorted((folder / TESTS).glob("*.yaml"))
    if not tests:
        raise InputError(
            f"{folder}/{TESTS}: the folder has no tests; name the output folder of origins attribute, or a"
            " --setup"
        )
    files = {read_word_sets(test, PARAMETERS).name: str(test) for test in tests}
    return Setup(Unit(folder.absolute().name, tuple(files), files=files), folder)


def glove_of(name: str, config: Path) -> GloveParameters:
    """Return the hyperparameters of a setup's embeddings in `config`."""
    glove = _look_up(config, "origins", "setups", name, "glove")
    return validate(GloveParameters, {key: glove[key] for key in fields_of(GloveParameters)}, "glove")


def seed_of(config: Path) -> int:
    """Return the seed of a run in `config`."""
    return int(_look_up(config, "seed"))


def chosen_tests(setup: Setup, weat: str | None = None) -> list[WordSets]:
    """Read the word sets of the tests of a setup, or of the test `weat`."""
    if weat is not None and weat not in setup.weats:
        tests = ", ".join(setup.weats)
        hint = suggest(weat, setup.weats) or "; choose a measured test"
        raise InputError(f"setup {setup.name} does not measure '{weat}' (measured: {tests}){hint}")
    names = [weat] if weat else setup.weats
    return [read_word_sets(setup.file(name), PARAMETERS) for name in names]


def _look_up(config: Path, *keys: str) -> Any:
    """Return the value of nested keys of a configuration."""
    value = read_yaml(config)
    for depth, key in enumerate(keys, start=1):
        if not isinstance(value, Mapping) or key not in value:
            hint = suggest(key, value) if isinstance(value, Mapping) else ""
            raise InputError(
                f"{config}: {'.'.join(keys[:depth])} is missing{hint}; name the configuration of the run"
            )
        value = value[key]
    return value


def extremes(setup: Setup, weat: str) -> dict[str, int]:
    """Return the documents that raise and lower the bias most, by effect."""
    means = setup.differential_bias(weat)["influence_mean"]
    return {RAISES: int(means.idxmax()), LOWERS: int(means.idxmin())}
