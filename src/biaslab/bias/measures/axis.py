"""The axis between two sets of vectors, and how what depends on it depends on the vectors.

The axis g is the unit eigenvector with the largest eigenvalue of

    C = Σ_{a in A} Σ_{b in B} (a - b)(a - b)ᵀ,

the first principal component, uncentred, of the differences of all pairs, on the side of mean A - mean B.
With the other eigenvectors v_k and the eigenvalues λ, first-order perturbation theory gives

    dg = Σ_{k > 1} v_k (v_kᵀ dC g) / (λ_1 - λ_k).
"""

import numpy as np

# Relative to the largest eigenvalue: what is less far from it is no other eigenvalue.
_LEAST_GAP = 1e-10


class Axis:
    """The axis from B to A, for vectors a, (|A|, D), and b, (|B|, D), float64.

    `direction` is g, or NaN where C has no single largest eigenvalue: where A and B do not differ, for
    instance.
    """

    def __init__(self, a: np.ndarray, b: np.ndarray) -> None:
        self.a, self.b = a, b
        between = np.outer(a.sum(axis=0), b.sum(axis=0))
        scatter = len(b) * a.T @ a + len(a) * b.T @ b - between - between.T
        self.eigenvalues, self.eigenvectors = np.linalg.eigh(scatter)
        largest, second = self.eigenvalues[-1], self.eigenvalues[-2] if a.shape[1] > 1 else 0.0
        scale = len(b) * np.sum(a**2) + len(a) * np.sum(b**2)
        if not largest - second > _LEAST_GAP * scale:
            self.direction = np.full(a.shape[1], np.nan)
            return
        leading = self.eigenvectors[:, -1]
        self.direction = leading if leading @ (a.mean(axis=0) - b.mean(axis=0)) >= 0 else -leading

    def by_vectors(self, by_direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Turn derivatives by g, (D,), into those by the vectors a and b, (|A|, D) and (|B|, D).

        With y = Σ_{k > 1} v_k (v_k · dL/dg) / (λ_1 - λ_k), the difference δ of a pair enters L by
        y (δ · g) + g (δ · y), and a word's differences to all of the other set add up.
        """
        others, gaps = self.eigenvectors[:, :-1], self.eigenvalues[-1] - self.eigenvalues[:-1]
        is_defined = np.isfinite(self.direction).all()
        y = others @ (others.T @ by_direction / gaps) if is_defined else self.direction
        from_a = len(self.b) * self.a - self.b.sum(axis=0)
        from_b = len(self.a) * self.b - self.a.sum(axis=0)
        return tuple(
            np.outer(d @ self.direction, y) + np.outer(d @ y, self.direction) for d in (from_a, from_b)
        )
