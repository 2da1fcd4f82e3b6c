"""Rows with a higher membership in another cluster than in their own, and between which clusters they lie."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._utils.arrays import IndexArray
from clusterforests.app.description.clustering import Clustering
from clusterforests.app.description.words import listed, quoted

PAIRS = 3  # that are named
EXAMPLES = 3  # of each, the least sure first


@dataclass(frozen=True)
class AmbiguousPair:
    """Two clusters, and the rows that lie between them.

    Attributes
    ----------
    clusters : tuple of int
        The two clusters, the lower number first.
    rows : ndarray of int
        The rows, counted from 0, the least sure first.
    """

    clusters: tuple[int, int]
    rows: IndexArray


@dataclass(frozen=True)
class AmbiguousRows:
    """Rows with a higher membership in another cluster than in their own.

    Attributes
    ----------
    count : int
        How many there are.
    towards : ndarray of shape (n_clusters, n_clusters)
        How many rows of each cluster have their highest membership in each other one.
    pairs : tuple of AmbiguousPair
        Between which clusters they lie, the pair with the most rows first.
    text : str
        In words.
    """

    count: int
    towards: IndexArray
    pairs: tuple[AmbiguousPair, ...]
    text: str

    def about(self, cluster: int) -> str:
        """Say how many rows of a cluster are ambiguous, and which other most of them may belong to.

        Parameters
        ----------
        cluster : int
            Number of the cluster.

        Returns
        -------
        text : str
            Empty if there are none.
        """
        towards = self.towards[cluster]
        count = int(towards.sum())
        if count == 0:
            return ""
        most = "" if towards.max() == count else "most of them "
        verb = "is" if count == 1 else "are"
        return f"{count:,} of its rows {verb} ambiguous, {most}between it and cluster {towards.argmax()}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, text, lists and dictionaries.

        Returns
        -------
        entries : dict
        """
        between = [{"clusters": list(pair.clusters), "rows": pair.rows.tolist()} for pair in self.pairs]
        return {"count": self.count, "text": self.text, "between": between}


def find_ambiguous(clustering: Clustering, ids: list[str] | None) -> AmbiguousRows:
    """Find the ambiguous rows; `ids` are the names of all rows, which are numbered from 1 without."""
    rows = np.flatnonzero(clustering.silhouette < 0)
    rows = rows[np.lexsort((rows, clustering.silhouette[rows]))]
    own, other = clustering.labels[rows], clustering.next_cluster[rows]
    first, second = np.minimum(own, other), np.maximum(own, other)
    counts = Counter(zip(first.tolist(), second.tolist(), strict=True))
    pairs = tuple(
        AmbiguousPair(clusters, rows[(first == clusters[0]) & (second == clusters[1])])
        for clusters, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )
    k = clustering.n_clusters
    towards = np.bincount(own * k + other, minlength=k * k).reshape(k, k)
    return AmbiguousRows(len(rows), towards, pairs, _described(len(rows), pairs, ids))


def _described(count: int, pairs: tuple[AmbiguousPair, ...], ids: list[str] | None) -> str:
    if count == 0:
        return "No row is ambiguous: each has its highest membership in its own cluster."
    parts = [
        f"{len(pair.rows):,} between clusters {pair.clusters[0]} and {pair.clusters[1]} ({_some(pair, ids)})"
        for pair in pairs[:PAIRS]
    ]
    if len(pairs) == 1:
        parts[0] = parts[0].partition(" ")[2] if count == 1 else f"all {parts[0].partition(' ')[2]}"
    elif len(pairs) > PAIRS:
        parts.append(f"{sum(len(pair.rows) for pair in pairs[PAIRS:]):,} between others")
    verb = "row is ambiguous, with its" if count == 1 else "rows are ambiguous, with their"
    return f"{count:,} {verb} highest membership in another cluster: {listed(parts)}."


def _some(pair: AmbiguousPair, ids: list[str] | None) -> str:
    names = [str(row + 1) if ids is None else quoted(ids[row]) for row in pair.rows[:EXAMPLES].tolist()]
    such = "such as " if len(pair.rows) > len(names) else ""
    return f"{such}row{'' if len(names) == 1 else 's'} {listed(names)}"
