"""Dask arrays and frames in, Dask arrays out: opening them, and what a fitted forest does with them lazily."""

import copy
import functools
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np

from clusterforests._base.memory_limits import check_memory
from clusterforests._base.typing import AnyArray, FloatArray, Int64Array
from clusterforests.backends import CpuBackend
from clusterforests.combining.affinity import coassociate
from clusterforests.diagnostics.distribution import sample_rows
from clusterforests.diagnostics.shares import (
    ClusterCounts,
    consensus_with,
    count_clusters,
    item_consensus,
    memberships,
    shares_with,
    silhouette_with,
)
from clusterforests.forest.forest import Grower
from clusterforests.rows.dask.rows import DaskRows, grow_trees
from clusterforests.rows.dask.tasks import chains, cluster_errors, compute, has_workers, merged, share, stack, tasks
from clusterforests.tables.checks import check_weights
from clusterforests.tables.encoding import Encoding
from clusterforests.tables.frames import check_names

HEAVY = ("labels_", "partitions_", "_weights")  # attributes that new rows do not need


@dataclass(frozen=True)
class DaskTable:
    """A Dask array or frame, the rows of each of its pieces, and their weights in pieces of the same length."""

    X: Any
    lengths: Int64Array
    weights: da.Array | None

    @property
    def n_rows(self) -> int:
        return int(self.lengths.sum())

    def gathered(self) -> tuple[Any, Any]:
        """Table and weights in this process."""
        X, weights = compute_all(self.X, self.weights)
        return X, weights

    def scattered(self, values: AnyArray) -> da.Array:
        """An array whose last axis are the rows, in the pieces of the table."""
        return _cut(values, self.lengths)

    def grower(self) -> Grower | None:
        """Grows the trees of a table that fits into this process: on the workers, if there are any."""
        return grow_trees if has_workers() else None

    def encoding(self) -> Encoding:
        """Of a table all of whose columns are numbers; others are refused."""
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

    def rows(self, encoding: Encoding) -> DaskRows:
        weights = None if self.weights is None else chains(self.weights.to_delayed().tolist())
        return DaskRows(chains(split(self.X)), weights, self.lengths, encoding.n_features, encoding.describe)


def open_table(estimator: Any, X: Any, sample_weight: Any) -> DaskTable:
    """Refuses what is not a table; sets `n_features_in_` and `feature_names_in_`."""
    split(X)
    check_names(estimator, _like(X), reset=True)
    if X.shape[1] == 0:
        raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required.")
    lengths = _lengths(X)
    if not lengths.sum():
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    return DaskTable(X, lengths, _open_weights(sample_weight, lengths))


def split(X: Any) -> list[Any]:
    """The pieces of a two-dimensional array or a frame, each with all columns."""
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"Expected a 2-dimensional Dask array, got one of {X.ndim} dimensions.")
        pieces: list[Any] = X.rechunk({1: -1}).to_delayed().ravel().tolist()
        return pieces
    frames: Any = sys.modules.get("dask.dataframe")
    if frames is None or not isinstance(X, frames.DataFrame):
        raise TypeError(f"X is a Dask {type(X).__name__}. Pass a Dask array or a Dask DataFrame.")
    return list(X.to_delayed())


def _like(X: Any) -> Any:
    """A table without rows, with the columns of X."""
    return np.empty((0, X.shape[1])) if isinstance(X, da.Array) else X._meta


def _lengths(X: Any) -> Int64Array:
    """Rows of each piece. They are counted only where Dask does not know them, and then one column is read."""
    if isinstance(X, da.Array) and not np.isnan(X.chunks[0]).any():
        return np.array(X.chunks[0], dtype=np.int64)
    narrow = X[:, :1] if isinstance(X, da.Array) else X[[X.columns[0]]]
    counts = compute(tasks("count-rows", len, [(piece,) for piece in split(narrow)]))
    return np.array(counts, dtype=np.int64)


def _open_weights(sample_weight: Any, lengths: Int64Array) -> da.Array | None:
    """In the pieces of the table. Those of Dask are checked where they lie, when they are used."""
    chunks = (tuple(lengths.tolist()),)
    if not dask.is_dask_collection(sample_weight):
        weights = check_weights(sample_weight, int(lengths.sum()))
        return None if weights is None else _cut(weights, lengths)
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


def _cut(values: AnyArray, lengths: Int64Array) -> da.Array:
    """In pieces along the last axis; unlike those of da.from_array they may be empty."""
    slices = np.split(values, np.cumsum(lengths)[:-1], axis=-1)
    return stack([share("piece", piece) for piece in slices], lengths.tolist(), values.dtype, before=values.shape[:-1])


def compute_all(*collections: Any) -> tuple[Any, ...]:
    """The same as arrays and frames of this process."""
    with cluster_errors():
        here: tuple[Any, ...] = dask.compute(*collections)
    return here


def map_rows(forest: Any, method: str, X: Any, dtype: Any, *after: int) -> da.Array:
    """What a method of a fitted forest does to new rows, piece by piece; lazy."""
    pieces = chains(split(X))
    check_names(forest, _like(X), reset=False)
    light = copy.copy(forest)
    for name in HEAVY:
        vars(light).pop(name, None)
    light.n_jobs = None
    shared = share("forest", light)
    lengths = X.chunks[0] if isinstance(X, da.Array) else [np.nan] * len(pieces)
    empty = np.empty((0, *after), dtype)
    nodes = tasks(f"{method}-rows", _apply, [(shared, method, piece, empty) for piece in pieces])
    return stack(nodes, lengths, dtype, after=after)


def _apply(forest: Any, method: str, piece: Any, empty: AnyArray) -> AnyArray:
    found: AnyArray = getattr(forest, method)(piece) if len(piece) else empty
    return found


def coassociation(forest: Any, rows: da.Array, cols: da.Array) -> da.Array:
    """P between labels (T, r) and (T, c); lazy, in the pieces of both."""
    return da.blockwise(_coassociate, "ij", rows, "ti", cols, "tj", dtype=np.float64, concatenate=True)


def _coassociate(a: AnyArray, b: AnyArray) -> FloatArray:
    return coassociate(CpuBackend(), a.astype(np.int32), b.astype(np.int32))


def some_rows(forest: Any, max_rows: int) -> tuple[Any, Any, Any]:
    """Partitions, labels and weights of the rows that `stability` would take, in this process."""
    weights = None if forest._weights is None else compute_all(forest._weights)[0]
    rows = sample_rows(forest.labels_.shape[0], max_rows, 0, weights)
    partitions, labels = compute_all(forest.partitions_[:, rows], forest.labels_[rows])
    return partitions, labels, None if weights is None else weights[rows]


def gathered(forest: Any) -> Any:
    """A copy of the forest whose arrays are in this process."""
    check_memory(
        forest.partitions_.nbytes,
        f"The labels of {forest.labels_.shape[0]} rows in {len(forest.partitions_)} trees, which a model file holds,",
        "Keep labels_ with dask.array.to_zarr instead, and fit again with the same random_state for the rest.",
    )
    whole = copy.copy(forest)
    whole.labels_, whole.partitions_, whole._weights = compute_all(forest.labels_, forest.partitions_, forest._weights)
    return whole


def diagnose(forest: Any, name: str) -> da.Array:
    """How sure a fit of a Dask table is: a method of `Diagnostics`."""
    found: da.Array = getattr(Diagnostics(forest), name)()
    return found


class Diagnostics:
    """Counts of all pieces, added up once, then each row by itself; lazy."""

    def __init__(self, forest: Any) -> None:
        self.labels, self.n_clusters = forest.labels_, forest.n_clusters_
        n_parts = [len(centers) for centers in forest._trees.centers]
        partitions = forest.partitions_.to_delayed().ravel().tolist()
        weights = [None] * len(partitions) if forest._weights is None else forest._weights.to_delayed().tolist()
        self.pieces = list(zip(partitions, self.labels.to_delayed().tolist(), weights, strict=True))
        counted = tasks("count-clusters", count_clusters, [(*piece, n_parts, self.n_clusters) for piece in self.pieces])
        self.counts = merged("merge-counts", counted, functools.partial(functools.reduce, operator.add))

    def memberships(self) -> da.Array:
        return self._rows("memberships", _memberships, self.n_clusters)

    def item_consensus(self) -> da.Array:
        return self._rows("item-consensus", _item_consensus)

    def silhouette(self) -> da.Array:
        return self._rows("silhouettes", _silhouette)

    def cluster_consensus(self) -> da.Array:
        (node,) = tasks("cluster-consensus", consensus_with, [(self.counts,)])
        return da.from_delayed(node, (self.n_clusters,), dtype=np.float64)

    def _rows(self, stage: str, work: Callable[..., FloatArray], *after: int) -> da.Array:
        nodes = tasks(stage, work, [(self.counts, *piece) for piece in self.pieces])
        return stack(nodes, self.labels.chunks[0], np.float64, after=after)


def _memberships(counts: ClusterCounts, partitions: Any, labels: Any, weights: Any) -> FloatArray:
    shares = shares_with(counts, partitions, labels, weights)
    return memberships(shares, labels) if len(labels) else shares


def _item_consensus(counts: ClusterCounts, partitions: Any, labels: Any, weights: Any) -> FloatArray:
    shares = shares_with(counts, partitions, labels, weights)
    return item_consensus(shares, labels) if len(labels) else shares[:, 0]


def _silhouette(counts: ClusterCounts, partitions: Any, labels: Any, weights: Any) -> FloatArray:
    shares = shares_with(counts, partitions, labels, weights)
    mass = np.ones(len(labels)) if weights is None else weights
    return silhouette_with(counts.sizes, shares, labels, mass) if len(labels) else shares[:, 0]
