"""Which clusters split from which, and why."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from clusterforests import ClusterForest, plots
from clusterforests.inspection import cluster_tree, feature_separation
from clusterforests.inspection.cluster_tree import Split, SplitFeature, follow, shared_rows

LEVELS = [[0, 0, 0, 0, 0, 1, 1, 1], [1, 1, 2, 2, 2, 0, 0, 0], [1, 1, 2, 2, 3, 0, 0, 0]]


@pytest.fixture(scope="module")
def nested():
    """Two far groups, the first of which is two by size and weight, the second by `kind`."""
    group = np.repeat([0, 1, 2, 3], 40)
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(160, 4)), columns=["size", "weight", "far", "noise"])
    X["size"] += np.array([0, 9, 0, 0])[group]
    X["weight"] += np.array([0, 8, 0, 0])[group]
    X["far"] += 9.0 * (group > 1)
    X["away"] = 2 * X["far"] + X["noise"]
    X["apart"] = X["far"] + X["noise"]
    X["kind"] = pd.Categorical(np.array(["a", "a", "b", "c"])[group])
    return X


def test_links_and_splits_of_given_labels():
    tree = cluster_tree(LEVELS)
    assert tree.n_clusters == (2, 3, 4)
    assert [sizes.tolist() for sizes in tree.sizes] == [[5, 3], [3, 2, 3], [3, 2, 2, 1]]
    assert tree.overlaps[0].tolist() == [[0, 2, 3], [3, 0, 0]]
    assert tree.overlaps[1].tolist() == [[3, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 1]]
    assert tree.splits == (Split(0, 0, (1, 2), ()), Split(1, 2, (2, 3), ()))


def test_a_cluster_descends_from_where_most_of_its_weight_comes_from():
    levels = [[0, 0, 0, 1, 1, 1], [0, 0, 2, 2, 1, 1]]
    assert cluster_tree(levels, weights=[1, 1, 1, 2, 1, 1]).splits[0][1:3] == (1, (1, 2))
    tree = cluster_tree(levels, weights=[1, 1, 2, 1, 1, 1])
    assert tree.splits[0][1:3] == (0, (0, 2))
    assert tree.overlaps[0].tolist() == [[2, 0, 2], [0, 2, 1]]


def test_features_of_a_split_are_those_that_differ_most_within_the_children_alone():
    X = np.array(
        [[0.0, 5, 1], [0.1, 5, 2], [9, 5, 1], [9.1, 5, np.nan], [9.2, 5, 2], [50, 0, 1], [50, 9, 2], [50, 4, 1]]
    )
    split, other = cluster_tree(LEVELS, X, names=["a", "b", "c"]).splits
    children = np.array(LEVELS[1])[:5] - 1
    share = feature_separation(X[:5], children).features
    assert split.features == (SplitFeature(0, None, "a", share[0]),)
    assert share[0] > 0.99
    assert other.features == ()  # of three rows


def test_a_forest_is_cut_by_at(nested):
    X = nested
    forest = ClusterForest(4, n_estimators=60, random_state=0).fit(X)
    tree = forest.cluster_tree(X, [4, 2, 3, 3])
    assert tree.n_clusters == (2, 3, 4)
    for k, sizes in zip(tree.n_clusters, tree.sizes, strict=True):
        assert sizes.tolist() == np.bincount(forest.recut(k).labels_).tolist()
    named = {(split.features[0].name, split.features[0].level) for split in tree.splits}
    assert named == {("size", None), ("kind = b", "b")}
    assert forest.cluster_tree(n_clusters=[2, 3, 4]).splits == tuple(
        split._replace(features=()) for split in tree.splits
    )
    renamed = forest.cluster_tree(X, [2, 3, 4], names=list("tuvwxyz"))
    assert {split.features[0].name for split in renamed.splits} == {"t", "z = b"}


def test_another_table_names_no_features(nested):
    forest = ClusterForest(4, n_estimators=60, random_state=0).fit(nested)
    with pytest.raises(ValueError, match="rows are in another order"):
        plots.cluster_tree(forest, nested.sample(frac=1, random_state=0))


def test_weights_count_and_impossible_numbers_are_left_out():
    X = np.repeat([[0.0, 0], [1, 1], [9, 9]], 4, axis=0)
    forest = ClusterForest(2, n_estimators=10, random_state=0).fit(X, sample_weight=np.repeat([1.0, 2.0, 3.0], 4))
    tree = forest.cluster_tree(X)
    assert tree.n_clusters == (2, 3)
    assert sorted(tree.sizes[1].tolist()) == [4, 8, 12]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f, X: cluster_tree([]), "levels is empty"),
        (lambda f, X: cluster_tree(LEVELS[::-1]), "labels of 4, 3, 2 clusters. Order them"),
        (lambda f, X: cluster_tree([[0, 2]]), "without a gap"),
        (lambda f, X: cluster_tree(LEVELS, [[1.0]]), "X has 1 rows but there are labels of 8"),
        (lambda f, X: cluster_tree(LEVELS, np.ones((8, 2)), names=["a"]), "names must be 2 names"),
        (lambda f, X: f.cluster_tree(X[:9]), "X has 9 rows but the forest was fitted on 160"),
        (lambda f, X: f.cluster_tree(X, 3), "n_clusters=3 is not allowed: it must be several integers"),
        (lambda f, X: f.cluster_tree(X, [10**6]), "n_clusters=1000000 is more than the .* groups"),
        (lambda f, X: f.cluster_tree(names=["a"]), "names must be 7 names"),
        (lambda f, X: ClusterForest(2).cluster_tree(), "not fitted"),
    ],
)
def test_bad_input_is_named(call, message, nested):
    X = nested
    forest = ClusterForest(2, n_estimators=5, random_state=0).fit(X)
    with pytest.raises(ValueError, match=message):
        call(forest, X)


def test_colours_follow_clusters():
    levels = np.array([0, 0, 0, 1, 1]), np.array([2, 2, 0, 1, 1]), np.array([0, 0, 0, 1, 2])
    numbers = follow([shared_rows(a, b) for a, b in pairwise(levels)], 2)
    followed = [names[found].tolist() for names, found in zip(numbers, levels, strict=True)]
    assert followed == [[0, 0, 0, 1, 1], [0, 0, 2, 1, 1], [0, 0, 0, 1, 2]]
