"""ClusterForest: read the table, make trees, cut, place, set the attributes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from clusterforests._utils.arrays import FloatArray
from clusterforests._utils.devices import in_memory
from clusterforests._utils.progress import ProgressBar
from clusterforests._utils.random import root_seed
from clusterforests._utils.validation import FOREST_RULES, Rule, check_parameters, warn_caller
from clusterforests.backends import CpuBackend
from clusterforests.consensus.constraints import CONSTRAINT_RULES, Constraints, RequestedConstraints
from clusterforests.consensus.enforcement import cut_with_known_classes
from clusterforests.consensus.methods import METHOD_RULES, NEEDS_VALUES, ConsensusGraph
from clusterforests.consensus.nodes import Nodes, with_values
from clusterforests.consensus.outliers import OUTLIER, check_left, find_outliers
from clusterforests.consensus.placement import renumber_by_size
from clusterforests.feature_screening import screen_by_trees
from clusterforests.fitted_forest import FittedForest, PlacedRows
from clusterforests.inspection.separation import dominant_features
from clusterforests.judge.choice import Fitted, choose_n_clusters
from clusterforests.judge.evidence import NClustersEvidence
from clusterforests.rows.opening import constrain, open_rows
from clusterforests.rows.protocol import LabelledForest, ReadingSettings, Rows
from clusterforests.table.imputation import keep_donors
from clusterforests.trees.forest import KMeansPlan, n_estimators_setting
from clusterforests.trees.planning import PlannedForest, Sample, plan_forest
from clusterforests.trees.settings import MOST_CLUSTERS, ForestSettings, Setting, landmarks_used, validate_n_clusters

DOMINANCE_ROWS = 5000  # by which features are compared with the clusters
NEAR_LIMIT = 0.8  # of the clusters that trees are fine enough for: if so many are found, there may be more


class MadeTrees(NamedTuple):
    """The plan of the trees, the trees with the labels of all rows, and the nodes of their graph."""

    planned: PlannedForest
    labelled: LabelledForest
    nodes: Nodes


class ClusterForest(FittedForest):
    """Cluster Forests: consensus clustering of tables with many features, some of them noise.

    Screens the features without labels; fits many small K-means clusterings of several kinds, the trees, on the
    informative ones; counts how often two rows are in the same cluster of a tree; cuts the graph of these shares, and
    refines the cut.

    Parameters left at "auto" are set from the data, never from labels; `chosen_params_` says to what, and why. The
    published algorithm, which grows each tree as long as new features lower kappa = SS_W / SS_B, is `PaperForest`.

    Parameters
    ----------
    n_clusters : int, "auto" or sequence of int, default="auto"
        Number of clusters, or several numbers to choose from, such as `range(2, 7)`. "auto" chooses from 1 to 50, and 1
        if the table shows no evidence of more than one cluster. `recut` gives the clusters for any other number.
    n_estimators : int, default=200
        Number of trees in the forest (T).
    trees : {"auto", "varied", "fine"}, default="auto"
        The kinds of trees. "varied": K-means on all features, on ranks of random features and on whitened random
        features, in rotation; of more than 20 columns on their leading principal components. "fine": these, and K-means
        with many small clusters, which follow gaps between clusters of any shape. "auto" is "fine" where at most 4
        features are left to use and `n_base_clusters` is not given, and otherwise "varied".
    select_features : bool, default=True
        Whether trees use only the informative features: those that agree with clusterings of the others. False lets
        them use all.
    scale : {"auto", "none", "standard", "range", "rank", "mixed"}, default="auto"
        How features are made comparable: not at all, divided by their standard deviation or by their range, or replaced
        by their ranks. "mixed", which "auto" means, divides by the standard deviation in some trees and takes ranks in
        others.
    n_base_clusters : int, (int, int), None or "auto", default="auto"
        Number of clusters in each tree (n_b). A pair is a range from which each tree draws its own; None means
        `n_clusters`. "auto" is the range from 2 to about the square root of the number of distinct rows, at most 70, or
        twice, four times, ... as much if `n_clusters` needs it. Fine trees have their own: from the root to 2.5 times
        the root.
    consensus : str, default="auto"
        How the graph is cut. "refined": by K-means on the leading eigenvectors, dense parts of the table no sooner than
        others; rows then move to where their values and their shares point together, with a normal distribution for
        each cluster. "gaps": at gaps that the trees with the most clusters see, whatever the shape of the clusters.
        "gaps-or-refined": at gaps where the graph separates cleanly, and otherwise "refined". "kway": by K-means on the
        leading eigenvectors. "ncut": recursively, by the sign of the second eigenvector, as in the paper. "average":
        average linkage of the shares. "average-trimmed": average linkage in which clusters of less than a tenth of an
        even share are left to the others. "medoid": of "average-trimmed", "kway" and "ncut" the one that agrees best
        with the other two. "auto" is "refined", or "gaps-or-refined" if trees are "fine".
    max_samples : int, None or "auto", default="auto"
        Number of distinct rows, chosen at random, on which trees are fitted; every row then gets its nearest centre.
        None takes all rows; "auto" is 512, or 1,024 if trees are "fine".
    n_landmarks : int, None or "auto", default="auto"
        Largest number of distinct rows of labels whose graph is cut as it is. Where there are more, this many landmarks
        represent all of them, and every row goes where its links with the landmarks lead. None cuts the graph of all
        rows, however many. "auto" cuts up to 5,000 (20,000 with "kway", "refined" and "ncut"), and otherwise 2,000
        landmarks.
    min_cluster_size, max_cluster_size : int, float or None, default=None
        Least and largest size of a cluster: in rows, or weights of rows; a number between 0 and 1 is a fraction of
        them. Rows move to other clusters at the least cost to their shares. Sizes that a given number of clusters
        cannot have are refused; a number that is chosen is one that can have them.
    contamination : "auto", float or None, default=None
        Rows that belong to no cluster, label -1: with "auto", those so far from every cluster, by its own spread, that
        one in a thousand rows of normal clusters is; with a fraction, so many of the farthest. None gives every row a
        label. See docs/outliers.md.
    n_jobs : int or None, default=None
        Number of threads. None means 1; -1 means all cores that the process may use (by its affinity, its container,
        LOKY_MAX_CPU_COUNT, OMP_NUM_THREADS and threadpoolctl), or 1 inside a joblib worker or a Dask task. It never
        changes the result.
    device : {"auto", "cpu", "gpu"}, default="auto"
        Where the rows of a large table (more than 65,536) are read: on this machine's cores, or on an NVIDIA GPU, which
        needs CuPy. "auto" means where X is. Smaller tables are always fitted on the cores. The result is the same.
    random_state : int, RandomState, Generator or None, default=None
        Determines everything random. The same value gives the same result, bit for bit.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row; cluster 0 is the largest. -1 for outliers.
    n_clusters_ : int
        Number of clusters.
    partitions_ : ndarray of shape (n_estimators, n_samples)
        Labels of the rows in each tree. Trees that cannot be made (too few distinct rows) are left out with a warning;
        `chosen_params_["n_estimators"]` says how many there are.
    estimators_features_ : list of ndarray
        Features of each tree.
    kappas_ : ndarray of shape (n_estimators,)
        kappa = SS_W / SS_B of each tree.
    kappa_path_ : ndarray of shape (n_estimators, `n_iter_`)
        kappa of each tree after each round of growth: one round here, more in `PaperForest`.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        The fraction of each feature's variance that lies between the clusters of small clusterings which did not use
        it, above what shuffled rows give, on average. 0 for features that are not informative (Benjamini and
        Hochberg's test, at 1 %).
    feature_pvalues_ : ndarray of shape (`n_features_in_`,)
        The probability that a feature which has nothing to do with the others does as well. 1 if every clustering used
        the feature. Noise features that are correlated with each other have low ones too.
    memberships_ : ndarray of shape (n_samples, `n_clusters_`)
        Soft membership of each row in each cluster: the fraction of its companions, the other rows in its cluster of a
        tree, that are of the cluster, averaged over the trees. Sums to 1; that of an ambiguous row may be highest in
        another cluster than its own. `predict_proba` is another number, whose maximum is the label.
    item_consensus_, consensus_silhouette_ : ndarray of shape (n_samples,)
        How confident the assignment of each row is: its membership in its own cluster, and from -1 to 1 how far that is
        above the one in the next.
    cluster_consensus_ : ndarray of shape (`n_clusters_`,)
        The mean membership of a cluster's rows in it.
    cluster_shares_ : ndarray of shape (n_samples, `n_clusters_`)
        The mean share of trees in which each row is with another row of each cluster.
    dominant_features_ : dict of int to float
        Features of few values that the clusters only repeat, with the adjusted Rand index of the two, at least 0.9;
        `fit` warns of them.
    n_clusters_evidence_ : NClustersEvidence or None
        What `n_clusters` was chosen by, if it was chosen.
    known_clusters_ : dict
        The cluster of each class of `known_labels`.
    chosen_params_ : dict of str to Setting
        For every parameter that may be "auto", and for `n_estimators`: its `value`, as it was used, and the `reason`.
    cut_tree_ : CutTree or None
        How the graph was cut; only with `consensus="ncut"`, otherwise None.
    n_iter_ : int
        Rounds of growth: 1.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had any.

    References
    ----------
    D. Yan, A. Chen, M. I. Jordan. Cluster Forests. Computational Statistics & Data Analysis 66 (2013), 178-192.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from clusterforests import ClusterForest
    >>> X, y = load_wine(return_X_y=True)
    >>> ClusterForest(n_clusters=3, random_state=0).fit_predict(X).shape
    (178,)
    """

    _rules: ClassVar[dict[str, Rule]] = {**FOREST_RULES, **METHOD_RULES, **CONSTRAINT_RULES}

    def __init__(
        self,
        n_clusters: int | str | Sequence[int] = "auto",
        *,
        n_estimators: int = 200,
        trees: str = "auto",
        select_features: bool = True,
        scale: str = "auto",
        n_base_clusters: int | tuple[int, int] | str | None = "auto",
        consensus: str = "auto",
        max_samples: int | str | None = "auto",
        n_landmarks: int | str | None = "auto",
        min_cluster_size: float | None = None,
        max_cluster_size: float | None = None,
        contamination: float | str | None = None,
        n_jobs: int | None = None,
        device: str = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.trees = trees
        self.select_features = select_features
        self.scale = scale
        self.n_base_clusters = n_base_clusters
        self.consensus = consensus
        self.max_samples = max_samples
        self.n_landmarks = n_landmarks
        self.min_cluster_size = min_cluster_size
        self.max_cluster_size = max_cluster_size
        self.contamination = contamination
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        known_labels: Any = None,
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            An array, a pandas or polars frame, an Arrow table or a scipy sparse table; rows are samples. The columns of
            frames hold numbers, booleans, dates or categories, ordered or not; `TableReader` makes such columns of
            text. Missing cells (NaN, None, NA, null) are filled from similar rows; no row and no column is dropped.
            More than 65,536 rows of numbers, none missing, are read in blocks and never copied as a whole.
            A wide sparse table, such as words of texts, is reduced to components, unless `scale` is given.
            Or an array on an NVIDIA GPU, of CuPy or torch: `labels_` and `partitions_` are then such arrays.
            Or a Dask array or frame: the work is then done where its partitions are, and `labels_`, `partitions_` and
            what else has an entry for each row are Dask arrays.
        y : ignored
            Classes that are known for some rows are `known_labels`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: one of weight 3 counts like three equal rows, one of weight 0 is labelled but has no
            say. Where `n_clusters` is chosen, it is from the different rows that have a weight.
        must_link, cannot_link : array-like of shape (n_pairs, 2) or None, default=None
            Pairs of row positions, from 0, that end in the same cluster, or in different ones. `labels_` keeps every
            pair; pairs that contradict each other, or that `n_clusters` clusters cannot keep, are refused. `predict`
            does not know them. Only for tables that are fitted in memory as a whole.
        known_labels : array-like of shape (n_samples,) or None, default=None
            The class of rows where it is known, -1, None or NaN where not. Each class is a cluster of its own, which
            `known_clusters_` names, and attracts the rows nearest to it in the trees. There may be clusters beside
            the classes.

        Returns
        -------
        self : ClusterForest
        """
        check_parameters(vars(self), self._rules)
        sizes = self.min_cluster_size, self.max_cluster_size
        asked = RequestedConstraints(*sizes, must_link, cannot_link, known_labels, self.contamination)
        with ProgressBar(self.n_estimators, bool(self.verbose)) as bar:
            self._fit(X, sample_weight, asked, bar)
        return self

    def _fit(self, X: Any, sample_weight: Any, asked: RequestedConstraints, bar: ProgressBar) -> None:
        """Run the stages. Each takes values and returns values; the attributes are set at the end."""
        # Read the table as numbers. Of a large one a sample stands for all rows until the trees are made.
        bar.stage("reading the table")
        rows = constrain(open_rows(self._reading(), X, sample_weight), asked, self._limits.large_rows)
        rows.report_to(bar.read)
        seed = root_seed(self.random_state)
        sample = rows.sample(seed)
        number, candidates = validate_n_clusters(self.n_clusters, len(sample.distinct.rows), rows.n_rows)
        if rows.constraints is not None:
            number, candidates = rows.constraints.allow(number, candidates)

        # Screen the features, make the trees, label all rows by them (Algorithm 3, lines 1 to 3), choose K if asked to.
        made, evidence = self._make_trees(rows, sample, number.value, seed, bar), None
        if candidates:
            number, evidence, made = self._choose_n_clusters(rows, sample, candidates, made, seed, bar)
        chosen = made.planned.chosen | {"n_clusters": number}

        # Regularise the shares of trees in which rows are together, and cut their graph (lines 4 to 8).
        bar.stage("cutting the graph")
        settings = self._cut_settings(number.value, chosen)
        graph = ConsensusGraph(rows.backend, made.nodes.signatures, settings)
        kept = graph.cut(settings.method)
        if rows.constraints is not None:
            kept = cut_with_known_classes(graph, kept, rows.constraints, made.labelled.labels_of_sample, sample.weights)

        # Every row goes to the cluster to which its links with the nodes lead it, or to none.
        bar.stage("placing the rows")
        placed = PlacedRows(*rows.place(made.labelled, made.nodes, kept))
        if self.contamination is not None:
            placed = set_apart(made.planned.plan, placed, self.contamination, rows.constraints)

        # What the features have to do with the clusters.
        screening, labels_of_sample = made.planned.screening, made.labelled.labels_of_sample
        if screening is None:
            bar.stage("scoring the features")
            features = made.labelled.forest.features
            screening = screen_by_trees(sample.table, sample.distinct, labels_of_sample, features, seed)
        dominant = {}
        if rows.reading.reduction is None and number.value < len(sample.distinct.rows):
            labels = placed.placement.clusters(rows.backend, labels_of_sample[:, :DOMINANCE_ROWS])
            dominant = dominant_features(sample.table, labels, sample.weights)
        bar.done(f"{rows.n_rows} rows in {number.value} clusters by {len(made.labelled.forest.features)} trees")

        # Say what the user should know, then set the attributes.
        encoding = rows.reading.encoding
        if chosen["n_estimators"].value < self.n_estimators:
            warn_caller(chosen["n_estimators"].reason)
        for feature, index in dominant.items():
            warn_caller(
                f"The clusters repeat {encoding.describe(feature)} (adjusted Rand index {index:.2f}): its values are "
                "the clusters. To find others, leave it out."
            )
        chosen["n_landmarks"] = landmarks_used(self.n_landmarks, made.nodes.n_landmarks)
        chosen["device"] = rows.reading.device
        donors = rows.reading.donors or keep_donors(sample.table, sample.distinct)
        reduction, importances = rows.reading.reduction, None
        if reduction is not None:  # of the columns of a wide sparse table, whose components the trees saw
            clusters = placed.labels if placed.nearest is None else placed.nearest
            importances = reduction.importances(X, in_memory(clusters))
        trees = made.labelled.forest
        scaling = replace(made.planned.plan.scaling, sources=made.planned.plan.sources)
        self._set_attributes(rows, scaling, trees, placed, kept, screening, donors, chosen)
        self.dominant_features_ = dominant
        self.n_clusters_evidence_ = evidence
        if importances is not None:
            self._set_columns(importances)

    def _make_trees(self, rows: Rows, sample: Sample, n_clusters: int, seed: int, bar: ProgressBar) -> MadeTrees:
        """Make trees that are fine enough for so many clusters, label all rows by them and choose the nodes."""
        bar.stage("screening the features")
        given = ForestSettings(
            self.n_estimators,
            self.trees,
            self.select_features,
            self.scale,
            self.n_base_clusters,
            self.consensus,
            self.max_samples,
        )
        planned = plan_forest(given, sample, n_clusters, seed, rows.backend.threads, rows.reading.reduction)
        plan = planned.plan
        bar.stage("making the trees and labelling the rows")
        forest = rows.make_trees(plan, bar.grown)
        planned.chosen["n_estimators"] = n_estimators_setting(plan.n_trees, forest, plan.why_dropped())
        labelled = rows.label(forest, plan.scaling, sample)
        settings = self._cut_settings(n_clusters, planned.chosen)
        nodes = rows.nodes(labelled, sample, settings, seed)
        if settings.method in NEEDS_VALUES:
            nodes = with_values(nodes, labelled.labels_of_sample, sample.weights, plan.scale_rows)
        return MadeTrees(planned, labelled, nodes)

    def _choose_n_clusters(
        self, rows: Rows, sample: Sample, candidates: list[int], made: MadeTrees, seed: int, bar: ProgressBar
    ) -> tuple[Setting, NClustersEvidence, MadeTrees]:
        """Choose the number of clusters, with finer trees where many clusters are likely."""
        while True:
            bar.stage("choosing the number of clusters")
            plan, chosen, _, rare_groups = made.planned
            enough = int(np.max(chosen["n_base_clusters"].value or MOST_CLUSTERS)) - 2
            if self.n_base_clusters != "auto" and not isinstance(self.n_clusters, str):
                enough = candidates[-1]  # whoever gives both has every number judged
            judged = [k for k in candidates if k <= max(enough, candidates[0])]
            fine, labels = chosen["trees"].value == "fine", made.labelled.labels_of_sample
            fitted = Fitted(plan, sample.table, sample.distinct, rare_groups, labels, fine)
            settings = self._cut_settings(candidates[0], chosen)
            found = choose_n_clusters(CpuBackend(self.n_jobs), fitted, judged, settings, seed)
            if self.n_base_clusters != "auto" or judged == candidates or found.n_clusters < NEAR_LIMIT * enough:
                return Setting(found.n_clusters, found.reason), found, made
            made = self._make_trees(rows, sample, enough + 1, seed, bar)

    def _set_columns(self, importances: FloatArray) -> None:
        """Set what is said of the columns of a wide sparse table: every tree uses all, and none was tested."""
        everything = np.arange(self.n_features_in_, dtype=np.int32)
        self.estimators_features_ = [everything] * len(self.estimators_features_)
        self.feature_importances_, self.feature_pvalues_ = importances, np.full(self.n_features_in_, np.nan)
        if self.n_clusters_evidence_ is not None:
            self.n_clusters_evidence_ = replace(self.n_clusters_evidence_, columns=everything.astype(np.intp))

    def _reading(self) -> ReadingSettings:
        """Return what decides how rows are read."""
        return ReadingSettings(
            n_estimators=self.n_estimators,
            consensus=self.consensus,
            scale=self.scale,
            max_samples=self.max_samples,
            n_landmarks=self.n_landmarks,
            device=self.device,
            n_jobs=self.n_jobs,
            limits=self._limits,
        )


def set_apart(
    plan: KMeansPlan, placed: PlacedRows, contamination: float | str, constraints: Constraints | None
) -> PlacedRows:
    """Find the rows that belong to no cluster, if any can. Rows of which the user knows something are none of them."""
    labels = placed.labels
    values = plan.scale_rows(np.arange(len(labels)))
    found = find_outliers(values, plan.trees.all_features, labels, plan.weights, contamination)
    if found is None:
        return placed
    rule, outside = found
    if constraints is not None and constraints.of_rows is not None:
        outside[constraints.of_rows.rows] = False
    check_left(labels, outside, len(placed.placement.group_to_cluster), contamination)

    # Clusters are named by the size that is left.
    weights = np.ones(len(labels)) if plan.weights is None else plan.weights
    placement, nearest = renumber_by_size(placed.placement, labels, np.where(outside, 0.0, weights))
    return PlacedRows(placement, np.where(outside, np.int32(OUTLIER), nearest), nearest, rule)
