"""Normalised cuts of the consensus graph (Algorithm 3, line 8).

Nodes are signatures with weights: a signature of weight w stands for w rows. All vectors are per row, so that weights
never show in a result: z is the second eigenvector of D^-1/2 W D^-1/2 over rows.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from threadpoolctl import threadpool_limits

from clusterforests._base.random import stream, uniform
from clusterforests._base.typing import BoolArray, FloatArray, IndexArray, IntArray
from clusterforests._base.warnings import warn_caller
from clusterforests.backends import Backend
from clusterforests.combining.affinity_operator import Dense, Pairs
from clusterforests.combining.eigenvectors import Ritz, leading

ZERO = 1e-8  # of the largest entry: an entry closer to the cutoff lies on it, and goes right
TOLERANCE = 1e-10  # of an eigenvector
MAX_STEPS = 500
MAX_RESTARTS = 15  # of the iteration for several eigenvectors
NO_VOTE = 1e-12  # eigenvalues below it are rounding
DENSE = 512  # nodes up to which several eigenvectors are computed densely
SAMPLE = 256  # nodes whose graph gives the first guess there
SPAN_TOLERANCE = 1e-8  # of the span of several eigenvectors there
SPAN_RESIDUAL = 1e-12  # small enough for these whatever the gap to the next eigenvalue
EVERYTHING = 0.1  # how much of the first guess is in no particular direction
ROUNDING = 1e-14  # a residual below it says nothing more
EQUAL = 1e-10  # eigenvalues closer together count as one
ROWS = 128  # of W at a time where all of it is gone through


@dataclass
class CutNode:
    """A part of the graph. `left` and `right` are node ids, -1 for a part that is not split."""

    members: IndexArray
    size: float
    left: int = -1
    right: int = -1
    vector: FloatArray = field(default_factory=lambda: np.empty(0))
    degrees: FloatArray = field(default_factory=lambda: np.empty(0))  # within the part
    cutoff: float = 0.0
    ncut: float = np.inf
    label: int = -1


@dataclass(frozen=True)
class CutTree:
    """How the parts came about: node 0 is the whole graph; leaves carry the cluster labels."""

    nodes: list[CutNode]

    def labels(self) -> IntArray:
        labels = np.empty(len(self.nodes[0].members), dtype=np.int32)
        for node in self.nodes:
            if node.left < 0:
                labels[node.members] = node.label
        return labels


class Graph:
    """A weighted part of the consensus graph and its normalised operator. W is a matrix or an operator."""

    def __init__(self, backend: Backend, W: FloatArray | Pairs, weights: FloatArray) -> None:
        self.backend = backend
        self.pairs: Pairs = Dense(backend, W) if isinstance(W, np.ndarray) else W
        self.weights = weights
        self.degrees = self.pairs.multiply(weights[None, :])[0]
        self.scale = np.sqrt(weights / self.degrees)
        first = np.sqrt(weights * self.degrees)
        self.first = first / np.linalg.norm(first)

    @property
    def W(self) -> FloatArray:
        """As a matrix; made for the purpose where it is an operator."""
        if isinstance(self.pairs, Dense):
            return self.pairs.W
        every = np.arange(len(self.weights))
        return self.pairs.between(every, every)

    def part(self, members: IndexArray) -> "Graph":
        return Graph(self.backend, self.pairs.part(members), self.weights[members])

    def apply(self, vector: FloatArray) -> FloatArray:
        """S W S with S = sqrt(weights / degrees); its first eigenvector is known, with eigenvalue 1."""
        product: FloatArray = self.scale * self.pairs.multiply((self.scale * vector)[None, :])[0]
        return product

    def second_vector(self, signs_only: bool = False) -> FloatArray:
        """z, per row: the operator's product with the eigenvector, so that a row's entry is its W-weighted vote.

        Where all weights are equal there is no vote (the eigenvalue is 0) and the vector itself decides. Where W is an
        operator and only signs matter, the iteration stops when all of them are certain.
        """
        if self.pairs.dense:
            vector = _leading_vector(self)
            vote = self.apply(vector)
        else:
            vector, vote = _operator_vector(self, signs_only)
        z: FloatArray = (vote if np.linalg.norm(vote) > NO_VOTE else vector) / np.sqrt(self.weights)
        leftmost = np.flatnonzero(np.abs(z) > ZERO * np.abs(z).max())[0]
        return -z if z[leftmost] > 0 else z

    def embedding(self, count: int) -> FloatArray:
        """The `count` leading eigenvectors, rows scaled to length 1 (Ng, Jordan, Weiss)."""
        n = len(self.weights)
        vectors = None
        if count > 1 and not self.pairs.dense:
            vectors = _operator_vectors(self, count - 1).T
        elif count > 1 and n > max(DENSE, 4 * count):
            operator = scipy.sparse.linalg.LinearOperator((n, n), matvec=self._apply_deflated, dtype=np.float64)
            # Eigenvalues too close for an iteration are left to the dense method.
            with contextlib.suppress(scipy.sparse.linalg.ArpackNoConvergence):
                vectors = scipy.sparse.linalg.eigsh(
                    operator, k=count - 1, which="LA", v0=_start_vector(n), maxiter=MAX_RESTARTS
                )[1]
        if vectors is None:
            last = [n - count + 1, n - 1]
            vectors = scipy.linalg.eigh(self.deflated(), subset_by_index=last)[1] if count > 1 else np.empty((n, 0))
        rows = np.column_stack([self.first, vectors])
        unit: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def _apply_deflated(self, vector: FloatArray) -> FloatArray:
        rest: FloatArray = self.apply(vector) - self.first * (self.first @ vector)
        return rest

    def apply_rest(self, vectors: FloatArray) -> FloatArray:
        """The same for several vectors, which are rows, at once."""
        products = self.scale * self.pairs.multiply(self.scale * vectors)
        rest: FloatArray = products - (vectors @ self.first)[:, None] * self.first
        return rest

    def deflated(self) -> FloatArray:
        """The operator as a matrix, its known eigenvector taken out."""
        dense: FloatArray = self.scale[:, None] * self.W * self.scale[None, :]
        return dense - np.outer(self.first, self.first)

    def ncut(self, right: BoolArray) -> float:
        """cut / volume of the one side + cut / volume of the other."""
        volume = self.weights * self.degrees
        to_right = self.pairs.multiply((self.weights * right)[None, :])[0]
        cut = float((self.weights * to_right)[~right].sum())
        return cut / float(volume[right].sum()) + cut / float(volume[~right].sum())


def cut(graph: Graph, n_clusters: int, rule: str) -> CutTree:
    """Split the graph until there are n_clusters parts.

    rule: "ncut" splits by the sign of the second eigenvector, always the largest part next; "ncut-lowest" the part
    whose cut has the lowest Ncut value; "ncut-best" cuts where Ncut is lowest along the vector; "ncut-shifted" at the
    cutoff that the paper's perturbation analysis suggests.
    """
    nodes = [CutNode(np.arange(len(graph.weights)), float(graph.weights.sum()))]
    for _ in range(n_clusters - 1):
        leaves = [i for i, node in enumerate(nodes) if node.left < 0 and len(node.members) > 1]
        if not leaves:
            found = sum(node.left < 0 for node in nodes)
            raise ValueError(
                f"n_clusters={n_clusters} is more than the {found} groups of rows that the partitions tell apart. "
                "Lower n_clusters, or raise base_clusters or n_estimators."
            )
        if rule == "ncut-lowest":
            for i in leaves:
                _propose(graph, nodes[i], rule)
            chosen = min(leaves, key=lambda i: (nodes[i].ncut, i))
        else:
            chosen = min(leaves, key=lambda i: (-nodes[i].size, i))
        node = nodes[chosen]
        _propose(graph, node, rule)
        right = _on_right(node.vector, node.cutoff)
        node.left, node.right = len(nodes), len(nodes) + 1
        for side in (~right, right):
            members = node.members[side]
            nodes.append(CutNode(members, float(graph.weights[members].sum())))
    leaves = sorted((i for i, node in enumerate(nodes) if node.left < 0), key=lambda i: (-nodes[i].size, i))
    for label, i in enumerate(leaves):
        nodes[i].label = label
    return CutTree(nodes)


def _propose(graph: Graph, node: CutNode, rule: str) -> None:
    """Find where the node would be cut, once."""
    if len(node.vector):
        return
    if len(node.members) == len(graph.weights):
        part = graph
    else:
        graph.pairs.release()  # the room is for the part now
        part = graph.part(node.members)
    node.vector = part.second_vector(signs_only=rule in ("ncut", "ncut-lowest"))
    node.degrees = part.degrees
    if rule == "ncut-best":
        node.cutoff = _best_cutoff(part, node.vector)
    elif rule == "ncut-shifted":
        node.cutoff = _shifted_cutoff(part, node.vector)
    node.ncut = part.ncut(_on_right(node.vector, node.cutoff))


def _on_right(vector: FloatArray, cutoff: float) -> BoolArray:
    right: BoolArray = vector >= cutoff - ZERO * np.abs(vector).max()
    return right


def _best_cutoff(part: Graph, vector: FloatArray) -> float:
    """Half-way across the gap along the vector where Ncut is lowest."""
    order = np.argsort(vector, kind="stable")
    z, w = vector[order], part.weights[order]
    volume = np.cumsum(w * part.degrees[order])
    inside = np.cumsum(w * _earlier(part, order))  # pairs within the first i nodes
    gaps = np.flatnonzero(np.diff(z) > 2 * ZERO * np.abs(z).max())
    crossing = (volume - inside)[gaps]
    ncut = crossing / volume[gaps] + crossing / (volume[-1] - volume[gaps])
    best = gaps[np.argmin(ncut)]
    return float((z[best] + z[best + 1]) / 2)


def _earlier(part: Graph, order: IndexArray) -> FloatArray:
    """Twice the weight of each node's links to those before it in the order, and once that of its own."""
    w = part.weights[order]
    if part.pairs.dense:
        W = part.W[np.ix_(order, order)]
        links: FloatArray = 2 * (np.tril(W, -1) @ w) + np.diag(W) * w
        return links
    links = np.empty(len(order))
    for start in range(0, len(order), ROWS):
        some = slice(start, start + ROWS)
        W = part.pairs.between(order[some], order[: some.stop])
        links[some] = 2 * (np.tril(W, start - 1) @ w[: some.stop]) + np.diag(W, start) * w[some]
    return links


def _shifted_cutoff(part: Graph, vector: FloatArray) -> float:
    """Where both clusters are equally many noise widths away (the proof of Theorem 2).

    With gamma = small / large, entries of the larger cluster scatter sqrt(gamma) times as far about their mean as
    those of the smaller one, so the cutoff is (mean_large + sqrt(gamma) mean_small) / (1 + sqrt(gamma)).
    """
    right = _on_right(vector, 0.0)
    sizes = np.array([part.weights[~right].sum(), part.weights[right].sum()])
    means = np.array([np.average(vector[side], weights=part.weights[side]) for side in (~right, right)])
    small = int(np.argmin(sizes))
    root = np.sqrt(sizes[small] / sizes[1 - small])
    return float((means[1 - small] + root * means[small]) / (1 + root))


def _start_vector(n: int) -> FloatArray:
    return uniform(stream(0, np.arange(n))) - 0.5


def _leading_vector(graph: Graph) -> FloatArray:
    """The leading eigenvector of the graph's operator beside the known one, by Lanczos' method.

    The start vector is fixed. In a degenerate eigenspace its projection comes out, so the answer is unique.
    """
    n = len(graph.weights)
    basis = np.empty((min(n, MAX_STEPS), n))
    diagonal: list[float] = []
    side: list[float] = []
    q = _start_vector(n)
    q -= graph.first * (graph.first @ q)
    q /= np.linalg.norm(q)
    for step in range(len(basis)):
        basis[step] = q
        r = graph.apply(q)
        diagonal.append(float(q @ r))
        for _ in range(2):  # full orthogonalisation, twice is enough
            r -= graph.first * (graph.first @ r)
            r -= basis[: step + 1].T @ (basis[: step + 1] @ r)
        norm = float(np.linalg.norm(r))
        exhausted = norm < 1e-13 or step >= n - 2
        if exhausted or step % 5 == 4:
            coefficients, error = _ritz(diagonal, side, norm)
            if exhausted or error <= TOLERANCE:
                return coefficients @ basis[: step + 1]
        side.append(norm)
        q = r / norm
    vector: FloatArray = scipy.linalg.eigh(graph.deflated(), subset_by_index=[n - 1, n - 1])[1][:, 0]
    return vector


def _ritz(diagonal: list[float], side: list[float], norm: float) -> tuple[FloatArray, float]:
    """The leading vector of the projected problem and a bound on its error."""
    if len(diagonal) == 1:
        return np.ones(1), norm
    last = len(diagonal) - 1
    values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, side, select="i", select_range=(last - 1, last))
    residual = norm * abs(vectors[-1, 1])
    gap = max(float(values[1] - values[0]), 1e-300)
    # Below rounding a residual says nothing more.
    return vectors[:, 1], 0.0 if residual < 1e-15 else residual / gap


def _operator_vector(graph: Graph, signs_only: bool) -> tuple[FloatArray, FloatArray]:
    """The leading eigenvector beside the known one where W is an operator, and the operator's product with it.

    Of a degenerate eigenspace the fixed start vector's projection is taken, so the answer is unique.
    """

    def enough(ritz: Ritz) -> bool:
        equal, error = _leading_group(ritz)
        if error <= TOLERANCE:
            return True
        if not signs_only or equal > 1 or len(ritz.residuals) < 2:
            return False
        # An error so large is only bounded by a gap that is known: the next eigenvalue must be found as well.
        known = ritz.residuals[1] < (ritz.values[0] - ritz.values[1]) / 4
        return bool(known and error < np.abs(ritz.vectors[0]).min() / 2)

    ritz = _converged(graph, graph.pairs.block, enough)
    equal, _ = _leading_group(ritz)
    group = ritz.vectors[:equal]
    along = np.ones(1) if equal == 1 else group @ _start_vector(len(graph.weights))
    along /= np.linalg.norm(along)
    return along @ group, along @ ritz.images[:equal]


def _leading_group(ritz: Ritz) -> tuple[int, float]:
    """How many leading eigenvalues count as one, and a bound on the error of their vectors."""
    equal = int((ritz.values[: len(ritz.vectors)] > ritz.values[0] - EQUAL).sum())
    residual = float(ritz.residuals[:equal].max())
    if residual < ROUNDING:
        return equal, 0.0
    return equal, residual / float(ritz.values[0] - ritz.values[equal]) if equal < len(ritz.values) else np.inf


def _operator_vectors(graph: Graph, count: int) -> FloatArray:
    """The `count` leading eigenvectors beside the known one where W is an operator, as rows."""

    def enough(ritz: Ritz) -> bool:
        if len(ritz.values) <= count:
            return False
        gap = float(ritz.values[count - 1] - ritz.values[count])
        return float(ritz.residuals.max()) <= max(SPAN_TOLERANCE * gap, SPAN_RESIDUAL)

    return _converged(graph, count, enough).vectors


def _converged(graph: Graph, count: int, enough: Callable[[Ritz], bool]) -> Ritz:
    # More threads than asked for would only wait for each other in products as small as these.
    with threadpool_limits(graph.backend.threads, "blas"):
        start = _first_guess(graph, min(graph.pairs.block, len(graph.weights)))
        ritz, converged = leading(graph.apply_rest, graph.first, start, count, enough)
    if not converged:
        warn_caller(
            f"The eigenvectors of the consensus graph are only known to {ritz.residuals.max():.0e}: rows on the border "
            "between clusters may be on either side of it."
        )
    return ritz


def _first_guess(graph: Graph, width: int) -> FloatArray:
    """The eigenvectors of a sample's graph carried over to all nodes, with something of every direction added."""
    n = len(graph.weights)
    sample = np.unique(np.linspace(0, n - 1, SAMPLE).astype(np.intp))
    some = Graph(graph.backend, graph.pairs.between(sample, sample), graph.weights[sample])
    last = [len(sample) - width, len(sample) - 1]
    vectors = scipy.linalg.eigh(some.deflated(), subset_by_index=last)[1].T
    guess = graph.scale * graph.pairs.spread(sample, some.scale * vectors)
    every = uniform(stream(0, np.arange(width)[:, None], np.arange(n))) - 0.5
    return _unit(guess) + EVERYTHING * _unit(every)


def _unit(vectors: FloatArray) -> FloatArray:
    unit: FloatArray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), NO_VOTE)
    return unit
