"""Kernels for columns and hashes of rows, against plain versions, to the last bit."""

import numpy as np
import pytest
import reference

from clusterforests import _core
from clusterforests._utils.arrays import row_keys
from clusterforests.table.scaling import column_distribution

RNG = np.random.default_rng(0)
INSTRUCTION_SETS = _core.instruction_sets()


@pytest.fixture(params=INSTRUCTION_SETS, autouse=True)
def _instruction_set(request):
    _core.use_instruction_set(request.param)
    yield
    _core.use_instruction_set("auto")


def odd_columns(n):
    """Return columns of all kinds, (columns, n): normal, with ties, constant, of two values, huge, tiny, far from 0."""
    normal = RNG.normal(size=(4, n))
    ties = np.rint(2 * RNG.normal(size=(3, n)))
    two = RNG.integers(0, 2, (2, n)) * 3.0
    scales = np.array([1e300, 1e-300, 1e-320, 1.0])[:, None] * RNG.normal(size=(4, n))
    return np.vstack([normal, ties, two, np.full((2, n), 7.0), np.zeros((1, n)), scales, 1e9 + normal[:1]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed"])
def test_taken_columns_are_scaled_cell_by_cell(dtype, layout):
    X = RNG.normal(size=(70, 300)).astype(dtype)
    X = {"C": X, "F": np.asfortranarray(X), "strided": X[::2, ::3], "reversed": X[::-1, ::-1]}[layout]
    n, p = X.shape
    rows, columns = RNG.integers(0, n, 37), RNG.integers(0, p, 290, dtype=np.int32)
    exponent = RNG.integers(-3, 4, p, dtype=np.int32)
    shift, divisor, center = RNG.normal(size=p), RNG.uniform(0.5, 2, p), RNG.normal(size=p)
    expected = (np.ldexp(X.astype(np.float64), -exponent) - shift) / divisor - center
    for threads in (1, 3):
        found = _core.take_columns(X, rows, columns, exponent, shift, divisor, center, threads)
        assert (found == expected[np.ix_(rows, columns)].T).all()


@pytest.mark.parametrize("n", [1, 2, 7, 9, 130, 300, 1100])
@pytest.mark.parametrize("way", ["standard", "range"])
def test_steps_are_those_of_each_distribution(n, way):
    columns = odd_columns(n)
    found = _core.fit_steps(np.sort(columns, axis=1), way == "range", 2)
    for x, count, exponent, shift, divisor in zip(columns, *found, strict=True):
        column = column_distribution(x)
        assert count == len(column.values)
        assert (exponent, shift, divisor, False) == column.step(way)


@pytest.mark.parametrize("n", [1, 2, 50, 300])
def test_ranks_are_those_of_each_distribution(n):
    columns = odd_columns(n)
    found = _core.rank_columns(columns, np.argsort(columns, axis=1), 2)
    for x, ranks in zip(columns, found, strict=True):
        column = column_distribution(x)
        assert (ranks == column.ranks[np.searchsorted(column.values, x)]).all()


@pytest.mark.parametrize("n", [5, 200, 512])
def test_shares_of_variance_are_those_of_the_oracle(n):
    X = odd_columns(n).T
    numbers = [1, 2, 5, *([9, 40, 180] if n > 180 else [])]
    labels = np.array([np.r_[np.arange(k), RNG.integers(0, k, n - k)] for k in numbers], dtype=np.int32)
    sizes = np.concatenate([np.bincount(one) for one in labels]).astype(np.float64)
    first = np.cumsum([0, *numbers])
    for threads in (1, 2):
        found = _core.share_variance(np.ascontiguousarray(X.T), labels, first, sizes, threads)
        for mine, expected in zip(found, reference.share_variance(X, labels), strict=True):
            assert (mine == expected).all()


@pytest.mark.parametrize("weights", [None, RNG.integers(0, 3, 60) * 0.7])
def test_keys_of_columns_that_come_in_blocks_order_rows_as_all_columns_do(weights):
    X = RNG.normal(size=(60, 40)) * 10.0 ** RNG.integers(-5, 6, 40)
    X[30:50] = X[:20]  # equal rows are one
    own = weights
    keys = _core.RowKeys(60)
    for start in range(0, 40, 7):
        keys.add(np.ascontiguousarray(X[:, start : start + 7].T), np.arange(60), own, 2)
    some = np.ascontiguousarray(X[:, [3, 20, 31]])
    narrow, whole = _core.Table(some, own, keys=keys.finished()), _core.Table(X, own)
    assert narrow.distinct == whole.distinct == (40 if own is None else len(np.unique(X[own > 0], axis=0)))
    problem = (np.array([0, 3], np.int64), np.array([4], np.int32), np.array([7], np.uint64), 1, 20, 0, 1)
    first = _core.kmeans(narrow, np.arange(3, dtype=np.int32), *problem)
    second = _core.kmeans(whole, np.array([3, 20, 31], np.int32), *problem)
    assert (first.centers[0] == second.centers[0]).all()


def test_keys_of_some_rows_are_of_their_own_exponents():
    X = RNG.normal(size=(50, 9))
    X[0] *= 1000
    rows = np.arange(49, 20, -1)
    keys, alone = _core.RowKeys(len(rows)), _core.RowKeys(len(rows))
    keys.add(np.ascontiguousarray(X.T), rows, None, 1)
    alone.add(np.ascontiguousarray(X[rows].T), np.arange(len(rows)), None, 1)
    assert (keys.finished() == alone.finished()).all()


@pytest.mark.parametrize("rows", [1, 3, 4, 1030])
def test_hashes_of_rows_can_be_continued(rows):
    X = RNG.integers(-1, 2, (rows, 11)) * 0.5
    X[0, 0] = np.nan
    begun = _core.hash_rows(np.ascontiguousarray(X[:, :4]), 1)
    assert (_core.hash_rows(np.ascontiguousarray(X[:, 4:]), 2, begun) == reference.row_keys(X)).all()
    assert (row_keys(X) == reference.row_keys(X)).all()


def test_arguments_that_do_not_fit_are_refused():
    X, ints, none = np.zeros((3, 4)), np.zeros(4, np.int32), np.zeros(4)
    with pytest.raises(ValueError, match="a row index is out of range"):
        _core.take_columns(X, np.array([3]), ints, ints, none, none, none, 1)
    with pytest.raises(ValueError, match="a column index is out of range"):
        _core.take_columns(X, np.array([0]), ints + 4, ints, none, none, none, 1)
    with pytest.raises(ValueError, match="there must be a step for each column"):
        _core.take_columns(X, np.array([0]), ints, ints[:2], none, none, none, 1)
    with pytest.raises(ValueError, match="a label is out of range"):
        _core.share_variance(X, np.full((1, 4), 2, np.int32), np.array([0, 2]), np.ones(2), 1)
    with pytest.raises(ValueError, match="a row index is out of range"):
        _core.rank_columns(X, np.full((3, 4), 4), 1)
    with pytest.raises(ValueError, match="rows must be those of the keys"):
        _core.RowKeys(2).add(X, np.arange(3), None, 1)
    with pytest.raises(ValueError, match="keys must have one entry per row"):
        _core.Table(X, keys=np.zeros(2, np.uint64))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("rows", [0, 1, 255, 256, 257, 3000])
def test_the_core_finds_the_ends_of_columns(rows, threads):
    rng = np.random.default_rng(rows)
    table = rng.choice([-np.inf, -3.0, -0.0, 0.0, 1e-310, 2.5, np.inf], (rows, 7))
    table[:, 0] = np.where(rng.random(rows) < 0.9, np.nan, 1.0)
    table[:, 1] = -0.0
    table[rows - 1 :, 2] = np.nan
    keys, low, high = _core.scan_rows(table, threads)
    assert (keys == _core.hash_rows(table, 1)).all()
    np.testing.assert_array_equal(low, table.min(axis=0, initial=np.inf))
    np.testing.assert_array_equal(high, table.max(axis=0, initial=-np.inf))
    if rows:
        assert not np.signbit([low[1], high[1]]).any()
