"""Tables that users pass (arrays, lists of rows, frames) as columns of numbers or of text."""

import datetime
import sys
from collections.abc import Iterator, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from clusterforests._utils.arrays import AnyArray, FloatArray, is_wide
from clusterforests._utils.memory import check_memory
from clusterforests.table.checks import times_message, unmasked
from clusterforests.table.reader.column_reading import CATEGORY, DATE, NUMBER, ORDERED, YES_NO
from clusterforests.table.reader.numbers import typed
from clusterforests.table.reader.raw_columns import CategoryColumn, ColumnTable, RawColumn, plain_number, text_column

TRUTHS = {bool, np.bool_}


def read_columns(estimator: Any, X: Any, *, reset: bool, as_it_is: bool = False) -> AnyArray | list[RawColumn]:
    """Read X as a C-ordered float64 array if it is an array of numbers, otherwise column by column.

    A wide array of float32 or float64 is returned `as_it_is`, in any order, if that will do. Keep the names and the
    number of the features in the estimator (`reset`), or compare them with those it has.
    """
    X = unmasked(known_frame(X))
    frame = _frame_reader(X)
    if frame is not None:
        check_names(estimator, X, reset=reset)
        for extent, what in zip(X.shape, ("sample", "feature"), strict=True):
            if extent == 0:
                raise ValueError(f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required.")
        return [frame(X, j, str(name)) for j, name in enumerate(column_names(X) or ())]
    table: Any = validate_data(
        estimator, X, reset=reset, dtype=None, ensure_all_finite=False, accept_sparse=("csr", "csc")
    )
    if scipy.sparse.issparse(table):
        check_memory(8 * table.shape[0] * table.shape[1], "The sparse table as a dense one", "Use fewer columns.")
        table = table.toarray()
    if table.dtype.kind in "Mm":
        raise ValueError(times_message("X", table.dtype))
    if as_it_is and is_wide(table.shape[1]) and table.dtype in (np.float32, np.float64) and table.flags.aligned:
        return np.asarray(table)
    if table.dtype.kind in "biuf":
        return np.require(table, np.float64, ("C", "A"))
    columns = np.array(table, dtype=object if table.dtype.kind == "O" else str).astype(object).T
    return [_understand(cells, str(j), f"Column {j}", numbers_as_text=True) for j, cells in enumerate(columns)]


def row_slices(X: Any, rows: int, cells: int) -> Iterator[tuple[int, Any]]:
    """Yield an array, a frame or a sparse table slice by slice, each with the number of its first row.

    A slice has at most `rows` rows and about `cells` cells. A small table, and what is no table, is one slice.
    """
    shape: tuple[int, ...] = getattr(X, "shape", ())
    step = min(rows, max(1, cells // shape[1])) if len(shape) == 2 and shape[1] else rows
    if len(shape) != 2 or shape[0] <= step:
        yield 0, X
        return
    X = X.tocsr() if scipy.sparse.issparse(X) else known_frame(X)
    taken = X.iloc if hasattr(X, "iloc") else X
    for start in range(0, shape[0], step):
        yield start, taken.slice(start, step) if hasattr(taken, "slice") else taken[start : start + step]


def plain_block(block: Any) -> Any:
    """Return a block of a Dask array as an array or, if it is sparse, by its rows; a part of a frame as it is."""
    if isinstance(block, np.matrix):
        return np.asarray(block)
    return scipy.sparse.csr_array(block) if scipy.sparse.issparse(block) else block


def check_names(estimator: Any, X: Any, *, reset: bool) -> None:
    """Keep the names and the number of a frame's features in the estimator, or compare them with those it has."""
    if not isinstance(X, ColumnTable):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    elif reset:
        estimator.n_features_in_ = X.shape[1]
        estimator.feature_names_in_ = np.array(X.columns, dtype=object)
    else:
        known = getattr(estimator, "feature_names_in_", None)
        if X.shape[1] != estimator.n_features_in_ or (known is not None and X.columns != known.tolist()):
            raise ValueError(
                f"The feature names should match those that were passed during fit: X has {X.columns}, the fitted "
                f"table had {estimator.n_features_in_ if known is None else known.tolist()}."
            )


def known_frame(X: Any) -> Any:
    """Turn an Arrow batch into a table, whose names scikit-learn can read; return anything else as it is."""
    arrow: Any = sys.modules.get("pyarrow")
    return arrow.Table.from_batches([X]) if arrow is not None and isinstance(X, arrow.RecordBatch) else X


def is_dask(X: Any) -> bool:
    """Tell whether X is a Dask collection, without importing Dask to find out."""
    dask: Any = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(X))


def column_names(X: Any) -> list[Any] | None:
    """Return the column names of a frame or an Arrow table, None for an array."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return None if names is None else list(names)


def is_missing(cell: Any) -> bool:
    """Tell whether a cell is None, NaN, or one of pandas' NA and NaT."""
    return cell is None or (isinstance(cell, float) and cell != cell) or type(cell).__name__ in ("NAType", "NaTType")


def _frame_reader(X: Any) -> Any:
    """Return the function that reads a column of X if X is a frame, without importing any library of frames."""
    if isinstance(X, ColumnTable):
        return _table_column
    pandas, polars, arrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return _pandas_column
    if polars is not None and isinstance(X, polars.LazyFrame):
        raise TypeError("X is a polars LazyFrame, a query. Pass X.collect().")
    if polars is not None and isinstance(X, polars.DataFrame):
        return _polars_column
    if arrow is not None and isinstance(X, arrow.Table):
        return _arrow_column
    anndata: Any = sys.modules.get("anndata")
    if anndata is not None and isinstance(X, anndata.AnnData):
        raise TypeError(
            "X is an AnnData object. To cluster its cells, call clusterforests.tl.cluster_forest(adata), which puts "
            "the clusters into adata.obs; or pass one of its tables, such as adata.X or adata.obsm['X_pca']."
        )
    return None


def _table_column(X: ColumnTable, j: int, name: str) -> RawColumn:
    return RawColumn(name, X.cells[j])


def _pandas_column(X: Any, j: int, name: str) -> RawColumn:
    pandas: Any = sys.modules["pandas"]
    series = X.iloc[:, j]
    kind = getattr(series.dtype, "kind", "O")
    if isinstance(series.dtype, pandas.CategoricalDtype):
        levels = CategoryColumn(series.cat.codes.to_numpy().astype(np.int32), tuple(series.cat.categories.tolist()))
        return RawColumn(name, levels, ORDERED if series.dtype.ordered else CATEGORY)
    if kind == "M":
        values = series.dt.tz_convert(None) if getattr(series.dt, "tz", None) is not None else series
        return RawColumn(name, _days_of(values.to_numpy(dtype="datetime64[us]")), DATE)
    if kind == "m":
        return RawColumn(name, _days_of(series.to_numpy(dtype="timedelta64[us]")), NUMBER)
    if kind == "c":
        raise ValueError(f"Column {name!r}: Complex data not supported. Split it into two columns of real numbers.")
    if kind in "biuf":
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return RawColumn(name, values, YES_NO if kind == "b" else NUMBER)
    return _understand(series.to_numpy(dtype=object), name, f"Column {name!r}")


def _polars_column(X: Any, j: int, name: str) -> RawColumn:
    polars: Any = sys.modules["polars"]
    series = X.to_series(j)
    if series.dtype.is_numeric() or series.dtype in (polars.Boolean, polars.Null):
        values = series.cast(polars.Float64).to_numpy()
        return RawColumn(name, values, YES_NO if series.dtype == polars.Boolean else NUMBER)
    if series.dtype in (polars.Date, polars.Datetime):
        return RawColumn(name, _days_of(series.cast(polars.Datetime("us")).to_numpy()), DATE)
    if series.dtype == polars.Duration:
        return RawColumn(name, _days_of(series.cast(polars.Duration("us")).to_numpy()), NUMBER)
    if series.dtype.is_temporal():
        raise ValueError(times_message(f"Column {name!r}", series.dtype))
    text = series.dtype in (polars.String, polars.Categorical, polars.Enum)
    cells = np.empty(len(series), dtype=object)
    cells[:] = (series.cast(polars.String) if text else series).to_list()
    if text:
        return RawColumn(
            name, text_column(cells.tolist(), is_missing), "" if series.dtype == polars.String else CATEGORY
        )
    return _understand(cells, name, f"Column {name!r}")


def _arrow_column(X: Any, j: int, name: str) -> RawColumn:
    return arrow_column(X.column(j), name)


def arrow_column(column: Any, name: str) -> RawColumn:
    """Read a column of an Arrow table by its type."""
    arrow: Any = sys.modules["pyarrow"]
    kind, types = column.type, arrow.types
    if types.is_date(kind) or types.is_timestamp(kind):
        return RawColumn(name, _days_of(_arrow_numpy(column.cast(arrow.timestamp("us")), "datetime64[us]")), DATE)
    if types.is_duration(kind):
        return RawColumn(name, _days_of(_arrow_numpy(column.cast(arrow.duration("us")), "timedelta64[us]")), NUMBER)
    if types.is_temporal(kind):
        raise ValueError(times_message(f"Column {name!r}", kind))
    numeric = ("integer", "floating", "boolean", "decimal", "null")
    if any(getattr(types, f"is_{numbers}")(kind) for numbers in numeric):
        return RawColumn(name, _arrow_floats(column), YES_NO if types.is_boolean(kind) else NUMBER)
    if types.is_dictionary(kind):
        return RawColumn(name, _arrow_levels(column), ORDERED if kind.ordered else CATEGORY)
    cells = np.empty(len(column), dtype=object)
    cells[:] = column.to_pylist()
    if types.is_string(kind) or types.is_large_string(kind):
        return RawColumn(name, text_column(cells.tolist(), is_missing))
    return _understand(cells, name, f"Column {name!r}")


def _arrow_floats(column: Any) -> FloatArray:
    whole = [chunk.cast("float64").to_numpy(zero_copy_only=False) for chunk in column.chunks]
    floats: FloatArray = np.concatenate([np.empty(0), *whole])
    return floats


def _arrow_numpy(column: Any, kind: str) -> AnyArray:
    return np.concatenate([np.empty(0, kind), *(chunk.to_numpy(zero_copy_only=False) for chunk in column.chunks)])


def _arrow_levels(column: Any) -> CategoryColumn:
    """Take the levels of a dictionary in their order, which may be that of an ordered type."""
    joined = column.unify_dictionaries().combine_chunks()
    coded = joined.chunk(0) if hasattr(joined, "chunk") and joined.num_chunks else joined
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return CategoryColumn(codes, tuple(coded.dictionary.to_pylist()))


def _days_of(times: AnyArray) -> FloatArray:
    """Turn moments and durations in microseconds into days, NaN where there is none."""
    missing = np.isnat(times)
    days: FloatArray = times.astype(np.int64) / 86_400e6
    days[missing] = np.nan
    return days


def _understand(cells: AnyArray, name: str, where: str, *, numbers_as_text: bool = False) -> RawColumn:
    """Find out whether cells of no stated type are all numbers, all dates or all text.

    In an array, whose columns have no types of their own, text that Python reads as numbers counts as numbers. In a
    frame, numbers beside text are read as text is, by `inspect_columns`.
    """
    listed = cells.tolist()
    kinds = _kinds(listed)
    if kinds and all(issubclass(kind, datetime.date) for kind in kinds):
        return RawColumn(
            name, _days_of(np.array([None if is_missing(cell) else cell for cell in listed], "datetime64[us]")), DATE
        )
    for kind in kinds:
        if not (_is_number(kind) or issubclass(kind, str)):
            row = next(i for i, cell in enumerate(listed) if type(cell) is kind)
            raise TypeError(
                f"{where} holds {cells[row]!r} in row {row}: the argument must be a table whose cells are each a "
                "string or a number. Convert the column to one of them, or drop it."
            )
    text = bool(kinds) and not any(map(_is_number, kinds))
    if kinds and not text and not all(map(_is_number, kinds)):
        if numbers_as_text:
            raise ValueError(f"{where} mixes text and numbers. Make it all numbers, or all text if it is a category.")
        text, listed = True, [_as_text(cell) for cell in listed]  # as a file has it: 1.5 beside "n/a"
    if text and not (numbers_as_text and _reads_as_numbers(listed)):
        return RawColumn(name, text_column(listed, lambda cell: is_missing(cell) or cell == ""))
    try:
        values = np.array([np.nan if is_missing(cell) else float(cell) for cell in listed])
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{where} must hold numbers: {error}.") from error
    if kinds and kinds <= TRUTHS:
        return RawColumn(name, values, YES_NO)
    truths = np.array([type(cell) in TRUTHS for cell in listed]) if kinds & TRUTHS else None
    return RawColumn(name, values, NUMBER, truths)


def _as_text(cell: Any) -> Any:
    """Write a number as a file would, so that its point is known to be a decimal one."""
    if is_missing(cell) or isinstance(cell, str):
        return cell
    return str(cell) if isinstance(cell, (bool, np.bool_)) else typed(plain_number(float(cell)))


def _kinds(cells: Sequence[Any]) -> set[type]:
    """Collect the types of the cells that are not missing."""
    kinds = {kind for kind in set(map(type, cells)) if kind.__name__ not in ("NoneType", "NAType", "NaTType")}
    floats = {kind for kind in kinds if issubclass(kind, float)}
    if floats and kinds - floats and all(cell != cell for cell in cells if type(cell) in floats):
        return kinds - floats  # NaN among text
    return kinds


def _is_number(kind: type) -> bool:
    return issubclass(kind, (Real, Decimal, np.bool_))


def _reads_as_numbers(cells: Sequence[Any]) -> bool:
    try:
        return all(is_missing(cell) or float(cell) is not None for cell in cells)
    except ValueError:
        return False
