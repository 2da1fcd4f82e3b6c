"""What a fitted forest offers: labels of new rows, how sure each row is, P, saving and loading."""

import importlib
import os
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from clusterforests._base.alignment import aligned
from clusterforests._base.typing import AnyArray, FloatArray, IntArray
from clusterforests.backends import Backend, CpuBackend
from clusterforests.combining.affinity import coassociate
from clusterforests.combining.combine import consensus
from clusterforests.combining.normalized_cut import CutTree
from clusterforests.combining.placement import Placement
from clusterforests.diagnostics import (
    Stability,
    cluster_consensus,
    cluster_shares,
    consensus_silhouette,
    item_consensus,
    memberships,
    stability,
)
from clusterforests.forest.automatic_settings import Choice
from clusterforests.forest.forest import Trees
from clusterforests.n_clusters import choose as how_many
from clusterforests.persistence import load_forest, save_forest
from clusterforests.rows.gpu.devices import on_gpu, send_to, to_host
from clusterforests.rows.gpu.tables import gathered
from clusterforests.tables.encoding import Encoding
from clusterforests.tables.frames import is_dask, row_slices
from clusterforests.tables.imputation import Donors
from clusterforests.tables.scaling import Scaling

BLOCK = 65536  # new rows at a time
BLOCK_CELLS = 2**24  # or so many cells


def _lazy() -> Any:
    """What is done with Dask's tables; its import needs Dask."""
    return importlib.import_module("clusterforests.rows.dask.collections")


class FittedForest(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """The attributes that `ClusterForest.fit` sets, and what is done with them."""

    n_jobs: int | None
    sharpness: float | str

    labels_: IntArray
    n_clusters_: int
    partitions_: IntArray
    estimators_features_: list[IntArray]
    kappas_: FloatArray
    kappa_path_: FloatArray
    feature_importances_: FloatArray
    selection_: dict[str, Choice]
    n_clusters_evidence_: how_many.Choice | None
    cut_tree_: CutTree | None
    n_iter_: int

    _encoding: Encoding
    _donors: Donors | None
    _scaling: Scaling
    _trees: Trees
    _placement: Placement
    _weights: FloatArray | None

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(aligned(state))

    def predict(self, X: Any) -> IntArray:
        """The cluster of each row of X: where its labels in the trees lead it among the fitted rows.

        Rows of the fitted table get their `labels_`. What a row gets does not depend on the other rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A table with the columns of the fitted one. For a Dask array or frame the result is a lazy Dask array, and
            for an array on a GPU it is there, here and in the other methods.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if is_dask(X):
            return self._lazily("map_rows", "predict", X, np.int32)
        backend = CpuBackend(self.n_jobs)
        found = np.concatenate([self._placement.clusters(backend, part) for part in self._partition(backend, X)])
        labels: IntArray = send_to(X, found)
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """Soft membership of each row of X in each cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        memberships : ndarray of shape (n_samples, `n_clusters_`)
            The shares of `transform`, divided by their sum. Every row sums to 1, and its highest entry is at the
            cluster of `predict`: where another cluster's share is as high, the own one is first raised just above it.
        """
        check_is_fitted(self)
        if is_dask(X):
            return self._lazily("map_rows", "predict_proba", X, np.float64, self.n_clusters_)
        backend = CpuBackend(self.n_jobs)
        soft = [
            memberships(self._placement.mean_shares(backend, part), self._placement.clusters(backend, part))
            for part in self._partition(backend, X)
        ]
        soft_labels: FloatArray = send_to(X, np.concatenate(soft))
        return soft_labels

    def transform(self, X: Any) -> FloatArray:
        """How much each row of X has in common with each cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        shares : ndarray of shape (n_samples, `n_clusters_`)
            The mean share of trees in which the row is with a fitted row of the cluster, from 0 to 1.
        """
        check_is_fitted(self)
        if is_dask(X):
            return self._lazily("map_rows", "transform", X, np.float64, self.n_clusters_)
        backend = CpuBackend(self.n_jobs)
        found = [self._placement.mean_shares(backend, part) for part in self._partition(backend, X)]
        shares: FloatArray = send_to(X, np.concatenate(found))
        return shares

    def _partition(self, backend: Backend, X: Any) -> Iterator[IntArray]:
        """The labels of other rows in each tree, (n_estimators, rows), a block of rows at a time."""
        for start, rows in row_slices(X, BLOCK, BLOCK_CELLS):
            values = self._encoding.apply(self, to_host(rows), first_row=start).values
            if np.isnan(values).any():
                if self._donors is None:
                    row = start + int(np.flatnonzero(np.isnan(values).any(axis=1))[0])
                    raise ValueError(
                        f"X has missing cells, the first in row {row}, but the fitted table had none to learn from how "
                        "to fill them. Fill them, or leave these rows out."
                    )
                values = self._donors.fill(values, backend.threads)
            table = self._scaling.apply(values, backend.threads)
            yield backend.assign(self._trees.columns, self._trees.centers, table, self._trees.coordinates)

    def _lazily(self, name: str, *arguments: Any) -> AnyArray:
        """A Dask array, from the functions that need Dask."""
        array: AnyArray = getattr(_lazy(), name)(self, *arguments)
        return array

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    @property
    def memberships_(self) -> FloatArray:
        """Soft membership of each row in each cluster, (n_samples, `n_clusters_`): sums to 1, highest in its own."""
        check_is_fitted(self)
        if is_dask(self.labels_):
            return self._lazily("diagnose", "memberships")
        return self._sent(memberships(self._shares(), to_host(self.labels_)))

    @property
    def item_consensus_(self) -> FloatArray:
        """For each row the mean share of trees in which it is with another row of its cluster."""
        check_is_fitted(self)
        if is_dask(self.labels_):
            return self._lazily("diagnose", "item_consensus")
        return self._sent(item_consensus(self._shares(), to_host(self.labels_)))

    @property
    def cluster_consensus_(self) -> FloatArray:
        """For each cluster the mean share of trees in which two of its rows are together."""
        check_is_fitted(self)
        if is_dask(self.labels_):
            return self._lazily("diagnose", "cluster_consensus")
        return self._sent(cluster_consensus(to_host(self.partitions_), to_host(self.labels_), self._weights))

    @property
    def silhouette_(self) -> FloatArray:
        """For each row, from -1 to 1, how much more it shares trees with its own cluster than with the next."""
        check_is_fitted(self)
        if is_dask(self.labels_):
            return self._lazily("diagnose", "silhouette")
        return self._sent(consensus_silhouette(self._shares(), to_host(self.labels_), self._weights))

    def _shares(self) -> FloatArray:
        return cluster_shares(to_host(self.partitions_), to_host(self.labels_), self._weights)

    def _sent(self, values: FloatArray) -> FloatArray:
        """Where the labels are."""
        sent: FloatArray = send_to(self.labels_, values)
        return sent

    def stability(self, n_splits: int = 20, *, level: float = 0.9, max_rows: int = 1000) -> Stability:
        """Whether another forest of the same kind would have found the same clusters.

        The trees are split at random into two halves, each is cut on its own, and the two clusterings are compared.

        Parameters
        ----------
        n_splits : int, default=20
            Number of splits.
        level : float, default=0.9
            Share of the splits that the interval holds.
        max_rows : int, default=1000
            With more rows than that, this many are taken at random.

        Returns
        -------
        stability : Stability
            `mean`, `low` and `high` of the adjusted Rand index between halves; `clusters`: for each cluster how much
            of it is found again (Jaccard index).
        """
        check_is_fitted(self)
        partitions, labels, weights = self.partitions_, self.labels_, self._weights
        if is_dask(labels):
            partitions, labels, weights = _lazy().some_rows(self, max_rows)
        return stability(
            to_host(partitions),
            self.n_clusters_,
            self._cut_again,
            n_splits=n_splits,
            level=level,
            max_rows=max_rows,
            labels=to_host(labels),
            weights=weights,
        )

    def _cut_again(self, partitions: Any, n_clusters: int) -> IntArray:
        """Other partitions, combined as the forest's were."""
        method, threshold = self.selection_["consensus"].value, self.selection_["threshold"].value
        return consensus(partitions, n_clusters, method=method, threshold=threshold, sharpness=self.sharpness)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted forest to one file, which `load` reads.

        The file holds numbers and text, a version and a checksum; reading it runs no code. It replaces an older one
        only when it is whole. `docs/model-format.md` describes it.

        Parameters
        ----------
        path : str or path-like
            Name of the file. A `random_state` that is not a number is stored as None; a forest of another `estimator`
            than K-means is refused. The labels of a Dask fit are brought to this process, if there is room for them.
        """
        check_is_fitted(self)
        save_forest(_lazy().gathered(self) if is_dask(self.labels_) else gathered(self), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a forest that `save` wrote. It has the same parameters and attributes, and predicts the same.

        Parameters
        ----------
        path : str or path-like
            Name of the file. One that is damaged, or that `save` did not write, is refused with a ValueError.

        Returns
        -------
        forest : ClusterForest
        """
        forest: Self = load_forest(cls, path)
        return forest

    def coassociation(self, rows: Any = None, cols: Any = None) -> FloatArray:
        """The share of trees in which rows of the fitted table are together (the paper's P).

        Parameters
        ----------
        rows, cols : array-like of int, bool mask, slice or None, default=None
            Which rows of P and which columns; None means all.

        Returns
        -------
        P : ndarray of shape (n_rows, n_cols)
        """
        check_is_fitted(self)
        sides = [self._choose(name, which) for name, which in (("rows", rows), ("cols", cols))]
        if is_dask(self.labels_):
            return self._lazily("coassociation", *sides)
        return self._sent(coassociate(CpuBackend(self.n_jobs), *sides))

    def _choose(self, name: str, which: Any) -> IntArray:
        partitions, on_device = self.partitions_, on_gpu(self.partitions_)
        if which is None:
            every: IntArray = to_host(partitions)
            return every
        try:
            if on_device:
                which = np.arange(partitions.shape[1])[which]  # so that NumPy refuses what is not there
            chosen: IntArray = to_host(partitions[:, which])
        except IndexError as error:
            raise ValueError(
                f"{name}={which!r} must be row numbers below {self.partitions_.shape[1]}, a mask of that length, a "
                "slice or None."
            ) from error
        if chosen.ndim != 2:
            raise ValueError(f"{name}={which!r} must be one-dimensional: pass a list of row numbers.")
        return chosen
