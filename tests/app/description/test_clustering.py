"""What is described is what the forest says, wherever it was fitted."""

import dask.array as da
import numpy as np
import pandas as pd

from clusterforests import ClusterForest
from clusterforests.app.description.clustering import measure


def test_what_is_measured_is_the_forests_own(blobs):
    X, _ = blobs
    forest = ClusterForest(3, n_estimators=10, random_state=0).fit(X, sample_weight=np.arange(75.0))
    found = measure(forest, 2)
    assert np.array_equal(found.labels, forest.labels_)
    assert np.array_equal(found.memberships, forest.memberships_)
    assert np.array_equal(found.silhouette, forest.consensus_silhouette_)
    assert np.array_equal(found.consensus, forest.cluster_consensus_)
    assert np.array_equal(found.weights, np.arange(75.0))
    assert found.stability.mean == forest.stability(2).mean


def test_arrays_of_dask_come_into_memory(blobs):
    settings = {"n_estimators": 10, "random_state": 0}
    here = measure(ClusterForest(3, **settings).fit(blobs[0]), 2)
    there = measure(ClusterForest(3, **settings).fit(da.from_array(blobs[0], chunks=(30, -1))), 2)
    for name in ("labels", "memberships", "silhouette", "consensus"):
        assert type(getattr(there, name)) is np.ndarray
        assert np.allclose(getattr(there, name), getattr(here, name), rtol=0, atol=1e-12)


def test_levels_of_categories_are_columns():
    kinds = pd.DataFrame({"two": list("ababab"), "three": list("abcabc"), "number": [0, 5, 1, 9, 2, 7]})
    kinds = kinds.astype({"two": "category", "three": "category"})
    table = ClusterForest(3, n_estimators=5, random_state=0).fit(kinds).encode(kinds)
    assert [column.level for column in table.columns] == ["b", "a", "b", "c", None]
    assert table.values.tolist()[:2] == [[0, 1, 0, 0, 0], [1, 0, 1, 0, 5]]
    assert table.levels == {0: ("a", "b"), 1: ("a", "b", "c")}
