"""Other clusterers in the place of K-means."""

import numpy as np
import pytest
import reference
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans, MiniBatchKMeans, SpectralClustering
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

from clusterforests._utils.random import stream
from clusterforests.backends import CpuBackend, KMeansJobs
from clusterforests.backends.any_clusterer import SklearnClusterer

LEARNERS = [
    KMeans(n_init=3),
    MiniBatchKMeans(n_init=3),
    AgglomerativeClustering(),
    AgglomerativeClustering(n_clusters=None, distance_threshold=20.0),
    GaussianMixture(n_init=2),
    DBSCAN(eps=1.5),
    Birch(),
    SpectralClustering(assign_labels="cluster_qr"),
    make_pipeline(PCA(2), KMeans(n_init=3)),
]


def jobs(columns=((0, 1), (0, 1, 2), (1, 0, 0)), clusters=3, seed=0):
    features = [np.array(c, dtype=np.int32) for c in columns]
    return KMeansJobs(
        features, np.full(len(features), clusters, np.int32), stream(seed, np.arange(len(features))), 1, 100
    )


def loaded(learner, X, weights=None, n_jobs=1):
    backend = SklearnClusterer(learner, n_jobs)
    backend.load(X, weights)
    return backend


def solved(learner, X, weights=None, n_jobs=1, **changes):
    backend = loaded(learner, X, weights, n_jobs)
    runs = backend.kmeans(jobs(**changes))
    assert runs.solved.all()
    return backend, runs, backend.assign(runs.features, runs.centers)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_clusterers_find_the_groups(blobs, learner):
    X, truth = blobs
    before = repr(learner)
    _, runs, labels = solved(learner, X)
    assert labels.dtype == np.int32
    for columns, found, centers in zip(runs.features, labels, runs.centers, strict=True):
        clustered = found >= 0
        assert clustered.mean() > 0.8
        assert adjusted_rand_score(truth[clustered], found[clustered]) > 0.9
        assert centers.shape == (found.max() + 1, len(columns))
        assert (np.diff(np.bincount(found[clustered])) <= 0).all()
    assert repr(learner) == before


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("learner", [KMeans(n_init=2), DBSCAN(eps=1.0)], ids=str)
def test_sums_are_those_of_the_labels(blobs, learner, weighted):
    """Rows that are not clustered count as one cluster."""
    X = blobs[0] * 1e-3
    weights = np.random.default_rng(0).integers(1, 4, len(X)).astype(float) if weighted else None
    if isinstance(learner, DBSCAN):
        learner.set_params(eps=1e-3)
    _, runs, _ = solved(learner, X, weights)
    rows = np.repeat(np.arange(len(X)), 1 if weights is None else weights.astype(int))
    for i, columns in enumerate(runs.features):
        found = runs.centers[i].labels
        part = X[np.ix_(rows, columns)]
        unit = 4.0 ** runs.exponent[i]
        assert runs.within[i] * unit == pytest.approx(reference.within(part, found[rows]))
        assert runs.between[i] * unit == pytest.approx(reference.between(part, found[rows]))
        within, between = reference.pair_sums(part, found[rows])
        assert runs.within_pairs[i] * unit == pytest.approx(within)
        assert runs.between_pairs[i] * unit == pytest.approx(between)
        assert (found < 0).any() == isinstance(learner, DBSCAN)


def test_one_k_means_is_the_other(blobs):
    """scikit-learn's K-means as the learner gives what the core's K-means gives."""
    X, _ = blobs
    backend, runs, labels = solved(KMeans(n_init=10), X)
    core = CpuBackend()
    core.load(X)
    expected = core.kmeans(jobs()._replace(n_init=10))
    assert (core.assign(expected.features, expected.centers) == labels).all()
    assert runs.within / runs.between == pytest.approx(expected.within / expected.between)
    assert runs.within_pairs / runs.between_pairs == pytest.approx(expected.within_pairs / expected.between_pairs)
    for ours, theirs in zip(runs.centers, expected.centers, strict=True):
        assert np.asarray(ours) == pytest.approx(theirs)
    new = X + 0.1
    assert (backend.assign(runs.features, runs.centers, new) == core.assign(runs.features, expected.centers, new)).all()


def test_the_number_of_clusters_and_the_seed_are_set(blobs):
    X, _ = blobs
    for learner in (KMeans(n_init=1), Birch(), GaussianMixture(), make_pipeline(PCA(2), KMeans(n_init=1))):
        _, runs, _ = solved(learner, X, clusters=5)
        assert [len(c) for c in runs.centers] == [5, 5, 5]
    one, same, other = (solved(KMeans(n_init=1, max_iter=2), X, clusters=8, seed=s)[2] for s in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_threads_and_the_order_of_rows_do_not_matter(blobs, learner):
    X, _ = blobs
    labels = solved(learner, X, clusters=6)[2]
    assert (solved(learner, X, clusters=6, n_jobs=2)[2] == labels).all()
    order = np.random.default_rng(0).permutation(len(X))
    assert (solved(learner, X[order], clusters=6)[2] == labels[:, order]).all()


def test_rows_without_weight_are_not_shown_to_the_clusterer(blobs):
    X, _ = blobs
    weights = np.ones(len(X))
    weights[::3] = 0
    far = X.copy()
    far[::3] += 1e6
    for learner in (KMeans(n_init=3), AgglomerativeClustering()):
        backend, runs, labels = solved(learner, far, weights)
        assert (labels[:, ::3] == -1).all()
        kept = weights > 0
        assert (solved(learner, X[kept])[2] == labels[:, kept]).all()
        assert (backend.assign(runs.features, runs.centers, X[::3]) >= 0).all()


@pytest.mark.parametrize("learner", [KMeans(n_init=3), AgglomerativeClustering(), GaussianMixture()], ids=str)
def test_weights_are_repeated_rows(blobs, learner):
    """As far as the clusterer itself treats them so."""
    X, _ = blobs
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    _, runs, labels = solved(learner, X, weights.astype(float))
    _, repeated, expected = solved(learner, X[rows])
    assert (labels[:, rows] == expected).all()
    assert runs.within / runs.between == pytest.approx(repeated.within / repeated.between)
    assert (solved(learner, X, 2.5 * weights)[2] == labels).all()
    assert (solved(learner, X, np.full(len(X), 0.3))[2] == solved(learner, X)[2]).all()


def test_weights_that_a_clusterer_cannot_take(blobs):
    X, _ = blobs
    for heavy in (1.5, 1e6):
        weights = np.ones(len(X))
        weights[0] = heavy
        assert solved(KMeans(n_init=3), X, weights)[2].shape == (3, len(X))
        with pytest.raises(ValueError, match=r"sample_weight: AgglomerativeClustering.* takes no weights"):
            loaded(AgglomerativeClustering(), X, weights)


def test_a_row_that_is_noise_to_everyone_gets_the_nearest_means(blobs):
    X = blobs[0].copy()
    X[7] = 40.0
    backend, runs, labels = solved(DBSCAN(eps=1.5), X)
    assert (labels[:, 7] == backend.assign(runs.features, runs.centers, X[[7]])[:, 0]).all()
    sometimes = (labels < 0).any(axis=0)
    assert sometimes.any()
    assert not (labels < 0).all(axis=0).any()


class Moody(ClusterMixin, BaseEstimator):
    """Fails on two columns; otherwise splits at the median of the first."""

    def fit(self, X, y=None):
        if X.shape[1] == 2:
            raise RuntimeError("not today")
        self.labels_ = (X[:, 0] > np.median(X[:, 0])).astype(int)
        return self


def test_a_failing_member_counts_as_not_solved(blobs):
    backend = loaded(Moody(), blobs[0])
    runs = backend.kmeans(jobs())
    assert list(runs.solved) == [False, True, True]
    assert [c.shape for c in runs.centers] == [(3, 2), (2, 3), (2, 3)]
    assert (backend.calls, backend.failures) == (3, 1)
    with pytest.warns(UserWarning, match=r"1 of 3 clusterings by Moody\(\) failed .* not today"):
        backend.warn_of_failures()


def test_where_every_member_fails_there_is_no_point_in_going_on(blobs):
    with pytest.raises(ValueError, match=r"Every clustering by Moody\(\) failed. The first error was: not today"):
        loaded(Moody(), blobs[0]).kmeans(jobs(columns=[(0, 1), (2, 3)]))
    with pytest.raises(ValueError, match="no row into any cluster"):
        loaded(DBSCAN(eps=1e-9), blobs[0]).kmeans(jobs())


class Wrong(ClusterMixin, BaseEstimator):
    def fit_predict(self, X, y=None):
        return np.zeros(len(X) + (X.shape[1] == 2))


@pytest.mark.parametrize("columns", [(0, 1), (0, 1, 2)])
def test_what_is_no_labelling_is_a_failure(blobs, columns):
    with pytest.raises(ValueError, match="fit_predict gave float64 labels of shape"):
        loaded(Wrong(), blobs[0]).kmeans(jobs(columns=[columns]))


def test_too_few_distinct_rows_are_no_failure():
    X = np.column_stack([np.arange(20.0), np.repeat([0.0, 1.0], 10)])
    backend = loaded(KMeans(n_init=1), X)
    runs = backend.kmeans(jobs(columns=[(1,), (0, 1)]))
    assert list(runs.solved) == [False, True]
    assert (backend.calls, backend.failures) == (1, 0)


def test_labels_go_with_the_centers(blobs):
    backend, runs, labels = solved(KMeans(n_init=1), blobs[0])
    backwards = backend.assign(runs.features[::-1], runs.centers[::-1])
    assert (backwards == labels[::-1]).all()
    with pytest.raises(TypeError, match="carry the labels"):
        backend.assign(runs.features, [np.array(c) for c in runs.centers])


def test_no_clusterer():
    with pytest.raises(TypeError, match=r"PCA\(\) is not a scikit-learn clusterer"):
        SklearnClusterer(PCA())
    with pytest.raises(TypeError, match="'kmeans' is not a scikit-learn clusterer"):
        SklearnClusterer("kmeans")
