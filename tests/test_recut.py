"""Another number of clusters from the same trees: what a fit with that number gives."""

from functools import partial

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from clusterforests import ClusterForest, PaperForest
from clusterforests.consensus.affinity import LIMITS, GraphLimits
from clusterforests.consensus.nodes import known_nodes

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 5, 400)
X = RNG.normal(size=(400, 8)) + 4 * RNG.normal(size=(5, 8))[TRUTH] * ([1] * 6 + [0] * 2)
FLAT = np.column_stack([np.cos(TRUTH), np.sin(TRUTH)]) * 6 + RNG.normal(size=(400, 2))
NEW = RNG.normal(size=(50, 8)) * 4
UNMERGED = GraphLimits(collapsed=100)
SMALL = {"n_estimators": 40, "random_state": 0}
KINDS = {
    "default": {},
    "varied": {"trees": "varied"},
    "medoid": {"consensus": "medoid"},
    "ncut": {"consensus": "ncut"},
    "average": {"consensus": "average"},
    "gaps": {"consensus": "gaps", "trees": "fine"},
    "keep": {"select_features": False},
    "n_landmarks": {"n_landmarks": 60},
    "landmarks and ncut": {"n_landmarks": 60, "consensus": "ncut"},
    "given base": {"n_base_clusters": (3, 9)},
}


def as_numpy(values):
    return values.compute() if isinstance(values, da.Array) else values


def assert_same(cut, fitted, new=NEW):
    """Everything but the reasons of settings."""
    assert cut.n_clusters_ == fitted.n_clusters_ == cut.n_clusters
    assert {name: s.value for name, s in cut.chosen_params_.items()} == {
        name: s.value for name, s in fitted.chosen_params_.items()
    }
    for name in ("partitions_", "labels_", "memberships_", "item_consensus_", "cluster_consensus_"):
        mine, theirs = as_numpy(getattr(cut, name)), as_numpy(getattr(fitted, name))
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs, err_msg=name)
    for method in ("predict", "predict_proba", "transform"):
        np.testing.assert_array_equal(getattr(cut, method)(new), getattr(fitted, method)(new), err_msg=method)
    assert (cut.cut_tree_ is None) == (fitted.cut_tree_ is None)
    assert cut.n_clusters_evidence_ is None
    assert cut.get_params() == fitted.get_params()


def fit(k, table=X, weights=None, **settings):
    return ClusterForest(k, **SMALL | settings).fit(table, sample_weight=weights)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("before", "k"), [(3, 5), (5, 2)])
def test_the_same_as_a_fit(kind, before, k):
    assert_same(fit(before, **KINDS[kind]).recut(k), fit(k, **KINDS[kind]))


def test_trees_of_the_paper():
    settings = {"n_estimators": 20, "n_base_clusters": (3, 9), "affinity_threshold": 0.3, "affinity_scale": 5}
    three, five = (PaperForest(k, **settings, n_init=2, random_state=0).fit(X) for k in (3, 5))
    assert_same(three.recut(5), five)


@pytest.mark.parametrize("k", [2, 7])
def test_few_features(k):
    forest = fit(5, FLAT)
    assert forest.chosen_params_["trees"].value == "fine"
    assert_same(forest.recut(k), fit(k, FLAT), NEW[:, :2])


@pytest.mark.parametrize("settings", [{}, {"n_landmarks": 60}, {"consensus": "ncut"}, {"consensus": "average"}])
def test_weights(settings):
    weights = RNG.integers(0, 3, 400).astype(float)
    assert_same(fit(4, weights=weights, **settings).recut(3), fit(3, weights=weights, **settings))


def test_repeated_rows():
    table = np.repeat(X, 2, axis=0)
    assert_same(fit(4, table).recut(6), fit(6, table))


def test_more_distinct_rows_than_are_cut_exactly():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(5600, 6)) + 4 * rng.normal(size=(4, 6))[rng.integers(0, 4, 5600)]
    settings = {"n_estimators": 60, "trees": "varied", "n_base_clusters": (20, 40)}
    forest = fit(4, table, **settings)
    assert forest.chosen_params_["n_landmarks"].value == 2000
    assert_same(forest.recut(3), fit(3, table, **settings), NEW[:, :6])


def many(n=3000):
    rng = np.random.default_rng(2)
    table = rng.normal(size=(n, 6)) + 6 * rng.normal(size=(4, 6))[rng.integers(0, 4, n)] * [1, 1, 1, 0, 0, 0]
    return table, rng.integers(0, 4, n).astype(float)


@pytest.fixture
def few(lower_limits):
    """Limits so low that 3,000 rows are many."""
    lower_limits(large_rows=1000, sample_rows=500, least_sample=500)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("settings", [{}, {"n_landmarks": None, "consensus": "ncut"}, {"n_landmarks": 100}])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_in_blocks(settings, weighted):
    table, weights = many()
    weights = weights if weighted else None
    assert_same(fit(4, table, weights, **settings).recut(3), fit(3, table, weights, **settings), NEW[:, :6])


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("weighted", [False, True])
def test_more_rows_than_signatures_are_merged_of(weighted, monkeypatch):
    monkeypatch.setattr("clusterforests.rows.results.known_nodes", partial(known_nodes, limits=UNMERGED))
    table, weights = many()
    weights = weights if weighted else None
    assert_same(fit(4, table, weights).recut(3), fit(3, table, weights), NEW[:, :6])


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("settings", [{}, {"n_landmarks": 100, "consensus": "ncut"}])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gathered", [True, False])
def test_dask(settings, weighted, gathered, monkeypatch):
    """Few rows are gathered to be placed, many are placed where they are."""
    monkeypatch.setattr("clusterforests.rows.dask.results.LIMITS", LIMITS if gathered else UNMERGED)
    table, weights = many()
    with dask.config.set(scheduler="synchronous"):
        pieces = da.from_array(table, chunks=(700, 6))
        own = da.from_array(weights, chunks=700) if weighted else None
        cut, fitted = fit(4, pieces, own, **settings).recut(3), fit(3, pieces, own, **settings)
        assert isinstance(cut.labels_, da.Array)
        assert cut.labels_.chunks == fitted.labels_.chunks
        assert_same(cut, fitted, NEW[:, :6])
        plain = fit(3, table, weights if weighted else None, **settings)
        np.testing.assert_array_equal(cut.labels_.compute(), plain.labels_)


@pytest.mark.parametrize("settings", [{}, {"consensus": "ncut"}, {"n_landmarks": 60}])
def test_a_saved_forest(settings, tmp_path):
    weights = RNG.integers(0, 3, 400).astype(float)
    fit(4, weights=weights, **settings).save(tmp_path / "m.cf")
    cut = ClusterForest.load(tmp_path / "m.cf").recut(3)
    assert_same(cut, fit(3, weights=weights, **settings))
    cut.save(tmp_path / "cut.cf")
    assert_same(ClusterForest.load(tmp_path / "cut.cf"), cut)


def test_the_forest_itself_is_unchanged():
    forest, again = fit(4, consensus="ncut"), fit(4, consensus="ncut")
    tree = forest.cut_tree_
    cut = forest.recut(2)
    assert forest.cut_tree_ is tree
    assert cut.cut_tree_ is not tree
    assert forest.n_clusters == forest.n_clusters_ == 4
    assert forest.chosen_params_ == again.chosen_params_
    np.testing.assert_array_equal(forest.labels_, again.labels_)
    np.testing.assert_array_equal(forest.predict(NEW), again.predict(NEW))
    assert cut.partitions_ is forest.partitions_  # which are shared, not made again


@pytest.mark.parametrize("kind", ["default", "medoid", "ncut", "n_landmarks"])
def test_a_cut_of_a_cut(kind):
    forest = fit(4, **KINDS[kind])
    assert_same(forest.recut(7).recut(3), forest.recut(3))
    assert_same(forest.recut(7).recut(4), forest.recut(4))
    np.testing.assert_array_equal(forest.recut(4).labels_, forest.labels_)


def test_fitting_a_cut_again_takes_its_number():
    cut = fit(4).recut(3)
    assert clone(cut).n_clusters == 3
    assert_same(cut.fit(X), fit(3))


def test_a_chosen_number_gives_way():
    forest = fit(range(2, 7))
    assert forest.n_clusters_evidence_ is not None
    cut = forest.recut(np.int64(6))
    assert cut.n_clusters_evidence_ is None
    assert cut.chosen_params_["n_clusters"] == (6, "given")
    assert type(cut.n_clusters) is int
    assert_same(cut, fit(6))


def test_one_cluster():
    cut = fit(4).recut(1)
    assert not cut.labels_.any()
    assert (cut.memberships_ == 1).all()


def test_repeated_features_are_those_of_a_fit():
    table = np.column_stack([RNG.normal(size=(400, 3)), 6 * (TRUTH % 2)])
    with pytest.warns(UserWarning, match="The clusters repeat column 3"):
        forest = fit(2, table, select_features=False)
    assert list(forest.dominant_features_) == [3]
    assert forest.recut(3).dominant_features_ == {}
    assert list(forest.dominant_features_) == [3]


@pytest.mark.parametrize("k", [0, -1, 2.0, "auto", None, [2, 3], True])
def test_bad_numbers(k):
    with pytest.raises(ValueError, match=r"n_clusters=.* integer"):
        fit(4).recut(k)


def test_more_clusters_than_rows_are_told_apart():
    forest = ClusterForest(2, n_estimators=3, n_base_clusters=2, trees="varied", random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"n_clusters=50 is more than the \d groups of rows"):
        forest.recut(50)
    with pytest.raises(ValueError, match=r"n_clusters=401 is more than the \d+ groups of rows"):
        fit(4).recut(401)


def test_more_clusters_than_landmarks():
    with pytest.raises(ValueError, match="n_landmarks=60 is less than n_clusters=61"):
        fit(4, n_landmarks=60).recut(61)


def test_an_unfitted_forest():
    with pytest.raises(NotFittedError):
        ClusterForest(4).recut(3)
