"""How the consensus graph is cut: what the user sets, and sizes at which something is done in another way."""

from dataclasses import dataclass
from typing import NamedTuple


class CutSettings(NamedTuple):
    """What the user sets: see `consensus`."""

    n_clusters: int
    method: str
    affinity_threshold: float | str
    affinity_scale: float | str
    n_landmarks: int | str | None
    named: bool = True  # False if the method was chosen for the user, who did not ask for an exact cut of many rows


@dataclass(frozen=True)
class GraphLimits:
    """Limits that trade time for memory or exactness; the defaults come from measurements."""

    # Which different rows of labels ("signatures") are nodes of the graph
    exact: int = 5000  # signatures up to which each of them is a node
    exact_without_matrix: int = 20000  # the same for methods that need no matrix
    landmarks: int = 2000  # nodes that stand for more signatures than that
    pool: int = 16384  # rows of a large table from which landmarks are chosen; as SizeLimits.sample_rows
    collapsed: int = 65536  # rows up to which equal signatures of all rows are merged; as SizeLimits.large_rows

    # How W between the nodes is stored
    matrix_nodes: int = 5000  # nodes up to which W is a matrix, otherwise an operator
    matrix_part: int = 2000  # nodes up to which a part of an operator is a matrix
    stored_bytes: int = 6 * 10**8  # room for match counts; if they need more, every product counts them anew
    most_with_gaps: int = 255  # partitions up to which W is an operator where labels are missing

    # How eigenvectors are found
    dense_solver: int = 512  # nodes up to which LAPACK computes several eigenvectors
    guess_nodes: int = 256  # nodes whose graph gives the first guess of the iteration
    max_basis: int = 64  # vectors of the iteration's basis; beyond that it restarts from the best of its span
    max_products: int = 250  # of the iteration, each with a block of vectors


LIMITS = GraphLimits()
