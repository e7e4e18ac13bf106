"""ADF's local phase in lock-step: every hop moves all walks by one step."""

import numpy as np

from biaslab.fairness_testing.testers import two_phases
from biaslab.fairness_testing.testers.adf_descent import descend
from biaslab.fairness_testing.testers.adf_gradients import pair_gradients
from biaslab.fairness_testing.testers.adf_settings import Settings
from biaslab.fairness_testing.testers.adf_walks import Explorer, Walks
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.fairness_testing.testers.trails import Trail
from biaslab.fairness_testing.testers.two_phases import Finds
from biaslab.fairness_testing.testers.visits import Visits


def generate(subject: Subject, finds: Finds, draws: np.ndarray, settings: Settings) -> Trail:
    """Walk around discriminatory samples (Algorithm 7).

    The draws, (g, hops, 3) uniform, say which attribute moves, which way, and whether a failure is kept. The
    trail has the starts and all samples tried, walk by walk.
    """
    domain, others = subject.domain, subject.free
    visits = Visits(domain.n_attributes)
    if not len(finds.seeds):
        return visits.trail()
    explorer = Explorer(subject, settings.fixed_partner, visits)

    def arrive(samples: np.ndarray, partners: np.ndarray, queries: np.ndarray | int) -> Walks:
        walks = explorer.visit(samples, partners, finds.seeds, queries)
        return descend(explorer, walks, finds.seeds) if settings.negative_neighbours else walks

    at = arrive(finds.samples.copy(), finds.partners.copy(), 0)
    shares = np.empty((len(finds.seeds), len(others)))
    moved = np.ones(len(finds.seeds), bool)
    for way, side, chance in np.moveaxis(draws, 0, 2):
        asked = np.zeros(len(moved), np.int64)
        weights, asked[moved] = attribute_weights(subject, at.take(moved), settings)
        shares[moved] = weights.cumsum(axis=1)
        steps = two_phases.steps(subject, shares, way, side)
        tried = arrive(domain.clip(at.samples + steps), at.partners, asked)
        moved = tried.discriminatory | ~at.discriminatory | (chance < settings.acceptance)
        at.put(moved, tried.take(moved))
    return visits.trail()


def attribute_weights(subject: Subject, walks: Walks, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of the attributes `Subject.free`, (g, k) (Algorithm 8, before the division).

    And how many samples the model was asked about for each walk, (g,) int64.
    """
    pair = walks.samples.copy()
    pair[:, subject.protected.columns] = walks.partners
    labels, queries = walks.labels, np.full(len(pair), 2 * subject.model.n_gradient_queries)
    if settings.own_labels:
        labels, is_asked = _partner_labels(subject, walks, pair)
        queries += is_asked
    g, h = pair_gradients(
        subject.model, walks.samples, pair, walks.labels, labels, settings.subnormal_is_zero
    )
    saliency = (np.abs(g).astype(float) + np.abs(h))[:, subject.free]
    zero = saliency == 0
    with np.errstate(divide="ignore"):  # where one is zero, the limit: those share all probability
        return np.where(zero.any(axis=1, keepdims=True), zero, 1 / saliency), queries


def _partner_labels(subject: Subject, walks: Walks, pair: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of partners, (g,) int64, and which ones no check has told, (g,) bool.

    A partner is unknown whose protected values are outside the domain, where a global phase has found it.
    """
    places = subject.protected.positions(pair)
    labels, unknown = walks.variant_labels[np.arange(len(pair)), places], places < 0
    if unknown.any():
        labels[unknown] = subject.model.labels(pair[unknown])
    return labels, unknown
