"""Tables of every kind read in place: the same numbers and hashes as the array of float64."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from scipy import sparse
from table_kinds import KINDS, NAMES, RNG, X

from clusterforests.table.row_sources import ArraySource, ColumnSource, SparseSource, open_source, scan_table


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_reads_the_same(kind):
    held = open_source(KINDS[kind](X))
    assert held.shape == X.shape
    assert (scan_table(held, threads=2).keys == reference.row_keys(X)).all()
    for start, stop in ((0, 700), (0, 1), (170, 530), (699, 700)):
        block = held.block(start, stop)
        assert block.dtype == np.float64
        assert block.flags.c_contiguous
        assert (block == X[start:stop]).all()
    some = RNG.permutation(700)[:50]
    assert (held.take(some) == X[some]).all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, bool, np.float32])
@pytest.mark.parametrize("make", [np.asfortranarray, pl.DataFrame, pd.DataFrame, sparse.csr_array])
def test_whole_numbers_and_short_floats(dtype, make):
    whole = (X > 4).astype(dtype)
    assert (scan_table(open_source(make(whole))).keys == reference.row_keys(whole.astype(np.float64))).all()


def test_nothing_is_copied():
    assert open_source(X).X is X
    frame = pl.DataFrame(X, schema=NAMES)
    (chunk,) = open_source(frame).columns[0]
    assert np.shares_memory(chunk, frame["a"].to_numpy(allow_copy=False))
    table = KINDS["arrow, in chunks"](X)
    mine, theirs = open_source(table).columns[1], table.column(1).chunks
    assert len(mine) == 4
    assert all(np.shares_memory(a, b.to_numpy()) for a, b in zip(mine, theirs, strict=True))
    held = sparse.csr_array(X)
    assert np.shares_memory(open_source(held).X.data, held.data)


@pytest.mark.parametrize(
    "table",
    [
        [[1.0, 2.0]],
        np.array([["a", "b"]]),
        np.zeros(3),
        pd.DataFrame({"a": ["x"]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
        pl.DataFrame({"a": [1, None]}),
        pl.DataFrame({"a": ["x"]}),
        pa.table({"a": [1.0, None]}),
        pa.table({"a": ["x"]}),
        sparse.csr_array(np.ones((2, 2)) * 1j),
    ],
)
def test_what_cannot_be_read_so(table):
    assert open_source(table) is None


def test_kinds():
    assert isinstance(open_source(X), ArraySource)
    assert isinstance(open_source(pd.DataFrame(X)), ColumnSource)
    assert isinstance(open_source(sparse.coo_matrix(X)), SparseSource)


def test_what_numpy_cannot_read_in_blocks_is_left_to_others():
    polars = pytest.importorskip("polars")
    wide = polars.DataFrame({"a": polars.Series([1, 2]).cast(polars.Int128)})
    assert open_source(wide) is None
    assert open_source(np.ones((2, 2)).view(np.matrix)) is None
