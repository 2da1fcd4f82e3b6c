"""Frames of every library: names, slices of rows, missing cells."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from table_kinds import KINDS, NAMES, X

from clusterforests.table.frames import (
    CategoryColumn,
    ColumnTable,
    check_feature_names,
    column_names,
    is_missing,
    known_frame,
    read_features,
    row_slices,
)

MIXED = ColumnTable(
    ["a", "b"], [np.array([1.0, np.nan, 3.0]), CategoryColumn(np.array([1, -1, 0], np.int32), ("x", "y"))]
)


@pytest.mark.parametrize("kind", KINDS)
def test_slices_are_the_whole_table(kind):
    table = KINDS[kind](X)
    slices = list(row_slices(table, rows=300, cells=5 * 256))
    assert [start for start, _ in slices] == [0, 256, 512]
    parts = [part.toarray() if sparse.issparse(part) else np.asarray(part) for _, part in slices]
    assert (np.concatenate(parts) == X).all()


def test_small_tables_and_other_things_are_one_slice():
    assert [(start, part is X) for start, part in row_slices(X, 700, 10**6)] == [(0, True)]
    assert list(row_slices([[1, 2]], 1, 1)) == [(0, [[1, 2]])]


def test_names():
    assert column_names(X) is None
    for kind in ("pandas", "polars", "arrow"):
        assert column_names(KINDS[kind](X)) == NAMES
    assert column_names(MIXED) == ["a", "b"]
    batch = KINDS["arrow batch"](X)
    assert isinstance(known_frame(batch), pa.Table)
    assert known_frame(X) is X


def test_a_table_of_columns():
    estimator = BaseEstimator()
    numbers, categories = read_features(estimator, MIXED, reset=True)
    assert estimator.feature_names_in_.tolist() == ["a", "b"]
    assert (numbers.cells is MIXED.cells[0], categories.cells is MIXED.cells[1]) == (True, True)
    part = MIXED.slice(1, 5)
    assert part.shape == (2, 2)
    assert part.cells[1].codes.tolist() == [-1, 0]
    with pytest.raises(ValueError, match="feature names should match"):
        check_feature_names(estimator, ColumnTable(["b", "a"], MIXED.cells[::-1]), reset=False)


@pytest.mark.parametrize(
    ("cell", "missing"), [(None, True), (np.nan, True), (pd.NA, True), (pd.NaT, True), ("", False), (0, False)]
)
def test_missing_cells(cell, missing):
    assert is_missing(cell) is missing


def test_lazy_frames_are_refused():
    with pytest.raises(TypeError, match=r"Pass X\.collect\(\)"):
        read_features(BaseEstimator(), pl.LazyFrame({"a": [1]}), reset=True)
