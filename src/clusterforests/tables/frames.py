"""Tables that users pass (arrays, lists of rows, frames) read as columns of numbers or of categories."""

import sys
from collections.abc import Iterator
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from clusterforests._base.memory_limits import check_memory
from clusterforests._base.typing import AnyArray, FloatArray
from clusterforests.tables.checks import times_message, unmasked
from clusterforests.tables.column_table import ColumnTable


class Column(NamedTuple):
    """The cells of a feature, one per row, and whether they are categories."""

    cells: AnyArray
    category: bool


def read_columns(estimator: Any, X: Any, *, reset: bool) -> FloatArray | list[Column]:
    """Read X as a C-ordered float64 array if it is an array of numbers, otherwise column by column.

    Keep the names and the number of the features in the estimator (`reset`), or compare them with those it has.
    """
    X = unmasked(known_frame(X))
    frame = _frame_reader(X)
    if frame is not None:
        check_names(estimator, X, reset=reset)
        for extent, what in zip(X.shape, ("sample", "feature"), strict=True):
            if extent == 0:
                raise ValueError(f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required.")
        return [frame(X, j, f"Column {str(name)!r}") for j, name in enumerate(column_names(X) or ())]
    table = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False, accept_sparse=("csr", "csc"))
    if scipy.sparse.issparse(table):
        check_memory(8 * table.shape[0] * table.shape[1], "The sparse table as a dense one", "Use fewer columns.")
        table = table.toarray()
    if table.dtype.kind in "Mm":
        raise ValueError(times_message("X", table.dtype))
    if table.dtype.kind in "biuf":
        return np.require(table, np.float64, ("C", "A"))
    columns = np.array(table, dtype=object if table.dtype.kind == "O" else str).astype(object).T
    return [_understand(cells, f"Column {j}", numbers_as_text=True) for j, cells in enumerate(columns)]


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


def to_numbers(column: Column, where: str) -> FloatArray:
    """Convert the cells to float64, missing ones to NaN."""
    if column.cells.dtype == np.float64:
        return column.cells
    try:
        return np.array([np.nan if is_missing(cell) else float(cell) for cell in column.cells.tolist()])
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{where} must hold numbers, as in fit: {error}.") from error


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
    return None


def _table_column(X: ColumnTable, j: int, where: str) -> Column:
    cells = X.cells[j]
    return Column(cells, category=False) if isinstance(cells, np.ndarray) else Column(cells.cells(), category=True)


def _pandas_column(X: Any, j: int, where: str) -> Column:
    series = X.iloc[:, j]
    kind = getattr(series.dtype, "kind", "O")
    if isinstance(series.dtype, sys.modules["pandas"].CategoricalDtype):
        return Column(series.to_numpy(dtype=object), category=True)
    if kind in "Mm":
        raise ValueError(times_message(where, series.dtype))
    if kind == "c":
        raise ValueError(f"{where}: Complex data not supported. Split it into two columns of real numbers.")
    if kind in "biuf":
        return Column(series.to_numpy(dtype=np.float64, na_value=np.nan), category=False)
    return _understand(series.to_numpy(dtype=object), where)


def _polars_column(X: Any, j: int, where: str) -> Column:
    polars: Any = sys.modules["polars"]
    series = X.to_series(j)
    if series.dtype.is_numeric() or series.dtype in (polars.Boolean, polars.Null):
        return Column(series.cast(polars.Float64).to_numpy(), category=False)
    if series.dtype.is_temporal():
        raise ValueError(times_message(where, series.dtype))
    text = series.dtype in (polars.String, polars.Categorical, polars.Enum)
    cells = np.empty(len(series), dtype=object)
    cells[:] = (series.cast(polars.String) if text else series).to_list()
    return Column(cells, category=True) if text else _understand(cells, where)


def _arrow_column(X: Any, j: int, where: str) -> Column:
    arrow: Any = sys.modules["pyarrow"]
    column, kind = X.column(j), X.column(j).type
    if arrow.types.is_temporal(kind):
        raise ValueError(times_message(where, kind))
    numeric = ("integer", "floating", "boolean", "decimal", "null")
    if any(getattr(arrow.types, f"is_{name}")(kind) for name in numeric):
        return Column(_arrow_floats(column), category=False)
    cells = np.empty(len(column), dtype=object)
    cells[:] = column.to_pylist()
    text = arrow.types.is_dictionary(kind) or arrow.types.is_string(kind) or arrow.types.is_large_string(kind)
    return Column(cells, category=True) if text else _understand(cells, where)


def _arrow_floats(column: Any) -> FloatArray:
    whole = [chunk.cast("float64").to_numpy(zero_copy_only=False) for chunk in column.chunks]
    floats: FloatArray = np.concatenate([np.empty(0), *whole])
    return floats


def _understand(cells: AnyArray, where: str, *, numbers_as_text: bool = False) -> Column:
    """Find out whether cells of no stated type are all numbers or all text.

    In an array, whose columns have no types of their own, text that reads as numbers counts as numbers.
    """
    kinds = {type(cell) for cell in cells.tolist() if not is_missing(cell)}
    for kind in kinds:
        if not (_is_number(kind) or issubclass(kind, str)):
            row = next(i for i, cell in enumerate(cells.tolist()) if type(cell) is kind)
            raise TypeError(
                f"{where} holds {cells[row]!r} in row {row}: the argument must be a table whose cells are each a "
                "string or a number. Convert the column to one of them, or drop it."
            )
    text = not any(map(_is_number, kinds))
    if kinds and not text and not all(map(_is_number, kinds)):
        raise ValueError(f"{where} mixes text and numbers. Make it all numbers, or all text if it is a category.")
    return Column(cells, category=bool(kinds) and text and not (numbers_as_text and _reads_as_numbers(cells)))


def _is_number(kind: type) -> bool:
    return issubclass(kind, (Real, Decimal, np.bool_))


def _reads_as_numbers(cells: AnyArray) -> bool:
    try:
        return all(is_missing(cell) or float(cell) is not None for cell in cells.tolist())
    except ValueError:
        return False
