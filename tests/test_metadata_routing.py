"""Weights reach a forest through scikit-learn's meta-estimators, as it asks for them."""

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clusterforests import ClusterForest, HartiganWongKMeans

ESTIMATORS = [ClusterForest(3, n_estimators=20, random_state=0), HartiganWongKMeans(3, random_state=0)]


@pytest.fixture
def weighted():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(center, size=(40, 4)) for center in (0, 3, 6)])
    return StandardScaler().fit_transform(X), rng.integers(0, 4, len(X)).astype(float)


@pytest.fixture(autouse=True)
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_weights_that_are_requested_arrive(estimator, weighted):
    X, weights = weighted
    direct = sklearn.clone(estimator).fit(X, sample_weight=weights)
    plain = sklearn.clone(estimator).fit(X)
    asking = sklearn.clone(estimator).set_fit_request(sample_weight=True)
    piped = make_pipeline("passthrough", asking).fit(X, sample_weight=weights)[-1]
    assert np.array_equal(piped.labels_, direct.labels_)
    if isinstance(estimator, HartiganWongKMeans):
        assert np.array_equal(piped.cluster_centers_, direct.cluster_centers_)
        assert not np.array_equal(piped.cluster_centers_, plain.cluster_centers_)
    else:
        assert np.array_equal(piped.partitions_, direct.partitions_)
        assert not np.array_equal(piped.partitions_, plain.partitions_)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_weights_that_are_not_requested_are_refused(estimator, weighted):
    X, weights = weighted
    pipeline = make_pipeline("passthrough", sklearn.clone(estimator))
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        pipeline.fit(X, sample_weight=weights)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_a_request_can_have_another_name(estimator, weighted):
    X, weights = weighted
    asking = sklearn.clone(estimator).set_fit_request(sample_weight="mass")
    piped = make_pipeline("passthrough", asking).fit(X, mass=weights)[-1]
    assert np.array_equal(piped.labels_, sklearn.clone(estimator).fit(X, sample_weight=weights).labels_)
