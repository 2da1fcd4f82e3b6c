"""Splits of a dendrogram, against SciPy's."""

import itertools

import numpy as np
import pytest
import reference
from clusterforests.n_clusters.dendrogram_splits import split_groups
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from clusterforests.backends import CpuBackend
from clusterforests.n_clusters import dendrogram_splits as splits

BACKEND = CpuBackend(1)


def nested(sizes, members=40, noise=0.1, seed=0):
    """Groups of rows; half of the partitions tell all of them apart, the others put neighbours together."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    labels = np.array([truth if m % 2 else truth // 2 for m in range(members)])
    wrong = rng.random(labels.shape) < noise
    labels[wrong] = rng.integers(0, len(sizes), wrong.sum())
    return labels.astype(np.int32), truth


def plain_linkage(labels):
    P = reference.coassociation(labels, labels)
    return linkage(squareform(1 - P, checks=False), "average")


def test_splits_are_those_of_average_linkage():
    labels, truth = nested([20, 15, 12, 30], noise=0.05)
    found = split_groups(BACKEND, labels, 4)
    tree = plain_linkage(labels)
    assert len(found.labels) == 4
    for k, groups in enumerate(found.labels, 1):
        assert groups.max() == k - 1
        assert adjusted_rand_score(fcluster(tree, k, "maxclust"), groups) == 1
    assert adjusted_rand_score(truth, found.labels[-1]) == 1
    assert found.heights == pytest.approx(tree[::-1][:3, 2])
    assert (np.diff(found.heights) <= 0).all()


def test_each_split_renames_the_smaller_side():
    labels, truth = nested([20, 15, 12, 30], noise=0.05)
    found = split_groups(BACKEND, labels, 4).labels
    assert found[0].tolist() == [0] * 77
    for number, (before, after) in enumerate(itertools.pairwise(found), 1):
        moved = after != before
        assert set(after[moved]) == {number}
        assert len(set(before[moved])) == 1
        assert moved.sum() < (after == before[moved][0]).sum()
    assert set(found[3][truth == 3]) == {0}


def test_no_more_than_asked_for():
    labels, _ = nested([20, 15, 12, 30])
    assert [len(split_groups(BACKEND, labels, most).labels) for most in (1, 2, 3)] == [1, 2, 3]
    assert len(split_groups(BACKEND, labels, 1).heights) == 0


@pytest.mark.parametrize(("rows", "groups"), [(7, 1), (8, 2), (9, 2)])
def test_a_group_has_eight_rows(rows, groups):
    labels = np.tile(np.repeat([0, 1], [30, rows]), (5, 1)).astype(np.int32)
    assert len(split_groups(BACKEND, labels, 9).labels) == groups


@pytest.mark.parametrize(("rows", "groups"), [(19, 1), (20, 2)])
def test_a_group_has_a_hundredth_of_the_rows(rows, groups):
    labels = np.tile(np.repeat([0, 1], [2000 - rows, rows]), (5, 1)).astype(np.int32)
    assert len(split_groups(BACKEND, labels, 9).labels) == groups


@pytest.mark.parametrize("seed", range(3))
def test_outlying_rows_are_no_groups_and_hide_none(seed, monkeypatch):
    """Rows far from everything are split off first; the groups below them are found all the same."""
    labels, truth = nested([20, 16, 14, 18], noise=0.05, seed=seed)
    odd = np.arange(100, 103)[None, :] + 10 * np.arange(len(labels))[:, None]  # alone in every partition
    order = np.random.default_rng(seed).permutation(len(truth) + 3)
    found = split_groups(BACKEND, np.hstack([labels, odd]).astype(np.int32)[:, order], 9)
    assert len(found.labels) == 4
    inliers = order < len(truth)
    assert adjusted_rand_score(truth[order[inliers]], found.labels[-1][inliers]) == 1


def test_one_row_and_rows_all_alike():
    for n in (1, 50):
        found = split_groups(BACKEND, np.zeros((4, n), dtype=np.int32), 5)
        assert [groups.tolist() for groups in found.labels] == [[0] * n]
        assert found.heights.tolist() == []


def test_entries_of_a_node():
    labels, _ = nested([20, 15], noise=0.3)
    tree = splits._Dendrogram(BACKEND, labels, np.ones(35))
    assert sorted(tree.entries(tree.top)) == list(range(35))
    assert tree.entries(7) == [7]
    assert tree.size[tree.top] == 35
    a, b = tree.sides[tree.top]
    assert sorted(tree.entries(a) + tree.entries(b)) == list(range(35))
    assert tree.size[a] == len(tree.entries(a))
    assert tree.height[tree.top] == pytest.approx(plain_linkage(labels)[-1, 2])
