"""Eigenvectors of the normalised consensus graph: LAPACK for small matrices, otherwise a block Krylov iteration.

All vectors are per row of the table, so that weights never show in a result: z is the second eigenvector of
D^-1/2 W D^-1/2 over rows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from clusterforests._utils.arrays import FloatArray
from clusterforests._utils.random import stream, uniform
from clusterforests._utils.threads import blas_threads
from clusterforests._utils.validation import warn_caller
from clusterforests.consensus.affinity import LIMITS, Graph, GraphLimits

# Leading eigenvectors of a symmetric operator by a block Krylov method with restarts.
#
# Vectors are rows. Several are multiplied at once, because a product with W costs little more for eight than for one.

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
        # The span grows by the operator's products with the last block.
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
        # The best approximations in the span so far (Rayleigh and Ritz).
        values, coefficients = np.linalg.eigh(projected[:used, :used])
        values, coefficients = values[::-1], np.ascontiguousarray(coefficients.T[::-1])
        ritz = _ritz(values, coefficients, basis[:used], images[:used], count, len(block) == 0)
        if ritz.exhausted or enough(ritz):
            return ritz, True
        # Where there is no room left, the basis starts again from the best of its span.
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


ZERO = 1e-8  # of the largest entry: a smaller entry has no sign
TOLERANCE = 1e-10  # of a single eigenvector
SPAN_TOLERANCE = 1e-8  # of the span of several eigenvectors
SPAN_RESIDUAL = 1e-12  # a residual small enough for these whatever the gap to the next eigenvalue
ROUNDING = 1e-14  # a residual below it says nothing more
EQUAL = 1e-10  # eigenvalues closer together count as one
ROUNDED_TO_ZERO = 1e-12  # eigenvalues below it are rounding
LOOK_EVERY = 5  # products with a matrix, which take no longer than to look at what they found
RANDOM_SHARE = 0.1  # how much of the first guess is in no particular direction


def second_vector(graph: Graph, *, signs_only: bool = False) -> FloatArray:
    """Find z, per row: the operator's product with the eigenvector, so that a row's entry is its W-weighted vote.

    Where all weights are equal there is no vote (the eigenvalue is 0) and the vector itself decides. Where W is an
    operator and only signs matter, the iteration stops when all of them are certain.
    """
    vector, vote = _leading_pair(graph, signs_only and not graph.affinity.is_matrix)
    z: FloatArray = (vote if np.linalg.norm(vote) > ROUNDED_TO_ZERO else vector) / np.sqrt(graph.weights)
    leftmost = np.flatnonzero(np.abs(z) > ZERO * np.abs(z).max())[0]
    return -z if z[leftmost] > 0 else z


def spectral_embedding(graph: Graph, count: int) -> FloatArray:
    """Find the `count` leading eigenvectors and scale the rows to length 1 (Ng, Jordan and Weiss 2002).

    The first column is the known eigenvector; the others have ascending eigenvalues, as LAPACK gives them.
    """
    n = len(graph)
    if count == 1:
        vectors = np.empty((0, n))
    elif graph.affinity.is_matrix and n <= max(graph.limits.dense_solver, 4 * count):
        vectors = _dense_solution(graph, count - 1).vectors
    else:
        width = max(2, graph.affinity.vectors_at_once)
        vectors = _solution(graph, count - 1, width, span_is_known(count - 1)).vectors
    rows = np.column_stack([graph.first, *vectors[::-1]])
    unit: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def start_vector(n: int) -> FloatArray:
    """Draw the fixed vector whose projection is taken of a degenerate eigenspace, so that the answer is unique."""
    return uniform(stream(0, np.arange(n))) - 0.5


def span_is_known(count: int) -> Callable[[Ritz], bool]:
    """Make the test of whether the span of the `count` leading eigenvectors is known well enough."""

    def enough(ritz: Ritz) -> bool:
        if len(ritz.values) <= count:
            return False
        gap = float(ritz.values[count - 1] - ritz.values[count])
        return float(ritz.residuals.max()) <= max(SPAN_TOLERANCE * gap, SPAN_RESIDUAL)

    return enough


def vector_is_known(signs_only: bool) -> Callable[[Ritz], bool]:
    """Make the test of whether the leading eigenvector, or the signs of its entries, are known well enough."""

    def enough(ritz: Ritz) -> bool:
        equal, error = leading_group(ritz)
        if error <= TOLERANCE:
            return True
        if not signs_only or equal > 1 or len(ritz.residuals) < 2:
            return False
        # The gap bounds an error so large only if it is known: the next eigenvalue must be found as well.
        known = ritz.residuals[1] < (ritz.values[0] - ritz.values[1]) / 4
        return bool(known and error < np.abs(ritz.vectors[0]).min() / 2)

    return enough


def leading_group(ritz: Ritz) -> tuple[int, float]:
    """Count the leading eigenvalues that are equal, and bound the error of their vectors."""
    equal = int((ritz.values[: len(ritz.vectors)] > ritz.values[0] - EQUAL).sum())
    residual = float(ritz.residuals[:equal].max())
    if residual < ROUNDING:
        return equal, 0.0
    gap = float(ritz.values[0] - ritz.values[equal]) if equal < len(ritz.values) else 0.0
    return equal, residual / gap if gap > 0 else np.inf


def _leading_pair(graph: Graph, signs_only: bool) -> tuple[FloatArray, FloatArray]:
    """Find the leading eigenvector beside the known one, and the operator's product with it."""
    width = graph.affinity.vectors_at_once
    ritz = _solution(graph, width, width, vector_is_known(signs_only))
    equal, _ = leading_group(ritz)
    group = ritz.vectors[:equal]
    along = np.ones(1) if equal == 1 else group @ start_vector(len(graph))
    along /= np.linalg.norm(along)
    return along @ group, along @ ritz.images[:equal]


def _solution(graph: Graph, count: int, width: int, enough: Callable[[Ritz], bool]) -> Ritz:
    """Iterate with blocks of `width` vectors.

    If that takes too long, a matrix is left to LAPACK, and the user is told how little is known of an operator.
    """
    matrix = graph.affinity.is_matrix
    # More threads than asked for would only wait for each other in products as small as these. Those with a matrix are
    # the core's; with one thread for the rest no last digit depends on how many were asked for.
    with blas_threads(1 if matrix else graph.backend.threads):
        start = start_vector(len(graph))[None, :] if width == 1 else first_guess(graph, width)
        ritz, converged = leading_vectors(
            graph.apply_deflated, graph.first, start, count, enough, graph.limits, LOOK_EVERY if matrix else 1
        )
    if not converged and matrix:
        return _dense_solution(graph, count)
    if not converged:
        warn_caller(
            f"The eigenvectors of the consensus graph are only known to {ritz.residuals.max():.0e}: rows on the border "
            "between clusters may be on either side of it."
        )
    return ritz


def _dense_solution(graph: Graph, count: int) -> Ritz:
    """Let LAPACK compute the `count` leading eigenvectors beside the known one."""
    n = len(graph)
    with blas_threads(1):
        values, vectors = scipy.linalg.eigh(graph.deflated(), subset_by_index=[n - count, n - 1])
    values, found = values[::-1], np.ascontiguousarray(vectors.T[::-1])
    return Ritz(values, found, values[:, None] * found, np.zeros(count), exhausted=True)


def first_guess(graph: Graph, width: int) -> FloatArray:
    """Carry the eigenvectors of a sample's graph over to all nodes, and add something of every direction."""
    n = len(graph)
    width = min(width, n)
    sample = np.unique(np.linspace(0, n - 1, graph.limits.guess_nodes).astype(np.intp))
    some = Graph(graph.backend, graph.affinity.between(sample, sample), graph.weights[sample])
    vectors = scipy.linalg.eigh(some.deflated(), subset_by_index=[len(sample) - width, len(sample) - 1])[1].T
    guess = graph.scale * graph.affinity.multiply_columns(sample, some.scale * vectors)
    every = uniform(stream(0, np.arange(width)[:, None], np.arange(n))) - 0.5
    return _unit(guess) + RANDOM_SHARE * _unit(every)


def _unit(vectors: FloatArray) -> FloatArray:
    unit: FloatArray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), ROUNDED_TO_ZERO)
    return unit
