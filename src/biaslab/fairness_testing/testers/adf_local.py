"""ADF's local phase in lock-step: every hop moves all walks by one step."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from biaslab.classifiers.domain import Domain, Protected
from biaslab.classifiers.models import Model
from biaslab.fairness_testing.testers import adf_descent
from biaslab.fairness_testing.testers.adf_global import Finds
from biaslab.fairness_testing.testers.adf_gradients import pair_gradients
from biaslab.fairness_testing.testers.discrimination import check
from biaslab.fairness_testing.testers.trails import Trail
from biaslab.fairness_testing.testers.visits import Visits

if TYPE_CHECKING:
    from biaslab.fairness_testing.testers.adf import Settings


@dataclass
class Walks:
    """Where g walks stand.

    Attributes
    ----------
    samples : (g, d) int32
    labels : (g,) int64
    discriminatory : (g,) bool
    partners : (g, p) int32
        Protected values of the sample that each one is compared with.
    """

    samples: np.ndarray
    labels: np.ndarray
    discriminatory: np.ndarray
    partners: np.ndarray

    def take(self, rows: np.ndarray) -> "Walks":
        """Return some of the walks."""
        return Walks(self.samples[rows], self.labels[rows], self.discriminatory[rows], self.partners[rows])

    def put(self, rows: np.ndarray, other: "Walks") -> None:
        """Let some of the walks stand where others do."""
        self.samples[rows] = other.samples
        self.labels[rows] = other.labels
        self.discriminatory[rows] = other.discriminatory
        self.partners[rows] = other.partners


class Explorer:
    """Checks samples and notes the visits.

    Parameters
    ----------
    model : Model
    protected : Protected
    fixed_partner : bool
        Whether a walk's partner stays what it is.
    visits : Visits
        Filled.
    """

    def __init__(self, model: Model, protected: Protected, fixed_partner: bool, visits: Visits) -> None:
        self.model = model
        self.protected = protected
        self.fixed_partner = fixed_partner
        self.visits = visits

    def visit(
        self, samples: np.ndarray, partners: np.ndarray, seeds: np.ndarray, queries: np.ndarray | int
    ) -> Walks:
        """Check samples and note them.

        Parameters
        ----------
        samples : (n, d) int32
        partners : (n, p) int32
            The walks' partners before.
        seeds : (n,) int
            The numbers of the walks' seeds.
        queries : (n,) int or int
            Samples that the model was asked about before, other than for the check.

        Returns
        -------
        Walks
            What they are where they stand now.
        """
        found = check(self.model, samples, self.protected)
        discriminatory = found.discriminatory
        asked = queries + len(self.protected.values) + (self.protected.positions(samples) < 0)
        self.visits.add(samples, discriminatory, seeds, asked)
        if not self.fixed_partner:
            partners = np.where(discriminatory[:, None], self.protected.values[found.partners], partners)
        return Walks(samples, found.labels, discriminatory, partners)


def generate(
    model: Model,
    finds: Finds,
    domain: Domain,
    protected: Protected,
    draws: np.ndarray,
    settings: "Settings",
) -> Trail:
    """Walk around discriminatory samples (Algorithm 7).

    Parameters
    ----------
    model : Model
    finds : Finds
        The g starts.
    domain : Domain
    protected : Protected
    draws : (g, hops, 3) float64
        Uniform numbers for each hop of each walk: which attribute, which way, and whether a failure is kept.
    settings : Settings
        The switches of this phase.

    Returns
    -------
    Trail
        The starts and all samples tried, walk by walk.
    """
    visits = Visits(domain.n_attributes)
    if not len(finds.seeds):
        return visits.trail()
    explorer = Explorer(model, protected, settings.fixed_partner, visits)

    def arrive(samples: np.ndarray, partners: np.ndarray, queries: np.ndarray | int) -> Walks:
        walks = explorer.visit(samples, partners, finds.seeds, queries)
        return adf_descent.descend(explorer, walks, finds.seeds) if settings.negative_neighbours else walks

    at = arrive(finds.samples.copy(), finds.partners.copy(), 0)
    others = protected.others(domain.n_attributes)
    shares = np.empty((len(finds.seeds), len(others)))
    moved = np.ones(len(finds.seeds), bool)
    for way, side, chance in np.moveaxis(draws, 0, 2):
        shares[moved] = _cumulative_shares(model, at.take(moved), protected, others, settings)
        steps = _steps(shares, way, side, others, domain.n_attributes)
        tried = arrive(domain.clip(at.samples + steps), at.partners, 2 * moved)
        moved = tried.discriminatory | ~at.discriminatory | (chance < settings.acceptance)
        at.put(moved, tried.take(moved))
    return visits.trail()


def _cumulative_shares(
    model: Model, walks: Walks, protected: Protected, others: np.ndarray, settings: "Settings"
) -> np.ndarray:
    """Return cumulative weights of the attributes that are not protected (Algorithm 8)."""
    pair = walks.samples.copy()
    pair[:, protected.columns] = walks.partners
    labels = model.labels(pair) if settings.own_labels else walks.labels
    g, h = pair_gradients(model, walks.samples, pair, walks.labels, labels, settings.subnormal_is_zero)
    saliency = (np.abs(g).astype(float) + np.abs(h))[:, others]
    zero = saliency == 0
    with np.errstate(divide="ignore"):  # where one is zero, the limit: those share all probability
        weights = np.where(zero.any(axis=1, keepdims=True), zero, 1 / saliency)
    return weights.cumsum(axis=1)


def _steps(
    shares: np.ndarray, way: np.ndarray, side: np.ndarray, others: np.ndarray, n_attributes: int
) -> np.ndarray:
    """Return one step of one unit for each walk, (g, d) int32 (Algorithm 9)."""
    steps = np.zeros((len(shares), n_attributes), np.int32)
    chosen = (shares <= (way * shares[:, -1])[:, None]).sum(axis=1)
    steps[np.arange(len(steps)), others[chosen]] = np.where(side < 0.5, 1, -1)
    return steps
