"""New rows of a fitted forest: where its trees and its rule of placement lead them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests._utils.devices import to_host
from clusterforests._utils.memory import DEFAULT_LIMITS, SizeLimits
from clusterforests.backends import CpuBackend
from clusterforests.consensus.outliers import OUTLIER, OutlierRule
from clusterforests.consensus.placement import Placement
from clusterforests.inspection.memberships import normalise
from clusterforests.table.checks import FittedTable, read_sparse
from clusterforests.table.encoding import Encoding, UnseenLevels
from clusterforests.table.imputation import Donors
from clusterforests.table.scaling import SCALED_ROWS, Scaling
from clusterforests.table.sparse_reduction import Reduction
from clusterforests.trees.forest import FittedTrees, label_rows

TIE_MARGIN = 2.0**-40  # by so much, relatively, a row's own cluster is above one that is as probable


@dataclass(frozen=True)
class Predictor:
    """All that new rows need of a fitted forest, on this machine, on a GPU or on a worker of Dask."""

    table: FittedTable
    encoding: Encoding
    donors: Donors | None  # fill missing cells; None if the model was saved without them
    reduction: Reduction | None  # of a wide sparse table, whose components the trees see
    scaling: Scaling
    trees: FittedTrees
    placement: Placement
    outliers: OutlierRule | None
    n_jobs: int | None = None
    limits: SizeLimits = DEFAULT_LIMITS

    def read(self, X: Any, first_row: int, new: UnseenLevels) -> FloatArray:
        """Turn new rows into numbers, missing cells filled.

        `first_row` is the number of the first; `new` counts what is special about their cells.
        """
        if self.reduction is not None:
            return self.reduction.apply(read_sparse(self.table, X))
        values = self.encoding.apply(self.table, X, first_row, new).values
        if np.isnan(values).any():
            if self.donors is None:
                row = first_row + int(np.flatnonzero(np.isnan(values).any(axis=1))[0])
                raise ValueError(
                    f"X has missing cells, the first in row {row}, but the model was saved without rows to fill them "
                    "from. Fill them, leave these rows out, or fit again and save with keep_rows=True."
                )
            values = self.donors.fill(values, CpuBackend(self.n_jobs).threads)
        return values


class NewRows(Protocol):
    """Some new rows, in this machine's memory or on a GPU."""

    def clusters(self) -> Any:
        """Find the cluster of each row, -1 where it belongs to none."""

    def nearest(self) -> Any:
        """Find the cluster of each row, whether it belongs to it or not."""

    def mean_shares(self) -> Any:
        """Compute the mean share of trees in which each row is with the fitted rows of each cluster."""

    def co_members(self) -> Any:
        """Sum over the trees the share of each cluster among the fitted rows with the label of each row."""


class RowsHere:
    """New rows in memory."""

    def __init__(self, predictor: Predictor, rows: Any, first_row: int, new: UnseenLevels) -> None:
        self.predictor, self.placement = predictor, predictor.placement
        self.backend = CpuBackend(predictor.n_jobs)
        self.values: FloatArray = predictor.read(rows, first_row, new)

    @cached_property
    def labels(self) -> IntArray:
        """The labels in each tree."""
        return label_rows(self.backend, self.predictor.trees, self.predictor.scaling, self.values)

    def clusters(self) -> IntArray:
        clusters, rule = self.nearest(), self.predictor.outliers
        if rule is not None:
            for start in range(0, len(clusters), SCALED_ROWS):
                some = np.ascontiguousarray(self.values[start : start + SCALED_ROWS])
                scaled = self.predictor.scaling.apply(some, self.backend.threads)
                nearest = clusters[start : start + SCALED_ROWS]
                nearest[rule.finds(scaled[:, rule.columns], nearest)] = OUTLIER
        return clusters

    def nearest(self) -> IntArray:
        clusters: IntArray = self.placement.clusters(self.backend, self.labels)
        return clusters

    def mean_shares(self) -> FloatArray:
        shares: FloatArray = self.placement.mean_shares(self.backend, self.labels)
        return shares

    def co_members(self) -> FloatArray:
        sums: FloatArray = self.placement.co_members(self.backend, self.labels)
        return sums


# What is asked of new rows. These functions travel to the workers of Dask.


def clusters(rows: NewRows) -> Any:
    """Find the cluster of each row, -1 where it belongs to none."""
    return rows.clusters()


def mean_shares(rows: NewRows) -> Any:
    """Compute how much each row has in common with each cluster."""
    return rows.mean_shares()


def probabilities(rows: NewRows) -> FloatArray:
    """Share each row among the clusters, its own cluster highest."""
    nearest = to_host(rows.nearest())
    return favour(normalise(to_host(rows.co_members()), nearest), nearest)


def favour(soft: FloatArray, labels: IntArray) -> FloatArray:
    """Raise the share of each row's own cluster to the highest, where it is not the highest yet. Rows sum to 1."""
    rows = np.arange(len(labels))
    own = soft[rows, labels]
    others = soft.copy()
    others[rows, labels] = -np.inf
    highest = others.max(axis=1)
    ambiguous = np.flatnonzero(own <= highest)
    favoured = soft.copy()
    favoured[ambiguous, labels[ambiguous]] = highest[ambiguous] * (1 + TIE_MARGIN)
    favoured[ambiguous] /= favoured[ambiguous].sum(axis=1, keepdims=True)
    return favoured
