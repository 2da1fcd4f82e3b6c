"""Correlation matrices that are positive definite."""

import numpy as np

from clusterforests._base.typing import FloatArray

SMALLEST_EIGENVALUE = 1e-4  # far above rounding errors, far below the unit variances


def nearest_correlation(matrix: FloatArray, *, tol: float = 1e-7, max_iter: int = 1000) -> FloatArray:
    """Find the correlation matrix nearest to a symmetric matrix in the Frobenius norm.

    It is positive semidefinite up to `tol`. Higham's alternating projections go to the semidefinite matrices, with
    Dykstra's correction, then to those with a unit diagonal, until a round changes the matrix by less than `tol` of its
    norm.
    """
    nearest, correction = matrix.copy(), np.zeros_like(matrix)
    np.fill_diagonal(nearest, 1)
    for _ in range(max_iter):
        shifted = nearest - correction
        semidefinite = _without_negative_eigenvalues(shifted)
        correction = semidefinite - shifted
        before, nearest = nearest, semidefinite.copy()
        np.fill_diagonal(nearest, 1)
        if np.linalg.norm(nearest - before) <= tol * np.linalg.norm(nearest):
            return nearest
    raise RuntimeError(f"The nearest correlation matrix was not found in max_iter={max_iter} rounds.")


def _without_negative_eigenvalues(matrix: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(matrix)
    kept = vectors[:, values > 0] * np.sqrt(values[values > 0])
    return np.asarray(kept @ kept.T, dtype=np.float64)


def positive_definite(correlations: FloatArray) -> FloatArray:
    """Return the matrix or, if it is not positive definite, the nearest correlation matrix that safely is."""
    if np.linalg.eigvalsh(correlations)[0] >= SMALLEST_EIGENVALUE:
        return correlations
    nearest = nearest_correlation(correlations)
    smallest = float(np.linalg.eigvalsh(nearest)[0])  # about zero, so that the share of the identity is tiny
    share = max(0.0, (SMALLEST_EIGENVALUE - smallest) / (1 - smallest))
    return (1 - share) * nearest + share * np.eye(len(nearest))
