"""ClusterForest: validate, call the stages, set attributes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from clusterforests._utils.memory import DEFAULT_LIMITS, SizeLimits
from clusterforests._utils.progress import ProgressBar
from clusterforests._utils.random import root_seed
from clusterforests._utils.validation import FOREST_RULES, check_parameters, integer, warn_caller
from clusterforests.backends import Backend, CpuBackend
from clusterforests.backends.any_clusterer import SklearnClusterer
from clusterforests.consensus.constraints import CONSTRAINT_RULES, Asked
from clusterforests.consensus.enforcement import lead_cut
from clusterforests.consensus.methods import METHOD_RULES, NEEDS_VALUES, ConsensusGraph, Cut
from clusterforests.consensus.nodes import Nodes, with_values
from clusterforests.feature_screening import screen_by_trees
from clusterforests.inspection.separation import dominant_features
from clusterforests.judge.choice import MOST_CLUSTERS, Fitted, asked_n_clusters, choose_n_clusters
from clusterforests.judge.evidence import NClustersEvidence
from clusterforests.predictor import FittedForest, kept_method
from clusterforests.rows.attributes import publish_columns, publish_labels, publish_trees
from clusterforests.rows.in_memory import constrain
from clusterforests.rows.memory_estimate import MemoryEstimate, estimate_memory, memory_settings
from clusterforests.rows.opening import open_rows
from clusterforests.rows.planning import Grown, plan_growth
from clusterforests.rows.protocol import Reading, Rows, Sample
from clusterforests.table.imputation import keep_donors
from clusterforests.table.reader.overrides import COLUMNS_RULE, require_names
from clusterforests.trees.forest import trees_grown
from clusterforests.trees.settings import Setting, landmarks_used

SHAPE = ("n_samples", "n_features")
COMPARED_ROWS = 5000  # by which features are compared with the clusters
MANY = 0.8  # of the clusters that trees are fine enough for: if so many are found, there may be more


class ClusterForest(FittedForest):
    """Cluster Forests (Yan, Chen and Jordan).

    Finds the features that tell the clusters, in rounds of small clusterings; makes many K-means clusterings of several
    kinds on these; counts how often two rows land together; regularises these shares; cuts the graph; refines the cut.

    Settings left at "auto" follow rules that use no labels; `chosen_params_` says what they came to. The published
    algorithm, which grows each clustering as long as new features lower kappa = SS_W / SS_B, is `PaperForest`.

    Parameters
    ----------
    n_clusters : int, "auto" or sequence of int, default="auto"
        Number of clusters, or several numbers to choose from, such as `range(2, 7)`. "auto" chooses from 1 to 50, and 1
        if the table cannot be told from tables without clusters. `recut` gives the clusters for any other number.
    n_estimators : int, default=200
        Number of clusterings in the forest (T).
    trees : {"auto", "varied", "fine", "grown"}, default="auto"
        How the clusterings are made. "varied": by one K-means each, on all features, on ranks of random features or on
        whitened random features, in turn; of more than 20 columns on their leading principal components. "fine": by
        these and by K-means with many small clusters, which see gaps between clusters of any shape. "grown": by the
        paper's Algorithms 1 and 2, feature by feature. "auto" is "grown" if a setting of growth is given
        (`features_per_draw`, `n_candidates`, `patience`, `repeat_features`, `quality`, `compete`, `estimator`), "fine"
        where at most 4 features are left to use and `n_base_clusters` is not given, and otherwise "varied".
    select_features : bool, default=True
        Whether trees use only the informative features: those that go with the clusterings of others. False lets them
        use all.
    estimator : clusterer or None, default=None
        The clusterer that makes them: any of scikit-learn's, or K-means if None. Its number of clusters and its random
        state are set if it has such parameters; the label -1 means "not clustered". `n_init` and `max_iter` apply to
        K-means only.
    scale : {"auto", "none", "standard", "range", "rank", "mixed"}, default="auto"
        How features are made comparable: not at all, divided by their standard deviation or by their range, or replaced
        by their ranks. "mixed", which "auto" means, divides by the standard deviation in some trees and takes ranks in
        others.
    n_base_clusters : int, (int, int), None or "auto", default="auto"
        Number of clusters in each clustering of the forest (n_b). A pair is a range from which each draws its own;
        None means `n_clusters`. "auto" is the range from 2 to about the square root of the number of distinct rows, at
        most 70, or twice, four times ... as much if `n_clusters` needs it: forests for other numbers of clusters are
        the same forest. Fine trees have their own: from the root to 2.5 times the root.
    features_per_draw : int or "auto", default="auto"
        Number of features that a growing tree tries at a time (b), at most all of them. "auto" is the square root of
        the number of features, at least 2, and more where features have few values.
    n_candidates : int or "auto", default="auto"
        Number of draws that compete to be a tree's first features (q). 1, which "auto" means, is no competition.
    patience : int, "all" or "auto", default="auto"
        Number of failed draws in a row after which a tree stops growing (tau_m); "auto" is 1. With "all", a tree stops
        when it has tried every feature once, in random order.
    repeat_features : bool or "auto", default="auto"
        Whether features are drawn with replacement: a feature that a tree has twice counts twice in its distances. If
        False, which "auto" means, a tree draws only features that it does not have yet.
    quality : {"auto", "centroid", "pairwise", "corrected"}, default="auto"
        What growth lowers: kappa with sums of squares about centroids, or over pairs of rows; or, with "corrected",
        which "auto" means, SS_W / SS_T * n_b^(2/d), which does not favour few features (d is the number of distinct
        ones).
    affinity_threshold : float or "auto", default="auto"
        Shares of trees below this count as 0 (beta_2). "auto" drops no share, and gives rows that are never together no
        link. Used by "kway", "refined" and "ncut".
    affinity_scale : float or "auto", default="auto"
        The graph's weights are exp(affinity_scale * share) (beta_1), at most 50; "auto" is a tenth of `n_estimators`,
        at most 10. 0 takes the shares themselves, if `affinity_threshold` is "auto". Used where that is.
    compete : {"start", "always"}, default="start"
        Whether `n_candidates` draws compete only for the first features or in every step.
    consensus : str, default="auto"
        How the graph is cut. "ncut": by the sign of the second eigenvector, then again inside the largest part. "kway":
        K-means on the leading eigenvectors. "refined": as "kway", with dense parts of the table held back; rows then
        move to where their values and their shares point together, with a normal distribution for each cluster, so that
        clusters may differ in spread and direction. "gaps": at gaps that the trees with the most clusters see, whatever
        the shape of the clusters. "gaps-or-refined": at gaps where they are clean. "average": average linkage on the
        shares. "average-trimmed": the same, but clusters of less than a tenth of an even share are left to the others.
        "medoid": of "average-trimmed", "kway" and "ncut" the one that agrees best with the other two. "auto" is
        "refined", "gaps-or-refined" if trees are "fine", or "kway" if they are "grown".
    n_init : int or "auto", default="auto"
        Number of random starts of each K-means (n_rst). Of several, the best is polished until moving no single row
        improves it. 1, which "auto" means, is one quick start.
    max_iter : int, default=200
        Maximum number of Lloyd iterations in each start (n_it).
    max_samples : int, None or "auto", default="auto"
        Number of distinct rows, chosen at random, on which trees are made. The features that a grown tree arrives at
        are then clustered on all rows. None makes trees on all rows; "auto" is 512, or 1,024 if trees are "fine".
    n_landmarks : int, None or "auto", default="auto"
        Largest number of distinct rows of labels whose graph is cut as it is. Where there are more, this many landmarks
        stand for all of them, and every row goes where its links with the landmarks lead. None cuts the graph of all
        rows, however many. "auto" cuts up to 5,000 (20,000 with "kway", "refined" and the cuts named "ncut..."), and
        otherwise 2,000 landmarks.
    min_cluster_size, max_cluster_size : int, float or None, default=None
        Least and largest size of a cluster: in rows, or weights of rows; a number between 0 and 1 is a share of them.
        Rows move to other clusters at the least cost to their shares of trees. A number of clusters that is chosen is
        one that can have these sizes; sizes that a given one cannot have are refused.
    outliers : "auto", float or None, default=None
        Rows that belong to no cluster, label -1: with "auto", those so far from every cluster, by its own spread, that
        one in a thousand rows of normal clusters is; with a share, so many of the farthest. None gives every row a
        label. See docs/outliers.md.
    columns : dict or None, default=None
        What columns of a frame hold, by their names, where `columns_` shows that they were read otherwise: "number",
        "ordered", "category", "yes/no" or "date"; "number, decimal comma" or "number, decimal point"; "date, day first"
        or "date, month first"; a list of levels from low to high; "id" or "ignore" to leave a column out.
    n_jobs : int or None, default=None
        Number of threads. None means 1; -1 means all cores that the process may use (by its affinity, its container,
        LOKY_MAX_CPU_COUNT, OMP_NUM_THREADS and threadpoolctl), or 1 inside a joblib worker or a Dask task. It never
        changes the result.
    backend : {"auto", "cpu", "gpu"}, default="auto"
        Where the rows of a large table (more than 65,536) are read: on this machine's cores, or on an NVIDIA GPU, which
        needs CuPy. "auto" means where X is. Smaller tables are always fitted on the cores. The result is the same.
    random_state : int, RandomState, Generator or None, default=None
        Determines everything random. The same value gives the same result, bit for bit.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row; cluster 0 is the largest. -1 for `outliers`.
    n_clusters_ : int
        Number of clusters.
    partitions_ : ndarray of shape (n_estimators, n_samples)
        Labels of the rows in each clustering of the forest. Trees that cannot be grown (too few distinct rows, an error
        of `estimator`) are left out with a warning; `chosen_params_["n_estimators"]` says how many there are.
    estimators_features_ : list of ndarray
        Features of each clustering; one listed twice counts twice.
    kappas_ : ndarray of shape (n_estimators,)
        The kappa that each clustering reached.
    kappa_path_ : ndarray of shape (n_estimators, n_rounds)
        The kappa after the first draw and after each round of growth, on the rows that trees grow on; NaN in rounds
        after a tree has stopped.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        How much each feature tells: the share of its variance that lies between the clusters of small clusterings
        which did not use it, above what shuffled rows give, on average. 0 for features that do not pass the test
        (Benjamini and Hochberg's, at 1 %).
    feature_pvalues_ : ndarray of shape (`n_features_in_`,)
        The probability that a feature which has nothing to do with the others does as well. 1 if every clustering used
        the feature. Noise features that go with each other have low ones too: they vouch for each other.
    memberships_ : ndarray of shape (n_samples, `n_clusters_`)
        Soft membership of each row in each cluster: the share of its companions, the other rows in the same cluster of
        a tree, that are of the cluster, averaged over the trees. Sums to 1; that of an ambiguous row may be highest in
        another cluster than its own.
    item_consensus_, consensus_silhouette_ : ndarray of shape (n_samples,)
        How surely each row belongs: its membership in its own cluster, and from -1 to 1 how far that is above the one
        in the next.
    cluster_consensus_ : ndarray of shape (`n_clusters_`,)
        The mean membership of a cluster's rows in it.
    cluster_shares_ : ndarray of shape (n_samples, `n_clusters_`)
        The mean share of trees in which each row is with another row of each cluster.
    dominant_features_ : dict of int to float
        Features of few values that the clusters only repeat, with the adjusted Rand index of the two, at least 0.9;
        `fit` warns of them.
    n_clusters_evidence_ : NClustersEvidence or None
        What `n_clusters` was chosen by, if it was chosen.
    columns_ : tuple of ColumnReading
        How each column of a frame was read, and why: numbers, dates, words with an order, categories, and those that
        were left out. Empty for arrays of numbers.
    chosen_params_ : dict of str to Setting
        For every setting that may be "auto", and for `n_estimators`: its `value`, as it was used, and the `reason`.
    cut_tree_ : CutTree or None
        How the graph was cut; only with `consensus="ncut"`, otherwise None.
    n_iter_ : int
        Rounds of growth, the first draw included.
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

    _limits: ClassVar[SizeLimits] = DEFAULT_LIMITS

    def __init__(
        self,
        n_clusters: int | str | Sequence[int] = "auto",
        *,
        n_estimators: int = 200,
        trees: str = "auto",
        select_features: bool = True,
        estimator: Any = None,
        scale: str = "auto",
        n_base_clusters: int | tuple[int, int] | str | None = "auto",
        features_per_draw: int | str = "auto",
        n_candidates: int | str = "auto",
        patience: int | str = "auto",
        repeat_features: bool | str = "auto",
        quality: str = "auto",
        affinity_threshold: float | str = "auto",
        affinity_scale: float | str = "auto",
        compete: str = "start",
        consensus: str = "auto",
        n_init: int | str = "auto",
        max_iter: int = 200,
        max_samples: int | str | None = "auto",
        n_landmarks: int | str | None = "auto",
        min_cluster_size: float | None = None,
        max_cluster_size: float | None = None,
        outliers: float | str | None = None,
        columns: Mapping[Any, Any] | None = None,
        n_jobs: int | None = None,
        backend: str = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.trees = trees
        self.select_features = select_features
        self.estimator = estimator
        self.scale = scale
        self.n_base_clusters = n_base_clusters
        self.features_per_draw = features_per_draw
        self.n_candidates = n_candidates
        self.patience = patience
        self.repeat_features = repeat_features
        self.quality = quality
        self.affinity_threshold = affinity_threshold
        self.affinity_scale = affinity_scale
        self.compete = compete
        self.consensus = consensus
        self.n_init = n_init
        self.max_iter = max_iter
        self.max_samples = max_samples
        self.n_landmarks = n_landmarks
        self.min_cluster_size = min_cluster_size
        self.max_cluster_size = max_cluster_size
        self.outliers = outliers
        self.columns = columns
        self.n_jobs = n_jobs
        self.backend = backend
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
            frames are inspected: `columns_` says what each was read as, and a warning which are left out (identifiers,
            free text, constants, running numbers); `columns` overrules it. Missing cells (NaN, None, NA, null) are
            filled from similar rows; no row is dropped. More than 65,536 rows of numbers, none missing, are read in
            blocks and never copied as a whole.
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
        check_parameters(vars(self), {**FOREST_RULES, **METHOD_RULES, **CONSTRAINT_RULES, "columns": COLUMNS_RULE})
        if self.columns:
            require_names(self.columns, X)
        asked = Asked(self.min_cluster_size, self.max_cluster_size, must_link, cannot_link, known_labels, self.outliers)
        before = vars(self).copy()
        try:
            with ProgressBar(self.n_estimators, bool(self.verbose)) as bar:
                self._fit(X, sample_weight, asked, bar)
        except BaseException:
            self.__dict__ = before  # nothing is left of a fit that was not finished
            raise
        return self

    def _fit(self, X: Any, sample_weight: Any, asked: Asked, bar: ProgressBar) -> None:
        """Run the stages of Algorithm 3."""
        bar.stage("reading the table")
        rows = constrain(self, open_rows(self, X, sample_weight), asked)  # read
        seed = root_seed(self.random_state)
        rows.report_to(bar.read)
        sample = rows.sample(seed)
        number, candidates = asked_n_clusters(self.n_clusters, self.n_landmarks, len(sample.distinct.rows), rows.n_rows)
        if rows.constraints is not None:
            number, candidates = rows.constraints.allow(number, candidates)
        grown = self._grow(rows, sample, number.value, seed, bar)  # choose, grow, label: lines 1 to 3
        evidence = None
        if candidates:
            number, evidence, grown = self._choose_n_clusters(rows, sample, candidates, grown, seed, bar)
        plan, chosen, screening, _ = grown.choices
        chosen["n_clusters"] = number
        settings = self._cut_settings(chosen, number.value)
        bar.stage("cutting the graph")
        graph = ConsensusGraph(rows.backend, grown.nodes.signatures, settings)  # affinity: lines 4 to 7
        kept = graph.cut(settings.method)  # cut: line 8
        if rows.constraints is not None:
            kept = lead_cut(graph, kept, rows.constraints, grown.labels_of_sample, sample.weights)
        bar.stage("placing the rows")
        placement, labels = rows.place(grown.labelled, grown.nodes, kept)  # place
        self._publish_settings(rows.reading, chosen, evidence, kept, grown.nodes)  # publish
        self._donors = rows.reading.donors or keep_donors(sample.table, sample.distinct)
        if screening is None:
            bar.stage("scoring the features")
            screening = screen_by_trees(
                sample.table, sample.distinct, grown.labels_of_sample, grown.forest.features, seed
            )
        publish_trees(self, rows, plan, grown.labelled.forest, screening)
        publish_labels(self, rows, plan, placement, labels)
        self.cut_tree_ = kept.tree
        labels_of_sample = self._placement.clusters(rows.backend, grown.labels_of_sample[:, :COMPARED_ROWS])
        bar.done(f"{rows.n_rows} rows in {settings.n_clusters} clusters by {len(grown.forest.features)} trees")
        self._warn(rows.backend, chosen)
        if self._reduction is not None:
            publish_columns(self, X, self._reduction)
            return
        alone = number.value == len(sample.distinct.rows)  # if each row is a cluster, nothing is repeated
        self._publish_repeated({} if alone else dominant_features(sample.table, labels_of_sample, sample.weights))

    def _grow(self, rows: Rows, sample: Sample, n_clusters: int, seed: int, bar: ProgressBar) -> Grown:
        """Make trees that are fine enough for so many clusters, label all rows by them and choose the nodes."""
        bar.stage("finding the features that tell")
        choices = plan_growth(vars(self), sample, n_clusters, seed, rows.reading.reduction)
        forest = rows.grow(choices.plan, bar.grown)  # grow: lines 1 and 2
        choices.chosen["n_estimators"] = trees_grown(forest, choices.plan.settings)
        bar.stage("labelling the rows")
        labelled = rows.label(forest, choices.plan.scaling, sample)  # label: line 3
        settings = self._cut_settings(choices.chosen, n_clusters)
        nodes = rows.nodes(labelled, sample, settings, seed)  # rows with the same labels, or landmarks
        grown = Grown(choices, forest, labelled, nodes)
        if choices.plan.varied is None or settings.method not in NEEDS_VALUES:
            return grown
        values = choices.plan.whole_rows
        return grown._replace(nodes=with_values(nodes, grown.labels_of_sample, sample.weights, values))

    def _make_backend(self) -> Backend:
        if self.estimator is None:
            return CpuBackend(self.n_jobs)
        return SklearnClusterer(self.estimator, self.n_jobs)

    def _warn(self, backend: Backend, chosen: Mapping[str, Setting]) -> None:
        """Say which trees could not be grown."""
        if chosen["n_estimators"].value < self.n_estimators:
            warn_caller(chosen["n_estimators"].reason)
        if isinstance(backend, SklearnClusterer):
            backend.warn_of_failures()

    def _publish_settings(
        self,
        reading: Reading,
        chosen: dict[str, Setting],
        evidence: NClustersEvidence | None,
        kept: Cut,
        nodes: Nodes,
    ) -> None:
        """Set the attributes that say how the table was read and what was chosen."""
        chosen["consensus"] = kept_method(kept, named=self.consensus != "auto")
        chosen["n_landmarks"] = landmarks_used(self.n_landmarks, nodes.n_landmarks)
        chosen["backend"] = reading.read_on
        self.chosen_params_ = chosen
        self.n_clusters_ = chosen["n_clusters"].value
        self._encoding, self._weights, self._reduction = reading.encoding, reading.weights, reading.reduction
        numbered = self._encoding.numbered
        self.n_clusters_evidence_ = evidence and replace(evidence, columns=numbered(evidence.columns))

    def _publish_repeated(self, repeated: dict[int, float]) -> None:
        """Say which features the clusters only repeat."""
        self.dominant_features_ = {self._encoding.features[place]: index for place, index in repeated.items()}
        for feature, index in self.dominant_features_.items():
            warn_caller(
                f"The clusters repeat {self._encoding.describe(feature)} (adjusted Rand index {index:.2f}): its values "
                "are the clusters. To find others, leave it out."
            )

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
        threads = CpuBackend(self.n_jobs).threads
        return estimate_memory(n_samples, n_features, **memory_settings(self), threads=threads)

    def _choose_n_clusters(
        self, rows: Rows, sample: Sample, candidates: list[int], grown: Grown, seed: int, bar: ProgressBar
    ) -> tuple[Setting, NClustersEvidence, Grown]:
        """Choose the number of clusters, with finer trees where many clusters are likely."""
        while True:
            bar.stage("choosing the number of clusters")
            plan, chosen, _, rare_groups = grown.choices
            enough = int(np.max(chosen["n_base_clusters"].value or MOST_CLUSTERS)) - 2
            if self.n_base_clusters != "auto" and not isinstance(self.n_clusters, str):
                enough = candidates[-1]  # whoever gives both has every number judged
            judged = [k for k in candidates if k <= max(enough, candidates[0])]
            fine = chosen["trees"].value == "fine"
            fitted = Fitted(plan, sample.table, sample.distinct, rare_groups, grown.labels_of_sample, fine)
            settings = self._cut_settings(chosen, candidates[0])
            found = choose_n_clusters(self._make_backend(), fitted, judged, settings, seed)
            if self.n_base_clusters != "auto" or judged == candidates or found.n_clusters < MANY * enough:
                return Setting(found.n_clusters, found.reason), found, grown
            grown = self._grow(rows, sample, enough + 1, seed, bar)
