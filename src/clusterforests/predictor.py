"""What a fitted forest offers: labels of new rows, how sure each row is, P, saving and loading."""

import copy
import os
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray, aligned
from clusterforests._utils.validation import ascending, boolean, check_parameters, integer, several, warn_caller
from clusterforests.backends import Backend, CpuBackend
from clusterforests.consensus.assignment import OutOfTimeError
from clusterforests.consensus.consensus_clustering import consensus_clustering
from clusterforests.consensus.constraints import Constraints
from clusterforests.consensus.enforcement import lead_cut
from clusterforests.consensus.methods import NEEDS_VALUES, ConsensusGraph, Cut
from clusterforests.consensus.nodes import CutSettings, check_enough_nodes, check_landmarks
from clusterforests.consensus.normalized_cut import CutTree
from clusterforests.consensus.outliers import OutlierRule
from clusterforests.consensus.placement import Placement
from clusterforests.inspection import ClusterTree, HalfCuts, Stability, half_cuts, stability
from clusterforests.inspection.arguments import check_names
from clusterforests.inspection.cluster_tree import NUMBERS, build_tree
from clusterforests.inspection.memberships import (
    FromMemberships,
    consensus_silhouette,
    normalise,
    own_membership,
    shares_with,
)
from clusterforests.inspection.stability import MAX_ROWS, N_SPLITS
from clusterforests.judge.evidence import NClustersEvidence
from clusterforests.persistence import load_forest, save_forest
from clusterforests.rows.fitted_table import compare_rows, compared_rows, count_rows, take_rows
from clusterforests.rows.new_rows import NewRows
from clusterforests.rows.results import DiagnosticWork, Results, clusters_of, in_memory, results_for, set_apart_again
from clusterforests.table.checks import read_sparse
from clusterforests.table.encoding import Encoding
from clusterforests.table.feature_columns import EncodedColumns
from clusterforests.table.frames import is_dask
from clusterforests.table.imputation import Donors
from clusterforests.table.reader.column_reading import ColumnReading
from clusterforests.table.reader.remarks import NewCells
from clusterforests.table.scaling import Scaling
from clusterforests.table.sparse_reduction import Reduction
from clusterforests.trees.forest import FittedTrees
from clusterforests.trees.settings import Setting, automatic_consensus


class FittedForest(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """The attributes that `ClusterForest.fit` sets, and what is done with them."""

    n_clusters: Any
    n_jobs: int | None
    consensus: str
    affinity_scale: float | str
    n_landmarks: int | str | None

    labels_: IntArray
    n_clusters_: int
    partitions_: IntArray
    estimators_features_: list[IntArray]
    kappas_: FloatArray
    kappa_path_: FloatArray
    feature_importances_: FloatArray
    feature_pvalues_: FloatArray
    chosen_params_: dict[str, Setting]
    n_clusters_evidence_: NClustersEvidence | None
    dominant_features_: dict[int, float]
    cut_tree_: CutTree | None
    n_iter_: int

    _encoding: Encoding
    _donors: Donors | None
    _reduction: Reduction | None
    _scaling: Scaling
    _trees: FittedTrees
    _placement: Placement
    _weights: FloatArray | None
    _constraints: Constraints | None = None  # pickles of older versions lack these
    _outlier_rule: OutlierRule | None = None
    _nearest: IntArray | None = None  # the nearest cluster of every row; None if all have a label

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(aligned(state))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def predict(self, X: Any) -> IntArray:
        """The cluster of each row of X: where its labels in the trees lead it among the fitted rows.

        Rows of the fitted table get their `labels_`, unless these were moved for the sake of other rows (`must_link`,
        `cannot_link`, `known_labels`, sizes). What a row gets does not depend on the other rows of X. With `outliers`,
        a row far from every cluster gets -1, even one that has a label because something was known of it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A table with the columns of the fitted one, in the same order; those of a frame have the same names, as in
            all of scikit-learn (`X[forest.feature_names_in_]` puts them in order). Columns are read as those of the
            fitted table were: what may mean something else, such as 0.05 where cells had percent signs, is refused, and
            a warning counts cells like "n/a" or "<5". For a Dask array or frame the result is a lazy Dask array, and
            for an array on a GPU it is there, here and in the other methods.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        labels: IntArray = results_for(X).map_rows(_clusters, self, X, np.int32)
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """Soft membership of each row of X in each cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        memberships : ndarray of shape (n_samples, `n_clusters_`)
            The share of the row's companions, the fitted rows in the same cluster of a tree, that are of each cluster,
            averaged over the trees. Every row sums to 1. The highest membership of an ambiguous row may be in another
            cluster than that of `predict`.
        """
        check_is_fitted(self)
        soft: FloatArray = results_for(X).map_rows(_memberships, self, X, np.float64, self.n_clusters_)
        return soft

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
        shares: FloatArray = results_for(X).map_rows(_shares, self, X, np.float64, self.n_clusters_)
        return shares

    def recut(self, n_clusters: int) -> Self:
        """The same trees, cut into another number of clusters.

        No tree is made again. With `n_base_clusters="auto"` the result is what a fit with this `n_clusters` and the
        same `random_state` gives, as long as `chosen_params_["n_base_clusters"]` is the same for both. Only a fit looks
        for
        features that the clusters repeat: `dominant_features_` is empty. Outliers stay outliers, unless they are all
        that a cluster has: then they are that cluster.

        Parameters
        ----------
        n_clusters : int
            Number of clusters, at most the number of distinct rows that the trees tell apart.

        Returns
        -------
        forest : ClusterForest
            A fitted forest that shares its trees with this one. Its `n_clusters_evidence_` is None, as after a fit with
            a given number, and `dominant_features_` is empty for another number: the table is not at hand.
        """
        check_is_fitted(self)
        check_parameters({"n_clusters": n_clusters}, {"n_clusters": integer(1)})
        check_landmarks(self.n_landmarks, n_clusters)
        nodes = self._placement.nodes
        check_enough_nodes(len(nodes), n_clusters)
        settings = self._cut_settings(self.chosen_params_, int(n_clusters))
        graph = ConsensusGraph(CpuBackend(self.n_jobs), nodes, settings)
        kept = graph.cut(settings.method)
        if self._constraints is not None:
            self._constraints.check(settings.n_clusters)
            partitions, weights = in_memory(self.partitions_), in_memory(self._weights)
            kept = lead_cut(graph, kept, self._constraints, partitions, weights)
        cut = copy.copy(self)
        cut.n_clusters = cut.n_clusters_ = settings.n_clusters
        cut.chosen_params_ = self.chosen_params_ | {
            "n_clusters": Setting(settings.n_clusters, "given"),
            "consensus": kept_method(kept, named=settings.named),
        }
        cut.n_clusters_evidence_, cut.dominant_features_, cut.cut_tree_ = None, {}, kept.tree
        cut._placement, cut.labels_ = results_for(self.labels_).place(self, kept)
        if self._outlier_rule is not None:
            cut._nearest = cut.labels_
            cut._outlier_rule, cut.labels_ = set_apart_again(self, cut._nearest, settings.n_clusters)
        return cut

    def _cut_settings(self, chosen: Mapping[str, Setting], n_clusters: int) -> CutSettings:
        """Say how the graph is cut. What was chosen may name only the cut that was kept of several."""
        named = self.consensus != "auto"
        method = self.consensus
        if not named:  # models of old versions do not say what trees they have
            method = automatic_consensus(chosen["trees"].value) if "trees" in chosen else chosen["consensus"].value
        affinity_threshold = chosen["affinity_threshold"].value
        return CutSettings(n_clusters, method, affinity_threshold, self.affinity_scale, self.n_landmarks, named=named)

    def _read(self, backend: Backend, X: Any, first_row: int, new: NewCells) -> FloatArray:
        """Turn new rows into numbers, missing cells filled."""
        if self._reduction is not None:
            return self._reduction.apply(read_sparse(self, X))
        values = self._encoding.apply(self, X, first_row, new).values
        if np.isnan(values).any():
            if self._donors is None:
                row = first_row + int(np.flatnonzero(np.isnan(values).any(axis=1))[0])
                raise ValueError(
                    f"X has missing cells, the first in row {row}, but the model was saved without rows to fill them "
                    "from. Fill them, leave these rows out, or fit again and save with keep_rows=True."
                )
            values = self._donors.fill(values, backend.threads)
        return values

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    @property
    def memberships_(self) -> FloatArray:
        """Soft membership of each row in each cluster, (n_samples, `n_clusters_`).

        The share of the row's companions, the other rows in the same cluster of a tree, that are of each cluster,
        averaged over the trees. It sums to 1. The highest membership of an ambiguous row may be in another cluster than
        that of its label.
        """
        return self._diagnosed(FromMemberships(_as_they_are), self.n_clusters_)

    @property
    def item_consensus_(self) -> FloatArray:
        """For each row its membership in its own cluster."""
        return self._diagnosed(FromMemberships(own_membership))

    @property
    def cluster_consensus_(self) -> FloatArray:
        """For each cluster the mean membership of its rows in it."""
        own = self.item_consensus_
        consensus: FloatArray = results_for(self.labels_).average(own, self)
        return consensus

    @property
    def cluster_shares_(self) -> FloatArray:
        """The mean share of trees in which each row is with another row of each cluster, (n_samples, `n_clusters_`)."""
        return self._diagnosed(shares_with, self.n_clusters_)

    @property
    def consensus_silhouette_(self) -> FloatArray:
        """For each row, from -1 to 1, how far its membership in its own cluster is above that in the next."""
        return self._diagnosed(FromMemberships(consensus_silhouette))

    @property
    def columns_(self) -> tuple[ColumnReading, ...]:
        """How each column of a frame or file was read, and why; empty for arrays, whose columns have no names."""
        check_is_fitted(self)
        return self._encoding.readings

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        """Show a notebook the attributes that are stored. Memberships and others would be computed for the display."""
        shown = BaseEstimator._get_fitted_attr_html(SimpleNamespace(**vars(self)), doc_link)
        shown.estimator_class = type(self)
        return shown

    @property
    def known_clusters_(self) -> dict[Any, int]:
        """The cluster of each class of `known_labels`."""
        check_is_fitted(self)
        guidance = None if self._constraints is None else self._constraints.guidance
        if guidance is None:
            return {}
        labels = in_memory(self.labels_)
        return {name: int(labels[guidance.row_of(unit)]) for unit, name in enumerate(guidance.classes)}

    def _diagnosed(self, work: DiagnosticWork, *after: int) -> FloatArray:
        check_is_fitted(self)
        diagnosed: FloatArray = results_for(self.labels_).diagnose(work, self, *after)
        return diagnosed

    def half_cuts(self, n_splits: int = N_SPLITS, *, max_rows: int = MAX_ROWS) -> HalfCuts:
        """The clusters that random halves of the trees find, for `clusterforests.inspection`.

        Parameters
        ----------
        n_splits : int, default=20
            Number of splits into two halves.
        max_rows : int, default=500
            With more rows than that, this many are taken at random; at least twice as many as there are clusters.

        Returns
        -------
        cuts : HalfCuts
        """
        check_is_fitted(self)
        limit = max(max_rows, 2 * self.n_clusters_)
        partitions, labels, weights = results_for(self.labels_).sample(self, limit)
        number, combine = self.n_clusters_, self._cut_again
        return half_cuts(partitions, number, combine, n_splits=n_splits, max_rows=limit, labels=labels, weights=weights)

    def stability(self, n_splits: int = N_SPLITS, *, level: float = 0.9, max_rows: int = MAX_ROWS) -> Stability:
        """Whether another forest of the same kind would have found the same clusters.

        The trees are split at random into two halves, each is cut on its own, and the two clusterings are compared.

        Parameters
        ----------
        n_splits : int, default=20
            Number of splits.
        level : float, default=0.9
            Share of the splits that the interval holds.
        max_rows : int, default=500
            With more rows than that, this many are taken at random.

        Returns
        -------
        stability : Stability
            `mean`, `low` and `high` of the adjusted Rand index between halves; `clusters`: for each cluster how much
            of it is recovered (Jaccard index).
        """
        return stability(self.half_cuts(n_splits, max_rows=max_rows), level)

    def cluster_tree(
        self, X: Any = None, n_clusters: Sequence[int] = NUMBERS, *, names: Sequence[Any] | None = None
    ) -> ClusterTree:
        """Which clusters split from which as their number grows, and the features that drive each split.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or None, default=None
            The table that the forest was fitted on, to name the features; another one, or another order of its rows, is
            refused.
        n_clusters : sequence of int, default=range(2, 9)
            Numbers of clusters. Those that the trees cannot be cut into are left out.
        names : sequence of str or None, default=None
            Names of the features; None means those of the frame that the forest was fitted on, or numbers.

        Returns
        -------
        tree : ClusterTree
            `n_clusters`, `sizes`, `overlaps` and `splits`: see `clusterforests.inspection.cluster_tree`.
        """
        labels = [in_memory(clusters_of(cut)).astype(np.intp) for cut in cut_for_each(self, n_clusters)]
        mass = np.ones(len(labels[0])) if self._weights is None else in_memory(self._weights)
        titles = check_names(self._encoding.names if names is None else names, self._encoding.n_features)
        if X is None:
            return build_tree(labels, mass)
        for caveat in self.check_table(X):
            warn_caller(caveat)
        values = self._encoding.apply(self, X).values
        return build_tree(labels, mass, values, self._encoding.columns(), titles)

    def check_table(self, X: Any) -> list[str]:
        """Check that X is the table that the forest was fitted on, its rows in the same order.

        Some rows are predicted, and compared with their labels. Rows that the user knew something of are left out.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A table of another number of rows, or of which many rows are elsewhere, is refused.

        Returns
        -------
        caveats : list of str
            A sentence if a few rows are elsewhere, as they are where cells were rounded.
        """
        check_is_fitted(self)
        n, n_given = self.partitions_.shape[1], count_rows(X)
        if n_given != n:
            raise ValueError(f"X has {n_given} rows but the forest was fitted on {n}. Pass the table it was fitted on.")
        rows, guidance = compared_rows(n), None if self._constraints is None else self._constraints.guidance
        if guidance is not None:
            rows = np.setdiff1d(rows, guidance.rows)
        expected = in_memory(self.labels_[rows])
        if self._constraints is not None:  # sizes may have moved rows
            placed = self._placement.clusters(CpuBackend(self.n_jobs), in_memory(self.partitions_[:, rows]))
            expected = np.where(expected < 0, expected, placed)

        def predict(some: Any) -> Any:
            return in_memory(self.predict(some))

        return compare_rows(predict, X, rows, expected, has_centers=self.estimator is None)

    def encode(self, X: Any) -> EncodedColumns:
        """The fitted table as numbers, before missing cells are filled and columns are scaled.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The fitted table, or some of its rows.

        Returns
        -------
        table : EncodedColumns
            `values`, NaN where a cell is missing; what each of their `columns` stands for, a feature that is a number
            or one level of a category; and the `levels` of each category.
        """
        check_is_fitted(self)
        here = take_rows(X, np.arange(count_rows(X))) if is_dask(X) else X
        values = self._encoding.apply(self, here, new=NewCells()).values
        return EncodedColumns(values, tuple(self._encoding.columns()), self._encoding.levels)

    @property
    def sample_weight_(self) -> FloatArray | None:
        """Weights of the rows; None if they had none."""
        check_is_fitted(self)
        return self._weights

    @property
    def constraints_(self) -> Constraints | None:
        """What was asked of the clusters beside their number: pairs, known classes, sizes; None if nothing was."""
        check_is_fitted(self)
        return self._constraints

    def _cut_again(self, partitions: Any, n_clusters: int) -> IntArray:
        """Other partitions, combined as the forest's were."""
        chosen = self.chosen_params_
        method = chosen["consensus"].value
        settings = {"method": "kway" if method in NEEDS_VALUES else method}
        settings |= {"affinity_threshold": chosen["affinity_threshold"].value, "affinity_scale": self.affinity_scale}
        return consensus_clustering(partitions, n_clusters, **settings)

    def save(self, path: str | os.PathLike[str], *, keep_rows: bool = True) -> None:
        """Write the fitted forest to one file, which `load` reads.

        The file holds numbers and text, a version and a checksum; reading it runs no code. It replaces an older one
        only when it is whole. `docs/model-format.md` describes it.

        Parameters
        ----------
        path : str or path-like
            Name of the file. A `random_state` that is not a number is stored as None; a forest of another `estimator`
            than K-means is refused. The labels of a Dask fit are brought to this process, if there is room for them.
        keep_rows : bool, default=True
            Whether the file holds the rows of the fitted table, at most 2,000, from which `predict` fills missing
            cells. Without them, the loaded forest refuses rows that have such cells.
        """
        check_is_fitted(self)
        check_parameters({"keep_rows": keep_rows}, {"keep_rows": boolean()})
        forest = results_for(self.labels_).gather(self)
        if not keep_rows:
            forest._donors = None
        save_forest(forest, path)

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
        results = results_for(self.labels_)
        sides = [self._chosen(results, name, which) for name, which in (("rows", rows), ("cols", cols))]
        P: FloatArray = results.coassociate(self, *sides)
        return P

    def _chosen(self, results: Results, name: str, which: Any) -> IntArray:
        """Take the labels of some of the fitted rows."""
        try:
            chosen: IntArray = results.choose(self.partitions_, slice(None) if which is None else which)
        except IndexError as error:
            raise ValueError(
                f"{name}={which!r} must be row numbers below {self.partitions_.shape[1]}, a mask of that length, a "
                "slice or None."
            ) from error
        if chosen.ndim != 2:
            raise ValueError(f"{name}={which!r} must be one-dimensional: pass a list of row numbers.")
        return chosen


def cut_for_each(forest: FittedForest, n_clusters: Sequence[int]) -> list[FittedForest]:
    """Cut a forest into several numbers of clusters, ascending, up to the first that its trees cannot be cut into."""
    check_is_fitted(forest)
    check_parameters({"n_clusters": n_clusters}, {"n_clusters": several(1)})
    cuts: list[FittedForest] = []
    numbers = ascending(n_clusters, len(forest._placement.nodes)) or [n_clusters[0]]
    if forest._constraints is not None:
        numbers = forest._constraints.allowed(numbers)
    for number in numbers:
        try:
            cuts.append(forest.recut(number))
        except ValueError as error:
            if not cuts or isinstance(error, OutOfTimeError):  # nothing depends on the speed of the machine
                raise
            break
    return cuts


def kept_method(kept: Cut, *, named: bool) -> Setting:
    """Name the cut that was kept, and say why."""
    return Setting(kept.method, kept.reason or ("given" if named else "all clusters are cut at once"))


def _clusters(rows: NewRows) -> Any:
    return rows.clusters()


def _shares(rows: NewRows) -> Any:
    return rows.mean_shares()


def _memberships(rows: NewRows) -> Any:
    return normalise(in_memory(rows.companions()), in_memory(rows.nearest()))


def _as_they_are(soft: FloatArray, labels: IndexArray) -> FloatArray:
    return soft
