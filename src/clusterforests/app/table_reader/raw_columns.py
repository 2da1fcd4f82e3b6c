"""Columns as a frame has them, before anyone knows what they mean: numbers, or texts that are counted."""

import datetime
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_array

from clusterforests.app.table_reader.columns import Kind
from clusterforests.app.table_reader.numbers import typed, untyped

SHOWN = 40  # characters of a cell in a message
EXAMPLES = 3
DAY = 86_400e6  # microseconds
TRUTHS = {bool, np.bool_}

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Texts:
    """A column of texts: for each row the number of its text among the different ones, -1 where the cell is missing."""

    codes: NDArray[np.int32]
    levels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def counts(self) -> "pd.Series[int]":
        """Return how many rows have each text."""
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels))
        return pd.Series(counts, index=pd.Index(self.levels, dtype=object))

    def rows_of(self, chosen: Mask) -> NDArray[np.intp]:
        """Return the rows whose text is chosen, ascending."""
        return np.flatnonzero(np.append(chosen, False)[self.codes])

    def renamed(self, names: Sequence[str | None]) -> "Texts":
        """Give each text a new name, which several may share; None makes its cells missing."""
        codes, levels = pd.factorize(np.array([*names, None], dtype=object))
        return Texts(codes.astype(np.int32)[self.codes], tuple(levels))


Cells = Floats | Texts


@dataclass(frozen=True)
class RawColumn:
    """A named column: float64 with NaN for missing cells, or texts.

    `declared` is the kind that the column's type states: "number", "yes/no", "category", "ordered" (its levels are in
    order) or "date" (its numbers are days since 1970); "" where anything may be behind text. `truths` marks the cells
    that are true or false among numbers, where they are 1 and 0; None if there is none.
    """

    name: str
    cells: Cells
    declared: str = ""
    truths: Mask | None = None

    def examples(self) -> tuple[str, ...]:
        """Return some cells as they are written."""
        if isinstance(self.cells, Texts):
            return tuple(map(shown, self.cells.levels[:EXAMPLES]))
        known = self.cells[~np.isnan(self.cells)][: 10 * EXAMPLES]
        if self.declared == Kind.DATE:
            return tuple(map(str, np.unique(known.astype("datetime64[D]"))[:EXAMPLES]))
        return tuple(plain_number(value) for value in list(dict.fromkeys(known.tolist()))[:EXAMPLES])

    def without(self, marks: Sequence[str]) -> "RawColumn":
        """Take the cells that are one of these texts as missing."""
        if not marks or not isinstance(self.cells, Texts):
            return self
        names = [None if {level, untyped(level)} & set(marks) else level for level in self.cells.levels]
        return replace(self, cells=self.cells.renamed(names))


def as_frame(X: Any) -> "tuple[pd.DataFrame, bool]":
    """Return a table as a pandas frame, and whether its columns have names of their own.

    Parameters
    ----------
    X : pandas or polars frame, Arrow table, array or list of rows

    Returns
    -------
    frame : DataFrame
    named : bool
    """
    if isinstance(X, pd.DataFrame):
        return X, True
    polars, arrow = (sys.modules.get(name) for name in ("polars", "pyarrow"))
    if polars is not None and isinstance(X, polars.LazyFrame):
        raise TypeError("X is a polars LazyFrame, a query. Pass X.collect().")
    if polars is not None and isinstance(X, polars.DataFrame):
        return pd.DataFrame({series.name: _from_polars(polars, series) for series in X.get_columns()}), True
    if arrow is not None and isinstance(X, (arrow.Table, arrow.RecordBatch)):
        return X.to_pandas(date_as_object=False), True
    cells = check_array(X, dtype=None if hasattr(X, "dtype") else object, ensure_all_finite=False)
    return pd.DataFrame(cells, columns=[f"x{j}" for j in range(cells.shape[1])]), False


def _from_polars(polars: Any, series: Any) -> Any:
    kind = series.dtype
    if kind == polars.Boolean:
        return pd.array(series.to_list(), dtype="boolean")
    if kind.is_numeric():
        return series.cast(polars.Float64).to_numpy()
    for moments in (polars.Datetime("us"), polars.Duration("us")):
        if kind == moments.base_type() or (kind == polars.Date and moments == polars.Datetime("us")):
            return series.cast(moments).to_numpy()
    if kind in (polars.Categorical, polars.Enum):
        return pd.Categorical(series.cast(polars.String).to_list())
    return pd.array(np.array([*series.to_list(), None], dtype=object)[:-1], dtype=object)


def raw_columns(frame: "pd.DataFrame", missing: Sequence[str] = ()) -> list[RawColumn]:
    """Take the columns of a frame apart.

    Parameters
    ----------
    frame : DataFrame
    missing : sequence of str, default=()
        Texts that stand for missing cells.

    Returns
    -------
    columns : list of RawColumn
    """
    return [_raw_column(frame.iloc[:, j], str(name)).without(missing) for j, name in enumerate(frame.columns)]


def _raw_column(series: Any, name: str) -> RawColumn:
    kind = getattr(series.dtype, "kind", "O")
    if isinstance(series.dtype, pd.CategoricalDtype):
        levels = [_level(level) for level in series.cat.categories]
        texts = Texts(series.cat.codes.to_numpy().astype(np.int32), tuple(levels)).renamed(levels)
        return RawColumn(name, texts, Kind.ORDERED if series.dtype.ordered else Kind.CATEGORY)
    if kind == "M":
        moments = series.dt.tz_convert(None) if getattr(series.dt, "tz", None) is not None else series
        return RawColumn(name, days_of(moments.to_numpy(dtype="datetime64[us]")), Kind.DATE)
    if kind == "m":
        return RawColumn(name, days_of(series.to_numpy(dtype="timedelta64[us]")), Kind.NUMBER)
    if kind == "c":
        raise ValueError(f"Column {name!r}: Complex data not supported. Split it into two columns of real numbers.")
    if kind in "biuf":
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return RawColumn(name, values, Kind.YES_NO if kind == "b" else Kind.NUMBER)
    return _untyped_column(series.to_numpy(dtype=object), name)


def _untyped_column(cells: Any, name: str) -> RawColumn:
    """Find out whether cells of no stated type are all numbers, all dates or texts; numbers beside texts are texts."""
    known = ~pd.isna(pd.Series(cells, dtype=object)).to_numpy()
    kinds = set(map(type, cells[known]))
    if kinds and all(issubclass(kind, datetime.date) for kind in kinds):
        moments = [cell if told else None for cell, told in zip(cells, known, strict=True)]
        return RawColumn(name, days_of(np.array(moments, "datetime64[us]")), Kind.DATE)
    for kind in kinds:
        if not issubclass(kind, (str, Real, Decimal, np.bool_)):
            row = next(i for i, cell in enumerate(cells) if type(cell) is kind)
            raise TypeError(
                f"Column {name!r} holds {cells[row]!r} in row {row}: the argument must be a table whose cells are each "
                "a string or a number. Convert the column to one of them, or drop it."
            )
    if any(issubclass(kind, str) for kind in kinds):
        if not all(issubclass(kind, str) for kind in kinds):
            cells = cells.copy()
            try:
                cells[known] = [_written(cell) for cell in cells[known]]
            except OverflowError as error:
                raise ValueError(f"Column {name!r} must hold numbers: {error}.") from error
        codes, levels = pd.factorize(cells)  # each different cell is looked at once
        texts = [text or None for text in map(str.strip, levels)]
        return RawColumn(name, Texts(codes.astype(np.int32), ()).renamed(texts))
    try:
        values = np.array([float(cell) if told else np.nan for cell, told in zip(cells, known, strict=True)])
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"Column {name!r} must hold numbers: {error}.") from error
    if kinds and kinds <= TRUTHS:
        return RawColumn(name, values, Kind.YES_NO)
    truths = np.array([type(cell) in TRUTHS for cell in cells]) if kinds & TRUTHS else None
    return RawColumn(name, values, Kind.NUMBER, truths)


def _written(cell: Any) -> str:
    """Write a number as a file would, so that its point is known to be a decimal one."""
    if isinstance(cell, str):
        return cell
    return str(bool(cell)) if type(cell) in TRUTHS else typed(plain_number(float(cell)))


def _level(level: Any) -> str:
    number = isinstance(level, Real) and type(level) not in TRUTHS
    return plain_number(float(level)) if number else str(level)


def days_of(times: Any) -> Floats:
    """Turn moments and durations in microseconds into days, NaN where there is none."""
    missing = np.isnat(times)
    days: Floats = times.astype(np.int64) / DAY
    days[missing] = np.nan
    return days


def plain_number(value: float) -> str:
    """Write a number as a file would: 80331 rather than 80331.0."""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


# Texts in messages.


def shown(cell: str) -> str:
    """Show a cell: as its file has it, and cut if it is long."""
    text = untyped(cell)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def quoted(texts: Sequence[str], most: int = 3) -> str:
    """List cells."""
    return ", ".join(repr(shown(text)) for text in texts[:most]) + (", ..." if len(texts) > most else "")
