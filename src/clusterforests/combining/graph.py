"""The consensus graph, with weighted nodes, and its normalised operator.

Nodes are signatures: one of weight w stands for w rows. Vectors are rows of arrays.
"""

import numpy as np

from clusterforests._base.typing import BoolArray, FloatArray, IndexArray
from clusterforests.backends import Backend
from clusterforests.combining.affinity_operator import Affinity, AffinityMatrix
from clusterforests.combining.settings import LIMITS, GraphLimits

HELD_BACK = 0.5


class Graph:
    """A graph of weighted nodes. W is a matrix or an operator."""

    def __init__(
        self, backend: Backend, W: FloatArray | Affinity, weights: FloatArray, limits: GraphLimits = LIMITS
    ) -> None:
        self.backend = backend
        self.affinity: Affinity = AffinityMatrix(backend, W) if isinstance(W, np.ndarray) else W
        self.weights = weights
        self.limits = limits
        self.degrees = self.affinity.multiply(weights[None, :])[0]
        self.scale = np.sqrt(weights / self.degrees)
        first = np.sqrt(weights * self.degrees)
        self.first = first / np.linalg.norm(first)  # the known eigenvector of `apply`, with eigenvalue 1

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def W(self) -> FloatArray:
        """W as a matrix, written out if it is an operator."""
        if isinstance(self.affinity, AffinityMatrix):
            return self.affinity.W
        every = np.arange(len(self))
        return self.affinity.between(every, every)

    def even(self) -> "Graph":
        """Take the graph in which a node counts less, the more it is linked, so that dense parts do not stand out.

        It is that of W_ij / (d_i d_j)^HELD_BACK for the degrees d. With 1, it would not know where rows are dense.
        """
        return Graph(self.backend, self.affinity, self.weights / self.degrees**HELD_BACK, self.limits)

    def part(self, members: IndexArray) -> "Graph":
        """Take the graph of some nodes."""
        return Graph(self.backend, self.affinity.part(members), self.weights[members], self.limits)

    def apply(self, vectors: FloatArray) -> FloatArray:
        """Multiply S W S with vectors, where S = sqrt(weights / degrees)."""
        products: FloatArray = self.scale * self.affinity.multiply(self.scale * vectors)
        return products

    def apply_deflated(self, vectors: FloatArray) -> FloatArray:
        """Multiply S W S, its known eigenvector taken out, with vectors."""
        rest: FloatArray = self.apply(vectors) - (vectors @ self.first)[:, None] * self.first
        return rest

    def deflated(self) -> FloatArray:
        """Write out S W S as a matrix, its known eigenvector taken out."""
        dense: FloatArray = self.scale[:, None] * self.W * self.scale[None, :]
        return dense - np.outer(self.first, self.first)

    def ncut(self, right: BoolArray) -> float:
        """Compute cut / volume of the one side + cut / volume of the other."""
        volume = self.weights * self.degrees
        to_right = self.affinity.multiply((self.weights * right)[None, :])[0]
        cut = float((self.weights * to_right)[~right].sum())
        return cut / float(volume[right].sum()) + cut / float(volume[~right].sum())
