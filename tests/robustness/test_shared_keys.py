"""Different rows that were made to have one key are told apart or refused, never taken for one row."""

import numpy as np
import pytest
from scipy import sparse

from clusterforests import ClusterForest
from clusterforests._utils.arrays import row_keys
from clusterforests._utils.random import Purpose, stream
from clusterforests.rows.sampled import LocalBlocks
from clusterforests.table.feature_columns import distinct_rows
from clusterforests.table.row_sources import ArraySource, large_numeric_table, scan_table
from clusterforests.table.sparse_reduction import find_reduction

WORD = 2**64
GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mix(z):
    """Scramble bits as the core does."""
    z = ((z ^ (z >> 30)) * FIRST) % WORD
    z = ((z ^ (z >> 27)) * SECOND) % WORD
    return z ^ (z >> 31)


def bits(value):
    return int(np.float64(value).view(np.uint64))


def rows_of_one_key(count, seed=0):
    """Make rows of two columns: the second is chosen such that the key is always that of the first row."""
    rng = np.random.default_rng(seed)
    rows, key = [], None
    while len(rows) < count:
        a, b = 3 * rng.normal(), 1.0
        begun = mix(GOLDEN * (bits(a) + 1) % WORD)
        if key is None:
            key = (begun + GOLDEN * (bits(b) + 1)) % WORD
        else:
            b = float(np.uint64(((key - begun) * pow(GOLDEN, -1, WORD) - 1) % WORD).view(np.float64))
        if 1e-3 < abs(b) < 1e3:
            rows.append((a, b))
    return np.array(rows)


def test_they_have_one_key():
    assert len(np.unique(row_keys(rows_of_one_key(20)))) == 1


def test_distinct_rows_are_told_apart_by_their_values():
    crafted, plain = rows_of_one_key(20), np.random.default_rng(1).normal(size=(10, 2))
    X = np.concatenate([crafted, plain, crafted[:5], plain[:3]])
    mass = np.arange(1.0, len(X) + 1)
    rows, weights = distinct_rows(X, mass)
    found = {tuple(X[row]): weight for row, weight in zip(rows, weights, strict=True)}
    expected = {}
    for row, weight in zip(map(tuple, X), mass, strict=True):
        expected[row] = expected.get(row, 0) + weight
    assert found == expected
    order = np.random.default_rng(2).permutation(len(X))
    again, same = distinct_rows(X[order], mass[order])
    assert np.array_equal(X[order][again], X[rows])
    assert np.array_equal(same, weights)


def test_a_fit_has_a_cluster_for_each_of_them():
    X = rows_of_one_key(6).repeat(5, axis=0)
    labels = ClusterForest(6, n_estimators=20, random_state=0).fit(X).labels_
    assert (np.bincount(labels) == 5).all()


def test_a_large_table_is_refused():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(300, 2)), rows_of_one_key(2), np.ones((20, 2))])
    rng.shuffle(X)
    source = ArraySource(X)
    reader = LocalBlocks(large_numeric_table(source, scan_table(source)))
    with pytest.raises(ValueError, match="rows that differ but share the key"):
        reader.draw(len(X), 0)
    turned = ArraySource(X[:, ::-1])
    drawn = LocalBlocks(large_numeric_table(turned, scan_table(turned))).draw(len(X), 0)
    assert len(drawn.weights) == len(np.unique(X, axis=0))


@pytest.mark.parametrize("chunk", [400, 50])
def test_a_table_in_dask_is_refused(lower_limits, chunk):
    da = pytest.importorskip("dask.array")
    lower_limits(large_rows=100)
    X = np.random.default_rng(0).normal(size=(400, 2))
    X[[3, 390]] = rows_of_one_key(2)
    forest = ClusterForest(3, n_estimators=5, random_state=0)
    with pytest.raises(ValueError, match="rows that differ but share the key"):
        forest.fit(da.from_array(X, chunks=(chunk, 2)))
    X[390] = X[3]
    forest.fit(da.from_array(X, chunks=(chunk, 2)))


def sparse_rows_of_one_key(count, lists=16, columns=128):
    """Make rows of 2 * lists ones with the key 0, the sum of a hash of each entry: a tree of lists, as Wagner's."""
    cell = np.array([1 / np.sqrt(2 * lists)])
    hashes = stream(0, Purpose.REDUCED_ROWS, np.arange(lists * columns), cell.view(np.uint64))
    first, second = np.triu_indices(columns, 1)
    rng, rows = np.random.default_rng(0), []
    while len(rows) < count:
        shares = rng.permutation(lists * columns).reshape(lists, columns)
        level = [(hashes[own[first]] + hashes[own[second]], np.c_[own[first], own[second]]) for own in shares]
        width = 0  # of the last bits that are 0 in all sums
        while len(level) > 1:
            width = width + 13 if len(level) > 2 else 64
            level = [join(*pair, np.uint64(2**width - 1)) for pair in zip(level[::2], level[1::2], strict=True)]
        rows += list(level[0][1])
    chosen = np.array(rows[:count])
    cells = np.ones(chosen.size), (np.repeat(np.arange(count), 2 * lists), chosen.ravel())
    return sparse.csr_array(cells, (count, lists * columns))


def join(one, other, mask):
    """Join entries of two lists whose sums cancel in the bits of the mask."""
    (sums, places), (others, more) = one, other
    wanted, order = (np.uint64(0) - sums) & mask, np.argsort(others & mask)
    ends = [np.searchsorted((others & mask)[order], wanted, side) for side in ("left", "right")]
    found = ends[1] - ends[0]
    a = np.repeat(np.arange(len(sums)), found)
    b = order[np.repeat(ends[0], found) + np.arange(len(a)) - np.repeat(np.cumsum(found) - found, found)]
    return sums[a] + others[b], np.hstack([places[a], more[b]])


def test_a_sparse_table_is_refused():
    """Only one of these rows would be looked at: forty rows of different words, reduced to one component."""
    X = sparse_rows_of_one_key(40)
    with pytest.raises(ValueError, match="rows that differ but share the key by which equal rows of a sparse"):
        ClusterForest(3, n_estimators=5, random_state=0).fit(X)
    turned = X[:, ::-1]
    twice = sparse.vstack([turned, turned]).tocsr()
    assert find_reduction(turned, None).vectors.shape[1] == find_reduction(twice, None).vectors.shape[1] == 40
