"""Counts, sums and orders of labels, against plain loops."""

import numpy as np
import pytest
import reference

from clusterforests import _core
from clusterforests.inspection import memberships


def draw(members, rows, most, lowest=0, seed=0):
    return np.random.default_rng(seed).integers(lowest, most, (members, rows)).astype(np.int32)


def lines_of(labels):
    """Where each partition's lines begin, with one for labels below zero."""
    return np.concatenate([[0], np.cumsum(labels.max(axis=1).astype(np.int64) + 2)])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("members", "rows", "others"), [(1, 5, 1), (7, 90, 40), (200, 60, 5000), (300, 40, 17)])
def test_most_matched(members, rows, others, threads):
    """The first of those with the most matches, also across panels and beyond 255 members."""
    a, b = draw(members, rows, 3), draw(members, others, 3, seed=1)
    place, matches = _core.most_matched(a, b, threads)
    counts = (a[:, :, None] == b[:, None, :]).sum(axis=0)
    assert (place == counts.argmax(axis=1)).all()
    assert (matches == counts.max(axis=1)).all()


def test_labels_below_zero_match_nothing():
    a = np.array([[-1, 0], [-1, 1]], np.int32)
    place, matches = _core.most_matched(a, a, 1)
    assert place.tolist() == [0, 1]
    assert matches.tolist() == [0, 2]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_count_cells(weighted, threads):
    labels, groups = draw(6, 500, 4, lowest=-1), draw(1, 500, 3)[0]
    weights = np.random.default_rng(2).exponential(size=500) if weighted else None
    first = lines_of(labels)
    cells = np.ones((first[-1], 3))
    _core.count_cells(labels, first, groups, weights, cells, threads)
    expected = np.ones_like(cells)
    for begin, member in zip(first, labels, strict=False):
        for label, group, mass in zip(member, groups, np.ones(500) if weights is None else weights, strict=True):
            if label >= 0:
                expected[begin + label, group] += mass
    assert (cells == expected).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_sum_companions(threads):
    labels, groups = draw(5, 80, 6, lowest=-1), draw(1, 80, 3)[0]
    first, copies = lines_of(labels), np.where(np.arange(80) % 7, 1.0, 0.0)
    cells = np.zeros((first[-1], 3))
    _core.count_cells(labels, first, groups, None, cells, 1)
    found = _core.sum_companions(labels, first, cells, cells.sum(axis=1), copies, 1e-9, threads)
    expected = np.zeros((80, 4))
    for i in range(80):
        for begin, member in zip(first, labels, strict=False):
            beside = member == member[i]
            if member[i] >= 0 and beside.sum() > copies[i]:
                counts = np.bincount(groups[beside], minlength=3)
                assert (cells[begin + member[i]] == counts).all()
                expected[i] += np.append(counts, copies[i]) / (beside.sum() - copies[i])
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize(("members", "most", "lowest"), [(1, 5, -1), (3, 2, 0), (4, 700, -2), (50, 300, 0)])
def test_order_columns(members, most, lowest):
    """The order that NumPy gives the bytes; of equal columns the first comes first."""
    labels = draw(members, 400, most, lowest)
    order, is_new = _core.order_columns(labels)
    rows = np.ascontiguousarray(labels.T)
    keys = [row.tobytes() for row in rows]
    assert order.tolist() == sorted(range(400), key=keys.__getitem__)
    assert is_new.tolist() == [i == 0 or keys[order[i]] != keys[order[i - 1]] for i in range(400)]


def test_memberships_are_those_of_the_oracle():
    """The two together, by which `memberships` is computed, with a cluster of one row and labels below zero."""
    labels = draw(6, 40, 5, lowest=-1)
    clusters = np.append(draw(1, 39, 3)[0], 3)
    clusters[:3] = [0, 1, 2]
    np.testing.assert_allclose(memberships(labels, clusters), reference.memberships(labels, clusters), rtol=1e-12)


LABELS, FIRST, GROUPS, CELLS = draw(2, 10, 3), np.array([0, 4, 8]), np.zeros(10, np.int32), np.zeros((8, 2))


@pytest.mark.parametrize(
    ("first", "groups", "weights", "word"),
    [
        (np.array([0, 3, 8]), GROUPS, None, "label"),
        (np.array([0, 4, 9]), GROUPS, None, "lines"),
        (np.array([0, 8, 8]), GROUPS, None, "partition"),
        (FIRST, GROUPS + 2, None, "group"),
        (FIRST, GROUPS[:9], None, "group"),
        (FIRST, GROUPS, np.ones(9), "weight"),
    ],
)
def test_wrong_cells_are_refused(first, groups, weights, word):
    with pytest.raises(ValueError, match=word):
        _core.count_cells(LABELS, first, groups, weights, CELLS, 1)


@pytest.mark.parametrize(("lines", "rows", "word"), [(7, 10, "line"), (8, 9, "row")])
def test_wrong_companions_are_refused(lines, rows, word):
    with pytest.raises(ValueError, match=word):
        _core.sum_companions(LABELS, FIRST, CELLS, np.ones(lines), np.ones(rows), 0.0, 1)
