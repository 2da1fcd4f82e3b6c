"""Place rows on a GPU: find the group that they belong to, by labels that are there."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clusterforests._base.size_limits import DeviceLimits
from clusterforests.combining.affinity import Signatures
from clusterforests.combining.placement import Embedding, Links, MostLinked, MostShared, Placement, Walk
from clusterforests.rows.gpu.flat_trees import LINE_BYTES, WORDS, make_ballot
from clusterforests.rows.gpu.kernels import Kernels, strides

VECTORS = 8  # multiplied at a time
VOTERS = 512  # rows of a block, a thread each


class DeviceRule:
    """A rule by which rows on the GPU are placed. `clusters` are the numbers of clusters in the trees."""

    def __init__(self, placement: Placement, clusters: Sequence[int], label_type: Any, limits: DeviceLimits) -> None:
        self.limits = limits
        self.rule, self.members = placement.rule, len(clusters)
        self.kernels = kernels = Kernels(label=label_type, members=self.members)
        self.xp = kernels.xp
        self.names = kernels.upload(placement.names)
        if isinstance(self.rule, MostShared):
            shares = self.rule.shares
            self.given = [kernels.upload(array) for array in (shares.first, shares.together, shares.clustered)]
        elif isinstance(self.rule, (Walk, Embedding, MostLinked)):
            self._open(placement.nodes, self.rule.links, self.rule.voters, clusters)
            after: tuple[Any, ...] = ()
            if isinstance(self.rule, Walk):
                after = self.rule.cutoffs, self.rule.children
            elif isinstance(self.rule, Embedding):
                after = (self.rule.centers,)
            self.given = [kernels.upload(array) for array in after]

    @staticmethod
    def knows(placement: Placement) -> bool:
        """Tell whether there is one. Nodes that keep their group whatever the rule says are left to the CPU."""
        return isinstance(placement.rule, (Walk, Embedding, MostLinked, MostShared)) and not len(placement.settled)

    def _open(self, nodes: Signatures, links: Links, voters: Any, clusters: Sequence[int]) -> None:
        chip_bytes = min(self.limits.vote_chip_bytes, self.xp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])
        ballot = make_ballot(nodes, links, voters, np.array(clusters, dtype=np.int64), chip_bytes)
        trees = [self.kernels.upload(array) for array in (ballot.first, ballot.part_trees, ballot.part_lines)]
        most_lines = 1 + int(np.diff(ballot.part_lines).max())
        self.chip_bytes = LINE_BYTES * most_lines if ballot.fits else 0
        words = ballot.bits.shape[1] // WORDS
        self.ballot = *trees, len(ballot.part_trees) - 1, self.kernels.upload(ballot.bits), words, int(ballot.fits)
        self.table = self.kernels.upload(ballot.table)
        self.vectors = []
        for v in range(0, len(voters), VECTORS):
            some, base = ballot.vectors[v : v + VECTORS], ballot.base[v : v + VECTORS]
            self.vectors.append((len(base), self.kernels.upload(some.T), self.kernels.upload(base)))
        self.n_voters = len(voters)

    def clusters(self, labels: Any, out: Any) -> None:
        """Write the clusters of rows, whose labels are (T, r), into out."""
        if isinstance(self.rule, MostShared):
            self._share(labels, out)
        else:
            step = max(VOTERS, self.limits.vote_bytes // (8 * self.n_voters))
            for start in range(0, len(out), step):
                self._vote(labels[:, start : start + step], out[start : start + step])
        self.kernels.over(len(out), "name_rows", out, np.int64(len(out)), self.names, out)

    def _share(self, labels: Any, out: Any) -> None:
        first, together, clustered = self.given
        given = labels, strides(labels)[0], np.int64(len(out)), self.members, first, together, clustered
        self.kernels.over(len(out), "share_rows", *given, together.shape[1], out)

    def _vote(self, labels: Any, out: Any) -> None:
        rows = np.int64(len(out))
        votes = self.xp.empty((self.n_voters, len(out)), np.float64)
        done = 0
        for count, vectors, base in self.vectors:
            given = labels, strides(labels)[0], rows, self.members, *self.ballot, self.table, vectors, base
            after = votes[done : done + count]
            grid = (-(-len(out) // VOTERS),)
            self.kernels.launch(f"votes_{count}", grid, VOTERS, *given, after, shared=self.chip_bytes)
            done += count
        if isinstance(self.rule, MostLinked):
            self.kernels.over(len(out), "most_linked_rows", votes, rows, self.n_voters, out)
        elif isinstance(self.rule, Embedding):
            (centers,) = self.given
            given = votes, rows, self.n_voters, np.float64(self.rule.length), centers, len(centers), out
            self.kernels.over(len(out), "embed_rows", *given)
        else:
            self.kernels.over(len(out), "walk_rows", votes, rows, *self.given, out)
