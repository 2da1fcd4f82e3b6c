"""Tables in HDF5 files: rows are read as arrays give them."""

import anndata
import h5py
import numpy as np
import pytest
from scipy import sparse

from clusterforests.table.row_sources import StoredTable, open_array, open_source

X = np.random.default_rng(0).poisson(0.5, size=(70, 9)).astype(np.float32)
COLUMNS = np.array([7, 2, 3])


@pytest.fixture(params=["dense", "csr"])
def stored(request, tmp_path, monkeypatch):
    monkeypatch.setattr("clusterforests.table.row_sources.BLOCK_BYTES", 11 * 8 * 9)
    with h5py.File(tmp_path / "table.h5", "w") as file:
        if request.param == "dense":
            yield file.create_dataset("X", data=X)
        else:
            anndata.io.write_elem(file, "X", sparse.csr_matrix(X))
            yield anndata.io.sparse_dataset(file["X"])


@pytest.mark.parametrize("columns", [None, COLUMNS])
def test_rows_are_those_of_the_array(stored, columns):
    table = open_array(stored, columns)
    array = X if columns is None else X[:, columns]
    assert isinstance(table, StoredTable)
    assert open_source(table) is table
    assert (table.shape, table.dtype, len(table)) == (array.shape, array.dtype, 70)
    assert np.array_equal(table.block(5, 40), array[5:40])
    assert table.block(5, 40).dtype == np.float64
    assert table.block(5, 40).flags.c_contiguous
    rows = np.array([69, 3, 3, 40, 0, 12, 11, 10])
    assert np.array_equal(table.take(rows), array[rows])
    assert table.take(rows[:0]).shape == (0, array.shape[1])
    assert np.array_equal(np.asarray(table), array)
    assert np.asarray(table, dtype=np.float64).dtype == np.float64
    assert sparse.issparse(table.read()) == table.sparse == sparse.issparse(table[3:5])


def test_a_csc_table_is_read_into_memory(tmp_path):
    with h5py.File(tmp_path / "table.h5", "w") as file:
        anndata.io.write_elem(file, "X", sparse.csc_matrix(X))
        stored = anndata.io.sparse_dataset(file["X"])
        for columns in (None, COLUMNS):
            table = open_array(stored, columns)
            assert sparse.issparse(table)
            assert np.array_equal(table.toarray(), X if columns is None else X[:, columns])


@pytest.mark.parametrize("given", [X, sparse.csr_array(X), sparse.csc_array(X)])
def test_what_is_in_memory_stays_there(given):
    assert open_array(given) is given
    some = open_array(given, COLUMNS)
    assert np.array_equal(some.toarray() if sparse.issparse(some) else some, X[:, COLUMNS])


def test_what_holds_no_numbers_is_no_source(tmp_path):
    with h5py.File(tmp_path / "table.h5", "w") as file:
        assert open_source(StoredTable(file.create_dataset("X", data=np.array([[b"a"], [b"b"]])))) is None
