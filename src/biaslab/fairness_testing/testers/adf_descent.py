"""What SciPy's L-BFGS-B does at integer samples: nothing, except where a value is negative."""

import numpy as np

from biaslab.fairness_testing.testers.adf_walks import Explorer, Walks


def descend(explorer: Explorer, walks: Walks, seeds: np.ndarray) -> Walks:
    """Return where minimisation ends (the authors' published code runs it after each hop).

    The code truncates real values towards zero, so that a finite difference of 1e-8 sees the same sample, and
    no gradient; but the one from c < 0 sees c + 1. Such neighbours are visited, too. Where one is
    discriminatory and the sample is not, or the reverse, a line search follows: its first point moves all
    such attributes together by a distance of one, away from samples that are not discriminatory. Nearer
    points truncate to the same. Further iterations, after an improvement, are left out.
    """
    differs = _visit_neighbours(explorer, walks, seeds)
    rows = np.flatnonzero(differs.any(axis=1))
    if not len(rows):
        return walks
    start, differs = walks.take(rows), differs[rows]
    samples = start.samples + np.where(start.discriminatory[:, None], -1, 1) * differs
    # Less than one unit away from zero truncates to the sample itself.
    stays = start.discriminatory & (differs.sum(axis=1) > 1)
    samples = np.where(stays[:, None], start.samples, samples).astype(np.int32)
    found = explorer.visit(samples, start.partners, seeds[rows], 0)
    _visit_neighbours(explorer, found, seeds[rows])
    better = found.discriminatory & ~start.discriminatory
    walks.put(rows[better], found.take(better))
    return walks


def _visit_neighbours(explorer: Explorer, walks: Walks, seeds: np.ndarray) -> np.ndarray:
    """Visit the neighbours one unit above negative values; return which ones differ, (g, d) bool."""
    rows, columns = np.nonzero(walks.samples < 0)
    differs = np.zeros(walks.samples.shape, bool)
    if len(rows):
        samples = walks.samples[rows]
        samples[np.arange(len(rows)), columns] += 1
        found = explorer.visit(samples, walks.partners[rows], seeds[rows], 0)
        differs[rows, columns] = found.discriminatory != walks.discriminatory[rows]
    return differs
