"""Partitions into 1, 2, 3, ... groups at once: the splits of a dendrogram, without those of outlying rows."""

import heapq
from typing import NamedTuple

import numpy as np

from clusterforests._base.typing import FloatArray, IntArray
from clusterforests.backends import Backend
from clusterforests.combining.affinity import coassociate, collapse
from clusterforests.combining.linkage import merge_all

SMALLEST = 8  # rows of a group: fewer leave no valley that chance could not leave
SMALLEST_SHARE = 0.01  # of all rows


class Splits(NamedTuple):
    """Partitions of the rows into 1, 2, 3, ... groups, each splitting one group of the one before, and the heights."""

    labels: list[IntArray]
    heights: FloatArray  # 1 - P at which each split happens


def split_groups(backend: Backend, partitions: IntArray, most: int) -> Splits:
    """Split the rows by average linkage on P, from the top down to at most `most` groups.

    Only a split whose sides are both large enough counts. Smaller ones are outlying rows: they keep the label of the
    group they are split off.
    """
    signatures = collapse(partitions)
    tree = _Dendrogram(backend, signatures.labels, signatures.weights)
    labels = np.zeros(len(signatures), dtype=np.int32)
    found, heights = [labels[signatures.inverse]], []
    waiting = tree.splits_below(tree.top)
    while waiting and len(found) < most:
        height, v = heapq.heappop(waiting)
        small, large = sorted(tree.sides[v], key=lambda side: tree.size[side])
        labels[tree.entries(small)] = len(found)
        for split in tree.splits_below(small) + tree.splits_below(large):
            heapq.heappush(waiting, split)
        found.append(labels[signatures.inverse])
        heights.append(-height)
    return Splits(found, np.array(heights))


class _Dendrogram:
    """A tree of merges: nodes 0, ..., m - 1 are entries, the others merges in the order of their heights."""

    def __init__(self, backend: Backend, labels: IntArray, weights: FloatArray) -> None:
        m = len(weights)
        P = coassociate(backend, labels, labels)
        merges = sorted(merge_all(1.0 - P, weights.copy(), "average"), key=lambda merge: merge[0])
        self.top = 2 * m - 2
        self.leaves = m
        self.sides = [(-1, -1)] * m
        self.height = [0.0] * m
        self.size = weights.tolist()
        node = list(range(m))  # of the group that an entry stands for
        for height, a, b in merges:
            self.sides.append((node[a], node[b]))
            self.height.append(height)
            self.size.append(self.size[node[a]] + self.size[node[b]])
            node[a] = len(self.size) - 1
        self.smallest = max(SMALLEST, SMALLEST_SHARE * weights.sum())

    def splits_below(self, v: int) -> list[tuple[float, int]]:
        """Find the first split at or below a node that counts, for a heap with the highest first; at most one."""
        while v >= self.leaves:
            large = [side for side in self.sides[v] if self.size[side] >= self.smallest]
            if len(large) == 2:
                return [(-self.height[v], v)]
            if not large:
                break
            v = large[0]
        return []

    def entries(self, v: int) -> list[int]:
        """List the entries below a node."""
        found, waiting = [], [v]
        while waiting:
            u = waiting.pop()
            if u < self.leaves:
                found.append(u)
            else:
                waiting.extend(self.sides[u])
        return found
