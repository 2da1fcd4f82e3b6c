"""Large tables: read in blocks, scanned and opened without a copy."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from scipy import sparse
from sklearn.base import BaseEstimator
from table_kinds import KINDS, NAMES, X

from clusterforests._utils.memory import SizeLimits
from clusterforests.table.encoding import encode, open_large
from clusterforests.table.row_sources import (
    ArraySource,
    hash_rows,
    large_encoded_table,
    open_source,
    read_blocks,
    scan_table,
)

LIMITS = SizeLimits(large_rows=699, block_bytes=8 * 5 * 64, least_block_rows=16)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_are_the_whole_table(kind):
    blocks = list(read_blocks(open_source(KINDS[kind](X)), LIMITS))
    assert [start for start, _ in blocks] == list(range(0, 700, 64))
    assert (np.concatenate([values for _, values in blocks]) == X).all()


def test_blocks_of_a_wide_table_have_some_rows():
    sizes = [len(values) for _, values in read_blocks(ArraySource(np.tile(X, (1, 40))), LIMITS)]
    assert sizes == [16] * 43 + [12]


def test_a_scan():
    """It depends neither on the blocks nor on the number of threads."""
    for scan in (scan_table(ArraySource(X)), scan_table(ArraySource(X), 2, LIMITS)):
        assert (scan.keys == reference.row_keys(X)).all()
        assert (scan.low == X.min(axis=0)).all()
        assert (scan.high == X.max(axis=0)).all()
    assert (hash_rows(ArraySource(X)) == reference.row_keys(X)).all()
    holed = X.copy()
    holed[5, 2] = np.nan
    assert np.isnan(scan_table(ArraySource(holed), 1, LIMITS).low).tolist() == [False, False, True, False, False]


def test_large_tables_are_opened_without_a_copy():
    estimator = BaseEstimator()
    table, encoding = open_large(estimator, X, 1, LIMITS)
    assert table.source.X is X
    assert (estimator.n_features_in_, encoding.n_features) == (5, 5)
    assert (table.rows(np.array([5, 3])).values == X[[5, 3]]).all()
    assert open_large(estimator, X[:699], 1, LIMITS) is None


@pytest.mark.parametrize("make", [lambda x: x, lambda x: pd.DataFrame(x, columns=NAMES), sparse.csc_array])
def test_infinity_is_found_in_a_large_table(make):
    bad = X.copy()
    bad[613, 2] = -np.inf
    with pytest.raises(ValueError, match=r"X contains infinity in row 613, column ('c'|2)\."):
        open_large(BaseEstimator(), make(bad), 1, LIMITS)


@pytest.mark.parametrize("make", [pd.DataFrame.copy, pl.from_pandas, pa.Table.from_pandas])
def test_missing_cells_and_categories_are_encoded_as_an_array(make):
    numbers = X[:, 0].tolist()
    for cells in ([None, *numbers[1:]], pd.Categorical(np.where(X[:, 2] > 4, "x", "y"))):
        table = make(pd.DataFrame({"a": numbers, "b": cells}))
        assert open_large(BaseEstimator(), table, 1, LIMITS) is None
        encoded, _ = encode(BaseEstimator(), table)
        large = large_encoded_table(encoded, 1, LIMITS)
        assert (large.scan.keys == reference.row_keys(encoded.values)).all()
        assert (large.categorical == encoded.categorical).all()
