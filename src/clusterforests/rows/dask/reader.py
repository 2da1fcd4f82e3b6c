"""Open a Dask table, and read it where its partitions are, on a cluster or any other scheduler of Dask.

Every stage is a task for each partition. Keys, sums, centres and rules of placement travel; rows stay where they are,
except those of the sample.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, Int64Array, KeyArray
from clusterforests.backends import CpuBackend
from clusterforests.consensus.placement import Placement
from clusterforests.rows.dask import partition_work as pieces
from clusterforests.rows.dask.results import DaskResults
from clusterforests.rows.dask.tables import DaskTable, open_dask_table, place_partitions, split, total
from clusterforests.rows.dask.tasks import chains, compute, has_workers, merged, share, stack, tasks
from clusterforests.rows.lloyd_pass import LloydPass
from clusterforests.rows.opening import InMemoryRows, read_in_memory
from clusterforests.rows.protocol import Reading, ReadingProgress, ReadingSettings, Rows
from clusterforests.rows.sampled import DrawnRows, SampledRows
from clusterforests.table.feature_columns import numeric_table
from clusterforests.table.row_sampling import (
    CANDIDATES,
    LOST,
    WeightedKeys,
    check_shared,
    draw_keys,
    merge_keys,
    waiting_limit,
    waiting_times,
)
from clusterforests.trees.forest import Forest, TreePlan, join_forests
from clusterforests.trees.growth import GrowthProgress
from clusterforests.trees.settings import Setting

READINGS = 3  # of all rows: a scan, the sample, clusters
TREES_PER_TASK = 10
SPARE_KEYS = 16
MORE_KEYS = 8  # times as many keys are asked of a partition that told too few


@dataclass
class DaskReader:
    """Reads a Dask array or frame of numbers, in partitions of known length."""

    parts: Sequence[Any]  # delayed arrays or frames
    weights: Sequence[Any] | None
    lengths: Int64Array
    n_columns: int
    describe: Callable[[int], str]  # a column's name for a message
    progress: ReadingProgress | None = None
    readings: int = 0  # so far
    digests: list[pieces.Digest] = field(default_factory=list)
    frequent: WeightedKeys | None = None
    trees: LloydPass | None = None
    candidates: int = CANDIDATES  # for each row of the sample

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.lengths.sum()), self.n_columns

    def draw(self, size: int, seed: int) -> DrawnRows:
        self._survey(size, seed)
        total = self._total()
        keys = self._candidates()
        limit = waiting_limit(waiting_times(keys.names, seed), size, self.candidates)
        if limit < np.inf:
            keys = merge_keys(
                [keys.take(waiting_times(keys.names, seed) < limit), self._heavy(size, seed, limit, total)]
            )
        drawn = draw_keys(keys, waiting_times(keys.names, seed), size, limit, total)
        return DrawnRows(numeric_table(self._take(keys.names[drawn.positions])), drawn.weights)

    def ends(self) -> FloatArray:
        low = functools.reduce(np.minimum, [digest.ends[0] for digest in self.digests])
        high = functools.reduce(np.maximum, [digest.ends[1] for digest in self.digests])
        return np.array([low, high])

    def label(self, trees: LloydPass) -> Any:
        """Label lazily: nothing is kept on the workers."""
        self.trees = trees
        shared = share("trees", trees)
        labels = tasks("label-rows", pieces.label, [(piece, shared) for piece in self.parts])
        return stack(labels, self.lengths.tolist(), trees.label_type, before=(len(trees.centers),))

    def place(self, partitions: Any, placement: Placement) -> tuple[Placement, Any]:
        trees = share("trees", self.trees)

        def place(rule: Any) -> list[Any]:
            return tasks("place-rows", pieces.place, [(part, trees, rule) for part in self.parts])

        return place_partitions(placement, place, self.weights, self.lengths.tolist(), self._tell)

    def _survey(self, size: int, seed: int) -> None:
        """Make a digest of every partition, with all its keys that may be candidates for the sample."""
        share_of = self.candidates * size * self.lengths / self.lengths.sum()
        quota = np.ceil(share_of + 6 * np.sqrt(share_of) + SPARE_KEYS).astype(np.int64)
        parts = self._tasks("survey-rows", pieces.survey_piece, size, seed, own=quota.tolist())
        seen = merged("merge-surveys", parts, functools.partial(pieces.merge_seen, size=size))
        ((self.digests, self.frequent),) = compute([seen], self._tell, parts)
        self._check()
        while True:
            limit = waiting_limit(waiting_times(self._candidates().names, seed), size, self.candidates)
            short = [i for i, digest in enumerate(self.digests) if digest.covered < limit]
            if not short:
                return
            quota *= MORE_KEYS
            again = self._tasks("survey-again", pieces.survey_piece, size, seed, own=quota.tolist(), which=short)
            for i, one in zip(short, compute(again), strict=True):
                (self.digests[i],) = one.digests

    def _candidates(self) -> WeightedKeys:
        return merge_keys([digest.lowest for digest in self.digests])

    def _check(self) -> None:
        low, high = (np.array([getattr(digest, end) for digest in self.digests]) for end in ("low", "high"))
        filled = "X.fillna(X.mean()) in a frame, da.where(da.isnan(X), 0, X) or da.ma.filled(X, 0) in an array"
        for bad, what, instead in (
            (np.isnan(low), "missing cells", f"Fill them, such as with {filled}, or leave such rows out"),
            (np.isinf(low) | np.isinf(high), "infinite cells", "Replace them by numbers"),
        ):
            found = np.argwhere(bad & (self.lengths > 0)[:, None])
            if len(found):
                raise ValueError(f"X has {what} in {self.describe(found[0][1])}, partition {found[0][0]}. {instead}.")
        if not self._total() > 0:
            raise ValueError("sample_weight is zero for every row: at least one row must count.")

    def _total(self) -> float:
        return math.fsum(part for digest in self.digests for part in digest.total)

    def _heavy(self, size: int, seed: int, limit: float, total: float) -> WeightedKeys:
        """Find keys that wait too long to be candidates but may have a share of 1 / size of all weight."""
        assert self.frequent is not None
        names, weights = self.frequent
        possible = weights + LOST * total / size >= total / size * (1 - 1e-9)
        names = names[possible & (waiting_times(names, seed) >= limit)]
        if not len(names):
            return WeightedKeys(names, np.empty(0))
        return WeightedKeys(names, self._reduced("count-keys", pieces.count, share("keys", names)))

    def _take(self, names: KeyArray) -> FloatArray:
        order = np.argsort(names)
        found = compute(self._tasks("take-rows", pieces.take, share("keys", names[order])), self._tell)
        values, known = np.empty((len(names), self.n_columns)), np.zeros(len(names), dtype=bool)
        for taken in found:
            positions = order[taken.positions]
            again = known[positions]
            check_shared(taken.values[again], values[positions[again]])
            values[positions[~again]], known[positions] = taken.values[~again], True
        return values

    def _reduced(self, stage: str, work: Callable[..., Any], *shared: Any) -> Any:
        """Add up what the partitions tell."""
        parts = self._tasks(stage, work, *shared)
        return compute([merged(f"merge-{stage}", parts, total)], self._tell, parts)[0]

    def _tasks(
        self,
        stage: str,
        work: Callable[..., Any],
        *shared: Any,
        own: Sequence[Any] | None = None,
        which: Sequence[int] | None = None,
    ) -> list[Any]:
        """Make tasks `work(partition, weights, *shared, own)` for all partitions, or for some."""
        calls = []
        for i in range(len(self.parts)) if which is None else which:
            weights = None if self.weights is None else self.weights[i]
            calls.append((self.parts[i], weights, *shared, *(() if own is None else (own[i],))))
        return tasks(stage, work, calls)

    def _tell(self, done: int, of: int) -> None:
        if self.progress is not None:
            n = self.shape[0]
            self.progress(min(self.readings, READINGS - 1) * n + n * done // of, READINGS * n)
        self.readings += done == of


def make_trees(plan: TreePlan, progress: GrowthProgress, *, labelled: bool = True) -> Forest:
    """Make a forest in tasks of a few trees, with or without the labels of the rows that they were made on."""
    n_trees = plan.n_trees
    shared = share("sample", plan)
    groups = tasks("make-trees", _make, [(shared, first, labelled) for first in range(0, n_trees, TREES_PER_TASK)])
    return join_forests(compute(groups, lambda done, _: progress(min(n_trees, done * TREES_PER_TASK), 0)))


def _make(plan: TreePlan, first: int, labelled: bool) -> Forest:
    forest = plan.make_trees(CpuBackend(), None, first, first + TREES_PER_TASK)
    return forest if labelled else replace(forest, partitions=forest.partitions[:, :0])


def open_rows(settings: ReadingSettings, X: Any, sample_weight: Any) -> Rows:
    """Open the rows of a Dask table: on the workers if it has many rows, otherwise in this process.

    Results are Dask arrays in the partitions of the table.
    """
    if settings.device == "gpu":
        raise ValueError("device='gpu' reads tables of one process: pass X.compute(), or leave device at 'auto'.")
    table = open_dask_table(X, sample_weight)
    device = Setting("cpu", "given" if settings.device == "cpu" else "X is not on a GPU")
    results = DaskResults(table.lengths)
    if settings.limits.is_large(table.n_rows):
        return _open_on_workers(settings, table, device, results)
    sample, reading = read_in_memory(settings, *table.gathered(), device)
    tree_maker = make_trees if settings.clusterer is None and has_workers() else None
    return InMemoryRows(sample, replace(reading, weights=table.weights), settings.backend(), results, tree_maker)


def _open_on_workers(settings: ReadingSettings, table: DaskTable, device: Setting, results: DaskResults) -> Rows:
    if not settings.may_sample or settings.n_landmarks is None:
        raise ValueError(
            "max_samples=None, n_landmarks=None and other clusterers need all rows in one place. Leave them at their "
            f"defaults for a Dask table of {table.n_rows} rows, or pass X.compute()."
        )
    encoding = table.encoding()
    reading = Reading(table.columns, encoding, None, table.weights, device)
    weights = None if table.weights is None else chains(table.weights.to_delayed().tolist())
    parts = chains(split(table.X))
    reader = DaskReader(parts, weights, table.lengths, encoding.n_features, encoding.describe)
    return SampledRows.of(settings, reader, reading, results, partial(make_trees, labelled=False))
