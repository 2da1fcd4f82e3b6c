"""PaperForest: the published algorithm, with the parameters of the paper."""

from typing import Any, ClassVar, Self

from clusterforests._utils.progress import ProgressBar
from clusterforests._utils.random import root_seed
from clusterforests._utils.validation import PAPER_RULES, Rule, check_parameters, warn_caller
from clusterforests.backends.any_clusterer import SklearnClusterer
from clusterforests.consensus.methods import METHOD_RULES, ConsensusGraph
from clusterforests.feature_screening import screen_by_trees
from clusterforests.fitted_forest import FittedForest, PlacedRows
from clusterforests.rows.opening import open_rows
from clusterforests.rows.protocol import ReadingSettings
from clusterforests.table.imputation import keep_donors
from clusterforests.table.scaling import Scaling, fit_scaling
from clusterforests.trees.forest import GrowthPlan, n_estimators_setting, sample_rows
from clusterforests.trees.growth import GrowthSettings, why_dropped
from clusterforests.trees.settings import (
    Setting,
    check_n_base_clusters,
    clusters_of_trees,
    landmarks_used,
    validate_n_clusters,
)


class PaperForest(FittedForest):
    """Cluster Forests as published (Yan, Chen and Jordan, 2013): Algorithms 1, 2 and 3.

    Each clustering of the forest grows feature by feature, as long as new features lower kappa = SS_W / SS_B. How often
    two rows land together is the affinity of a graph, which normalised cuts divide into clusters. `ClusterForest` is
    what we recommend for use; this class is what the paper says.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters (K).
    n_estimators : int, default=100
        Number of clusterings in the forest (T).
    estimator : clusterer or None, default=None
        What makes the clusterings: any clusterer of scikit-learn's, or K-means if None. Its number of clusters and its
        random state are set if it has such parameters; the label -1 means "not clustered". `n_init` and `max_iter`
        apply to K-means only.
    scale : {"none", "standard", "range", "rank", "mixed"}, default="none"
        How features are made comparable: not at all, divided by their standard deviation or by their range, or replaced
        by their ranks. "mixed" divides by the standard deviation in some trees and takes ranks in others.
    n_base_clusters : int, (int, int) or None, default=None
        Number of clusters in each clustering of the forest. A pair is a range from which each draws its own; None means
        `n_clusters`.
    features_per_draw : int, default=2
        Number of features that a growing tree tries at a time (b), at most all of them.
    n_candidates : int, default=1
        Number of draws that compete to be a tree's first features (q). 1 is no competition.
    patience : int or "all", default=3
        Number of failed draws in a row after which a tree stops growing (tau_m). With "all", a tree stops when it has
        tried every feature once, in random order. The text of the paper has 3; its tables come out with 1.
    repeat_features : bool, default=True
        Whether features are drawn with replacement: a feature that a tree has twice counts twice in its distances. If
        False, a tree draws only features that it does not have yet.
    quality : {"centroid", "pairwise", "corrected"}, default="centroid"
        What growth lowers: kappa with sums of squares about centroids, or over pairs of rows; or, with "corrected",
        SS_W / SS_T * n_b^(2/d), which does not favour few features (d is the number of distinct ones).
    affinity_threshold : float or "auto", default=0.4
        Shares of trees below this count as 0 (beta_2). "auto" drops no share, and gives rows that are never together no
        link.
    affinity_scale : float or "auto", default="auto"
        The graph's weights are exp(affinity_scale * share) (beta_1), at most 50; "auto" is a tenth of `n_estimators`,
        at most 10.
    compete : {"start", "always"}, default="start"
        Whether `n_candidates` draws compete only for the first features or in every step.
    consensus : str, default="ncut"
        How the graph is cut: see `ClusterForest`.
    n_init : int, default=20
        Number of random starts of each K-means (n_rst). Of several, the best is polished until moving no single row
        improves it.
    max_iter : int, default=200
        Maximum number of Lloyd iterations in each start (n_it).
    max_samples : int or None, default=None
        Number of distinct rows, chosen at random, on which trees grow. The features that a tree arrives at are then
        clustered on all rows. None grows trees on all rows.
    n_landmarks : int, None or "auto", default="auto"
        Largest number of distinct rows of labels whose graph is cut as it is: see `ClusterForest`.
    n_jobs : int or None, default=None
        Number of threads: see `ClusterForest`. It never changes the result.
    random_state : int, RandomState, Generator or None, default=None
        Determines everything random. The same value gives the same result, bit for bit.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    labels_, n_clusters_, partitions_, memberships_, ...
        As in `ClusterForest`.
    estimators_features_ : list of ndarray
        The clustering vector of each tree: its features; one listed twice counts twice.
    kappas_ : ndarray of shape (n_estimators,)
        The kappa that each tree reached.
    kappa_path_ : ndarray of shape (n_estimators, `n_iter_`)
        The kappa after the first draw and after each round of growth, on the rows that trees grow on; NaN in rounds
        after a tree has stopped.
    n_iter_ : int
        Rounds of growth, the first draw included.

    References
    ----------
    D. Yan, A. Chen, M. I. Jordan. Cluster Forests. Computational Statistics & Data Analysis 66 (2013), 178-192.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from clusterforests import PaperForest
    >>> X, y = load_wine(return_X_y=True)
    >>> PaperForest(n_clusters=3, n_estimators=20, random_state=0).fit_predict(X).shape
    (178,)
    """

    _rules: ClassVar[dict[str, Rule]] = {**PAPER_RULES, "consensus": METHOD_RULES["method"]}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_estimators: int = 100,
        estimator: Any = None,
        scale: str = "none",
        n_base_clusters: int | tuple[int, int] | None = None,
        features_per_draw: int = 2,
        n_candidates: int = 1,
        patience: int | str = 3,
        repeat_features: bool = True,
        quality: str = "centroid",
        affinity_threshold: float | str = 0.4,
        affinity_scale: float | str = "auto",
        compete: str = "start",
        consensus: str = "ncut",
        n_init: int = 20,
        max_iter: int = 200,
        max_samples: int | None = None,
        n_landmarks: int | str | None = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `ClusterForest`.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: one of weight 3 counts like three equal rows, one of weight 0 is labelled but has no
            say.

        Returns
        -------
        self : PaperForest
        """
        check_parameters(vars(self), self._rules)
        with ProgressBar(self.n_estimators, bool(self.verbose)) as bar:
            self._fit(X, sample_weight, bar)
        return self

    def _fit(self, X: Any, sample_weight: Any, bar: ProgressBar) -> None:
        """Run Algorithm 3, the CF algorithm."""
        # The table as numbers: its distinct rows, and a sample of a table of very many rows.
        bar.stage("reading the table")
        rows = open_rows(self._reading(), X, sample_weight)
        rows.report_to(bar.read)
        seed = root_seed(self.random_state)
        sample = rows.sample(seed)
        number, _ = validate_n_clusters(self.n_clusters, len(sample.distinct.rows), rows.n_rows)
        scaling = fit_scaling(sample.table, self.scale, sample.weights)

        # Line 1: for l = 1, ..., T, all trees in lock step.
        # Line 2: grow a clustering vector by Algorithm 1, which begins with the competition of features of Algorithm 2.
        # Line 3: the base clustering algorithm on the features of each vector gives a partition of the rows.
        # Lines 1 and 2 are in trees/growth.py; `grow_forest` in trees/forest.py calls them and does line 3.
        bar.stage("growing the trees and labelling the rows")
        settings = self._growth(number.value, scaling, len(sample.distinct.rows), seed)
        few = self.max_samples is None or len(sample.distinct.rows) <= self.max_samples
        part = None if few else sample_rows(sample.distinct, int(self.max_samples or 0), seed)
        plan = GrowthPlan(sample.table.values, sample.weights, scaling, settings, seed, part)
        trees = rows.make_trees(plan, bar.grown)
        grown = n_estimators_setting(plan.n_trees, trees, why_dropped(settings))

        # Line 3 for the rows outside the sample, if the table was sampled.
        labelled = rows.label(trees, scaling, sample)

        # Lines 4 to 7: W between rows depends only on the number of partitions in which they are in the same cluster:
        # shares below beta_2 become 0, and the entry is exp(beta_1 * share). So W is looked up in a table by that
        # number, and P is not stored. Rows with the same labels are one node; landmarks stand for very many.
        bar.stage("cutting the graph")
        chosen = self._chosen_params(number, grown)
        cut = self._cut_settings(number.value, chosen)
        nodes = rows.nodes(labelled, sample, cut, seed)
        graph = ConsensusGraph(rows.backend, nodes.signatures, cut)

        # Line 8: normalised cuts of the graph. W is made here, when the method asks for it.
        kept = graph.cut(cut.method)

        # Rows that are no nodes go where their links with the nodes lead them.
        bar.stage("placing the rows")
        placed = PlacedRows(*rows.place(labelled, nodes, kept))

        # Beside the paper: how informative each feature was, by the partitions that did not use it.
        bar.stage("scoring the features")
        labels, features = labelled.labels_of_sample, trees.features
        screening = screen_by_trees(sample.table, sample.distinct, labels, features, seed)
        bar.done(f"{rows.n_rows} rows in {number.value} clusters by {len(features)} trees")
        if grown.value < self.n_estimators:
            warn_caller(grown.reason)
        if isinstance(rows.backend, SklearnClusterer):
            rows.backend.warn_of_failures()
        chosen["n_landmarks"] = landmarks_used(self.n_landmarks, nodes.n_landmarks)
        chosen["device"] = rows.reading.device
        donors = rows.reading.donors or keep_donors(sample.table, sample.distinct)
        self._set_attributes(rows, scaling, labelled.forest, placed, kept, screening, donors, chosen)

    def _growth(self, n_clusters: int, scaling: Scaling, n_distinct: int, seed: int) -> GrowthSettings:
        """Collect the parameters of Algorithms 1 and 2."""
        check_n_base_clusters(self.n_base_clusters, n_distinct)
        asked = self.n_base_clusters
        return GrowthSettings(
            n_base_clusters=clusters_of_trees(asked, n_clusters, self.n_estimators, n_distinct, seed, even=True),
            fewer_clusters=isinstance(asked, tuple),
            features_per_draw=min(int(self.features_per_draw), len(scaling.views.drawable)),
            n_candidates=int(self.n_candidates),
            patience=None if isinstance(self.patience, str) else int(self.patience),
            repeat_features=bool(self.repeat_features),
            compete_always=self.compete == "always",
            quality=self.quality,
            n_init=int(self.n_init),
            max_iter=int(self.max_iter),
        )

    def _chosen_params(self, number: Setting, grown: Setting) -> dict[str, Setting]:
        """Return what was used: all of it was given."""
        given = self.get_params(deep=False)
        chosen = {
            name: Setting(given[name], "given") for name in ("scale", "n_base_clusters", "max_samples", "quality")
        }
        return {"n_clusters": number, "n_estimators": grown, **chosen}

    def _reading(self) -> ReadingSettings:
        """Return what decides how rows are read."""
        return ReadingSettings(
            n_estimators=self.n_estimators,
            consensus=self.consensus,
            scale=self.scale,
            max_samples=self.max_samples,
            n_landmarks=self.n_landmarks,
            n_jobs=self.n_jobs,
            grows=True,
            clusterer=self.estimator,
            limits=self._limits,
        )
