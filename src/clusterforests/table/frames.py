"""Tables that users pass (arrays, lists of rows, frames) as columns of numbers, dates or categories."""

import datetime
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from clusterforests._utils.arrays import AnyArray, FloatArray, IntArray, is_wide
from clusterforests._utils.memory import check_memory
from clusterforests.table.checks import FittedTable, times_message, unmasked

DAY = 86_400e6  # microseconds


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories: for each row the number of its level, -1 where the cell is missing."""

    codes: IntArray
    levels: tuple[Any, ...]
    ordered: bool = False

    def __len__(self) -> int:
        return len(self.codes)


class TypedColumn(NamedTuple):
    """A column whose type says what it holds: float64 with NaN for missing cells, or categories."""

    cells: FloatArray | CategoryColumn
    is_date: bool = False  # the numbers are days since 1970

    @property
    def is_missing(self) -> bool:
        """Whether no cell has a value, so that the column may be of any type."""
        cells = self.cells
        return bool((cells.codes < 0).all() if isinstance(cells, CategoryColumn) else np.isnan(cells).all())


TEXT = TypedColumn(np.empty(0))  # stands for a column that no type says enough about


class ColumnTable:
    """A frame that needs no library: named columns, each an array of float64 or a `CategoryColumn`; `fit` takes it.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    cells : sequence of ndarray or CategoryColumn
        The columns, all of one length.
    """

    def __init__(self, names: Sequence[str], cells: Sequence[FloatArray | CategoryColumn]) -> None:
        self.columns = list(names)
        self.cells = list(cells)
        self.shape = (len(self.cells[0]) if self.cells else 0, len(self.cells))

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, rows: slice | AnyArray) -> "ColumnTable":
        """Return some rows."""
        cells = [
            c[rows] if isinstance(c, np.ndarray) else CategoryColumn(c.codes[rows], c.levels, c.ordered)
            for c in self.cells
        ]
        return ColumnTable(self.columns, cells)

    def slice(self, start: int, count: int) -> "ColumnTable":
        """Return `count` rows from `start` on."""
        return self.take(slice(start, start + count))


def read_features(fitted: FittedTable, X: Any, *, reset: bool, as_it_is: bool = False) -> AnyArray | list[TypedColumn]:
    """Read X as a C-ordered float64 array if it is an array of numbers, otherwise column by column.

    A wide array of float32 or float64 is returned `as_it_is`, in any order, if that will do. Keep the names and the
    number of the columns in `fitted` (`reset`), or compare them with those it has. Columns of text are refused.
    """
    X = unmasked(known_frame(X))
    # A frame is read column by column.
    frame = _frame_reader(X)
    if frame is not None:
        check_feature_names(fitted, X, reset=reset)
        for extent, what in zip(X.shape, ("sample", "feature"), strict=True):
            if extent == 0:
                raise ValueError(f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required.")
        names = [f"column {str(name)!r}" for name in column_names(X) or ()]
        return _without_text([frame(X, j, f"Column {name[7:]}") for j, name in enumerate(names)], names)
    # Anything else is an array, dense or sparse; one of numbers is done.
    table: Any = validate_data(
        fitted, X, reset=reset, dtype=None, ensure_all_finite=False, accept_sparse=("csr", "csc")
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
    # An array of objects is read column by column too, but may hold only numbers.
    columns = [_objects(cells, f"Column {j}") for j, cells in enumerate(table.astype(object).T)]
    found = _without_text(columns, [f"column {j}" for j in range(len(columns))])
    if any(column.is_date for column in found):
        raise ValueError(times_message("X", "object"))
    return np.ascontiguousarray(np.column_stack([column.cells for column in found]))  # type: ignore[misc]


def _without_text(columns: list[TypedColumn], names: Sequence[str]) -> list[TypedColumn]:
    """Refuse columns of text, all of them in one error."""
    texts = [name for name, column in zip(names, columns, strict=True) if column is TEXT]
    if texts:
        raise ValueError(
            f"X has {len(texts)} column(s) of text: {', '.join(texts)}. clusterforests.TableReader turns them into "
            "numbers, dates and categories, as in make_pipeline(TableReader(), ClusterForest()); or drop them."
        )
    return columns


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


def check_feature_names(fitted: FittedTable, X: Any, *, reset: bool) -> None:
    """Keep the names and the number of a frame's columns in `fitted`, or compare them with those it has."""
    if not isinstance(X, ColumnTable):
        validate_data(fitted, X, reset=reset, skip_check_array=True)
    elif reset:
        fitted.n_features_in_ = X.shape[1]
        fitted.feature_names_in_ = np.array(X.columns, dtype=object)
    else:
        known = getattr(fitted, "feature_names_in_", None)
        if X.shape[1] != fitted.n_features_in_ or (known is not None and X.columns != known.tolist()):
            raise ValueError(
                f"The feature names should match those that were passed during fit: X has {X.columns}, the fitted "
                f"table had {fitted.n_features_in_ if known is None else known.tolist()}."
            )


def known_frame(X: Any) -> Any:
    """Turn an Arrow batch into a table, whose names scikit-learn can read; return anything else as it is."""
    arrow: Any = sys.modules.get("pyarrow")
    return arrow.Table.from_batches([X]) if arrow is not None and isinstance(X, arrow.RecordBatch) else X


def column_names(X: Any) -> list[Any] | None:
    """Return the column names of a frame or an Arrow table, None for an array."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return None if names is None else list(names)


def is_missing(cell: Any) -> bool:
    """Return whether a cell is None, NaN, or one of pandas' NA and NaT."""
    return cell is None or (isinstance(cell, float) and cell != cell) or type(cell).__name__ in ("NAType", "NaTType")


# Frames of each library, which are known without importing it.


def _frame_reader(X: Any) -> Callable[[Any, int, str], TypedColumn] | None:
    """Return the function that reads a column of X, if X is a frame; it names the column in messages."""
    if isinstance(X, ColumnTable):
        return lambda X, j, where: TypedColumn(X.cells[j])
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


def _pandas_column(X: Any, j: int, where: str) -> TypedColumn:
    series = X.iloc[:, j]
    kind = getattr(series.dtype, "kind", "O")
    if hasattr(series, "cat"):
        codes, levels = series.cat.codes.to_numpy().astype(np.int32), tuple(series.cat.categories.tolist())
        return TypedColumn(CategoryColumn(codes, levels, bool(series.cat.ordered)))
    if kind == "M":
        moments = series.dt.tz_convert(None) if getattr(series.dt, "tz", None) is not None else series
        return TypedColumn(_days_of(moments.to_numpy(dtype="datetime64[us]")), is_date=True)
    if kind == "m":
        return TypedColumn(_days_of(series.to_numpy(dtype="timedelta64[us]")))
    if kind == "c":
        raise ValueError(f"{where}: Complex data not supported. Split it into two columns of real numbers.")
    if kind in "biuf":
        return TypedColumn(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return _objects(series.to_numpy(dtype=object), where)


def _polars_column(X: Any, j: int, where: str) -> TypedColumn:
    polars: Any = sys.modules["polars"]
    series = X.to_series(j)
    kind = series.dtype
    if kind.is_numeric() or kind in (polars.Boolean, polars.Null):
        return TypedColumn(series.cast(polars.Float64).to_numpy())
    if kind in (polars.Date, polars.Datetime):
        return TypedColumn(_days_of(series.cast(polars.Datetime("us")).to_numpy()), is_date=True)
    if kind == polars.Duration:
        return TypedColumn(_days_of(series.cast(polars.Duration("us")).to_numpy()))
    if kind.is_temporal():
        raise ValueError(times_message(where, kind))
    if kind in (polars.Categorical, polars.Enum):
        texts = series.cast(polars.String)
        levels = texts.drop_nulls().unique().sort()
        codes = texts.cast(polars.Enum(levels)).to_physical().cast(polars.Int32).fill_null(-1).to_numpy()
        return TypedColumn(CategoryColumn(codes, tuple(levels.to_list())))
    return TEXT if kind == polars.String else _objects(np.array([*series.to_list(), None], dtype=object)[:-1], where)


def _arrow_column(X: Any, j: int, where: str) -> TypedColumn:
    arrow: Any = sys.modules["pyarrow"]
    column = X.column(j)
    kind, types = column.type, arrow.types
    if types.is_date(kind) or types.is_timestamp(kind):
        return TypedColumn(_days_of(_arrow_numpy(column.cast(arrow.timestamp("us")), "datetime64[us]")), is_date=True)
    if types.is_duration(kind):
        return TypedColumn(_days_of(_arrow_numpy(column.cast(arrow.duration("us")), "timedelta64[us]")))
    if types.is_temporal(kind):
        raise ValueError(times_message(where, kind))
    if any(getattr(types, f"is_{name}")(kind) for name in ("integer", "floating", "boolean", "decimal", "null")):
        return TypedColumn(_arrow_numpy(column.cast("float64"), "float64"))
    if types.is_dictionary(kind):  # its levels are in their order, which may be that of an ordered type
        joined = column.unify_dictionaries().combine_chunks()
        coded = joined.chunk(0) if hasattr(joined, "chunk") and joined.num_chunks else joined
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        return TypedColumn(CategoryColumn(codes, tuple(coded.dictionary.to_pylist()), kind.ordered))
    return _objects(np.array([*column.to_pylist(), None], dtype=object)[:-1], where)


def _arrow_numpy(column: Any, kind: str) -> AnyArray:
    return np.concatenate([np.empty(0, kind), *(chunk.to_numpy(zero_copy_only=False) for chunk in column.chunks)])


def _days_of(times: AnyArray) -> FloatArray:
    """Turn moments and durations in microseconds into days, NaN where there is none."""
    missing = np.isnat(times)
    days: FloatArray = times.astype(np.int64) / DAY
    days[missing] = np.nan
    return days


def _objects(cells: AnyArray, where: str) -> TypedColumn:
    """Read objects that are all numbers or all dates; others are text, or refused."""
    known = np.array([not is_missing(cell) for cell in cells], dtype=bool)
    kinds = set(map(type, cells[known]))
    for kind in kinds:
        if not issubclass(kind, (str, Real, Decimal, np.bool_, datetime.date)):
            row = next(i for i, cell in enumerate(cells) if type(cell) is kind)
            raise TypeError(
                f"{where} holds {cells[row]!r} in row {row}: the argument must be a table whose cells are each a "
                "string or a number. Convert the column to one of them, or drop it."
            )
    if any(issubclass(kind, str) for kind in kinds):
        return TEXT
    dates = [issubclass(kind, datetime.date) for kind in kinds]
    if any(dates) and all(dates):
        moments = [cell if told else None for cell, told in zip(cells, known, strict=True)]
        return TypedColumn(_days_of(np.array(moments, "datetime64[us]")), is_date=True)
    try:
        return TypedColumn(np.array([float(cell) if told else np.nan for cell, told in zip(cells, known, strict=True)]))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{where} must hold numbers: {error}.") from error
