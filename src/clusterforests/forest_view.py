"""A fitted forest for reading: what the story, plots, report, feature selection and command line are made from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray, IntArray
from clusterforests.consensus.constraints import Constraints
from clusterforests.inspection.stability import N_SPLITS, HalfCuts
from clusterforests.judge.evidence import NClustersEvidence
from clusterforests.rows.results import clusters_of, counting_weights, in_memory
from clusterforests.table.feature_columns import EncodedTable, NumberColumn
from clusterforests.table.reader.column_reading import ColumnReading
from clusterforests.table.reader.remarks import NewCells
from clusterforests.trees.settings import Setting


@dataclass(frozen=True)
class ForestView:
    """A read-only view of a fitted forest. Its arrays are NumPy's, wherever the forest was fitted.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Cluster of each row; the nearest one of an outlier.
    outliers : ndarray of shape (n_samples,) or None
        Which rows belong to no cluster; None if such rows were not looked for.
    n_clusters : int
        Number of clusters.
    weights : ndarray of shape (n_samples,) or None
        Weights of the rows; None if they had none.
    n_trees : int
        Number of clusterings in the forest.
    tree_features : list of ndarray
        Features of each tree.
    kappas : ndarray of shape (n_trees,)
        kappa that each tree reached.
    kappa_path : ndarray of shape (n_trees, n_rounds)
        kappa of each tree after each round of growth.
    n_features : int
        Number of features.
    feature_names : list of str or None
        Their names; None if the table had none.
    feature_importances : ndarray of shape (n_features,)
        Share of each feature's variance between clusters that were found without it, above chance; 0 if it does not
        tell.
    feature_pvalues : ndarray of shape (n_features,)
        p-value of each feature; NaN, like its importance, in a model that was saved before features were tested.
    encoded_features : list of int
        The features without the columns of a frame that were left out.
    usable_features : ndarray of shape (n_usable,)
        The features that trees may use: not those that are constant or were found to be noise.
    levels : mapping of int to tuple
        For each categorical feature its levels.
    readings : tuple of ColumnReading
        How each column of a frame or file was read, and why; empty for arrays.
    settings : mapping of str to Setting
        Every setting as it was used, and why.
    n_clusters_evidence : NClustersEvidence or None
        What the number of clusters was chosen from; None if it was given.
    repeated_features : mapping of int to float
        The features of few values that the clusters only repeat, with the adjusted Rand index of the two.
    reduced : bool
        Whether a wide sparse table was reduced to components, so that no single feature was tested.
    parameters : mapping of str to object
        What the forest was constructed with.
    """

    forest: Any
    labels: IntArray
    outliers: BoolArray | None
    n_clusters: int
    weights: FloatArray | None
    n_trees: int
    tree_features: list[IntArray]
    kappas: FloatArray
    kappa_path: FloatArray
    n_features: int
    feature_names: list[str] | None
    feature_importances: FloatArray
    feature_pvalues: FloatArray
    encoded_features: list[int]
    usable_features: IntArray
    levels: Mapping[int, tuple[Any, ...]]
    readings: tuple[ColumnReading, ...]
    settings: Mapping[str, Setting]
    n_clusters_evidence: NClustersEvidence | None
    repeated_features: Mapping[int, float]
    reduced: bool
    parameters: Mapping[str, Any]

    def feature_use(self) -> FloatArray:
        """Return the share of a tree's features that each feature makes up, averaged over the trees. Sums to 1."""
        use = np.zeros(self.n_features)
        for features in self.tree_features:
            use += np.bincount(features, minlength=self.n_features) / len(features)
        shares: FloatArray = use / self.n_trees
        return shares

    def partitions(self, rows: IndexArray | None = None) -> IntArray:
        """Return the labels in each tree, (n_trees, n_samples), or those of some rows."""
        given: Any = self.forest.partitions_
        return np.ascontiguousarray(in_memory(given if rows is None else given[:, rows]))

    def weights_of(self, rows: IndexArray | None = None) -> FloatArray | None:
        """Return the weights of all or some rows, 0 for outliers; None if each counts once."""
        given: FloatArray | None = in_memory(counting_weights(self.forest))
        return given if given is None or rows is None else given[rows]

    def shares(self) -> FloatArray:
        """Return the mean share of trees that each row spends with each cluster, (n_samples, n_clusters)."""
        values: FloatArray = in_memory(self.forest.cluster_shares_)
        return values

    def memberships(self) -> FloatArray:
        """Return the soft membership of each row in each cluster, (n_samples, n_clusters)."""
        values: FloatArray = in_memory(self.forest.memberships_)
        return values

    @property
    def constraints(self) -> Constraints | None:
        """What the user asked of the clusters beside their number."""
        given: Constraints | None = self.forest._constraints
        return given

    @property
    def known_clusters(self) -> dict[Any, int]:
        """The cluster of each known class."""
        found: dict[Any, int] = self.forest.known_clusters_
        return found

    def half_cuts(self, n_splits: int = N_SPLITS) -> HalfCuts:
        """Return the clusters that random halves of the trees find."""
        cuts: HalfCuts = self.forest.half_cuts(n_splits)
        return cuts

    def item_consensus(self) -> FloatArray:
        """Return the membership of each row in its own cluster, (n_samples,)."""
        values: FloatArray = in_memory(self.forest.item_consensus_)
        return values

    def cluster_consensus(self) -> FloatArray:
        """Return the mean membership of each cluster's rows in it, (n_clusters,)."""
        values: FloatArray = in_memory(self.forest.cluster_consensus_)
        return values

    def coassociation(self, rows: IndexArray) -> FloatArray:
        """Return the share of trees in which two of these rows are together, (n_rows, n_rows)."""
        shares: FloatArray = in_memory(self.forest.coassociation(rows, rows))
        return shares

    def cut(self, partitions: IntArray, n_clusters: int) -> IntArray:
        """Combine other partitions, or these into another number of clusters, as the forest was combined."""
        labels: IntArray = self.forest._cut_again(partitions, n_clusters)
        return labels

    def encode(self, X: Any) -> EncodedTable:
        """Turn the fitted table, of whose cells `fit` told, into numbers; missing cells are NaN."""
        encoded: EncodedTable = self.forest._encoding.apply(self.forest, X, new=NewCells())
        return encoded

    def columns(self) -> list[NumberColumn]:
        """Return what each column of an encoded table stands for."""
        columns: list[NumberColumn] = self.forest._encoding.columns()
        return columns


def view_of(forest: Any) -> ForestView:
    """Return a read-only view of a fitted forest.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.

    Returns
    -------
    view : ForestView
    """
    check_is_fitted(forest)
    names = getattr(forest, "feature_names_in_", None)
    return ForestView(
        forest=forest,
        labels=in_memory(clusters_of(forest)),
        outliers=None if forest._nearest is None else in_memory(forest.labels_) < 0,
        n_clusters=int(forest.n_clusters_),
        weights=in_memory(forest._weights),
        n_trees=len(forest.partitions_),
        tree_features=forest.estimators_features_,
        kappas=forest.kappas_,
        kappa_path=forest.kappa_path_,
        n_features=int(forest.n_features_in_),
        feature_names=None if names is None else [str(name) for name in names],
        feature_importances=forest.feature_importances_,
        feature_pvalues=forest.feature_pvalues_,
        encoded_features=list(forest._encoding.features),
        usable_features=forest._encoding.numbered(forest._scaling.views.drawable),
        levels=forest._encoding.levels,
        readings=forest.columns_,
        settings=forest.chosen_params_,
        n_clusters_evidence=forest.n_clusters_evidence_,
        repeated_features=forest.dominant_features_,
        reduced=forest._reduction is not None,
        parameters=forest.get_params(deep=False),
    )
