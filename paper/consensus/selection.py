"""Choose which partitions of a library to combine (Fern and Lin 2008)."""

from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray
from clusterforests._utils.memory import check_memory
from clusterforests._utils.validation import check_parameters, choice, either, integer, none, real
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import Graph, Signatures, collapse
from clusterforests.consensus.consensus_clustering import check_partitions
from clusterforests.consensus.normalized_cut import recursive_cut
from paper.consensus.nodes import incidence


def select_partitions(
    partitions: Any, n_selected: int | None, *, strategy: str = "cluster-and-select", balance: float = 0.5
) -> IndexArray:
    """Choose partitions that are good and differ from each other.

    The quality of a partition is the sum of its normalised mutual information (NMI) with all partitions of the
    library; the diversity of two is 1 - NMI. NMI is taken with the geometric mean of the entropies, over the rows
    that both partitions cluster.

    Parameters
    ----------
    partitions : array-like of shape (n_partitions, n_samples)
        The library: integer labels, one row for each partition. A negative label means "not clustered" there.
    n_selected : int or None
        How many to choose. None, for "convex-hull" only, leaves it to that strategy.
    strategy : {"cluster-and-select", "joint", "convex-hull"}, default="cluster-and-select"
        "cluster-and-select": group the partitions by normalised cuts of the graph of their NMI and choose the best of
        each group. "joint": start with the best, then always add the one that raises
        `balance * (sum of qualities) + (1 - balance) * (sum of diversities over ordered pairs)` most. "convex-hull":
        place each pair by its mean quality and its diversity, and choose all partitions with a pair at a corner of the
        convex hull between the best pair and the most diverse one. Where `n_selected` asks for more, the hull of the
        remaining pairs is next; of the last hull the best are taken.
    balance : float, default=0.5
        Weight of quality against diversity, from 0 to 1; used by "joint".

    Returns
    -------
    indices : ndarray of shape (n_selected,)
        The chosen partitions, in ascending order.

    References
    ----------
    X. Z. Fern, W. Lin. Cluster ensemble selection. Statistical Analysis and Data Mining 1 (2008), 128-141.

    Examples
    --------
    >>> from paper.consensus import select_partitions
    >>> library = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1]]
    >>> select_partitions(library, 2)
    array([0, 3])
    """
    rules = {
        "n_selected": either(integer(1), none()),
        "strategy": choice("cluster-and-select", "joint", "convex-hull"),
        "balance": real(0, 1),
    }
    check_parameters({"n_selected": n_selected, "strategy": strategy, "balance": balance}, rules)
    labels = check_partitions(partitions)
    if n_selected is None and strategy != "convex-hull":
        raise ValueError(f"n_selected=None is not allowed with strategy={strategy!r}: it must be an integer.")
    if n_selected is not None and n_selected > len(labels):
        raise ValueError(f"n_selected={n_selected} is more than the {len(labels)} partitions. Lower n_selected.")
    if n_selected == len(labels) or len(labels) == 1:
        return np.arange(len(labels))
    similarity = pairwise_nmi(collapse(labels))
    if n_selected is None or strategy == "convex-hull":
        chosen = _by_hull(similarity, n_selected)
    elif strategy == "joint":
        chosen = _by_criterion(similarity, n_selected, float(balance))
    else:
        chosen = _by_group(similarity, n_selected)
    return np.sort(np.array(chosen, dtype=np.intp))


def pairwise_nmi(signatures: Signatures) -> FloatArray:
    """Compute the NMI of each pair of partitions: 1 if both have one cluster, 0 if only one of them does."""
    members = incidence(signatures.labels)
    clusters = members.rows.shape[1]
    check_memory(2 * 8 * clusters**2, f"Comparing {clusters} clusters", "Use fewer partitions.")
    weighted = members.rows.multiply(signatures.weights[:, None]).tocsr()
    shared = members.rows.T.tocsr() @ weighted
    sizes = shared @ members.partitions.T  # (C, T): rows of a cluster that the other partition clusters
    rows = (members.partitions @ sizes).toarray()
    joint = _entropies((members.partitions @ _x_log_x(shared) @ members.partitions.T).toarray(), rows)
    own = _entropies((members.partitions @ _x_log_x(sizes.tocsr())).toarray(), rows)
    scale = np.sqrt(own * own.T)
    trivial = (own == 0) & (own.T == 0) & (rows > 0)
    similarity = np.divide(own + own.T - joint, scale, out=trivial.astype(np.float64), where=scale > 0)
    np.fill_diagonal(similarity, 1.0)
    clipped: FloatArray = np.clip((similarity + similarity.T) / 2, 0.0, 1.0)
    return clipped


def _x_log_x(counts: Any) -> Any:
    """Replace the stored entries x of a sparse matrix by x log x."""
    out = counts.copy()
    out.data = out.data * np.log(out.data)
    return out


def _entropies(sums: FloatArray, rows: FloatArray) -> FloatArray:
    """Compute entropies from sums of x log x over counts x that add up to `rows`; rounding is set to 0."""
    safe = np.maximum(rows, 1.0)
    entropy = np.log(safe) - sums / safe
    return np.where(entropy > 1e-12, entropy, 0.0)


def _by_group(similarity: FloatArray, n_selected: int) -> list[int]:
    """Choose the best of each group of similar partitions."""
    quality = similarity.sum(axis=1)
    groups = recursive_cut(Graph(CpuBackend(), similarity, np.ones(len(similarity))), n_selected).labels()
    return [int(np.where(groups == group, quality, -np.inf).argmax()) for group in range(n_selected)]


def _by_criterion(similarity: FloatArray, n_selected: int, balance: float) -> list[int]:
    """Choose greedily by quality and diversity together."""
    quality = similarity.sum(axis=1)
    chosen = [int(quality.argmax())]
    while len(chosen) < n_selected:
        gain = balance * quality + (1 - balance) * 2 * (1 - similarity[:, chosen]).sum(axis=1)
        gain[chosen] = -np.inf
        chosen.append(int(gain.argmax()))
    return chosen


def _by_hull(similarity: FloatArray, n_selected: int | None) -> list[int]:
    """Choose partitions of pairs at corners of convex hulls."""
    quality = similarity.sum(axis=1)
    first, second = np.triu_indices(len(similarity), 1)
    means, diversity = (quality[first] + quality[second]) / 2, 1 - similarity[first, second]
    left = np.arange(len(first))
    chosen: list[int] = []
    while not chosen or (n_selected is not None and len(chosen) < n_selected):
        corners = left[hull_corners(means[left], diversity[left])]
        left = np.setdiff1d(left, corners)
        new = np.setdiff1d(np.concatenate([first[corners], second[corners]]), chosen)
        chosen += new[np.argsort(-quality[new], kind="stable")].tolist()
    return chosen if n_selected is None else chosen[:n_selected]


def hull_corners(x: FloatArray, y: FloatArray) -> list[int]:
    """Find the corners of the convex hull from the highest y to the highest x; of equal points the first."""
    order = np.lexsort((np.arange(len(x)), -y, -x))  # descending x; among equal x the highest y is first
    ahead = np.concatenate([[-np.inf], np.maximum.accumulate(y[order])[:-1]])
    corners: list[int] = []
    for i in order[y[order] > ahead].tolist():  # points that no other one beats in both
        while len(corners) > 1 and _turn(x, y, corners[-2], corners[-1], i) <= 0:
            corners.pop()
        corners.append(i)
    return corners


def _turn(x: FloatArray, y: FloatArray, a: int, b: int, c: int) -> float:
    """Compute a number that is positive if the way a, b, c turns left."""
    return float((x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a]))
