"""Which partitions of a library to combine, against the definitions."""

import itertools

import numpy as np
import pytest
import reference
from noisy_partitions import noisy
from scipy.spatial import ConvexHull
from sklearn.metrics import normalized_mutual_info_score

from clusterforests.consensus.affinity import collapse
from paper.consensus import select_partitions
from paper.consensus.selection import hull_corners, pairwise_nmi


def library(seed=0, n=40):
    """Three families of partitions, of which the first is the largest."""
    rng = np.random.default_rng(seed)
    families = rng.integers(0, 3, size=(3, n))
    labels = families[[0, 0, 0, 0, 1, 1, 1, 2, 2]]
    wrong = rng.random(labels.shape) < 0.1
    labels[wrong] = rng.integers(0, 3, wrong.sum())
    return labels.astype(np.int32)


def plain_nmi(labels):
    def nmi(a, b):
        both = (a >= 0) & (b >= 0)
        return normalized_mutual_info_score(a[both], b[both], average_method="geometric") if both.any() else 0.0

    return np.array([[nmi(a, b) if a is not b else 1.0 for b in labels] for a in labels])


@pytest.mark.parametrize("hidden", [0.0, 0.3])
def test_nmi(hidden):
    labels, _ = noisy(members=8, noise=0.5, hidden=hidden)
    labels[3] = 0  # one cluster
    labels[4] = np.where(labels[4] < 0, -1, 0)
    assert pairwise_nmi(collapse(labels)) == pytest.approx(plain_nmi(labels), abs=1e-12)


def test_nmi_without_common_rows():
    labels = np.array([[0, 1, -1, -1], [-1, -1, 0, 1], [0, 0, 1, 1]], dtype=np.int32)
    assert pairwise_nmi(collapse(labels)).tolist() == np.eye(3).tolist()


def test_cluster_and_select_takes_the_best_of_each_family():
    labels = library()
    similarity = plain_nmi(labels)
    quality = similarity.sum(axis=1)
    families = [range(4), range(4, 7), range(7, 9)]
    assert select_partitions(labels, 3).tolist() == [max(f, key=lambda i: quality[i]) for f in families]
    sides = [np.array(s, dtype=bool) for s in itertools.product([0, 1], repeat=9) if 0 < sum(s) < 9]
    best = min(sides, key=lambda side: reference.ncut_value(similarity, side))
    expected = sorted(np.where(side, quality, -1).argmax() for side in (best, ~best))
    assert select_partitions(labels, 2).tolist() == expected


@pytest.mark.parametrize("balance", [0.0, 0.5, 1.0])
def test_joint_criterion_is_greedy(balance):
    labels = library(1)
    similarity = plain_nmi(labels)

    def criterion(chosen):
        diverse = sum(1 - similarity[i, j] for i, j in itertools.permutations(chosen, 2))
        return balance * similarity[chosen].sum() + (1 - balance) * diverse

    chosen = [int(similarity.sum(axis=1).argmax())]
    for size in range(1, 8):
        assert select_partitions(labels, size, strategy="joint", balance=balance).tolist() == sorted(chosen)
        chosen.append(max(set(range(9)) - set(chosen), key=lambda i: criterion([*chosen, i])))
    if balance == 1:
        assert chosen == np.argsort(-similarity.sum(axis=1), kind="stable")[:8].tolist()


def plain_corners(points):
    """Corners of the whole hull that are the best for some weights of the two coordinates."""
    corners = ConvexHull(points).vertices
    angles = np.linspace(1e-6, np.pi / 2 - 1e-6, 20_001)
    return set(corners[np.unique((points[corners] @ [np.cos(angles), np.sin(angles)]).argmax(axis=0))])


@pytest.mark.parametrize("seed", range(5))
def test_hull_corners(seed):
    points = np.random.default_rng(seed).normal(size=(30, 2))
    assert set(hull_corners(*points.T)) == plain_corners(points)


def test_hull_corners_of_few_points():
    line = np.arange(4.0)
    assert hull_corners(line, -line) == [3, 0]
    assert hull_corners(line, line) == [3]
    assert hull_corners(np.zeros(3), np.array([1.0, 2.0, 2.0])) == [1]


def test_convex_hull():
    labels = library(2)
    similarity = plain_nmi(labels)
    quality = similarity.sum(axis=1)
    pairs = np.array(list(itertools.combinations(range(9), 2)))
    points = np.array([[(quality[i] + quality[j]) / 2, 1 - similarity[i, j]] for i, j in pairs])
    first = np.unique(pairs[list(plain_corners(points))])
    assert select_partitions(labels, None, strategy="convex-hull").tolist() == first.tolist()
    smaller = select_partitions(labels, 2, strategy="convex-hull")
    assert smaller.tolist() == sorted(sorted(first, key=lambda i: -quality[i])[:2])
    for size in range(1, 10):
        assert len(set(select_partitions(labels, size, strategy="convex-hull"))) == size
    assert set(first) <= set(select_partitions(labels, 8, strategy="convex-hull"))


@pytest.mark.parametrize("strategy", ["cluster-and-select", "joint", "convex-hull"])
def test_selection_of_equal_partitions(strategy):
    labels = np.tile([0, 0, 1, 1, 2], (6, 1))
    for size in (1, 3, 6):
        assert len(set(select_partitions(labels, size, strategy=strategy))) == size
    assert select_partitions(labels[:1], 1, strategy=strategy).tolist() == [0]
    spaced = np.where(labels < 0, labels, labels * 9 + 4)
    assert (select_partitions(spaced, 3, strategy=strategy) == select_partitions(labels, 3, strategy=strategy)).all()


@pytest.mark.parametrize(
    ("n_selected", "options", "message"),
    [
        (0, {}, "n_selected=0 is not allowed"),
        (10, {}, "n_selected=10 is more than the 9 partitions"),
        (None, {}, "n_selected=None is not allowed"),
        (3, {"strategy": "random"}, "strategy='random' is not allowed"),
        (3, {"balance": 2}, "balance=2 is not allowed"),
    ],
)
def test_bad_selection(n_selected, options, message):
    with pytest.raises(ValueError, match=message):
        select_partitions(library(), n_selected, **options)
