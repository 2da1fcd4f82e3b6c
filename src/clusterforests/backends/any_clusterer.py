"""The CPU back end with any scikit-learn clusterer in the place of K-means."""

from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from clusterforests._utils.arrays import AnyArray, AnyIntArray, FloatArray, IntArray, KeyArray, order_by_values
from clusterforests._utils.validation import warn_caller
from clusterforests.backends.cpu import CpuBackend
from clusterforests.backends.protocol import Coordinates, KMeansJobs, KMeansRuns, LoadedTable

# Rows that stand for one of the largest weight, on average, where a clusterer takes no weights.
MAX_REPEATS = 10


class LabelledCenters(np.ndarray[Any, Any]):
    """Means of clusters, with the labels of the rows that they are the means of: a tree keeps both or neither."""

    labels: AnyIntArray  # of all rows of the table, in the smallest type that holds them


class SklearnClusterer(CpuBackend):
    """Solves what K-means would with clones of a clusterer; a clone that raises an exception counts as not solved.

    The number of clusters and the random state are set in the clones where the clusterer has such parameters. A number
    of clusters that is None is left alone. The rows are presented in an order that depends on their values alone.

    Parameters
    ----------
    learner : estimator
        Has `fit_predict`. The label -1 means "not clustered".
    n_jobs : int or None, default=None
        Number of threads.
    """

    def __init__(self, learner: Any, n_jobs: int | None = None) -> None:
        super().__init__(n_jobs)
        if not (hasattr(learner, "fit_predict") and hasattr(learner, "get_params")):
            raise TypeError(f"{learner!r} is not a scikit-learn clusterer: it has no fit_predict.")
        self.learner = learner
        self._n_clusters, self._random_state = _changed_parameters(learner)
        self.calls = 0
        self.failures = 0
        self.first_error: Exception | None = None

    def load(
        self,
        X: FloatArray,
        weights: FloatArray | None = None,
        keyed: int | None = None,
        keys: KeyArray | None = None,
    ) -> LoadedTable:
        """Take the table. A clusterer that takes no weights sees a row of weight 3 three times."""
        loaded = super().load(X, weights, keyed, keys)
        weights = np.ones(len(X)) if weights is None else weights
        counted = np.flatnonzero(weights > 0)
        rows = counted[order_by_values(X[counted], weights[counted])]
        equal = bool((weights[rows] == weights[rows[:1]]).all())
        takes_weights = not equal and has_fit_parameter(self.learner, "sample_weight")
        if not equal and not takes_weights:
            whole = weights[rows] / weights[rows].min()
            if (whole != np.round(whole)).any() or whole.sum() > MAX_REPEATS * len(rows):
                raise ValueError(
                    f"sample_weight: {self.learner!r} takes no weights, and these cannot be made up for by repeating "
                    f"rows. Give small whole numbers (on average at most {MAX_REPEATS}), or another clusterer."
                )
            rows = np.repeat(rows, whole.astype(np.int32))
        self._X = X
        self._rows = rows
        self._weights = weights[rows] if takes_weights else None
        return loaded

    def kmeans(self, jobs: KMeansJobs) -> KMeansRuns:
        """Fit a clone for each job; starts, iterations and effort are the clusterer's own affair."""
        tasks = zip(jobs.features, jobs.clusters.tolist(), jobs.seeds, strict=True)
        work = (joblib.delayed(self._solve)(columns, k, seed) for columns, k, seed in tasks)
        found = joblib.Parallel(n_jobs=self.threads, prefer="threads")(work)
        self._count(found)
        # What failed has no sums, and centres of the right shape.
        nothing = (0.0, 0.0, 0.0, 0.0, 0.0)
        centers, sums = [], []
        for columns, k, made in zip(jobs.features, jobs.clusters, found, strict=True):
            solved = isinstance(made, LabelledCenters)
            centers.append(made if solved else np.zeros((k, len(columns))))
            sums.append(self._measure(columns, made) if solved else nothing)
        within, between, within_pairs, between_pairs, exponent = np.array(sums, dtype=np.float64).reshape(-1, 5).T
        return KMeansRuns(
            jobs.features,
            centers,
            np.array([isinstance(made, LabelledCenters) for made in found]),
            np.ascontiguousarray(within),
            np.ascontiguousarray(between),
            np.ascontiguousarray(within_pairs),
            np.ascontiguousarray(between_pairs),
            exponent.astype(np.int32),
            np.ones(len(found), dtype=np.int32),
        )

    def assign(
        self,
        features: Sequence[IntArray],
        centers: Sequence[FloatArray],
        X: FloatArray | None = None,
        coordinates: Coordinates | None = None,
    ) -> IntArray:
        """Return the labels that the clones gave, -1 for rows of weight 0. Other rows, if given, get the nearest mean.

        So does a row that no clone put into a cluster; otherwise nothing would be known of it.
        """
        means = [np.asarray(c) for c in centers]
        if X is not None:
            return super().assign(features, means, X, coordinates)
        labels = np.empty((len(centers), len(self._X)), dtype=np.int32)
        for out, found in zip(labels, centers, strict=True):
            if not isinstance(found, LabelledCenters):
                raise TypeError("centers must be those that kmeans gave: they carry the labels.")
            out[:] = found.labels
        never = self._rows[(labels[:, self._rows] < 0).all(axis=0)]
        if len(never):
            labels[:, never] = super().assign(features, means, np.ascontiguousarray(self._X[never]))
        return labels

    def warn_of_failures(self) -> None:
        """Warn how many clones failed, if any did."""
        if self.failures:
            warn_caller(
                f"{self.failures} of {self.calls} clusterings by {self.learner!r} failed and were left out. The first "
                f"error was: {self.first_error}"
            )

    def _solve(self, columns: IntArray, k: int, seed: np.uint64) -> LabelledCenters | Exception | None:
        """Fit a clone; None if there are fewer distinct rows than clusters."""
        part = self._X[np.ix_(self._rows, columns)]
        if len(np.unique(part, axis=0)) < k:
            return None
        learner = clone(self.learner)
        learner.set_params(**dict.fromkeys(self._n_clusters, k))
        learner.set_params(**dict.fromkeys(self._random_state, int(seed % np.uint64(2**31))))
        weighted = {} if self._weights is None else {"sample_weight": self._weights}
        try:
            return self._labelled(columns, np.asarray(learner.fit_predict(part, **weighted)))
        except Exception as error:  # whatever a foreign clusterer throws: one member must not kill the forest
            return error

    def _labelled(self, columns: IntArray, given: AnyArray) -> LabelledCenters:
        """Compute the means of the clusters, heaviest first, in the table's coordinates."""
        if given.shape != (len(self._rows),) or given.dtype.kind not in "biu":
            raise ValueError(f"fit_predict gave {given.dtype} labels of shape {given.shape}, not one integer per row.")
        clustered = np.flatnonzero(given >= 0)
        if not len(clustered):
            raise ValueError("it put no row into any cluster.")
        weights = self._row_weights()[clustered]
        _, first, group = np.unique(given[clustered], return_index=True, return_inverse=True)
        sizes = np.bincount(group, weights)
        rank = np.empty(len(sizes), dtype=np.intp)
        rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
        label, sizes = rank[group], np.sort(sizes)[::-1]
        relative = np.ldexp(self._X[np.ix_(self._rows[clustered], columns)], -self._table.exponent[columns])
        relative -= self._table.origin[columns]
        means = [np.bincount(label, weights * x, len(sizes)) / sizes for x in relative.T]
        centers = np.ascontiguousarray(np.column_stack(means)).view(LabelledCenters)
        centers.labels = np.full(len(self._X), -1, dtype=np.min_scalar_type(-len(sizes)))
        centers.labels[self._rows[clustered]] = label
        return centers

    def _measure(self, columns: IntArray, found: LabelledCenters) -> tuple[float, ...]:
        """Sum squares within and between, about centroids and over pairs, in units of 4**exponent, which is the last.

        Rows that are in no cluster are one of their own: leaving rows out is no gain.
        """
        part = self._X[np.ix_(self._rows, columns)]
        exponent = int(np.frexp(np.abs(part).max())[1])
        part = np.ldexp(part, -exponent)
        weights = self._row_weights()
        part = part - np.average(part, axis=0, weights=weights)
        label = found.labels[self._rows].astype(np.intp)
        label[label < 0] = len(found)
        sizes = np.bincount(label, weights)
        centers = (
            np.column_stack([np.bincount(label, weights * x) for x in part.T]) / np.maximum(sizes, 1e-300)[:, None]
        )
        squares = weights * ((part - centers[label]) ** 2).sum(axis=1)
        inside = np.bincount(label, squares, len(sizes))
        within, between = float(inside.sum()), float(sizes @ (centers**2).sum(axis=1))
        within_pairs = float(sizes @ inside)
        return within, between, within_pairs, float(sizes.sum()) * (within + between) - within_pairs, float(exponent)

    def _row_weights(self) -> FloatArray:
        return np.ones(len(self._rows)) if self._weights is None else self._weights

    def _count(self, found: Sequence[LabelledCenters | Exception | None]) -> None:
        """Count failures. Where every clone fails from the beginning, the clusterer is to blame and not the data."""
        errors = [f for f in found if isinstance(f, Exception)]
        called = sum(f is not None for f in found)
        self.calls += called
        self.failures += len(errors)
        if errors and self.first_error is None:
            self.first_error = errors[0]
        if errors and self.calls == self.failures:
            raise ValueError(
                f"Every clustering by {self.learner!r} failed. The first error was: {errors[0]}"
            ) from errors[0]


def _changed_parameters(learner: Any) -> tuple[list[str], list[str]]:
    """Find the names of the clusterer's parameters, or in a pipeline its steps', for clusters and random state."""
    parameters = learner.get_params(deep=True)
    names = {name: name.rsplit("__", 1)[-1] for name in parameters}
    counts = [name for name, last in names.items() if last == "n_clusters" and parameters[name] is not None]
    if not counts:  # mixtures; the components of a projection stay as they are
        mixtures = [name.removesuffix("n_components") for name, last in names.items() if last == "n_components"]
        counts = [prefix + "n_components" for prefix in mixtures if prefix + "covariance_type" in names]
    return counts, [name for name, last in names.items() if last == "random_state"]
