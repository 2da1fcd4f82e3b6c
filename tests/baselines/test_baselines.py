"""The rival methods: conventions, plain oracles, R's answers where they are known."""

import itertools

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist, squareform
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from clusterforests import HartiganWongKMeans
from clusterforests.baselines import (
    BaggedClustering,
    EvidenceAccumulation,
    NJWSpectralClustering,
    RandomForestProximity,
    RandomProjectionEnsemble,
)
from clusterforests.baselines.njw import candidate_bandwidths, kernel, local_bandwidths
from clusterforests.baselines.partition_around_medoids import partition_around_medoids
from clusterforests.metrics import clustering_accuracy, rand_index

ALL = [BaggedClustering, EvidenceAccumulation, NJWSpectralClustering, RandomProjectionEnsemble]


@parametrize_with_checks(
    [
        BaggedClustering(n_estimators=20),
        BaggedClustering(n_estimators=10, base="medoids"),
        EvidenceAccumulation(n_estimators=20),
        EvidenceAccumulation(3, n_estimators=20, base_clusters="sqrt", threshold=None),
        NJWSpectralClustering(),
        NJWSpectralClustering(bandwidth="automatic"),
        RandomProjectionEnsemble(n_estimators=20),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", ALL)
def test_finds_separate_groups_and_repeats_itself(method, blobs):
    X, truth = blobs
    first = method(3, random_state=1).fit(X)
    assert clustering_accuracy(truth, first.labels_) > 0.98
    assert (np.diff(np.bincount(first.labels_)) <= 0).all()
    again = method(3, random_state=1, n_jobs=2).fit(X)
    np.testing.assert_array_equal(first.labels_, again.labels_)


@pytest.mark.parametrize("scale", [1e-306, 1e-200, 1e160, 1e306])
@pytest.mark.parametrize(
    "estimator",
    [
        BaggedClustering(3, n_estimators=10, base="medoids"),
        BaggedClustering(3, n_estimators=10),
        EvidenceAccumulation(3, n_estimators=10),
        NJWSpectralClustering(3, n_init=10),
        NJWSpectralClustering(3, n_init=10, bandwidth="automatic"),
        RandomProjectionEnsemble(3, n_estimators=10),
        RandomForestProximity(3, n_estimators=10),
    ],
)
def test_scale_and_offset_do_not_matter(estimator, scale, blobs):
    X = blobs[0] / 100
    plain = clone(estimator).set_params(random_state=0).fit_predict(X)
    assert rand_index(clone(estimator).set_params(random_state=0).fit_predict(X * scale), plain) > 0.9
    assert rand_index(clone(estimator).set_params(random_state=0).fit_predict(X + 1e6), plain) > 0.9


def test_medoids_refuse_distances_that_are_not_finite():
    with pytest.raises(ValueError, match="finite"):
        partition_around_medoids(np.array([[0.0, np.nan], [np.nan, 0.0]]), 1)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("bad", [{"n_clusters": 0}, {"n_init": 0}, {"max_iter": 0.5}, {"n_jobs": 0}])
def test_parameters_out_of_range_are_named(method, bad, blobs):
    name, value = next(iter(bad.items()))
    with pytest.raises(ValueError, match=f"{name}={value}"):
        method(**({"n_clusters": 3} | bad)).fit(blobs[0])


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (BaggedClustering(2, base="trees"), "base='trees'"),
        (EvidenceAccumulation(2, base_clusters="log"), "base_clusters='log'"),
        (EvidenceAccumulation(2, base_clusters=9), "base_clusters=9 .* distinct rows"),
        (EvidenceAccumulation(2, threshold=1.5), "threshold=1.5"),
        (RandomProjectionEnsemble(2, n_components=0), "n_components=0"),
        (RandomProjectionEnsemble(2, linkage="ward"), "linkage='ward'"),
        (RandomProjectionEnsemble(2, linkage="average", threshold=0.5), "threshold=0.5 needs linkage='single'"),
        (NJWSpectralClustering(2, bandwidth="wide"), "bandwidth='wide'"),
        (NJWSpectralClustering(2, bandwidth=0), "bandwidth=0"),
        (NJWSpectralClustering(2, bandwidth="local"), "row 0 of X occurs three times"),
        (NJWSpectralClustering(3, bandwidth="automatic"), "more distinct rows than n_clusters=3"),
        (RandomProjectionEnsemble(4), "n_clusters=4 is more than the number of distinct rows"),
        (BaggedClustering(4), "bootstrap samples"),
    ],
)
def test_what_cannot_be_done_is_said(estimator, message):
    X = np.repeat([[0.0, 1.0], [2.0, 0.0], [5.0, 5.0]], 3, axis=0)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X)


def test_a_bandwidth_without_neighbours_is_refused(blobs):
    with pytest.raises(ValueError, match="bandwidth=1e-09 leaves rows without any neighbour"):
        NJWSpectralClustering(3, bandwidth=1e-9).fit(blobs[0])


@given(seed=st.integers(0, 10**6), n=st.integers(2, 8), k=st.integers(1, 4))
@settings(deadline=None, max_examples=60)
def test_medoids_cannot_be_swapped_for_better(seed, n, k):
    k = min(k, n)
    rows = np.random.default_rng(seed).integers(0, 6, size=(n, 2)).astype(float)
    distances = cdist(rows, rows)
    found = partition_around_medoids(distances, k)

    def cost(medoids):
        return distances[list(medoids)].min(axis=0).sum()

    assert found.cost == pytest.approx(cost(found.medoids))
    np.testing.assert_array_equal(found.labels[found.medoids], np.arange(k))
    np.testing.assert_allclose(distances[found.medoids[found.labels], np.arange(n)].sum(), found.cost)
    others = set(range(n)) - set(found.medoids.tolist())
    for out, new in itertools.product(range(k), others):
        swapped = found.medoids.copy()
        swapped[out] = new
        assert cost(swapped) >= found.cost - 1e-9


def test_medoids_of_separate_groups_are_optimal():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(12, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 4, axis=0)
    distances = cdist(rows, rows)
    best = min(distances[list(m)].min(axis=0).sum() for m in itertools.combinations(range(12), 3))
    assert partition_around_medoids(distances, 3).cost == pytest.approx(best)


def test_bagging_counts_only_rows_of_the_sample(blobs):
    X, _ = blobs
    bagged = BaggedClustering(3, n_estimators=30, random_state=0).fit(X)
    absent = bagged.partitions_ < 0
    assert 0.3 < absent.mean() < 0.44  # exp(-1) of the rows are not in a bootstrap sample
    P = reference.coassociation(bagged.partitions_, bagged.partitions_)
    np.fill_diagonal(P, 1.0)
    plain = partition_around_medoids(1 - P, 3).labels
    assert rand_index(plain, bagged.labels_) == 1


def test_bagging_member_is_kmeans_of_its_sample(blobs):
    X, _ = blobs
    member = BaggedClustering(3, n_estimators=1, random_state=5).fit(X).partitions_[0]
    held = member >= 0
    alone = HartiganWongKMeans(3, random_state=0).fit_predict(X[held])
    assert rand_index(alone, member[held]) == 1


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.9, None])
def test_evidence_is_single_linkage(threshold):
    X = np.random.default_rng(2).normal(size=(40, 3))
    fitted = EvidenceAccumulation(4, threshold=threshold, n_estimators=25, random_state=0).fit(X)
    P = reference.coassociation(fitted.partitions_, fitted.partitions_)
    tree = linkage(squareform(1 - P, checks=False), "single")
    if threshold is None:
        assert fitted.n_clusters_ == 4
        # Ties leave scipy a choice of groups, not of heights.
        height = tree[-3, 2]
        joined = fcluster(tree, tree[-4, 2], "distance")
        assert all(len(set(fitted.labels_[joined == group])) == 1 for group in set(joined)) or height == tree[-4, 2]
    else:
        expected = fcluster(tree, 1 - threshold + 1e-12, "distance")
        assert rand_index(expected, fitted.labels_) == 1
        assert fitted.n_clusters_ == expected.max()


def test_evidence_base_clusters():
    X = np.random.default_rng(2).normal(size=(50, 3))
    for given_clusters, found in ((None, 3), ("sqrt", 7), (5, 5)):
        fitted = EvidenceAccumulation(3, base_clusters=given_clusters, n_estimators=3, random_state=0).fit(X)
        assert (fitted.partitions_.max(axis=1) + 1 == found).all()


def test_projection_members_differ_and_do_not_depend_on_offset_or_scale(blobs):
    X, truth = blobs
    fitted = RandomProjectionEnsemble(3, n_components=2, n_estimators=40, linkage="average", random_state=0).fit(X)
    assert len(np.unique(fitted.partitions_, axis=0)) > 10
    moved = RandomProjectionEnsemble(3, n_components=2, n_estimators=40, linkage="average", random_state=0)
    assert rand_index(moved.fit_predict(X * 2.0**300 + 0.0), fitted.labels_) == 1
    assert clustering_accuracy(truth, fitted.labels_) > 0.9


def test_kernel_and_local_bandwidths_by_hand():
    rows = np.array([[0.0], [1.0], [3.0], [7.0], [15.0], [31.0]])
    distances = cdist(rows, rows)
    widths = local_bandwidths(distances)
    assert widths.tolist() == [3.0, 2.0, 3.0, 6.0, 12.0, 24.0]
    local = kernel(distances, widths)
    assert local[0, 1] == pytest.approx(np.exp(-1 / (3 * 2)))
    assert (np.diag(local) == 1).all()
    one = kernel(distances, 2.0)
    assert one[0, 2] == pytest.approx(np.exp(-9 / 8))
    assert (np.diag(one) == 0).all()


def test_candidate_bandwidths_span_the_distances():
    rows = np.random.default_rng(0).normal(size=(60, 4))
    distances = cdist(rows, rows)
    widths = candidate_bandwidths(distances)
    apart = distances[distances > 0]
    assert widths.min() >= apart.min() * (1 - 1e-12)
    assert widths.max() <= apart.max() * (1 + 1e-12)
    assert 15 < len(widths) < 45


@pytest.mark.parametrize(
    ("name", "k", "bandwidth", "rho_r", "rho_c"),
    [  # medians over seeds of kernlab's specc
        ("wine", 3, "local", 71.91, 70.79),
        ("wdbc", 2, "local", 81.10, 89.46),
        ("soybean", 4, "local", 83.72, 76.60),
        ("spect", 2, "automatic", 53.77, 64.04),
        ("heart", 2, "automatic", 51.82, 60.00),
    ],
)
def test_spectral_clustering_gives_what_kernlab_gives(uci, name, k, bandwidth, rho_r, rho_c):
    data = uci(name)
    runs = [NJWSpectralClustering(k, bandwidth=bandwidth, random_state=r).fit_predict(data.data) for r in range(15)]
    found = [[100 * score(data.target, run) for score in (rand_index, clustering_accuracy)] for run in runs]
    np.testing.assert_allclose(np.median(found, axis=0), (rho_r, rho_c), atol=0.011)


@pytest.mark.parametrize(("name", "k", "rho_r", "rho_c"), [("wine", 3, 71.87, 70.22), ("wdbc", 2, 75.04, 85.41)])
def test_evidence_gives_the_printed_cells(uci, name, k, rho_r, rho_c):
    data = uci(name)
    labels = EvidenceAccumulation(k, random_state=0).fit_predict(data.data)
    assert 100 * rand_index(data.target, labels) == pytest.approx(rho_r, abs=0.05)
    assert 100 * clustering_accuracy(data.target, labels) == pytest.approx(rho_c, abs=0.05)
