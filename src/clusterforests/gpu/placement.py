"""Place rows on a GPU: find the group that they belong to, by labels that are there."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray
from clusterforests._utils.memory import DeviceLimits
from clusterforests.consensus.placement import Embedding, MostLinked, MostShared, Placement, Walk
from clusterforests.gpu.flat_trees import (
    LINE_BYTES,
    WORDS_AT_A_TIME,
    Ballot,
    GroupBallot,
    Lines,
    make_ballot,
    make_group_ballot,
)
from clusterforests.gpu.kernels import Kernels, strides

VECTORS_AT_A_TIME = 8
VOTERS = 512  # rows of a block, a thread each


class DeviceRule:
    """A rule by which rows on the GPU are placed. `clusters` are the numbers of clusters in the trees."""

    def __init__(self, placement: Placement, clusters: Sequence[int], label_type: Any, limits: DeviceLimits) -> None:
        self.limits = limits
        self.rule, self.members = placement.rule, len(clusters)
        self.kernels = kernels = Kernels(label=label_type, members=self.members)
        self.xp = kernels.xp
        self.names = kernels.upload(placement.group_to_cluster)
        parts = np.array(clusters, dtype=np.int64)
        if isinstance(self.rule, MostShared):
            shares = self.rule.shares
            self.given = [kernels.upload(array) for array in (shares.first, shares.together, shares.clustered)]
        elif isinstance(self.rule, MostLinked):
            self._open_groups(make_group_ballot(placement.nodes, self.rule, parts, self._chip_bytes()))
        elif isinstance(self.rule, (Walk, Embedding)):
            rule = self.rule
            self._open(make_ballot(placement.nodes, rule.links, rule.node_weights, parts, self._chip_bytes()))
            after = (rule.cutoffs, rule.children) if isinstance(rule, Walk) else (rule.centers,)
            self.given = [kernels.upload(array) for array in after]

    @staticmethod
    def knows(placement: Placement) -> bool:
        """Return whether there is one. Nodes that keep their group whatever the rule says are left to the CPU."""
        return isinstance(placement.rule, (Walk, Embedding, MostLinked, MostShared)) and not len(placement.fixed_nodes)

    def _chip_bytes(self) -> int:
        """The memory that a block can have for lines."""
        has: int = self.xp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
        return min(self.limits.vote_chip_bytes, has)

    def _open_lines(self, lines: Lines, table: FloatArray) -> None:
        upload = self.kernels.upload
        self.chip_bytes = LINE_BYTES * (1 + int(np.diff(lines.part_lines).max())) if lines.fits else 0
        trees = upload(lines.first), upload(lines.part_trees), upload(lines.part_lines), len(lines.part_trees) - 1
        self.lines = *trees, upload(lines.bits), lines.bits.shape[1] // WORDS_AT_A_TIME, int(lines.fits), upload(table)

    def _open(self, ballot: Ballot) -> None:
        self._open_lines(ballot.lines, ballot.table)
        self.vectors, self.n_voters = [], len(ballot.vectors)
        for v in range(0, self.n_voters, VECTORS_AT_A_TIME):
            some, base = ballot.vectors[v : v + VECTORS_AT_A_TIME], ballot.base[v : v + VECTORS_AT_A_TIME]
            self.vectors.append((len(base), self.kernels.upload(some.T), self.kernels.upload(base)))

    def _open_groups(self, ballot: GroupBallot) -> None:
        self._open_lines(ballot.lines, ballot.table)
        self.given = [self.kernels.upload(array) for array in (ballot.weights, ballot.word_groups, ballot.base)]

    def clusters(self, labels: Any, out: Any) -> None:
        """Write the clusters of rows, whose labels are (T, r), into out."""
        if isinstance(self.rule, MostShared):
            self._share(labels, out)
        elif isinstance(self.rule, MostLinked):
            self._vote_at_once("linked_rows", labels, out, *self.given, out)
        else:
            step = max(VOTERS, self.limits.vote_bytes // (8 * self.n_voters))
            for start in range(0, len(out), step):
                self._vote(labels[:, start : start + step], out[start : start + step])
        self.kernels.over(len(out), "name_rows", out, np.int64(len(out)), self.names, out)

    def _share(self, labels: Any, out: Any) -> None:
        first, together, clustered = self.given
        given = labels, strides(labels)[0], np.int64(len(out)), self.members, first, together, clustered
        self.kernels.over(len(out), "share_rows", *given, together.shape[1], out)

    def _vote_at_once(self, name: str, labels: Any, rows: Any, *after: Any) -> None:
        given = labels, strides(labels)[0], np.int64(len(rows)), self.members, *self.lines
        self.kernels.launch(name, (-(-len(rows) // VOTERS),), VOTERS, *given, *after, shared=self.chip_bytes)

    def _vote(self, labels: Any, out: Any) -> None:
        rows = np.int64(len(out))
        votes = self.xp.empty((self.n_voters, len(out)), np.float64)
        done = 0
        for count, vectors, base in self.vectors:
            self._vote_at_once(f"votes_{count}", labels, out, vectors, base, votes[done : done + count])
            done += count
        if isinstance(self.rule, Embedding):
            (centers,) = self.given
            given = votes, rows, self.n_voters, np.float64(self.rule.length), centers, len(centers), out
            self.kernels.over(len(out), "embed_rows", *given)
        else:
            self.kernels.over(len(out), "walk_rows", votes, rows, *self.given, out)
