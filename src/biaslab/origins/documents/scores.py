"""What an attribution says of every document, and of sets of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biaslab.bias.measures import MEASURES
from biaslab.bias.names import PPMI
from biaslab.bias.word_sets import WEAT, WeatIndices, WordSets, in_vocabulary
from biaslab.core.errors import InputError, suggest
from biaslab.origins.attribution import asking
from biaslab.origins.attribution.registry import check_name
from biaslab.origins.attribution.scanner import Scanner, Training
from biaslab.origins.attribution.settings import InfluenceParameters, damping_of
from biaslab.origins.documents.texts import Baselines, CountedTexts


@dataclass(frozen=True)
class Scores:
    """What an attribution says of every document.

    Attributes
    ----------
    method, measure : str
        The attribution, and what B is.
    bias : numpy.ndarray
        (n_baselines,) float64, B(w): the bias of each baseline, or one number where none is asked.
    by_baseline : numpy.ndarray
        (n_baselines, n_documents) float64, B(w) - B(w~) by each baseline: how much the bias falls without the
        document, in units of the measure. Above 0 the document raises the bias.
    documents : numpy.ndarray
        (n_documents,) float64, their mean over the baselines.
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
        """Return the n documents that raise the bias most, the first one most: int64, numbers from 0."""
        return np.argsort(-self.documents, kind="stable")[:n]

    def lowering(self, n: int) -> np.ndarray:
        """Return the n documents that lower the bias most, the first one most: int64, numbers from 0."""
        return np.argsort(self.documents, kind="stable")[:n]

    def sets(self, sets: Sequence[Sequence[int]]) -> np.ndarray:
        """Return B(w) - B(w~) for the removal of whole sets of documents, (n_sets,) float64.

        The mean over the baselines. `sets` are numbers of documents from 0, each at most once in a set. It is
        the estimate of the removal as a whole where the attribution has one, else the sum of the documents'.
        """
        n, units = len(self.documents), [np.asarray(s, np.int64) for s in sets]
        for number, unit in enumerate(units):
            if unit.ndim != 1 or len(np.unique(unit)) < len(unit) or not all(unit >= 0) or not all(unit < n):
                raise InputError(
                    f"set {number} is no list of different documents below {n}; number the documents from 0"
                )
        if not units:
            return np.empty(0)
        return asking.of_sets(self.method, self._scanner, self._test, units).values.mean(axis=0)


def attribute(
    texts: CountedTexts,
    baselines: Baselines,
    test: WordSets,
    method: str = "newton",
    damping: float | None = None,
    memory: float = Training._field_defaults["memory"],
    threads: int = 1,
) -> Scores:
    """Estimate what every document does to a bias.

    Parameters
    ----------
    texts : CountedTexts
        Of `count_texts`.
    baselines : Baselines
        Of `train_baselines`, from these texts.
    test : WordSets
        The words, and the measure of bias: one of `biaslab.bias.measures.MEASURES`.
    method : str
        The attribution: influence, newton, gradient, unrolled (the
        derivative of the training, some twelve trainings a baseline), or ppmi (WEAT alone, no baseline).
    damping : float, optional
        Added to the Hessian's diagonal; ppmi and unrolled
        take none. By default 2 / (learning_rate x epochs) of the baselines; 0 is the paper's.
    memory : float
        Megabytes that unrolled may take for states of a training.
    threads : int
        Threads to use; the result is the same bit for bit.

    Returns
    -------
    Scores
        Above 0 where a document raises the bias, in units of the measure.

    Raises
    ------
    InputError
        When the method or the measure is unknown, too few words of the test are in the vocabulary, the
        measure is undefined, or for unrolled the baselines are not what their seed gives.
    """
    check_name(method)
    if test.measure not in MEASURES:
        raise InputError(f"{test.name}: no measure {test.measure!r}{suggest(test.measure, MEASURES)}")
    if method == PPMI and test.measure != WEAT:
        raise InputError(f"{test.name}: ppmi measures {WEAT} alone, not {test.measure}; use another method")
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
    made = asking.of_documents(method, scanner, words)
    return Scores(method, test.measure, made.bias, made.values, scanner, words)
