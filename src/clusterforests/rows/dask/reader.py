"""Read a Dask table where its partitions are, on a cluster or any other scheduler of Dask: a `RowReader`.

Every stage is a task for each partition. Keys, sums, centres and rules of placement travel; rows stay where they are,
except those of the sample.
"""

import functools
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import dask
import dask.array as da
import numpy as np

from clusterforests._utils.arrays import AnyArray, FloatArray, Int64Array, KeyArray
from clusterforests.backends import CpuBackend
from clusterforests.consensus.placement import Placement
from clusterforests.rows.dask import partition_work as pieces
from clusterforests.rows.dask.partition_work import count_rows
from clusterforests.rows.dask.placing import settle_partitions, total
from clusterforests.rows.dask.tasks import chains, cluster_errors, compute, merged, share, stack, tasks
from clusterforests.rows.lloyd_pass import LloydPass
from clusterforests.rows.protocol import ReadingProgress
from clusterforests.rows.sampled import DrawnRows
from clusterforests.table.checks import check_weights
from clusterforests.table.encoding import Encoding
from clusterforests.table.feature_columns import numeric_table
from clusterforests.table.frames import check_names
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
from clusterforests.trees.forest import Forest, GrowthPlan, join_forests
from clusterforests.trees.growth import GrowthProgress

READINGS = 3  # of all rows: a scan, the sample, clusters
TREES = 10  # grown in one task
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
        return DrawnRows(numeric_table(self._take(keys.names[drawn.places])), drawn.weights)

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

    def settle(self, partitions: Any, placement: Placement) -> tuple[Placement, Any]:
        trees = share("trees", self.trees)

        def place(rule: Any) -> list[Any]:
            return tasks("place-rows", pieces.place, [(part, trees, rule) for part in self.parts])

        return settle_partitions(placement, place, self.weights, self.lengths.tolist(), self._tell)

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
        names, mass = self.frequent
        possible = mass + LOST * total / size >= total / size * (1 - 1e-9)
        names = names[possible & (waiting_times(names, seed) >= limit)]
        if not len(names):
            return WeightedKeys(names, np.empty(0))
        return WeightedKeys(names, self._reduced("count-keys", pieces.count, share("keys", names)))

    def _take(self, names: KeyArray) -> FloatArray:
        order = np.argsort(names)
        found = compute(self._tasks("take-rows", pieces.take, share("keys", names[order])), self._tell)
        values, known = np.empty((len(names), self.n_columns)), np.zeros(len(names), dtype=bool)
        for taken in found:
            places = order[taken.places]
            again = known[places]
            check_shared(taken.values[again], values[places[again]])
            values[places[~again]], known[places] = taken.values[~again], True
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


def grow_trees(plan: GrowthPlan, progress: GrowthProgress, *, labelled: bool = True) -> Forest:
    """Grow a forest in tasks of a few trees, with or without the labels of the rows that they grew on."""
    n_trees = len(plan.settings.n_base_clusters)
    shared = share("sample", plan)
    groups = tasks("grow-trees", _grow, [(shared, first, labelled) for first in range(0, n_trees, TREES)])
    return join_forests(compute(groups, lambda done, _: progress(min(n_trees, done * TREES), 0)))


def _grow(plan: GrowthPlan, first: int, labelled: bool) -> Forest:
    forest = plan.grow(CpuBackend(), None, first, first + TREES)
    return forest if labelled else replace(forest, partitions=forest.partitions[:, :0])


# A Dask array or frame as `fit` takes it: its partitions, their lengths and weights.


@dataclass(frozen=True)
class DaskTable:
    """A Dask array or frame, the rows of each of its partitions, and weights in partitions of the same length."""

    X: Any
    lengths: Int64Array
    weights: da.Array | None

    @property
    def n_rows(self) -> int:
        return int(self.lengths.sum())

    def gathered(self) -> tuple[Any, Any]:
        """Bring table and weights to this process."""
        X, weights = compute_all(self.X, self.weights)
        return X, weights

    def encoding(self) -> Encoding:
        """Describe the columns of a table of numbers; refuse any other."""
        X = self.X
        array = isinstance(X, da.Array)
        kinds = [X.dtype] * X.shape[1] if array else list(X.dtypes)
        encoding = Encoding(None if array else tuple(map(str, X.columns)), len(kinds), {})
        for j, kind in enumerate(kinds):
            if getattr(kind, "kind", "O") not in "biuf":
                raise ValueError(
                    f"X holds {kind} in {encoding.describe(j)}: of a Dask table of many rows every column must be "
                    "numbers. Encode categories as zeros and ones (dask.dataframe.get_dummies), or drop the column."
                )
        return encoding

    def reader(self, encoding: Encoding) -> DaskReader:
        """Open the rows on the workers."""
        weights = None if self.weights is None else chains(self.weights.to_delayed().tolist())
        return DaskReader(chains(split(self.X)), weights, self.lengths, encoding.n_features, encoding.describe)


def open_table(estimator: Any, X: Any, sample_weight: Any) -> DaskTable:
    """Refuse what is not a table; set `n_features_in_` and `feature_names_in_`."""
    split(X)
    check_names(estimator, like(X), reset=True)
    if X.shape[1] == 0:
        raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required.")
    lengths = _lengths(X)
    if not lengths.sum():
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    return DaskTable(X, lengths, _open_weights(sample_weight, lengths))


def split(X: Any) -> list[Any]:
    """List the partitions of a two-dimensional array or a frame, each with all columns."""
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"Expected a 2-dimensional Dask array, got one of {X.ndim} dimensions.")
        pieces: list[Any] = X.rechunk({1: -1}).to_delayed().ravel().tolist()
        return pieces
    frames: Any = sys.modules.get("dask.dataframe")
    if frames is None or not isinstance(X, frames.DataFrame):
        raise TypeError(f"X is a Dask {type(X).__name__}. Pass a Dask array or a Dask DataFrame.")
    return list(X.to_delayed())


def like(X: Any) -> Any:
    """Make a table without rows, with the columns of X."""
    return np.empty((0, X.shape[1])) if isinstance(X, da.Array) else X._meta


def _lengths(X: Any) -> Int64Array:
    """Count the rows of each partition only where Dask does not know them, and then read one column."""
    if isinstance(X, da.Array) and not np.isnan(X.chunks[0]).any():
        return np.array(X.chunks[0], dtype=np.int64)
    narrow = X[:, :1] if isinstance(X, da.Array) else X[[X.columns[0]]]
    counts = compute(tasks("count-rows", count_rows, [(piece,) for piece in split(narrow)]))
    return np.array(counts, dtype=np.int64)


def _open_weights(sample_weight: Any, lengths: Int64Array) -> da.Array | None:
    """Cut weights into the partitions of the table. Those of Dask are checked when they are used, where they are."""
    chunks = (tuple(lengths.tolist()),)
    if not dask.is_dask_collection(sample_weight):
        weights = check_weights(sample_weight, int(lengths.sum()))
        return None if weights is None else cut_into(weights, lengths)
    given = sample_weight if isinstance(sample_weight, da.Array) else sample_weight.to_dask_array()
    if given.ndim != 1:
        raise ValueError(f"sample_weight must be 1-dimensional, one weight per row; it has {given.ndim} dimensions.")
    if not np.isnan(given.chunks[0]).any():
        if given.shape[0] != lengths.sum():
            raise ValueError(f"sample_weight has {given.shape[0]} entries but X has {lengths.sum()} rows.")
        return given.rechunk(chunks)
    if len(given.chunks[0]) != len(lengths):
        raise ValueError(
            f"sample_weight has {len(given.chunks[0])} partitions but X has {len(lengths)}. Take it from the same "
            "table, or call compute_chunk_sizes() on it."
        )
    return stack(given.to_delayed().tolist(), lengths.tolist(), given.dtype)


def cut_into(values: AnyArray, lengths: Int64Array) -> da.Array:
    """Cut an array along its last axis into partitions, which may be empty, unlike those of da.from_array."""
    slices = np.split(values, np.cumsum(lengths)[:-1], axis=-1)
    return stack([share("piece", piece) for piece in slices], lengths.tolist(), values.dtype, before=values.shape[:-1])


def compute_all(*collections: Any) -> tuple[Any, ...]:
    """Compute collections; return arrays and frames of this process."""
    with cluster_errors():
        here: tuple[Any, ...] = dask.compute(*collections)
    return here
