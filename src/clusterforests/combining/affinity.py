"""From partitions to the graph that is cut: co-association and regularisation (Algorithm 3, lines 4 to 7)."""

from dataclasses import dataclass, replace

import numpy as np

from clusterforests._base.memory_limits import check_memory
from clusterforests._base.portable_math import exp, expm1
from clusterforests._base.typing import FloatArray, IndexArray, IntArray
from clusterforests.backends import Backend
from clusterforests.backends.label_tables import order_columns
from clusterforests.combining.affinity_operator import Affinity, MatchCountAffinity, with_diagonal
from clusterforests.combining.settings import LIMITS, GraphLimits

NO_SHARPNESS = 1e-8  # exp(b P) - 1 differs from b P by less than a share of b


@dataclass(frozen=True)
class Signatures:
    """The different rows of labels, each kept once, with a weight.

    Rows with the same label in every partition have the same row of P.
    """

    labels: IntArray  # (T, m)
    inverse: IndexArray  # row -> signature
    weights: FloatArray  # rows per signature, or the sum of their weights
    inside: "Inside | None" = None  # None if all rows that a signature stands for have its labels
    values: FloatArray | None = None  # (m, d): of the rows with these labels, scaled; None if they are not known

    def __len__(self) -> int:
        return len(self.weights)


@dataclass(frozen=True)
class Inside:
    """What is known of pairs among the rows that a landmark stands for."""

    same: FloatArray  # the share of pairs that have the same labels
    P: FloatArray  # the mean over the other pairs

    def weights(self, threshold: float | str, sharpness: float) -> FloatArray:
        """Compute W of each landmark with itself: that of two rows it stands for, not that of a row with itself."""
        own, others = regularise(np.ones(1), threshold, sharpness), regularise(self.P, threshold, sharpness)
        return self.same * own + (1 - self.same) * others


def collapse(partitions: IntArray, weights: FloatArray | None = None) -> Signatures:
    """Find the different columns of `partitions` and add up their weights: a weight of 2 is a row repeated."""
    order, is_new = order_columns(np.ascontiguousarray(partitions, dtype=np.int32))
    first, inverse = order[is_new], np.empty(len(order), dtype=np.intp)
    inverse[order] = np.cumsum(is_new) - 1
    mass = np.bincount(inverse).astype(np.float64)
    if weights is not None:
        order = np.lexsort((weights, inverse))  # The order of the rows must not show in the sums.
        mass = np.bincount(inverse[order], weights[order]).astype(np.float64)
    return Signatures(np.ascontiguousarray(partitions[:, first]), inverse, mass)


def coassociate(backend: Backend, a: IntArray, b: IntArray) -> FloatArray:
    """Compute P: the share of partitions in which two rows are together, among those in which both are clustered.

    A label below zero means "not clustered". P is 0 where no partition clusters both rows.
    """
    counts = np.arange(len(a) + 1, dtype=np.float64)
    check_memory(
        8 * a.shape[1] * b.shape[1],
        f"A {a.shape[1]} by {b.shape[1]} co-association matrix",
        "Ask for fewer rows or columns at a time.",
    )
    if not _has_gaps(a, b):
        return backend.coassociate(a, b, counts / len(a))
    together = backend.coassociate(a, b, counts)
    both = backend.coassociate(np.where(a < 0, a, 0), np.where(b < 0, b, 0), counts)
    return np.divide(together, both, out=np.zeros_like(together), where=both > 0)


def _has_gaps(*labels: IntArray) -> bool:
    """Say whether some row is not clustered in some partition."""
    return any(some.min(initial=0) < 0 for some in labels)


def check_pairs(signatures: Signatures, instead: str = "Use fewer rows.") -> None:
    """Refuse if there is no room for a matrix over pairs of signatures."""
    m = len(signatures)
    check_memory(
        3 * 8 * m * m,  # P or W, the parts of it that recursive cuts copy, and a spare
        f"The consensus graph of {m} different rows of labels",
        instead,
    )


def regularise(P: FloatArray, threshold: float | str, sharpness: float) -> FloatArray:
    """Set entries of P below `threshold` (beta_2) to 0, then take exp(sharpness * P) of every entry (beta_1).

    With the threshold "auto", take exp(sharpness * P) - 1: every share counts, and rows never together have no link.
    As the sharpness goes to 0 this is proportional to P.
    """
    if isinstance(threshold, str):
        return expm1(sharpness * P) if sharpness > NO_SHARPNESS else P
    if sharpness <= NO_SHARPNESS:
        raise ValueError(
            f"sharpness={sharpness:g} with threshold={threshold:g} makes all links of the graph equal. Raise "
            "sharpness, or pass threshold='auto'."
        )
    return exp(sharpness * np.where(threshold > P, 0.0, P))


def affinity(
    backend: Backend,
    signatures: Signatures,
    threshold: float | str,
    sharpness: float,
    limits: GraphLimits = LIMITS,
) -> FloatArray | Affinity:
    """Compute W between signatures: a matrix, or an operator if there are many."""
    if signatures.inside is not None:
        W = affinity(backend, replace(signatures, inside=None), threshold, sharpness, limits)
        return with_diagonal(W, signatures.inside.weights(threshold, sharpness))
    labels = signatures.labels
    many = len(signatures) > limits.matrix_nodes
    if not _has_gaps(labels):
        table = weight_table(len(labels), threshold, sharpness)
        if many:
            return MatchCountAffinity(backend, labels, table, limits)
        return backend.coassociate(labels, labels, table)
    if many and len(labels) <= limits.most_with_gaps:
        return MatchCountAffinity(backend, labels, share_table(len(labels), threshold, sharpness), limits)
    check_pairs(signatures, f"Use fewer rows, or at most {limits.most_with_gaps} partitions if rows may have no label.")
    return regularise(coassociate(backend, labels, labels), threshold, sharpness)


def link_weights(backend: Backend, a: IntArray, b: IntArray, threshold: float | str, sharpness: float) -> FloatArray:
    """Compute W between two sets of rows of labels."""
    if _has_gaps(a, b):
        return regularise(coassociate(backend, a, b), threshold, sharpness)
    return backend.coassociate(a, b, weight_table(len(a), threshold, sharpness))


def weight_table(members: int, threshold: float | str, sharpness: float) -> FloatArray:
    """Tabulate W for each number of matches."""
    return regularise(np.arange(members + 1) / members, threshold, sharpness)


def share_table(members: int, threshold: float | str, sharpness: float) -> FloatArray:
    """Tabulate W for each number of partitions that cluster two rows, and of those that put them together."""
    both, together = np.divmod(np.arange((members + 1) ** 2, dtype=np.float64), members + 1)
    shares = np.divide(together, both, out=np.zeros_like(both), where=(both > 0) & (together <= both))
    return regularise(shares, threshold, sharpness)


def sharpness_for(sharpness: float | str, n_partitions: int) -> float:
    """Choose beta_1. The paper has 10 for 100 partitions, a tenth of their number.

    It does not grow beyond 10: P does not grow with the number of partitions, and beyond about 36 / (1 - P) the weight
    of a pair is lost in the rounding of the diagonal.
    """
    return min(0.1 * n_partitions, 10.0) if sharpness == "auto" else float(sharpness)
