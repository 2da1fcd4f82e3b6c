"""predict_proba: its maximum is what predict says, whatever the consensus method and wherever the rows are."""

import dask.array as da
import numpy as np
import pytest
from accelerator import need_gpu
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs

from clusterforests import ClusterForest, PaperForest
from clusterforests.consensus.methods import METHODS, NEEDS_VALUES
from clusterforests.rows.new_rows import favour

RNG = np.random.default_rng(0)
X, _ = make_blobs([60, 40, 30], n_features=5, cluster_std=3.0, random_state=0)  # they overlap: many rows are ambiguous
NEW = RNG.normal(scale=8, size=(300, 5))
FEW = {"n_estimators": 20, "random_state": 0}
FORESTS = {method: ClusterForest(4, consensus=method, **FEW) for method in METHODS}
FORESTS |= {
    f"paper, {method}": PaperForest(4, consensus=method, **FEW) for method in METHODS if method not in NEEDS_VALUES
}
FORESTS |= {
    "one cluster": ClusterForest(1, **FEW),
    "landmarks": ClusterForest(4, n_landmarks=30, **FEW),
    "sizes": ClusterForest(4, min_cluster_size=25, **FEW),
    "rows without a cluster": ClusterForest(4, contamination=0.1, **FEW),
}


@pytest.mark.parametrize("name", FORESTS)
def test_the_maximum_is_the_label(name):
    forest = clone(FORESTS[name]).fit(X)
    for rows in (X, NEW):
        soft, labels = forest.predict_proba(rows), forest.predict(rows)
        assert soft.shape == (len(rows), forest.n_clusters_)
        np.testing.assert_allclose(soft.sum(axis=1), 1, atol=1e-12)
        assert (soft >= 0).all()
        assert (soft.argmax(axis=1) == labels)[labels >= 0].all()


@pytest.mark.parametrize("make", [ClusterForest, PaperForest])
def test_ambiguous_digits(make):
    """Memberships of these are highest elsewhere in some rows, predict_proba never."""
    digits = load_digits().data[:600]
    forest = make(10, n_estimators=30, random_state=0).fit(digits)
    assert (forest.memberships_.argmax(axis=1) != forest.labels_).any()
    assert (forest.predict_proba(digits).argmax(axis=1) == forest.labels_).all()


@pytest.mark.parametrize("where", ["dask", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_rows_that_lie_elsewhere(where, monkeypatch):
    forest = ClusterForest(4, **FEW).fit(X)
    if where == "dask":
        there = da.from_array(NEW, chunks=(70, 5))
        soft, labels = forest.predict_proba(there).compute(), forest.predict(there).compute()
    else:
        cupy = need_gpu(monkeypatch)
        there = cupy.asarray(NEW)
        soft, labels = (cupy.asnumpy(found) for found in (forest.predict_proba(there), forest.predict(there)))
    np.testing.assert_array_equal(soft, forest.predict_proba(NEW))
    assert (soft.argmax(axis=1) == labels).all()


def test_rows_without_a_cluster_are_given_to_the_nearest():
    forest = ClusterForest(4, contamination=0.1, **FEW).fit(X)
    outside = forest.labels_ < 0
    assert outside.any()
    assert (forest.predict_proba(X).argmax(axis=1) == forest._nearest)[outside].all()


@settings(max_examples=200, derandomize=True, database=None)
@given(arrays(np.int64, st.tuples(st.integers(1, 20), st.integers(1, 6)), elements=st.integers(0, 3)), st.data())
def test_favour(counts, data):
    """Whatever the shares: a row's own cluster is highest, rows sum to 1, certain rows stay as they are."""
    counts[:, 0] += counts.sum(axis=1) == 0
    soft = counts / counts.sum(axis=1, keepdims=True)
    labels = data.draw(arrays(np.int32, len(soft), elements=st.integers(0, soft.shape[1] - 1)))
    found = favour(soft, labels)
    rows = np.arange(len(soft))
    assert (found.argmax(axis=1) == labels).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    elsewhere = np.where(np.arange(soft.shape[1]) == labels[:, None], -1, soft).max(axis=1)
    certain = soft[rows, labels] > elsewhere
    np.testing.assert_array_equal(found[certain], soft[certain])
