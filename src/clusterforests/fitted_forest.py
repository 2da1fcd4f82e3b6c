"""What a fitted forest offers: labels of new rows, how sure each row is, other numbers of clusters, saving, loading."""

import copy
import os
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray, aligned
from clusterforests._utils.devices import in_memory, is_dask
from clusterforests._utils.memory import DEFAULT_LIMITS, SizeLimits
from clusterforests._utils.validation import (
    Rule,
    ascending,
    boolean,
    check_parameters,
    integer,
    several,
    warn_caller,
)
from clusterforests.backends import CpuBackend
from clusterforests.consensus.assignment import OutOfTimeError
from clusterforests.consensus.consensus_clustering import consensus_clustering
from clusterforests.consensus.constraints import Constraints
from clusterforests.consensus.enforcement import cut_with_known_classes
from clusterforests.consensus.methods import NEEDS_VALUES, ConsensusGraph
from clusterforests.consensus.nodes import CutSettings, check_enough_nodes, check_landmarks
from clusterforests.consensus.normalized_cut import CutTree
from clusterforests.consensus.outliers import OutlierRule, are_outliers, lost_clusters, without_outliers
from clusterforests.consensus.placement import Cut, Placement
from clusterforests.feature_screening import ScreeningResult
from clusterforests.inspection import ClusterTree, HalfCuts, Stability, half_cuts, stability
from clusterforests.inspection.arguments import check_names
from clusterforests.inspection.cluster_tree import NUMBERS, build_tree
from clusterforests.inspection.memberships import FromMemberships, consensus_silhouette, own_membership, shares_with
from clusterforests.inspection.stability import N_SPLITS, STABILITY_ROWS
from clusterforests.judge.evidence import NClustersEvidence
from clusterforests.persistence import SavedForest, load_forest, save_forest
from clusterforests.rows import new_rows
from clusterforests.rows.fitted_table import compare_rows, compared_rows, count_rows, take_rows
from clusterforests.rows.memory_estimate import MemoryEstimate, estimate_memory
from clusterforests.rows.new_rows import Predictor
from clusterforests.rows.protocol import ReadingSettings, Rows
from clusterforests.rows.results import DiagnosticWork, FittedRows, Recut, results_for
from clusterforests.table.encoding import UnseenLevels
from clusterforests.table.feature_columns import EncodedColumns
from clusterforests.table.imputation import Donors
from clusterforests.table.scaling import Scaling
from clusterforests.trees.forest import FittedTrees, Forest
from clusterforests.trees.settings import Setting, automatic_consensus

SHAPE = ("n_samples", "n_features")


class PlacedRows(NamedTuple):
    """The clusters of all rows, the rule that placed them, and which rows belong to none."""

    placement: Placement
    labels: Any  # -1 for outliers
    nearest: IntArray | None = None  # the same with their nearest clusters, if there are any
    outliers: OutlierRule | None = None


class FittedForest(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """What `ClusterForest` and `PaperForest` have in common once they are fitted."""

    _limits: ClassVar[SizeLimits] = DEFAULT_LIMITS  # the sizes at which a fit changes how it works
    _rules: ClassVar[dict[str, Rule]] = {}  # of the parameters

    # Parameters of both classes, and those of the graph, which only PaperForest lets its user set.
    n_clusters: Any
    n_estimators: int
    n_jobs: int | None
    consensus: str
    n_landmarks: int | str | None
    affinity_threshold: float | str = "auto"
    affinity_scale: float | str = "auto"

    # Attributes that `fit` sets: see the classes.
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
    n_features_in_: int
    feature_names_in_: Any

    _predictor: Predictor  # what new rows need
    _weights: Any  # of the fitted rows, or None
    _nearest: Any  # the nearest cluster of every fitted row; None if all have a label
    _constraints: Constraints | None

    def _reading(self) -> ReadingSettings:
        """Return what decides how rows are read."""
        raise NotImplementedError

    def _set_attributes(
        self,
        rows: Rows,
        scaling: Scaling,
        trees: Forest,
        placed: PlacedRows,
        kept: Cut,
        screening: ScreeningResult,
        donors: Donors | None,
        chosen: dict[str, Setting],
    ) -> None:
        """Set the attributes that both classes have, all at once: a fit that fails leaves the forest as it was."""
        reading, encoding = rows.reading, rows.reading.encoding
        partitions, labels = rows.send(trees.partitions), rows.send(placed.labels)
        nearest = None if placed.nearest is None else rows.send(placed.nearest)

        # The table
        self.n_features_in_ = reading.table.n_features_in_
        if "feature_names_in_" in vars(self):
            del self.feature_names_in_
        if reading.table.names is not None:
            self.feature_names_in_ = reading.table.names

        # The trees
        self.partitions_ = partitions
        self.estimators_features_ = list(trees.features)
        self.kappas_, self.kappa_path_, self.n_iter_ = trees.kappas, trees.kappa_path, trees.rounds
        self.feature_importances_ = screening.scores
        self.feature_pvalues_ = screening.p_values

        # The clusters
        self.labels_, self.n_clusters_, self.cut_tree_ = labels, chosen["n_clusters"].value, kept.tree
        self.chosen_params_ = chosen | {"consensus": kept_method(kept, named=self.consensus != "auto")}
        self.n_clusters_evidence_, self.dominant_features_ = None, {}

        # What new rows, other cuts and diagnostics need
        self._predictor = Predictor(
            reading.table,
            encoding,
            None if reading.reduction is not None else donors,
            reading.reduction,
            scaling,
            FittedTrees(trees.columns, trees.centers, trees.coordinates),
            placed.placement,
            placed.outliers,
        )
        self._weights, self._nearest, self._constraints = reading.weights, nearest, rows.constraints

    @property
    def _new_rows(self) -> Predictor:
        """What new rows need, with the settings of today."""
        return replace(self._predictor, n_jobs=self.n_jobs, limits=self._limits)

    @property
    def _rows(self) -> FittedRows:
        """The fitted rows, for diagnostics and other cuts."""
        check_is_fitted(self)
        sizes = tuple(map(len, self._predictor.trees.centers))
        arrays = self.partitions_, self.labels_, self._nearest, self._weights
        return FittedRows(*arrays, self.n_clusters_, sizes, self.n_jobs)

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
        `cannot_link`, `known_labels`, sizes). What a row gets does not depend on the other rows of X. With
        `contamination`, a row far from every cluster gets -1, even one that has a label because something was known of
        it.

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
        labels: IntArray = results_for(X).map_rows(new_rows.clusters, self._new_rows, X, np.int32)
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """How probable each cluster is for each row of X: `predict` takes the maximum.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, `n_clusters_`)
            The share of the row's companions, the fitted rows in the same cluster of a tree, that are of each cluster,
            averaged over the trees. Where another cluster has more of them than the row's own, which an ambiguous row
            may have, the row's own is raised to as much. Every row sums to 1. With `contamination`, a row that
            `predict` labels -1 has its maximum at the cluster nearest to it.
        """
        check_is_fitted(self)
        work, after = new_rows.probabilities, self.n_clusters_
        soft: FloatArray = results_for(X).map_rows(work, self._new_rows, X, np.float64, after)
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
        work, after = new_rows.mean_shares, self.n_clusters_
        shares: FloatArray = results_for(X).map_rows(work, self._new_rows, X, np.float64, after)
        return shares

    def recut(self, n_clusters: int) -> Self:
        """The same trees, cut into another number of clusters.

        No tree is made again. With `n_base_clusters="auto"` the result is what a fit with this `n_clusters` and the
        same `random_state` gives, as long as `chosen_params_["n_base_clusters"]` is the same for both. Only a fit looks
        for features that the clusters repeat: `dominant_features_` is empty. Outliers stay outliers, unless they are
        all that a cluster has: then they are that cluster.

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
        # Cut the nodes again
        nodes, rows = self._predictor.placement.nodes, self._rows
        check_enough_nodes(len(nodes), n_clusters)
        settings = self._cut_settings(int(n_clusters), self.chosen_params_)
        graph = ConsensusGraph(CpuBackend(self.n_jobs), nodes, settings)
        kept = graph.cut(settings.method)
        if self._constraints is not None:
            self._constraints.check(settings.n_clusters)
            partitions, weights = in_memory(rows.partitions), in_memory(rows.weights)
            kept = cut_with_known_classes(graph, kept, self._constraints, partitions, weights)

        # Place the rows again
        outliers, exact = self._predictor.outliers, self.chosen_params_["n_landmarks"].value is None
        again = Recut(kept, nodes, exact, self._constraints, outliers)
        placement, labels = results_for(self.labels_).place(rows, again)
        nearest = None
        if outliers is not None:  # outliers stay outliers, unless they are all that a cluster has
            nearest, outside = labels, are_outliers(outliers, rows.labels, rows.nearest)
            lost = lost_clusters(in_memory(nearest), in_memory(outside), settings.n_clusters)
            outliers = replace(outliers, spared=tuple(lost.tolist()))
            labels = without_outliers(outliers, nearest, outside)

        # A copy shares everything else
        cut = copy.copy(self)
        cut.n_clusters = cut.n_clusters_ = settings.n_clusters
        cut.chosen_params_ = self.chosen_params_ | {
            "n_clusters": Setting(settings.n_clusters, "given"),
            "consensus": kept_method(kept, named=settings.named),
        }
        cut.n_clusters_evidence_, cut.dominant_features_, cut.cut_tree_ = None, {}, kept.tree
        cut.labels_, cut._nearest = labels, nearest
        cut._predictor = replace(self._predictor, placement=placement, outliers=outliers)
        return cut

    def _cut_settings(self, n_clusters: int, chosen: dict[str, Setting]) -> CutSettings:
        """Return how the graph is cut. What was chosen may name only the cut that was kept of several."""
        named = self.consensus != "auto"
        method = self.consensus if named else automatic_consensus(chosen["trees"].value)
        threshold, scale = self.affinity_threshold, self.affinity_scale
        return CutSettings(n_clusters, method, threshold, scale, self.n_landmarks, named=named)

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
        consensus: FloatArray = results_for(self.labels_).average(own, self._rows)
        return consensus

    @property
    def cluster_shares_(self) -> FloatArray:
        """The mean share of trees in which each row is with another row of each cluster, (n_samples, `n_clusters_`)."""
        return self._diagnosed(shares_with, self.n_clusters_)

    @property
    def consensus_silhouette_(self) -> FloatArray:
        """For each row, from -1 to 1, how far its membership in its own cluster is above that in the next."""
        return self._diagnosed(FromMemberships(consensus_silhouette))

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        """Show a notebook the attributes that are stored. Memberships and others would be computed for the display."""
        shown = BaseEstimator._get_fitted_attr_html(SimpleNamespace(**vars(self)), doc_link)
        shown.estimator_class = type(self)
        return shown

    @property
    def known_clusters_(self) -> dict[Any, int]:
        """The cluster of each class of `known_labels`."""
        check_is_fitted(self)
        of_rows = None if self._constraints is None else self._constraints.of_rows
        if of_rows is None:
            return {}
        labels = in_memory(self.labels_)
        return {name: int(labels[of_rows.row_of(unit)]) for unit, name in enumerate(of_rows.classes)}

    def _diagnosed(self, work: DiagnosticWork, *after: int) -> FloatArray:
        rows = self._rows
        diagnosed: FloatArray = results_for(rows.labels).diagnose(work, rows, *after)
        return diagnosed

    def half_cuts(self, n_splits: int = N_SPLITS, *, max_rows: int = STABILITY_ROWS) -> HalfCuts:
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
        rows, limit = self._rows, max(max_rows, 2 * self.n_clusters_)
        partitions, labels, weights = results_for(rows.labels).sample(rows, limit)
        number, combine = self.n_clusters_, self._cut_again
        return half_cuts(partitions, number, combine, n_splits=n_splits, max_rows=limit, labels=labels, weights=weights)

    def stability(self, n_splits: int = N_SPLITS, *, level: float = 0.9, max_rows: int = STABILITY_ROWS) -> Stability:
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
        labels = [in_memory(cut._rows.clusters).astype(np.intp) for cut in cut_for_each(self, n_clusters)]
        weights = np.ones(len(labels[0])) if self._weights is None else in_memory(self._weights)
        encoding = self._predictor.encoding
        titles = check_names(encoding.names if names is None else names, encoding.n_features)
        if X is None:
            return build_tree(labels, weights)
        for caveat in self.check_table(X):
            warn_caller(caveat)
        values = encoding.apply(self._predictor.table, X).values
        return build_tree(labels, weights, values, encoding.columns(), titles)

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
        rows, of_rows = compared_rows(n), None if self._constraints is None else self._constraints.of_rows
        if of_rows is not None:
            rows = np.setdiff1d(rows, of_rows.rows)
        expected = in_memory(self.labels_[rows])
        if self._constraints is not None:  # sizes may have moved rows
            placed = self._predictor.placement.clusters(CpuBackend(self.n_jobs), in_memory(self.partitions_[:, rows]))
            expected = np.where(expected < 0, expected, placed)

        def predict(some: Any) -> Any:
            return in_memory(self.predict(some))

        return compare_rows(predict, X, rows, expected, has_centers=self._reading().clusterer is None)

    def encode(self, X: Any, rows: IndexArray | None = None) -> EncodedColumns:
        """The fitted table as numbers, before missing cells are filled and columns are scaled.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The fitted table, or some of its rows.
        rows : ndarray of int or None, default=None
            The rows to encode, ascending; None means all.

        Returns
        -------
        table : EncodedColumns
            `values`, NaN where a cell is missing; what each of their `columns` stands for, a feature that is a number
            or one level of a category; and the `levels` of each category.
        """
        check_is_fitted(self)
        if rows is None and is_dask(X):
            rows = np.arange(count_rows(X))
        some = None if rows is None else take_rows(X, rows)
        here = X if some is None else some
        values = self._predictor.encoding.apply(self._predictor.table, here, new=UnseenLevels()).values
        if some is None and rows is not None:  # lists, which rows are not taken of
            values = values[rows]
        encoding = self._predictor.encoding
        return EncodedColumns(values, tuple(encoding.columns()), encoding.levels)

    @property
    def sample_weight_(self) -> FloatArray | None:
        """Weights of the rows; None if they had none."""
        check_is_fitted(self)
        weights: FloatArray | None = self._weights
        return weights

    @property
    def constraints_(self) -> Constraints | None:
        """What was asked of the clusters beside their number: pairs, known classes, sizes; None if nothing was."""
        check_is_fitted(self)
        return self._constraints

    def _cut_again(self, partitions: Any, n_clusters: int) -> IntArray:
        """Other partitions, combined as the forest's were."""
        method = self.chosen_params_["consensus"].value
        method = "kway" if method in NEEDS_VALUES else method
        threshold, scale = self.affinity_threshold, self.affinity_scale
        return consensus_clustering(
            partitions, n_clusters, method=method, affinity_threshold=threshold, affinity_scale=scale
        )

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
        if self._reading().clusterer is not None:
            raise ValueError(
                f"estimator={self._reading().clusterer!r} cannot be stored in a model file: only forests of the "
                "built-in K-means (estimator=None) can be saved. Keep the labels instead, or fit with estimator=None."
            )
        rows = results_for(self.labels_).gather(self._rows)
        predictor = self._predictor if keep_rows else replace(self._predictor, donors=None)
        arrays = {"partitions_": rows.partitions, "labels_": rows.labels, "_nearest": rows.nearest}
        state = vars(self) | arrays | {"_weights": rows.weights, "_predictor": predictor}
        saved = SavedForest(type(self).__name__, self.get_params(deep=False), state, predictor.table.names)
        save_forest(saved, self._rules, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a forest that `save` wrote. It has the same parameters and attributes, and predicts the same.

        Parameters
        ----------
        path : str or path-like
            Name of the file. One that is damaged, or that `save` did not write, is refused with a ValueError.

        Returns
        -------
        forest : ClusterForest or PaperForest
            Of this class; a file of the other class is refused.
        """
        saved = load_forest(cls.__name__, cls._get_param_names(), cls._rules, path)
        forest = cls(**saved.parameters)
        for name, value in saved.state.items():
            setattr(forest, name, value)
        if saved.feature_names is not None:
            forest.feature_names_in_ = saved.feature_names
        return forest

    def estimate_memory(self, n_samples: int, n_features: int) -> MemoryEstimate:
        """Bytes that `fit` needs beyond a table of numbers, none of them missing; `fit` checks it before it starts.

        Parameters
        ----------
        n_samples, n_features : int
            Shape of the table.

        Returns
        -------
        estimate : MemoryEstimate
            `total`, the most at a time, and what goes into it by stage.
        """
        check_parameters({"n_samples": n_samples, "n_features": n_features}, dict.fromkeys(SHAPE, integer(1)))
        return estimate_memory(self._reading(), n_samples, n_features)

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
        sides = [self._chosen(name, which) for name, which in (("rows", rows), ("cols", cols))]
        P: FloatArray = results_for(self.labels_).coassociate(sides[0], sides[1], self.n_jobs)
        return P

    def _chosen(self, name: str, which: Any) -> IntArray:
        """Take the labels of some of the fitted rows."""
        every = slice(None)
        try:
            chosen: IntArray = results_for(self.labels_).choose(self.partitions_, every if which is None else which)
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
    numbers = ascending(n_clusters, len(forest._predictor.placement.nodes)) or [n_clusters[0]]
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


def _as_they_are(soft: FloatArray, labels: IndexArray) -> FloatArray:
    return soft
