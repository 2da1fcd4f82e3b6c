"""All baselines: scikit-learn's conventions, scales, and what is refused."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from paper.metrics import clustering_accuracy, rand_index
from paper.rivals import (
    BaggedClustering,
    EvidenceAccumulation,
    NJWSpectralClustering,
    RandomForestProximity,
    RandomProjectionEnsemble,
)

ALL = [BaggedClustering, EvidenceAccumulation, NJWSpectralClustering, RandomProjectionEnsemble]


@parametrize_with_checks(
    [
        BaggedClustering(n_estimators=20),
        BaggedClustering(n_estimators=10, base="medoids"),
        EvidenceAccumulation(n_estimators=20),
        EvidenceAccumulation(3, n_estimators=20, n_base_clusters="sqrt", threshold=None),
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
    starts = {"n_init": 10} if method is NJWSpectralClustering else {}  # a single one may end in a poor optimum
    first = method(3, random_state=1, **starts).fit(X)
    assert clustering_accuracy(truth, first.labels_) > 0.98
    assert (np.diff(np.bincount(first.labels_)) <= 0).all()
    again = method(3, random_state=1, n_jobs=2, **starts).fit(X)
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
        (EvidenceAccumulation(2, n_base_clusters="log"), "n_base_clusters='log'"),
        (EvidenceAccumulation(2, n_base_clusters=9), "n_base_clusters=9 .* distinct rows"),
        (EvidenceAccumulation(2, threshold=1.5), "threshold=1.5"),
        (RandomProjectionEnsemble(2, n_components=0), "n_components=0"),
        (RandomProjectionEnsemble(2, linkage="ward"), "linkage='ward'"),
        (RandomProjectionEnsemble(2, linkage="average", threshold=0.5), "threshold=0.5 needs linkage='single'"),
        (NJWSpectralClustering(2, bandwidth="wide"), "bandwidth='wide'"),
        (NJWSpectralClustering(2, bandwidth=0), "bandwidth=0"),
        (NJWSpectralClustering(3, bandwidth="automatic"), "more distinct rows than n_clusters=3"),
        (RandomProjectionEnsemble(4), "n_clusters=4 is more than the number of distinct rows"),
        (BaggedClustering(4), "bootstrap samples"),
    ],
)
def test_what_cannot_be_done_is_said(estimator, message):
    X = np.repeat([[0.0, 1.0], [2.0, 0.0], [5.0, 5.0]], 3, axis=0)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X)
