"""The read-only view of a fitted forest shows what the forest has."""

from dataclasses import replace

import dask.array as da
import numpy as np
import pandas as pd
import pytest

from clusterforests import ClusterForest
from clusterforests.forest_view import view_of


def test_a_view_shows_the_forest(blobs):
    X, _ = blobs
    weights = np.arange(75.0)
    forest = ClusterForest(3, n_estimators=10, random_state=0).fit(X, sample_weight=weights)
    view = view_of(forest)
    rows = np.array([3, 50, 7])
    assert np.array_equal(view.labels, forest.labels_)
    assert np.array_equal(view.partitions(rows), forest.partitions_[:, rows])
    assert np.array_equal(view.weights_of(rows), weights[rows])
    assert np.array_equal(view.coassociation(rows), forest.coassociation(rows, rows))
    assert np.array_equal(view.item_consensus(), forest.item_consensus_)
    assert np.array_equal(view.encode(X).values, X)
    assert np.array_equal(view.shares(), forest.cluster_shares_)
    assert np.array_equal(view.memberships(), forest.memberships_)
    assert np.array_equal(view.half_cuts(2).labels, forest.half_cuts(2).labels)
    assert len(np.unique(view.cut(view.partitions(), 2))) == 2
    assert view.feature_names is None
    with pytest.raises(AttributeError):
        view.labels = None
    with pytest.raises(ValueError, match="not fitted"):
        view_of(ClusterForest(3))


def test_use_counts_every_time_a_tree_has_a_feature(blobs):
    view = view_of(ClusterForest(3, n_estimators=2, random_state=0).fit(blobs[0]))
    use = replace(view, tree_features=[np.array([0, 0, 1]), np.array([2])], n_features=4).feature_use()
    assert use == pytest.approx([1 / 3, 1 / 6, 1 / 2, 0])


def test_usable_features_are_those_that_trees_draw():
    X = np.random.default_rng(0).normal(size=(120, 30))
    X[:60, :5] += 4
    X[:, 7] = 1.0
    settings = {"n_estimators": 60, "random_state": 0}
    view = view_of(ClusterForest(2, **settings).fit(X))
    assert set(view.usable_features) == set(np.concatenate(view.tree_features)) == set(range(5))
    kept = view_of(ClusterForest(2, select_features=False, **settings).fit(X))
    assert set(kept.usable_features) == set(range(30)) - {7}


@pytest.mark.filterwarnings("ignore:Column 'one' is left out")
def test_levels_of_categories_are_columns():
    kinds = {"one": ["x"] * 6, "two": list("ababab"), "three": list("abcabc"), "number": [0, 5, 1, 9, 2, 7]}
    view = view_of(ClusterForest(3, n_estimators=5, random_state=0).fit(pd.DataFrame(kinds)))
    assert [column.level for column in view.columns()] == ["b", "a", "b", "c", None]
    assert view.encode(pd.DataFrame(kinds)).values.shape[1] == len(view.columns())


def test_arrays_of_dask_come_into_memory(blobs):
    X, _ = blobs
    settings = {"n_estimators": 10, "random_state": 0}
    here = view_of(ClusterForest(3, **settings).fit(X))
    view = view_of(ClusterForest(3, **settings).fit(da.from_array(X, chunks=(30, -1))))
    for name in ("labels", "feature_importances", "feature_pvalues"):
        assert type(getattr(view, name)) is np.ndarray
        assert np.array_equal(getattr(view, name), getattr(here, name))
    for name in ("partitions", "shares", "item_consensus", "cluster_consensus"):
        assert type(getattr(view, name)()) is np.ndarray
        assert np.allclose(getattr(view, name)(), getattr(here, name)(), rtol=0, atol=1e-12)
