"""Unusual tables get a right answer, or an error that says what to do."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from clusterforests import ClusterForest, HartiganWongKMeans, consensus_clustering

N = np.random.default_rng(0).normal(size=(12, 3))
N[:5] += 6


class Subclass(np.ndarray):
    pass


def fit(X, k=2):
    return ClusterForest(k, n_estimators=10, random_state=0).fit(X)


def frozen_map(folder):
    made = np.memmap(folder / "X", dtype="f8", mode="w+", shape=N.shape)
    made[:] = N
    made.flush()
    return np.memmap(folder / "X", dtype="f8", mode="r", shape=N.shape)


SAME = {
    "objects": lambda _: N.astype(object),
    "subclass": lambda _: N.view(Subclass),
    "nothing masked": lambda _: np.ma.masked_array(N, False),
    "mapped file": frozen_map,
    "long double": lambda _: N.astype(np.longdouble),
    "tiny": lambda _: np.ldexp(N, -900),
    "huge": lambda _: np.ldexp(N, 1000),
    "csc": lambda _: sparse.csc_array(N),
}


@pytest.mark.parametrize("kind", SAME)
def test_the_same_numbers_give_the_same_labels(kind, tmp_path):
    assert np.array_equal(fit(SAME[kind](tmp_path)).labels_, fit(N).labels_)


def test_zeros_that_a_sparse_table_states():
    stated = sparse.csr_array(np.eye(8) + np.eye(8, k=1))
    stated.data[3] = 0.0
    assert stated.nnz == 15
    assert np.array_equal(fit(stated).labels_, fit(stated.toarray()).labels_)


@pytest.mark.parametrize("many", [False, True])
def test_masked_cells_are_missing(many, lower_limits):
    """The numbers under the mask do not count."""
    if many:
        lower_limits(large_rows=10)
    mask = np.zeros(N.shape, bool)
    mask[2, 1] = mask[7, 0] = True
    masked = np.ma.masked_array(np.where(mask, 1e9, N), mask)
    missing = np.where(mask, np.nan, N)
    assert np.array_equal(fit(masked).labels_, fit(missing).labels_)
    assert np.array_equal(fit(missing).predict(masked), fit(missing).labels_)
    assert np.array_equal(fit(masked.astype(object)).labels_, fit(missing).labels_)
    with pytest.raises(ValueError, match="NaN"):
        HartiganWongKMeans(2).fit(masked)


def frame(**columns):
    return pd.DataFrame({"x": N[:, 0], **columns})


REFUSED = {
    "nothing": ([], "Expected 2D array"),
    "no rows": (np.empty((0, 3)), r"0 sample\(s\)"),
    "no columns": (np.empty((5, 0)), r"0 feature\(s\)"),
    "one row": (N[:1], "n_clusters=2 is more than the number of rows, n_samples=1"),
    "one dimension": (N[:, 0], "Expected 2D array"),
    "three dimensions": (N[None], "dim 3"),
    "a number": (3.0, "Expected 2D array"),
    "None": (None, "Expected 2D array"),
    "ragged": ([[1, 2], [3]], "inhomogeneous"),
    "all missing": (np.full((6, 2), np.nan), "have no value at all, the first is column 0. Drop them"),
    "an empty row": (np.vstack([N, [np.nan] * 3]), "the first is row 12: nothing is known about them. Leave them out"),
    "infinity": (np.where(np.arange(36).reshape(12, 3) == 7, np.inf, N), "infinity in row 2, column 1. Replace it"),
    "complex": (N + 1j, "Complex data not supported"),
    "dates": (np.array([["2020-01-01"], ["2021-01-01"]], dtype="M8[D]"), "dates or times .* Turn them into numbers"),
    "columns of the same name": (pd.DataFrame(N, columns=["a", "a", "b"]), "unique column names.*\n.*'a'"),
    "cells of lists": (frame(odd=[[i] for i in range(12)]), "Column 'odd' holds .* or drop it"),
    "names that are no text": (pd.DataFrame(N, columns=[1, "x", 2]), "string names"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_table_is_refused(kind):
    X, message = REFUSED[kind]
    forest = ClusterForest(2, n_estimators=10, random_state=0)
    with pytest.raises((ValueError, TypeError), match=message):
        forest.fit(X)
    assert not hasattr(forest, "labels_")


def test_dates_are_no_numbers_for_kmeans():
    with pytest.raises(ValueError, match="dates or times"):
        HartiganWongKMeans(2).fit(np.array([["2020-01-01"], ["2021-01-01"]], dtype="M8[D]"))


@pytest.mark.parametrize(
    ("partitions", "k", "message"),
    [
        ([], 1, "both at least 1"),
        ([[]], 1, "both at least 1"),
        ([[0, 1], [0]], 2, "same number of rows"),
        ([[0.5, 1.0]], 2, "integer labels"),
        ([["a", "b"]], 2, "integer labels"),
        ([[0, 1, -1]], 2, "row 2: nothing is known"),
        ([[0, 0, 0]], 2, "tell apart"),
        ([[0, 1, 2]], 4, "more than the number of rows"),
        ([[0, 1, 2]], 10**12, "more than the number of rows"),
        ([[0, 1, 2]], 0, "n_clusters=0"),
    ],
)
def test_odd_partitions(partitions, k, message):
    with pytest.raises((ValueError, TypeError), match=message):
        consensus_clustering(partitions, k)


def test_labels_that_are_far_apart():
    far = np.array([[2**62, 0, 2**62, 5], [7, 7, 2**40, 2**40]])
    assert np.array_equal(consensus_clustering(far, 2), consensus_clustering([[1, 0, 1, 2], [0, 0, 1, 1]], 2))


@pytest.mark.parametrize("k", [5, 12])
def test_equal_rows_are_one_cluster_whatever_k(k):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        forest = fit(np.ones((12, 2)), k)
    assert forest.labels_.tolist() == [0] * 12
    assert any("1 distinct rows" in str(warning.message) for warning in told)
    assert forest.predict(np.zeros((2, 2))).tolist() == [0, 0]
