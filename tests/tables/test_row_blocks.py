"""Large tables: read in blocks, scanned and opened without a copy."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from scipy import sparse
from sklearn.base import BaseEstimator
from table_kinds import KINDS, X

from clusterforests._base.size_limits import DEFAULT_LIMITS, SizeLimits
from clusterforests.tables.encoding import encode, open_large
from clusterforests.tables.row_blocks import (
    hash_rows,
    large_encoded_table,
    read_blocks,
    scan_table,
)
from clusterforests.tables.row_sources import ArraySource, open_source

LARGE = np.tile(X, (DEFAULT_LIMITS.large_rows // len(X) + 1, 8))  # several blocks
NAMES = [f"x{j}" for j in range(LARGE.shape[1])]


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_are_the_whole_table(kind):
    blocks = list(read_blocks(open_source(KINDS[kind](X)), SizeLimits(least_block_rows=64, block_bytes=1)))
    assert [start for start, _ in blocks] == list(range(0, 700, 64))
    assert (np.concatenate([values for _, values in blocks]) == X).all()


def test_blocks_have_a_size_of_bytes():
    sizes = [values.nbytes for _, values in read_blocks(ArraySource(LARGE))]
    assert len(sizes) > 1
    assert sum(sizes) == LARGE.nbytes
    assert max(sizes) <= DEFAULT_LIMITS.block_bytes


def test_extremes_of_columns():
    scan = scan_table(ArraySource(X))
    assert (scan.low == X.min(axis=0)).all()
    assert (scan.high == X.max(axis=0)).all()
    holed = X.copy()
    holed[5, 2] = np.nan
    assert np.isnan(scan_table(ArraySource(holed)).low).tolist() == [False, False, True, False, False]


def test_a_scan_of_several_blocks():
    scan = scan_table(ArraySource(LARGE), threads=2)
    assert (scan.keys == reference.row_keys(LARGE)).all()
    assert (hash_rows(ArraySource(LARGE)) == scan.keys).all()
    assert (scan.low == LARGE.min(axis=0)).all()


def test_large_tables_are_opened_without_a_copy():
    assert DEFAULT_LIMITS.is_large(len(LARGE))
    assert not DEFAULT_LIMITS.is_large(DEFAULT_LIMITS.large_rows)
    estimator = BaseEstimator()
    table, encoding = open_large(estimator, LARGE)
    assert table.source.X is LARGE
    assert (estimator.n_features_in_, encoding.n_features) == (40, 40)
    assert (table.rows(np.array([5, 3])).values == LARGE[[5, 3]]).all()
    assert open_large(estimator, LARGE[: DEFAULT_LIMITS.large_rows]) is None


@pytest.mark.parametrize("make", [lambda x: x, lambda x: pd.DataFrame(x, columns=NAMES), sparse.csc_array])
def test_infinity_is_found_in_a_large_table(make):
    bad = LARGE.copy()
    bad[65613, 2] = -np.inf
    with pytest.raises(ValueError, match=r"X contains infinity in row 65613, column ('x2'|2)\."):
        open_large(BaseEstimator(), make(bad))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_missing_cells_and_categories_are_encoded_as_an_array(make):
    numbers = LARGE[:, 0].tolist()
    for cells in ([None, *numbers[1:]], np.where(LARGE[:, 2] > 4, "x", "y").tolist()):
        table = make({"a": numbers, "b": cells})
        assert open_large(BaseEstimator(), table) is None
        encoded, _ = encode(BaseEstimator(), table)
        large = large_encoded_table(encoded)
        assert (large.scan.keys == reference.row_keys(encoded.values)).all()
        assert (large.categorical == encoded.categorical).all()
