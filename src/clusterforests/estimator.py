"""ClusterForest: validate, call the stages, set attributes."""

import importlib
from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from clusterforests._base.parameters import FOREST_RULES, check_parameters, integer
from clusterforests._base.progress import ProgressBar
from clusterforests._base.random import root_seed
from clusterforests._base.typing import FloatArray
from clusterforests._base.warnings import warn_caller
from clusterforests.backends import Backend, CpuBackend
from clusterforests.backends.sklearn_clusterer import SklearnClusterer
from clusterforests.combining.affinity import collapse
from clusterforests.combining.combine import CutSettings, check_landmarks, combine, combine_sample
from clusterforests.forest.automatic_settings import Choice, choose, clusters_of_trees, landmarks_used, shape_of
from clusterforests.forest.forest import Grower, GrowthPlan, Trees, feature_use, sample_rows, why_fewer
from clusterforests.forest.growth import GrowthSettings
from clusterforests.n_clusters.choose import choose_n_clusters
from clusterforests.predictor import FittedForest
from clusterforests.rows.gpu.devices import choose_backend, send_to, to_host
from clusterforests.rows.gpu.tables import read_on_gpu
from clusterforests.rows.many_rows import LocalRows, ManyRows, labels_of, sample_size, spread
from clusterforests.rows.memory_estimate import MemoryEstimate, check_fit_memory, estimate_memory
from clusterforests.tables.checks import check_enough_rows, check_weights
from clusterforests.tables.distinct_rows import distinct_rows
from clusterforests.tables.encoding import encode, open_large
from clusterforests.tables.feature_columns import EncodedTable
from clusterforests.tables.frames import is_dask
from clusterforests.tables.imputation import complete
from clusterforests.tables.row_blocks import is_large, large_encoded_table
from clusterforests.tables.scaling import fit_scaling

SHAPE = ("n_samples", "n_features")


class ClusterForest(FittedForest):
    """Cluster Forests (Yan, Chen and Jordan).

    Grows many small K-means clusterings on random subsets of the features, each as long as new features lower
    kappa = SS_W / SS_B; counts how often two rows land together; regularises these shares; cuts the graph.

    Settings left at "auto" follow rules that use no labels; `selection_` says what they came to. The published
    algorithm is `ClusterForest.from_paper`.

    Parameters
    ----------
    n_clusters : int, "auto" or sequence of int, default=8
        Number of clusters; or numbers of which to choose, such as `range(2, 7)`. "auto" is from 1 to 10: 1 if the table
        shows no clusters.
    n_estimators : int, default=200
        Number of clusterings in the forest (T).
    estimator : clusterer or None, default=None
        What makes them: any scikit-learn clusterer, or K-means if None. Its number of clusters and its random state are
        set if it has such parameters, the label -1 means "not clustered". `n_init` and `max_iter` are for K-means only.
    scale : {"auto", "none", "standard", "range", "rank", "mixed"}, default="auto"
        How features are made comparable: not at all, divided by their standard deviation or by their range, replaced
        by their ranks, or "mixed": one of these three, in turn from tree to tree. "auto" is "mixed".
    base_clusters : int, (int, int), None or "auto", default="auto"
        Number of clusters in each clustering of the forest (n_b). A pair is a range to draw from for each, None means
        `n_clusters`. "auto" is the range from `n_clusters` to the square root of the number of different rows,
        at most 70; with `consensus="kway"` and more than 5,000 rows from half the root to the root, at most 128.
    features_per_draw : int or "auto", default="auto"
        Features tried at a time (b); at most the number of features. "auto" is its square root, at least 2, and more
        where features have few values.
    n_candidates : int or "auto", default="auto"
        Draws that compete to be a tree's first features (q); 1, and "auto", mean no competition.
    patience : int, "all" or "auto", default="auto"
        Failed draws in a row after which a tree stops growing (tau_m); "auto" is 1. "all" stops when every feature was
        tried once, in a random order.
    repeat_features : bool or "auto", default="auto"
        Whether features are drawn with replacement: one that a tree has twice counts twice in its distances. If False,
        as with "auto", a tree draws only features that it does not have yet.
    quality : {"auto", "centroid", "pairwise", "corrected"}, default="auto"
        What growth lowers: kappa with its sums of squares taken about centroids, or over pairs of rows; or, with
        "corrected" and "auto", SS_W / SS_T * n_b^(2/d), which does not prefer few features (d is how many differ).
    threshold : float or "auto", default="auto"
        Shares of trees below it count as 0 (beta_2). "auto" cuts nothing off, and instead gives rows that are never
        together no link. Used by "kway" and the cuts named "ncut...".
    sharpness : float or "auto", default="auto"
        The graph's weights are exp(sharpness * share) (beta_1), at most 50; "auto" is a tenth of `n_estimators`, at
        most 10. Used where `threshold` is.
    compete : {"start", "always"}, default="start"
        Whether `n_candidates` draws compete only for the first features or in every step.
    consensus : str, default="auto"
        How the graph is cut. "ncut": by the sign of the second eigenvector, then again inside the largest part.
        "ncut-lowest": next the part whose cut has the lowest Ncut value. "ncut-best": where Ncut is lowest along the
        eigenvector. "ncut-shifted": at the cutoff the paper's analysis suggests for unequal sizes. "kway": K-means on
        the leading eigenvectors. "average", "single": linkage on the shares. "average-trimmed": average linkage in
        which clusters of less than a tenth of an even share are left to the others. "medoid", also "auto": of
        "average-trimmed", "kway" and "ncut" the one that agrees best with the other two. The others come from the
        literature on ensembles. "cspa": "ncut" on the plain shares. "hbgf": K-means on the leading singular vectors of
        the table of rows against clusters. "mcla": clusters are clustered, then compete for the rows. "mixture":
        maximum-likelihood mixture of independent labels. "agreement": fewest pairs of rows on which it disagrees with
        the trees.
    n_init : int or "auto", default="auto"
        Random starts of each K-means (n_rst). More than one are polished until no single row's move improves the best
        of them; 1, and "auto", is one quick start.
    max_iter : int, default=200
        Most iterations of Lloyd in each start (n_it).
    max_samples : int, None or "auto", default="auto"
        Different rows, chosen at random, on which trees are grown; the K-means of the features that they arrive at is
        then run on all rows. None grows on all of them; "auto" is 512.
    landmarks : int, None or "auto", default="auto"
        Most different rows of labels whose graph is cut as it is. Where there are more, so many that stand for all of
        them are cut, and every row goes where its links with these lead. None always cuts all. "auto" cuts up to 5,000
        (20,000 with "kway" and the cuts named "ncut..."), and otherwise 2,000 landmarks.
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all cores that the process may use (by its affinity, its container,
        LOKY_MAX_CPU_COUNT, OMP_NUM_THREADS and threadpoolctl), or 1 inside of a worker of joblib or a task of Dask. It
        never changes the result.
    backend : {"auto", "cpu", "gpu"}, default="auto"
        Where the rows of a large table (more than 65,536) are read: on this machine's cores, or on an NVIDIA GPU, which
        needs CuPy. "auto" is where X lives. Smaller tables are always fitted on the cores. The result is the same.
    random_state : int, RandomState, Generator or None, default=None
        Determines everything random. The same value gives the same result, bit for bit.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row; cluster 0 is the largest.
    n_clusters_ : int
        Number of clusters.
    partitions_ : ndarray of shape (n_estimators, n_samples)
        Labels of the rows in each clustering of the forest. Trees that cannot be grown (too few distinct rows, an error
        of `estimator`) are left out with a warning; `selection_["n_estimators"]` says how many there are.
    estimators_features_ : list of ndarray
        Features of each clustering; one listed twice counts twice.
    kappas_ : ndarray of shape (n_estimators,)
        kappa that each clustering reached.
    kappa_path_ : ndarray of shape (n_estimators, n_rounds)
        kappa after the first draw and after each round of growth, on the rows that trees are grown on; NaN in rounds
        after a tree has stopped.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Share of a clustering's features that each feature makes up, averaged over the forest. Sums to 1.
    memberships_ : ndarray of shape (n_samples, `n_clusters_`)
        Soft membership of each row in each cluster; sums to 1 and is highest in the row's own.
    item_consensus_, silhouette_ : ndarray of shape (n_samples,)
        How surely each row belongs: the mean share of trees that it has with its cluster, and from -1 to 1 how much
        that is above the next cluster's.
    cluster_consensus_ : ndarray of shape (`n_clusters_`,)
        The mean share of trees in which two rows of a cluster are together.
    n_clusters_evidence_ : Choice or None
        What the choice of `n_clusters` was made from, if there was one.
    selection_ : dict of str to Choice
        Every setting that may be "auto", and `n_estimators`: `value`, as it was used, and `reason`.
    cut_tree_ : CutTree or None
        How the graph was cut; only with a `consensus` named "ncut...", otherwise None.
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

    def __init__(
        self,
        n_clusters: int | str | Sequence[int] = 8,
        *,
        n_estimators: int = 200,
        estimator: Any = None,
        scale: str = "auto",
        base_clusters: int | tuple[int, int] | str | None = "auto",
        features_per_draw: int | str = "auto",
        n_candidates: int | str = "auto",
        patience: int | str = "auto",
        repeat_features: bool | str = "auto",
        quality: str = "auto",
        threshold: float | str = "auto",
        sharpness: float | str = "auto",
        compete: str = "start",
        consensus: str = "auto",
        n_init: int | str = "auto",
        max_iter: int = 200,
        max_samples: int | str | None = "auto",
        landmarks: int | str | None = "auto",
        n_jobs: int | None = None,
        backend: str = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.estimator = estimator
        self.scale = scale
        self.base_clusters = base_clusters
        self.features_per_draw = features_per_draw
        self.n_candidates = n_candidates
        self.patience = patience
        self.repeat_features = repeat_features
        self.quality = quality
        self.threshold = threshold
        self.sharpness = sharpness
        self.compete = compete
        self.consensus = consensus
        self.n_init = n_init
        self.max_iter = max_iter
        self.max_samples = max_samples
        self.landmarks = landmarks
        self.n_jobs = n_jobs
        self.backend = backend
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def from_paper(cls, n_clusters: int, **overrides: Any) -> Self:
        """The published algorithm with the published parameters.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.
        **overrides
            Any other parameter of `ClusterForest`. The text of the paper has `patience=3`; its tables come out with
            `patience=1`.

        Returns
        -------
        forest : ClusterForest
        """
        published: dict[str, Any] = {
            "n_estimators": 100,
            "estimator": None,
            "scale": "none",
            "base_clusters": None,
            "features_per_draw": 2,
            "n_candidates": 1,
            "patience": 3,
            "repeat_features": True,
            "quality": "centroid",
            "threshold": 0.4,
            "sharpness": "auto",
            "compete": "start",
            "consensus": "ncut",
            "n_init": 20,
            "max_iter": 200,
            "max_samples": None,
            "landmarks": "auto",
        }
        return cls(n_clusters, **(published | overrides))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            An array, a pandas or polars frame, an Arrow table or a scipy sparse table; rows are samples. Text and
            categorical columns are categories. Missing cells (NaN, None, NA, null) are filled from similar rows; no row
            is dropped. More than 65,536 rows of numbers, none missing, are read in blocks and never copied as a whole.
            Or an array on an NVIDIA GPU, of CuPy or torch: `labels_` and `partitions_` are then such arrays.
            Or a Dask array or frame: the work is then done where its partitions are, and `labels_`, `partitions_` and
            what else has an entry for each row are Dask arrays.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: one of weight 3 counts like three equal rows, one of weight 0 is labelled but has no
            say. Where `n_clusters` is chosen, it is from the different rows that have a weight.

        Returns
        -------
        self : ClusterForest
        """
        check_parameters(vars(self), FOREST_RULES)
        if isinstance(self.n_clusters, (int, np.integer)):
            check_landmarks(self.landmarks, int(self.n_clusters))
        backend = CpuBackend(self.n_jobs) if self.estimator is None else SklearnClusterer(self.estimator, self.n_jobs)
        before = vars(self).copy()
        try:
            if is_dask(X):
                self._fit_dask(backend, X, sample_weight)
                self.selection_["backend"] = choose_backend(self.backend, None, sampled=True)
            else:
                self._fit_where(backend, X, sample_weight)
        except BaseException:  # nothing of a fit that was not finished
            self.__dict__ = before
            raise
        if isinstance(backend, SklearnClusterer):
            backend.warn_of_failures()
        return self

    def _fit_where(self, backend: Backend, X: Any, sample_weight: Any) -> None:
        """On this machine's cores or on a GPU. What has an entry for each row is where X is."""
        sampled = self.estimator is None and self.max_samples is not None and self.landmarks is not None
        where = choose_backend(self.backend, X, sampled=sampled)
        weights = to_host(sample_weight)
        if where.value == "gpu":
            self._fit_on(backend, *read_on_gpu(self, X, weights, backend.threads))
        else:
            self._fit_on(backend, *self._read(to_host(X), weights, backend.threads))
        self.selection_["backend"] = where
        self.labels_, self.partitions_ = send_to(X, self.labels_), send_to(X, self.partitions_)

    def _fit_dask(self, backend: Backend, X: Any, sample_weight: Any) -> None:
        """On the workers if there are many rows, otherwise here; what has an entry for each row is Dask's again."""
        if self.backend == "gpu":
            raise ValueError("backend='gpu' reads tables of one process: pass X.compute(), or leave backend at 'auto'.")
        table = importlib.import_module("clusterforests.rows.dask.collections").open_table(self, X, sample_weight)
        if not is_large(table.n_rows):
            here, weights = table.gathered()
            grow = table.grower() if self.estimator is None else None
            self._fit_on(backend, *self._read(here, weights, backend.threads), grow)
            self.labels_, self.partitions_ = table.scattered(self.labels_), table.scattered(self.partitions_)
            self._weights = table.weights
            return
        if self.estimator is not None or self.max_samples is None or self.landmarks is None:
            raise ValueError(
                "estimator, max_samples=None and landmarks=None need all rows in one place. Leave them at their "
                f"defaults for a Dask table of {table.n_rows} rows, or pass X.compute()."
            )
        self._encoding, self._donors = table.encoding(), None
        self._fit_on(backend, table.rows(self._encoding), table.weights)

    def _read(self, X: Any, sample_weight: Any, threads: int) -> tuple[EncodedTable | ManyRows, Any]:
        """The table as numbers, without missing cells, and the weights of its rows."""
        sampled = self.estimator is None and self.max_samples is not None
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) == 2 and all(shape):  # what can be refused before a long reading should be
            check_weights(sample_weight, shape[0])
            self._check_memory(shape, threads)
        opened = open_large(self, X, threads) if sampled else None
        if opened is not None:
            large, self._encoding = opened
            self._donors = None
            weights = check_weights(sample_weight, large.source.shape[0])
            return LocalRows(large, weights, threads), weights
        encoded, weights = self._encode(X, sample_weight, threads)
        if sampled and is_large(len(encoded.values)):
            return LocalRows(large_encoded_table(encoded, threads), weights, threads), weights
        return encoded, weights

    def _encode(self, X: Any, sample_weight: Any, threads: int) -> tuple[EncodedTable, Any]:
        """A copy of the table as numbers, without missing cells."""
        encoded, self._encoding = encode(self, X)
        missing = bool(np.isnan(encoded.values).any())
        self._check_memory(encoded.values.shape, threads, copied=missing or bool(encoded.categorical.any()))
        weights = check_weights(sample_weight, len(encoded.values))
        encoded, self._donors = complete(encoded, weights, threads)
        return encoded, weights

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
        return estimate_memory(n_samples, n_features, **self._memory_settings(), threads=threads)

    def _check_memory(self, shape: tuple[int, ...], threads: int, *, copied: bool = False) -> None:
        check_fit_memory(shape[0], shape[1], self._memory_settings(), threads=threads, copied=copied)

    def _memory_settings(self) -> dict[str, Any]:
        settings = {name: getattr(self, name) for name in ("n_estimators", "max_samples", "landmarks", "consensus")}
        return settings if self.estimator is None else settings | {"max_samples": None}

    def _fit_on(
        self, backend: Backend, table: EncodedTable | ManyRows, weights: Any = None, grow: Grower | None = None
    ) -> Self:
        """The five lines of Algorithm 3 on a back end, for a table without missing cells.

        Of a large table a sample stands for all rows until the trees are grown. `grow` does that elsewhere.
        """
        bar = ProgressBar(self.n_estimators, enabled=bool(self.verbose))
        seed = root_seed(self.random_state)
        many, mass = None, weights
        if isinstance(table, EncodedTable):
            n_rows, encoded = len(table.values), table
        else:
            many = table
            many.progress = bar.read
            n_rows = many.shape[0]
            sample = many.draw(sample_size(many.shape[1], self.max_samples, self.landmarks), seed)
            encoded, mass = sample
        rows = distinct_rows(encoded.values, mass)
        if not isinstance(self.n_clusters, (int, np.integer)):
            bar.looking()
        number = self._choose_n_clusters(encoded.values[rows.rows], n_rows, seed)
        chosen = choose(vars(self), shape_of(encoded, rows.rows), number.value)
        chosen["n_clusters"] = number
        scaling = fit_scaling(encoded, chosen["scale"].value, mass)
        views = scaling.views
        settings = self._growth_settings(chosen, len(views.drawable), len(rows.rows), seed)
        limit = chosen["max_samples"].value
        part = None if limit is None or len(rows.rows) <= limit else sample_rows(rows, limit, seed)
        plan = GrowthPlan(encoded.values, mass, scaling, settings, seed, part)
        grow = grow if many is None else many.grow
        forest = plan.grow(backend, bar.grown) if grow is None else grow(plan, bar.grown)
        fewer = why_fewer(forest, settings)
        chosen["n_estimators"] = Choice(len(forest.features), fewer or "given")
        if many is not None:
            forest, passed = spread(forest, scaling, many)
        bar.stage(f"{len(forest.features)} trees grown in {forest.rounds} rounds; cutting the graph,")
        cut = (number.value, chosen["consensus"].value, chosen["threshold"].value, self.sharpness)
        if many is None or self.landmarks is None:
            combined = combine(backend, forest.partitions, *cut, weights, landmarks=self.landmarks, seed=seed)
        else:
            signatures = collapse(labels_of(passed, sample, backend.threads), sample.weights)
            place = partial(many.settle, forest.partitions)
            combined = combine_sample(backend, signatures, CutSettings(*cut, self.landmarks), place, seed)
        bar.done(f"{n_rows} rows in {number.value} clusters by {len(forest.features)} trees,")
        if fewer is not None:
            warn_caller(fewer)
        if combined.agreement is not None:
            evidence = ", ".join(f"{name} {value:.2f}" for name, value in combined.agreement.items())
            chosen["consensus"] = Choice(combined.method, f"agrees best with the other cuts: {evidence}")
        chosen["landmarks"] = landmarks_used(self.landmarks, combined.n_landmarks)
        self.selection_ = chosen
        self.labels_ = combined.labels
        self.n_clusters_ = number.value
        self.partitions_ = forest.partitions
        self.estimators_features_ = forest.features
        self.kappas_ = forest.kappas
        self.kappa_path_ = forest.kappa_path
        self.feature_importances_ = feature_use(forest.features, len(encoded.widths))
        self.cut_tree_ = combined.cut_tree
        self.n_iter_ = forest.rounds
        self._weights = weights
        self._scaling = scaling
        self._trees = Trees(forest.columns(views), forest.centers, forest.coordinates)
        self._placement = combined.placement
        return self

    def _choose_n_clusters(self, rows: FloatArray, n_rows: int, seed: int) -> Choice:
        """The number of clusters as it was asked for, checked against the rows; `rows` are the different ones."""
        if isinstance(self.n_clusters, (int, np.integer)):
            self.n_clusters_evidence_ = None
            check_enough_rows(n_rows, int(self.n_clusters))
            if self.n_clusters <= len(rows):
                return Choice(int(self.n_clusters), "given")
            reason = (
                f"X has {len(rows)} distinct rows, fewer than n_clusters={self.n_clusters}: each becomes a cluster."
            )
            warn_caller(reason, ConvergenceWarning)
            return Choice(len(rows), reason)
        asked: Sequence[int] = range(1, 11) if isinstance(self.n_clusters, str) else self.n_clusters
        candidates = [k for k in asked if k <= len(rows)]
        if not candidates:
            raise ValueError(
                f"n_clusters={self.n_clusters!r}: X has only {len(rows)} different rows. Give lower numbers."
            )
        self.n_clusters_evidence_ = choose_n_clusters(CpuBackend(self.n_jobs), rows, candidates, seed)
        return Choice(self.n_clusters_evidence_.n_clusters, self.n_clusters_evidence_.reason)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _growth_settings(
        self, chosen: dict[str, Choice], n_drawable: int, n_distinct: int, seed: int
    ) -> GrowthSettings:
        base_clusters, n_clusters = chosen["base_clusters"].value, chosen["n_clusters"].value
        if self.base_clusters not in (None, "auto") and n_distinct < np.min(base_clusters):
            raise ValueError(
                f"base_clusters={self.base_clusters} is more than the number of distinct rows of X, {n_distinct}. "
                "Lower base_clusters."
            )
        patience = chosen["patience"].value
        return GrowthSettings(
            base_clusters=clusters_of_trees(base_clusters, n_clusters, self.n_estimators, n_distinct, seed),
            fewer_clusters=isinstance(base_clusters, tuple),
            features_per_draw=min(int(chosen["features_per_draw"].value), n_drawable),
            n_candidates=int(chosen["n_candidates"].value),
            patience=None if isinstance(patience, str) else int(patience),
            repeat_features=bool(chosen["repeat_features"].value),
            compete_always=self.compete == "always",
            quality=chosen["quality"].value,
            n_init=int(chosen["n_init"].value),
            max_iter=int(self.max_iter),
        )
