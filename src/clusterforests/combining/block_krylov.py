"""Leading eigenvectors of a symmetric operator by a block Krylov method with restarts.

Vectors are rows. Several are multiplied at once, because a product with W costs little more for eight than for one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from clusterforests._base.random import stream, uniform
from clusterforests._base.typing import FloatArray
from clusterforests.combining.settings import LIMITS, GraphLimits

NOTHING = 1e-13  # norms below it are rounding


@dataclass(frozen=True)
class Ritz:
    """The best approximations so far, largest value first, with the norms of their residuals."""

    values: FloatArray
    vectors: FloatArray
    images: FloatArray  # the operator's products with them
    residuals: FloatArray
    exhausted: bool  # the span is invariant: they are exact


def leading_vectors(
    operator: Callable[[FloatArray], FloatArray],
    known: FloatArray,
    start: FloatArray,
    count: int,
    enough: Callable[[Ritz], bool],
    limits: GraphLimits = LIMITS,
    look_every: int = 1,
) -> tuple[Ritz, bool]:
    """Approximate the `count` leading eigenvectors beside the known one, and say whether they are good `enough`.

    The width of the blocks is the number of start vectors. `look_every` is the number of products after which the
    approximations are computed and judged: every product, unless that costs as much as a product.
    """
    n, width = len(known), len(start)
    count = min(count, n - 1)
    most = max(limits.max_basis, 4 * max(width, count))
    basis, images = np.empty((most, n)), np.empty((most, n))
    projected = np.zeros((most, most))
    block = orthonormal(start, known, basis[:0])
    used = 0
    for step in range(limits.max_products):
        new = slice(used, used + len(block))
        basis[new] = block
        images[new] = operator(block)
        used = new.stop
        projected[:used, new] = basis[:used] @ images[new].T
        projected[new, :used] = projected[:used, new].T
        block = orthonormal(images[new], known, basis[:used])
        if len(block) == 0 and used < count:  # The invariant span is too small: a new direction is added to it.
            block = orthonormal(uniform(stream(1, step, np.arange(n)))[None, :] - 0.5, known, basis[:used])
        full = used + len(block) > most
        if not (full or len(block) == 0 or step % look_every == look_every - 1 or step == limits.max_products - 1):
            continue
        values, coefficients = np.linalg.eigh(projected[:used, :used])
        values, coefficients = values[::-1], np.ascontiguousarray(coefficients.T[::-1])
        ritz = _ritz(values, coefficients, basis[:used], images[:used], count, len(block) == 0)
        if ritz.exhausted or enough(ritz):
            return ritz, True
        if full:
            kept = min(used, max(most // 4, count + width))
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
    """Find an orthonormal basis of what the block adds to the span of the known vector and `basis`."""
    for _ in range(2):  # Twice is enough to lose nothing to rounding.
        block = block - (block @ known)[:, None] * known
        block = block - (block @ basis.T) @ basis
        block = _independent(block)
    return np.ascontiguousarray(block)


def _independent(block: FloatArray) -> FloatArray:
    """Find an orthonormal basis of the block's span, without directions that are only rounding."""
    if len(block) == 1:
        norm = np.linalg.norm(block)
        return block / norm if norm > NOTHING else block[:0]
    # Pivots put what is only rounding last, where leaving it out takes nothing from the others.
    unit, triangle, _ = scipy.linalg.qr(block.T, mode="economic", pivoting=True)
    independent: FloatArray = unit.T[np.abs(np.diag(triangle)) > NOTHING]
    return independent
