"""K-means of a whole table in one call of the core, against the three calls that it stands for."""

import numpy as np
import pytest

from clusterforests import _core

SEARCH = (20, 200, 2)  # restarts, iterations, effort


def table_of(seed):
    """Make rows of any scale, some of them equal, and weights, some of which may be 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(5, 300)), int(rng.integers(1, 8)))) + 5 * rng.integers(0, 3, (1, 1))
    X = X[rng.integers(0, len(X), len(X))] * 10.0 ** rng.integers(-200, 200)
    weights = [None, rng.random(len(X)), rng.integers(0, 3, len(X)) * 1.0][seed % 3]
    return np.ascontiguousarray(X), weights


def in_three_calls(X, weights, k, seed):
    table = _core.Table(X, weights)
    columns, offsets = np.arange(X.shape[1], dtype=np.int32), np.array([0, X.shape[1]])
    clusters = np.array([min(k, table.distinct)], np.int32)
    found = _core.kmeans(table, columns, offsets, clusters, np.array([seed], np.uint64), *SEARCH, 1)
    places = found.centers[0]
    rows = _core.project(X, table.exponent, table.origin, table.reach)
    labels = _core.assign(rows, columns, offsets, clusters, places.ravel(), 1)[0]
    with np.errstate(over="ignore"):
        within = np.ldexp(found.within[0], 2 * int(found.exponent[0]) + table.weight_exponent)
    centers = np.ldexp(places + table.origin, table.exponent)
    return (
        table.distinct, found.solved[0], found.exponent[0], found.iterations[0], within,
        table.exponent, table.origin, places, centers, labels,
    )  # fmt: skip


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("seed", range(60))
def test_one_call_does_what_three_do(seed, threads):
    X, weights = table_of(seed)
    k = 1 + seed % 5
    one = _core.fit_kmeans(X, weights, k, seed, *SEARCH, threads)
    for mine, expected in zip(one, in_three_calls(X, weights, k, seed), strict=True):
        np.testing.assert_array_equal(mine, expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_threads_share_a_large_problem(weighted):
    """The restarts of one problem, from rows * columns * clusters = 65,536 on."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(3000, 6)), rng.integers(0, 3, 3000) * 1.0 if weighted else None
    one, *others = (_core.fit_kmeans(X, weights, 7, 1, *SEARCH, threads) for threads in (1, 2, 5))
    for other in others:
        for mine, expected in zip(other, one, strict=True):
            np.testing.assert_array_equal(mine, expected)


def test_clusters_beyond_the_distinct_rows_take_no_room():
    n_distinct, solved, *_, labels = _core.fit_kmeans(np.zeros((300, 2**20 // 2)), None, 280, 0, 1, 1, 0, 1)
    assert (n_distinct, solved, labels.any()) == (1, True, False)


def test_every_row_has_a_label_even_where_it_has_no_weight():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [10.4]])
    labels = _core.fit_kmeans(X, np.array([1.0, 1.0, 1.0, 1.0, 0.0]), 2, 0, *SEARCH, 1)[-1]
    assert labels.tolist() == [0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"x": np.empty((0, 2))}, "rows and columns"),
        ({"x": np.empty((2, 0))}, "rows and columns"),
        ({"x": np.array([[0.0, np.nan]])}, "X must be finite"),
        ({"weights": np.ones(3)}, "one entry per row"),
        ({"weights": np.array([1.0, -1.0])}, "not negative"),
        ({"clusters": 0}, "at least 1"),
        ({"restarts": 0}, "restarts"),
        ({"max_iter": 0}, "max_iter"),
        ({"effort": 3}, "effort"),
        ({"threads": 0}, "threads"),
    ],
)
def test_bad_arguments_are_refused(bad, message):
    given = {"x": np.eye(2), "weights": None, "clusters": 2, "seed": 0, "restarts": 1, "max_iter": 1, "effort": 0}
    with pytest.raises(ValueError, match=message):
        _core.fit_kmeans(**{**given, "threads": 1, **bad})


def test_weights_that_are_all_zero_leave_nothing_to_solve():
    n_distinct, solved, *_ = _core.fit_kmeans(np.eye(3), np.zeros(3), 2, 0, *SEARCH, 1)
    assert (n_distinct, solved) == (0, False)


@pytest.mark.parametrize("size", [(1, 1), (3, 5), (1000, 7), (5000, 3)])
def test_numbers_that_are_not_finite_are_found_wherever_they_are(size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=size)
    X[X > 0] = np.finfo(float).max
    assert _core.is_finite(X)
    for value in (np.nan, np.inf, -np.inf):
        for at in {0, X.size - 1, *rng.integers(X.size, size=20).tolist()}:
            wrong = X.copy()
            wrong.flat[at] = value
            assert not _core.is_finite(wrong)
