"""A tree that cannot be grown is left out, counted and reported; the forest goes on."""

import dask.array as da
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans

from clusterforests import PaperForest

N_TREES = 40
MESSAGE = r"of 40 trees were left out: features_per_draw=1 is too small for n_base_clusters=3"


@pytest.fixture(scope="module")
def table():
    """One useful column among many of two values: most trees find it in their draws, some do not."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(120, 1000)).astype(float)
    X[:, 17] = np.repeat([0.0, 10.0, 20.0], 40) + rng.random(120)
    return X


def forest(**settings):
    fixed = {"features_per_draw": 1, "n_base_clusters": 3, "patience": 1, "n_init": 1, "repeat_features": False}
    return PaperForest(3, n_estimators=N_TREES, random_state=0, **(fixed | settings))


@pytest.fixture(scope="module")
def fitted(table):
    with pytest.warns(UserWarning, match=MESSAGE):
        return forest().fit(table)


def test_the_others_make_the_forest(fitted, table):
    left = fitted.chosen_params_["n_estimators"].value
    assert 0 < left < N_TREES
    assert f"{N_TREES - left} of {N_TREES} trees" in fitted.chosen_params_["n_estimators"].reason
    assert len(fitted.partitions_) == len(fitted.kappas_) == len(fitted.kappa_path_) == left
    assert len(fitted.estimators_features_) == left
    assert all(17 in features for features in fitted.estimators_features_)
    assert len(np.unique(fitted.labels_.reshape(3, 40), axis=1).T) == 1
    assert (fitted.predict(table) == fitted.labels_).all()


def test_all_of_it_works_with_fewer_trees(fitted, tmp_path):
    path = tmp_path / "model.cforest"
    fitted.save(path)
    again = PaperForest.load(path)
    assert again.chosen_params_["n_estimators"] == fitted.chosen_params_["n_estimators"]
    assert (again.partitions_ == fitted.partitions_).all()
    assert fitted.coassociation().max() == 1
    assert fitted.item_consensus_.shape == (120,)
    assert fitted.stability(n_splits=2).mean > 0.9


def test_what_is_left_does_not_depend_on_what_is_dropped(table):
    """The trees of a smaller forest are the first of a larger one."""
    with pytest.warns(UserWarning, match=MESSAGE):
        whole = forest().fit(table)
    with pytest.warns(UserWarning, match="trees were left out"):
        half = forest().set_params(n_estimators=N_TREES // 2).fit(table)
    n = len(half.partitions_)
    assert (whole.partitions_[:n] == half.partitions_).all()
    assert (whole.kappas_[:n] == half.kappas_).all()


@pytest.mark.parametrize("many", [False, True])
def test_dask_leaves_out_the_same(fitted, table, lower_limits, many):
    if many:
        lower_limits(large_rows=60)
    with pytest.warns(UserWarning, match=MESSAGE):
        here = forest(max_samples=512).fit(table)
    with pytest.warns(UserWarning, match=MESSAGE):
        there = forest(max_samples=512).fit(da.from_array(table, chunks=(50, 1000)))
    assert len(here.partitions_) == fitted.chosen_params_["n_estimators"].value
    assert (there.partitions_.compute() == here.partitions_).all()
    assert (there.labels_.compute() == here.labels_).all()


class Fragile(ClusterMixin, BaseEstimator):
    """K-means that fails on rows of two values, and on all rows where it was grown on some."""

    def __init__(self, n_clusters=2, random_state=None, most_rows=None, nonsense=False):
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.most_rows = most_rows
        self.nonsense = nonsense

    def fit_predict(self, X, y=None):
        if len(np.unique(X)) == 2 or (self.most_rows and len(X) > self.most_rows and self.random_state % 2):
            if self.nonsense:
                return np.zeros(3)
            raise RuntimeError("cannot cluster this")
        return KMeans(self.n_clusters, n_init=1, random_state=self.random_state).fit_predict(X)


@pytest.mark.parametrize("nonsense", [False, True])
def test_a_clusterer_that_fails_on_some_trees(table, nonsense):
    few = np.ascontiguousarray(table[:, 17:19])
    learner = Fragile(most_rows=100, nonsense=nonsense)
    with pytest.warns(UserWarning, match=r"trees were left out|clusterings by .* failed") as warned:
        found = forest(max_samples=80, estimator=learner, n_base_clusters=2).fit(few)
    assert 0 < len(found.partitions_) < N_TREES
    assert len(warned) == 2
    assert all(str(w.message).count("left out") for w in warned)


def test_no_tree_is_an_error(table):
    with pytest.raises(ValueError, match="No tree could be grown: features_per_draw=1 is too small"):
        forest().fit(np.delete(table, 17, axis=1))
