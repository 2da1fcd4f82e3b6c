"""Tables of every kind read by blocks: the same numbers, hashes and fits as the array of float64."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from clusterforests import ClusterForest
from clusterforests._base.size_limits import SizeLimits
from clusterforests.tables import encoding
from clusterforests.tables.distinct_rows import row_keys
from clusterforests.tables.row_blocks import ArraySource, ColumnSource, SparseSource, blocks, open_source, survey

RNG = np.random.default_rng(0)
X = (RNG.normal(size=(700, 5)) + 4 * RNG.integers(0, 3, 700)[:, None]).astype(np.float32).astype(np.float64)
X[RNG.random(X.shape) < 0.2] = 0.0
X[3, 1] = -0.0
NAMES = list("abcde")


def in_pieces(x):
    return pa.Table.from_batches(
        [pa.RecordBatch.from_arrays([pa.array(c) for c in part.T], names=NAMES) for part in np.array_split(x, 4)]
    )


def mapped(x, folder):
    held = np.memmap(folder / "table.bin", dtype=np.float32, mode="w+", shape=x.shape)
    held[:] = x
    held.flush()
    return np.memmap(folder / "table.bin", dtype=np.float32, mode="r", shape=x.shape)


HOLDERS = {
    "float64": lambda x: x,
    "float32": lambda x: x.astype(np.float32),
    "F order": np.asfortranarray,
    "every second column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "other byte order": lambda x: x.astype(">f4"),
    "pandas": lambda x: pd.DataFrame(x, columns=NAMES),
    "pandas, mixed": lambda x: pd.DataFrame(x, columns=NAMES).astype({"b": np.float32}),
    "polars": lambda x: pl.DataFrame(x, schema=NAMES),
    "polars, in pieces": lambda x: pl.concat([pl.DataFrame(part, schema=NAMES) for part in np.array_split(x, 3)]),
    "arrow": lambda x: pa.table(dict(zip(NAMES, x.T, strict=True))),
    "arrow, in pieces": in_pieces,
    "arrow batch": lambda x: pa.RecordBatch.from_arrays([pa.array(c) for c in x.T], names=NAMES),
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
}


@pytest.mark.parametrize("kind", HOLDERS)
def test_every_table_reads_the_same(kind):
    held = open_source(HOLDERS[kind](X))
    assert held.shape == X.shape
    assert (survey(held, threads=2).keys == row_keys(X)).all()
    for start, stop in ((0, 700), (0, 1), (170, 530), (699, 700)):
        block = held.block(start, stop)
        assert block.dtype == np.float64
        assert block.flags.c_contiguous
        assert (block == X[start:stop]).all()
    some = RNG.permutation(700)[:50]
    assert (held.take(some) == X[some]).all()
    whole = np.concatenate([values for _, values in blocks(held, SizeLimits(least_block_rows=64, block_bytes=1))])
    assert (whole == X).all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, bool, np.float32])
@pytest.mark.parametrize("make", [np.asfortranarray, pl.DataFrame, pd.DataFrame, sparse.csr_array])
def test_whole_numbers_and_short_floats(dtype, make):
    whole = (X > 4).astype(dtype)
    assert (survey(open_source(make(whole))).keys == row_keys(whole.astype(np.float64))).all()


def test_nothing_is_copied():
    assert open_source(X).X is X
    frame = pl.DataFrame(X, schema=NAMES)
    (piece,) = open_source(frame).columns[0]
    assert np.shares_memory(piece, frame["a"].to_numpy(allow_copy=False))
    table = HOLDERS["arrow, in pieces"](X)
    pieces = open_source(table).columns[1]
    assert len(pieces) == 4
    assert all(
        np.shares_memory(piece, chunk.to_numpy()) for piece, chunk in zip(pieces, table.column(1).chunks, strict=True)
    )
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


def test_extremes_of_columns():
    seen = survey(ArraySource(X))
    assert (seen.low == X.min(axis=0)).all()
    assert (seen.high == X.max(axis=0)).all()
    holed = X.copy()
    holed[5, 2] = np.nan
    assert np.isnan(survey(ArraySource(holed)).low).tolist() == [False, False, True, False, False]


def test_kinds():
    assert isinstance(open_source(X), ArraySource)
    assert isinstance(open_source(pd.DataFrame(X)), ColumnSource)
    assert isinstance(open_source(sparse.coo_matrix(X)), SparseSource)


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("kind", [*HOLDERS, "mapped"])
def test_fits_and_predictions_are_equal(kind, large, lower_limits, tmp_path):
    if large:
        lower_limits(large_rows=100, block_bytes=8 * 5 * 300)
    table = mapped(X, tmp_path) if kind == "mapped" else HOLDERS[kind](X)
    settings = {"n_estimators": 15, "random_state": 0, "n_jobs": 2}
    plain = ClusterForest(3, **settings).fit(X)
    forest = ClusterForest(3, **settings).fit(table)
    assert (forest.partitions_ == plain.partitions_).all()
    assert (forest.labels_ == plain.labels_).all()
    assert (forest.predict(table) == plain.labels_).all()
    if hasattr(table, "column_names") or isinstance(table, (pd.DataFrame, pl.DataFrame)):
        assert forest.feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize("make", [lambda x: x, lambda x: pd.DataFrame(x, columns=NAMES), sparse.csc_array])
def test_infinity_is_found_in_a_large_table(make, lower_limits):
    lower_limits(large_rows=100, block_bytes=1)
    bad = X.copy()
    bad[613, 2] = -np.inf
    with pytest.raises(ValueError, match=r"X contains infinity in row 613, column '?[2c]'?"):
        ClusterForest(3).fit(make(bad))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_missing_cells_and_categories_go_the_other_way(make, lower_limits):
    cells = {"a": X[:, 0].tolist(), "b": [None, *X[1:, 1].tolist()], "c": np.where(X[:, 2] > 4, "x", "y").tolist()}
    table = make(cells)
    small = ClusterForest(3, n_estimators=9, random_state=0).fit(table)
    lower_limits(large_rows=100)
    opened = encoding.open_large(ClusterForest(), table, 1, ClusterForest._limits)
    assert opened is None
    forest = ClusterForest(3, n_estimators=9, random_state=0).fit(table)
    assert forest.partitions_.dtype == np.int8
    assert small.partitions_.dtype == np.int32
    assert len(np.unique(forest.labels_)) == 3
