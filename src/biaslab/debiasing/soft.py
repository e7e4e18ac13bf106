"""Soft debiasing: the linear map that trades similarities for less bias (Section 4, Step 2b).

With words as columns of W, neutral words as columns of N and the bias subspace as columns of B, the paper
minimises over T

    |(TW)ᵀ(TW) - WᵀW|²_F + λ |(TN)ᵀ(TB)|²_F

which is a convex quadratic in X = TᵀT, required to be positive semidefinite. It depends on the words only by
their Gram matrices G = WWᵀ and H = NNᵀ (d, d), with P = BBᵀ:

    f(X)  = tr(G (X - I) G (X - I)) + λ tr(P X H X)
    ∇f(X) = 2 G (X - I) G + λ (H X P + P X H)

In the coordinates Y = G^½ X G^½ the first term is |Y - G|², whose curvature is 2 in every direction, so that
conjugate gradients need few steps, each of order d² k. Only if the minimum over all symmetric matrices has a
negative eigenvalue, accelerated projected gradients find the minimum within the cone: Y is positive
semidefinite exactly if X is. If the words span less than the entire space, X is the identity on the
complement.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from biaslab.core.errors import InputError

__all__ = ["Grams", "SoftSolution", "gram_matrices", "soft_debias", "solve_path"]

_TOLERANCE = 1e-9  # stopping criterion of the solvers: gradient as a share of the gradient at X = I
_MAX_STEPS = 20_000
_RANK = 1e-10  # share of the largest eigenvalue of G below which the words have no variance
_BLOCK = 65_536


class SoftSolution(NamedTuple):
    """The minimum for one λ.

    Attributes
    ----------
    penalty : float
        λ.
    transform : (d, d) float64
        T, the symmetric square root of X.
    objective : float
        f(X).
    gradient : float
        Norm of ∇f(X) as a share of that at X = I, or of the projected gradient when `constrained`.
    least_eigenvalue : float
        Of the minimum over all symmetric matrices; the cone binds when it is negative.
    constrained : bool
        Whether the cone binds.
    steps : int
        Steps of the solvers.
    """

    penalty: float
    transform: np.ndarray
    objective: float
    gradient: float
    least_eigenvalue: float
    constrained: bool
    steps: int


class Grams(NamedTuple):
    """The Gram matrices of an embedding for soft debiasing.

    Attributes
    ----------
    words, neutral, subspace : (d, d) float64
        G, H and P: Gram matrices of all words, of the neutral ones, and of the basis of the bias subspace.
    """

    words: np.ndarray
    neutral: np.ndarray
    subspace: np.ndarray


def gram_matrices(vectors: np.ndarray, basis: np.ndarray, neutral: Sequence[int]) -> Grams:
    """Compute the Gram matrices of an embedding for soft debiasing.

    Parameters
    ----------
    vectors : (V, d) float32 or float64
        Word vectors of unit length, one a row (the columns of the paper's W).
    basis : (k, d) float64
        Orthonormal basis of the bias subspace.
    neutral : sequence of int
        Rows of the neutral words.

    Returns
    -------
    Grams
        See there.

    Raises
    ------
    InputError
        When there is no neutral word.
    """
    rows = np.asarray(neutral, dtype=np.int64)
    if not rows.size:
        raise InputError("soft debiasing is given no neutral word; give neutral words of the vocabulary")
    return Grams(_gram(vectors, np.arange(len(vectors))), _gram(vectors, rows), basis.T @ basis)


def objective(X: np.ndarray, grams: Grams, penalty: float) -> float:
    """Return ``f(X) = |Wᵀ(X - I)W|²_F + λ |NᵀXB|²_F`` of a symmetric X (d, d)."""
    G, H, P = grams
    moved = G @ (X - np.eye(len(X)))
    return float(np.sum(moved * moved.T) + penalty * np.sum((P @ X) * (X @ H)))


def solve_path(grams: Grams, penalties: Sequence[float]) -> list[SoftSolution]:
    """Minimise f over positive semidefinite matrices for several λ, each from the previous solution.

    Parameters
    ----------
    grams : Grams
        The embedding.
    penalties : sequence of float
        Values of λ, none negative; a rising or falling order is fastest.

    Returns
    -------
    list of SoftSolution
        One for each λ, in order.

    Raises
    ------
    InputError
        When a λ is negative or not finite, or a solver does not converge.
    """
    for penalty in penalties:
        if not (np.isfinite(penalty) and penalty >= 0):
            raise InputError(f"soft debiasing is given lambda {penalty}; give a finite number of at least 0")
    problem, solutions = _Whitened(grams), []
    Y = problem.identity
    for penalty in tqdm(penalties, "soft debiasing", disable=None):
        Y, solution = problem.solve(Y, penalty)
        solutions.append(solution)
    return solutions


def soft_debias(vectors: np.ndarray, transform: np.ndarray) -> np.ndarray:
    """Return the words after the transformation, ``T w / |T w|``.

    Parameters
    ----------
    vectors : (V, d) float32 or float64
        Word vectors, one a row.
    transform : (d, d) float64
        T.

    Returns
    -------
    (V, d) float64
        Unit vectors.

    Raises
    ------
    InputError
        When the transformation leaves nothing of a word.
    """
    moved = vectors @ transform.T
    lengths = np.linalg.norm(moved, axis=1)
    if (lengths < 1e-9).any():
        raise InputError(
            f"soft debiasing leaves nothing of the word in row {int(lengths.argmin())}, which lies within "
            "the bias subspace; use a smaller lambda"
        )
    return moved / lengths[:, None]


class _Whitened:
    """The problem in coordinates of the eigenvectors of G, scaled so that G is the identity there.

    ``Y = S X S`` with S² the eigenvalues; f = |Y - S²|² + λ tr(P' Y H' Y) with H' = S⁻¹HS⁻¹, P' = S⁻¹PS⁻¹.
    """

    def __init__(self, grams: Grams):
        self.grams = grams
        eigenvalues, eigenvectors = np.linalg.eigh(grams.words)
        kept = eigenvalues > _RANK * eigenvalues[-1]
        self.axes, self.scale = eigenvectors[:, kept], np.sqrt(eigenvalues[kept])
        inverse = self.axes / self.scale
        self.H = inverse.T @ grams.neutral @ inverse
        values, vectors = np.linalg.eigh(inverse.T @ grams.subspace @ inverse)
        spanned = values > _RANK * values[-1]
        self.B = vectors[:, spanned] * np.sqrt(values[spanned])  # P' = B B^T
        self.identity = np.diag(self.scale**2)  # X = I

    def solve(self, start: np.ndarray, penalty: float) -> tuple[np.ndarray, SoftSolution]:
        """Minimise f from a start; return the minimum and its description."""
        Y, steps = self._conjugate_gradients(start, penalty)
        least = float(np.linalg.eigvalsh(self._unscaled(Y))[0])
        constrained = least < -_TOLERANCE
        if constrained:
            Y, more_steps = self._projected_gradients(start, penalty)
            steps += more_steps
            remaining = self._projected_step(Y, penalty)[1] / self._norm(
                self._gradient(self.identity, penalty)
            )
        else:
            remaining = self._share(self._gradient(Y, penalty), penalty)
        X = self.axes @ self._unscaled(Y) @ self.axes.T + np.eye(len(self.axes)) - self.axes @ self.axes.T
        values, vectors = np.linalg.eigh((X + X.T) / 2)
        transform = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
        value = objective(X, self.grams, penalty)
        return Y, SoftSolution(penalty, transform, value, remaining, least, constrained, steps)

    def _bias(self, Y: np.ndarray) -> np.ndarray:
        """Return H' Y P' + P' Y H'."""
        half = (self.H @ (Y @ self.B)) @ self.B.T
        return half + half.T

    def _gradient(self, Y: np.ndarray, penalty: float) -> np.ndarray:
        return 2 * (Y - self.identity) + penalty * self._bias(Y)

    def _unscaled(self, Y: np.ndarray) -> np.ndarray:
        return Y / self.scale[:, None] / self.scale

    @staticmethod
    def _norm(matrix: np.ndarray) -> float:
        return float(np.linalg.norm(matrix)) or 1.0

    def _share(self, gradient: np.ndarray, penalty: float) -> float:
        """Return the norm of a gradient in X as a share of that at X = I."""
        scales = self.scale[:, None] * self.scale
        at_start = self._norm(scales * self._gradient(self.identity, penalty))
        return float(np.linalg.norm(scales * gradient)) / at_start

    def _conjugate_gradients(self, start: np.ndarray, penalty: float) -> tuple[np.ndarray, int]:
        """Minimise f over symmetric matrices: solve E + λ/2 bias(E) = -λ/2 bias(S²) for E = Y - S²."""
        E = start - self.identity
        residual = -self._gradient(start, penalty) / 2
        direction, square = residual, np.sum(residual**2)
        for step in range(_MAX_STEPS):
            if self._share(2 * residual, penalty) < _TOLERANCE:
                return self.identity + E, step
            curved = direction + penalty / 2 * self._bias(direction)
            length = square / np.sum(direction * curved)
            E = E + length * direction
            residual = residual - length * curved
            square, previous = np.sum(residual**2), square
            direction = residual + square / previous * direction
        raise InputError(f"soft debiasing does not converge with lambda {penalty}; use a smaller lambda")

    def _projected_gradients(self, start: np.ndarray, penalty: float) -> tuple[np.ndarray, int]:
        """Minimise f over the cone by Nesterov's method; f is 2-strongly convex in Y."""
        root = np.sqrt(2 / self._steepness(penalty))
        momentum = (1 - root) / (1 + root)
        enough = _TOLERANCE * self._norm(self._gradient(self.identity, penalty))
        Y = ahead = start
        for step in range(_MAX_STEPS):
            new, length = self._projected_step(ahead, penalty)
            if length < enough:
                return new, step
            Y, ahead = new, new + momentum * (new - Y)
        raise InputError(f"soft debiasing does not converge with lambda {penalty}; use a smaller lambda")

    def _projected_step(self, Y: np.ndarray, penalty: float) -> tuple[np.ndarray, float]:
        """Return a gradient step from Y projected on the cone, and the norm of its effective gradient."""
        steepness = self._steepness(penalty)
        values, vectors = np.linalg.eigh(Y - self._gradient(Y, penalty) / steepness)
        new = (vectors * np.maximum(values, 0)) @ vectors.T
        return new, steepness * float(np.linalg.norm(new - Y))

    def _steepness(self, penalty: float) -> float:
        """Return a Lipschitz constant of the gradient."""
        return 2 + 2 * penalty * float(np.linalg.norm(self.H, 2) * np.linalg.norm(self.B, 2) ** 2)


def _gram(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    total = np.zeros((vectors.shape[1], vectors.shape[1]))
    for first in range(0, len(rows), _BLOCK):
        block = vectors[rows[first : first + _BLOCK]].astype(np.float64)
        total += block.T @ block
    return total
