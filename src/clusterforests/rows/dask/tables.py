"""A Dask array or frame as `fit` takes it: its partitions, their lengths and weights; its rows are placed there."""

import functools
import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np

from clusterforests._utils.arrays import AnyArray, Int64Array
from clusterforests.consensus.placement import Placement, Tally, place_everywhere
from clusterforests.rows.dask import partition_work as pieces
from clusterforests.rows.dask.partition_work import rows_of_piece
from clusterforests.rows.dask.tasks import cluster_errors, compute, merged, persist, share, stack, tasks
from clusterforests.table.checks import FittedTable, check_weights
from clusterforests.table.encoding import Encoding
from clusterforests.table.frames import check_feature_names

PlaceTasks = Callable[[Any], list[Any]]  # a shared rule -> for each partition the groups of its rows


@dataclass(frozen=True)
class DaskTable:
    """A Dask array or frame, the rows of each of its partitions, and weights in partitions of the same length."""

    X: Any
    columns: FittedTable
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


def open_dask_table(X: Any, sample_weight: Any) -> DaskTable:
    """Refuse what is not a table; count the rows of its partitions."""
    split(X)
    columns = FittedTable()
    check_feature_names(columns, like(X), reset=True)
    if X.shape[1] == 0:
        raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required.")
    lengths = _lengths(X)
    if not lengths.sum():
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    return DaskTable(X, columns, lengths, _open_weights(sample_weight, lengths))


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
    counts = compute(tasks("count-rows", rows_of_piece, [(piece,) for piece in split(narrow)]))
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


def place_partitions(
    placement: Placement, place: PlaceTasks, weights: Sequence[Any] | None, lengths: list[int], told: Any = None
) -> tuple[Placement, Any]:
    """Place the rows by tasks that know how; return the rule, with the numbers of the groups, and the clusters."""
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).tolist()

    def place_all(now: Placement) -> tuple[list[Any], Tally]:
        groups = place(share("rule", now))
        own = [None] * len(groups) if weights is None else weights
        counted = zip(groups, own, [len(now.group_to_cluster)] * len(groups), starts, strict=True)
        tallies = tasks("tally-rows", pieces.tally, list(counted))
        *groups, tally = persist([*groups, merged("merge-tallies", tallies, total)])
        return groups, compute([tally], told, groups)[0]

    placement, groups = place_everywhere(placement, place_all)
    named = tasks("name-clusters", np.take, [(placement.group_to_cluster, found) for found in groups])
    return placement, stack(persist(named), lengths, np.int32)


def total(parts: list[Any]) -> Any:
    """Add up what can be added."""
    return functools.reduce(operator.add, parts)
