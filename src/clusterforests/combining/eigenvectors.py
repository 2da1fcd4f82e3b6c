"""Leading eigenvectors of a symmetric operator by a block Krylov method with restarts.

Vectors are rows. Several are multiplied at once, because a product with W costs little more for eight than for one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from clusterforests._base.random import stream, uniform
from clusterforests._base.typing import FloatArray

MOST = 64  # vectors of the basis; beyond that it starts again from the best of its span
MAX_PRODUCTS = 250  # each with a block of vectors
NOTHING = 1e-13  # norms below it are rounding


@dataclass(frozen=True)
class Ritz:
    """The best approximations so far, largest value first, with their residuals' norms."""

    values: FloatArray
    vectors: FloatArray
    images: FloatArray  # the operator's products with them
    residuals: FloatArray
    exhausted: bool  # the span is invariant: they are exact


def leading(
    operator: Callable[[FloatArray], FloatArray],
    known: FloatArray,
    start: FloatArray,
    count: int,
    enough: Callable[[Ritz], bool],
) -> tuple[Ritz, bool]:
    """Approximations to the `count` leading eigenvectors beside the known one, and whether they are good `enough`."""
    n = len(known)
    width = len(start)
    count = min(count, n - 1)
    most = max(MOST, 4 * max(width, count))
    basis, images = np.empty((most, n)), np.empty((most, n))
    projected = np.zeros((most, most))
    block = orthonormal(start, known, basis[:0])
    used = 0
    for step in range(MAX_PRODUCTS):
        new = slice(used, used + len(block))
        basis[new] = block
        images[new] = operator(block)
        used = new.stop
        projected[:used, new] = basis[:used] @ images[new].T
        projected[new, :used] = projected[:used, new].T
        values, coefficients = scipy.linalg.eigh(projected[:used, :used])
        values, coefficients = values[::-1], np.ascontiguousarray(coefficients.T[::-1])
        block = orthonormal(images[new], known, basis[:used])
        if len(block) == 0 and used < count:  # an invariant span that is too small: something new is added to it
            block = orthonormal(uniform(stream(1, step, np.arange(n)))[None, :] - 0.5, known, basis[:used])
        ritz = _ritz(values, coefficients, basis[:used], images[:used], count, len(block) == 0)
        if ritz.exhausted or enough(ritz):
            return ritz, True
        if used + len(block) > most:
            kept = min(used, max(2 * width, count + width))
            basis[:kept] = coefficients[:kept] @ basis[:used]
            images[:kept] = coefficients[:kept] @ images[:used]
            projected[:kept, :kept] = np.diag(values[:kept])
            used = kept
    return ritz, False


def _ritz(
    values: FloatArray, coefficients: FloatArray, basis: FloatArray, images: FloatArray, count: int, exhausted: bool
) -> Ritz:
    vectors, products = coefficients[:count] @ basis, coefficients[:count] @ images
    residuals = np.linalg.norm(products - values[:count, None] * vectors, axis=1)
    return Ritz(values, vectors, products, residuals, exhausted)


def orthonormal(block: FloatArray, known: FloatArray, basis: FloatArray) -> FloatArray:
    """An orthonormal basis of what the block adds to the span of the known vector and `basis`."""
    for _ in range(2):  # twice is enough
        block = block - (block @ known)[:, None] * known
        block = block - (block @ basis.T) @ basis
        # Pivots put what is only rounding last, where leaving it out takes nothing from the others.
        unit, triangle, _ = scipy.linalg.qr(block.T, mode="economic", pivoting=True)
        block = unit.T[np.abs(np.diag(triangle)) > NOTHING]
    return np.ascontiguousarray(block)
