"""Attribute a bias to documents: from texts to scores, without files or a workflow.

The score of a document, or of a set of documents, is B(w) - B(w~) (Equation 5 of Brunet et al. 2019): the
decrease of the bias by its removal, in units of the measure. A positive score means that it raises the bias.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from biaslab.bias.measures import MEASURES
from biaslab.bias.word_sets import WeatIndices, WordSets, in_vocabulary
from biaslab.core.errors import InputError, suggest
from biaslab.core.rng import stream
from biaslab.embeddings import BASELINE, cooccurrence
from biaslab.embeddings.cooccurrence import Cooccurrence
from biaslab.embeddings.glove import GloveEmbedding, GloveParameters, train
from biaslab.embeddings.vocabulary import Vocabulary
from biaslab.origins.attribution.registry import ATTRIBUTIONS, UNROLLED
from biaslab.origins.attribution.scanner import Scanner, Training
from biaslab.origins.attribution.settings import InfluenceParameters, damping_of
from biaslab.origins.attribution.tables import estimate_documents, estimate_sets
from biaslab.origins.settings import Glove

__all__ = ["Baselines", "CountedTexts", "Scores", "attribute", "count_texts", "train_baselines"]


@dataclass(frozen=True)
class CountedTexts:
    """Texts as numbers.

    Attributes
    ----------
    counts : Cooccurrence
        The co-occurrences X of all texts.
    vocabulary : Vocabulary
        The words, in the order of the rows of X.
    tokens, offsets : numpy.ndarray
        (n,) int32, word ids of all texts; (n_documents + 1,) int64, the start of each text in `tokens`.
    """

    counts: Cooccurrence
    vocabulary: Vocabulary
    tokens: np.ndarray
    offsets: np.ndarray


@dataclass(frozen=True)
class Baselines:
    """Embeddings of all texts, each with its own random stream.

    Attributes
    ----------
    embeddings : list of GloveEmbedding
        Scores are averages over the embeddings; more embeddings improve them.
    parameters : GloveParameters
        Hyperparameters of the embeddings.
    seed : int
        Seed of the random streams.
    """

    embeddings: list[GloveEmbedding]
    parameters: GloveParameters
    seed: int


def count_texts(
    texts: Iterable[Sequence[str]], window: int = Glove.window, min_count: int = 1, threads: int = 1
) -> CountedTexts:
    """Count the co-occurrences of tokenised texts, and keep the texts.

    Parameters
    ----------
    texts, window, min_count, threads
        As for `biaslab.embeddings.cooccurrence.count_texts`. Each text is a document.

    Returns
    -------
    CountedTexts
    """
    tokens, offsets, vocabulary = cooccurrence.number_texts(texts, min_count)
    x = cooccurrence.count(tokens, offsets, len(vocabulary), window, threads)
    return CountedTexts(x, vocabulary, tokens, offsets)


def train_baselines(
    texts: CountedTexts, parameters: GloveParameters, n: int = 5, seed: int = 1, threads: int = 1
) -> Baselines:
    """Train embeddings of all texts.

    Parameters
    ----------
    texts : CountedTexts
        From `count_texts`.
    parameters : GloveParameters
        Hyperparameters of all embeddings.
    n : int
        Number of embeddings.
    seed : int
        Embedding k has the random stream of baseline k in a workflow run with this seed.
    threads : int
        Threads to use; the result does not depend on them, bit for bit.

    Returns
    -------
    Baselines
    """
    streams = [stream(seed, "train", BASELINE, k) for k in range(n)]
    return Baselines([train(texts.counts, parameters, rng, threads) for rng in streams], parameters, seed)


@dataclass(frozen=True)
class Scores:
    """The scores of every document by an attribution.

    Attributes
    ----------
    method, measure : str
        The attribution, and the measure B.
    bias : numpy.ndarray
        (n_baselines,) float64, B(w): the bias of each baseline, or one number if the method uses no baseline.
    by_baseline : numpy.ndarray
        (n_baselines, n_documents) float64, B(w) - B(w~) by each baseline, in units of the measure. A document
        with a positive score raises the bias.
    documents : numpy.ndarray
        (n_documents,) float64, the mean over the baselines.
    """

    method: str
    measure: str
    bias: np.ndarray
    by_baseline: np.ndarray
    _scanner: Scanner
    _test: WeatIndices

    @property
    def documents(self) -> np.ndarray:
        """The mean over the baselines, (n_documents,) float64."""
        return self.by_baseline.mean(axis=0)

    def raising(self, n: int) -> np.ndarray:
        """Return the documents that raise the bias most, in descending order.

        Parameters
        ----------
        n : int
            Number of documents.

        Returns
        -------
        numpy.ndarray
            (n,) int64, numbers from 0.
        """
        return np.argsort(-self.documents, kind="stable")[:n]

    def lowering(self, n: int) -> np.ndarray:
        """Return the documents that lower the bias most, in descending order.

        Parameters
        ----------
        n : int
            Number of documents.

        Returns
        -------
        numpy.ndarray
            (n,) int64, numbers from 0.
        """
        return np.argsort(self.documents, kind="stable")[:n]

    def sets(self, sets: Sequence[Sequence[int]]) -> np.ndarray:
        """Return B(w) - B(w~) for the removal of sets of documents, averaged over the baselines.

        Parameters
        ----------
        sets : sequence of sequence of int
            Numbers of documents from 0, each at most once in a set.

        Returns
        -------
        numpy.ndarray
            (n_sets,) float64: the attribution's estimate for the joint removal, if it has such an estimate,
            else the sum over the documents.

        Raises
        ------
        InputError
            When a set is not a list of distinct documents.
        """
        n, units = len(self.documents), [np.asarray(s, np.int64) for s in sets]
        for number, unit in enumerate(units):
            if unit.ndim != 1 or len(np.unique(unit)) < len(unit) or not all(unit >= 0) or not all(unit < n):
                raise InputError(
                    f"expected set {number} to have distinct documents below {n}; number the documents from 0"
                )
        if not units:
            return np.empty(0)
        return estimate_sets(self.method, self._scanner, self._test, units).values.mean(axis=0)


def attribute(
    texts: CountedTexts,
    baselines: Baselines,
    test: WordSets,
    method: str = "newton",
    damping: float | None = None,
    memory: float = Training._field_defaults["memory"],
    threads: int = 1,
) -> Scores:
    """Estimate the effect of every document on a bias.

    Parameters
    ----------
    texts : CountedTexts
        From `count_texts`.
    baselines : Baselines
        From `train_baselines`, on these texts.
    test : WordSets
        The words, and the measure of bias: one of `biaslab.bias.measures.MEASURES`.
    method : str
        The attribution: influence, newton, gradient, unrolled (the derivative of the training; costs about
        twelve trainings per baseline), or ppmi (only WEAT; uses no baselines).
    damping : float, optional
        Added to the Hessian's diagonal; unused by ppmi and unrolled. By default 2 / (learning_rate x epochs)
        of the baselines; 0 as in the paper.
    memory : float
        Megabytes for training states of unrolled.
    threads : int
        Threads to use; the result does not depend on them, bit for bit.

    Returns
    -------
    Scores
        Positive for documents that raise the bias, in units of the measure.

    Raises
    ------
    InputError
        When the method or the measure is unknown, too few words of the test are in the vocabulary, the
        measure is undefined, or for unrolled the baselines differ from a training with their seed.
    """
    methods = [*(attribution.name for attribution in ATTRIBUTIONS), UNROLLED]
    if method not in methods:
        raise InputError(f"the attribution '{method}' does not exist; choose {', '.join(methods)}")
    if test.measure not in MEASURES:
        raise InputError(
            f"{test.name}: the measure {test.measure!r} does not exist{suggest(test.measure, MEASURES)}"
        )
    glove = baselines.parameters
    if damping is None:
        damping = damping_of(glove)
    scanner = Scanner(
        baselines.embeddings,
        texts.counts,
        texts.tokens,
        texts.offsets,
        texts.vocabulary.words,
        InfluenceParameters(damping=damping, x_max=glove.x_max, alpha=glove.alpha),
        threads,
        Training(glove, baselines.seed, memory),
    )
    words = in_vocabulary(test, texts.vocabulary.ids)
    estimates = estimate_documents(method, scanner, words)
    return Scores(method, test.measure, estimates.bias, estimates.values, scanner, words)
