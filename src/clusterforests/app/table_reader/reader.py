"""TableReader: messy columns in, typed columns out."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from clusterforests.app.table_reader.columns import READ_AS, ColumnReading, Kind, Style, TableColumns
from clusterforests.app.table_reader.conversion import CellError, convert, typed_series
from clusterforests.app.table_reader.inspection import InspectedTable, inspect_columns
from clusterforests.app.table_reader.notes import ColumnProblem, NewCells, TableProblems, column_notes, describe_dropped
from clusterforests.app.table_reader.overrides import FileStyle, parse_overrides
from clusterforests.app.table_reader.raw_columns import Cells, RawColumn, Texts, as_frame, raw_columns

DECIMALS = {None: "", ".": Style.DECIMAL_POINT, ",": Style.DECIMAL_COMMA}
ORDERS = {None: "", True: Style.DAY_FIRST, False: Style.MONTH_FIRST}
FILE_STYLES = (None, "text", "comma-separated")


class TableReader(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn the messy columns of a table into typed ones: numbers, truth values, dates and categories.

    Texts are read as what they are: numbers with units, percent signs, currencies and decimal commas, dates, words with
    an order, yes and no, names of groups. Columns that say nothing about the rows (identifiers, row numbers, free
    text, constants) are dropped. What may mean two things is refused, all of it in one error that says what to do.

    Parameters
    ----------
    overrides : dict or None, default=None
        What columns hold, by their names, where `columns_` shows that they were read otherwise: "number", "ordered",
        "category", "yes/no" or "date"; "number, decimal comma" or "number, decimal point"; "date, day first" or "date,
        month first"; a list of levels from low to high; "id" or "ignore" to drop a column.
    missing : sequence of str, default=()
        Texts that stand for missing cells, besides the usual ones such as "n/a" and "-".
    decimal : {".", ","} or None, default=None
        The decimal sign of columns that do not show it.
    day_first : bool or None, default=None
        Whether the day comes before the month in columns of dates that do not show it.
    file_style : {None, "text", "comma-separated"}, default=None
        What the table was read from. In a table that was text, columns of numbers show that the decimal sign is a
        point; if its cells were separated by commas, 1.234 is a decimal number unless another column shows otherwise.

    Attributes
    ----------
    columns_ : TableColumns
        How each column was read, and why: a tuple of `ColumnReading` that prints as a table.
    dropped_columns_ : dict of str to str
        The columns that were dropped, and why.
    notes_ : list of str
        What to know about the columns, in sentences.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if the table had any.

    Examples
    --------
    >>> import pandas as pd
    >>> from clusterforests import TableReader
    >>> reader = TableReader().fit(pd.DataFrame({"weight": ["12 kg", "7.5 kg"], "answer": ["ja", "nein"]}))
    >>> reader.columns_
    column  kind    read as     example        reason
    weight  number  number      12 kg, 7.5 kg  numbers, in kg, decimal point
    answer  yes/no  no and yes  ja, nein       'ja' and 'nein'
    """

    columns_: TableColumns
    dropped_columns_: dict[str, str]
    notes_: list[str]

    def __init__(
        self,
        overrides: Mapping[str, Any] | None = None,
        *,
        missing: Sequence[str] = (),
        decimal: str | None = None,
        day_first: bool | None = None,
        file_style: str | None = None,
    ) -> None:
        self.overrides = overrides
        self.missing = missing
        self.decimal = decimal
        self.day_first = day_first
        self.file_style = file_style

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out what the columns hold.

        Parameters
        ----------
        X : pandas or polars frame, Arrow table, or array-like of shape (n_samples, n_features)
            The table. Of an array, whose columns have no names, columns of numbers are taken as they are.
        y : ignored

        Returns
        -------
        self : TableReader
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Find out what the columns hold, and return the typed ones, as `transform` does."""
        frame, cells = self._fit(X)
        return self._typed(frame, cells)

    def inspect(self, X: Any) -> tuple[TableColumns, tuple[ColumnProblem, ...]]:
        """Say how the columns would be read, and what keeps them from being read, without an error.

        Parameters
        ----------
        X : pandas or polars frame, Arrow table, or array-like of shape (n_samples, n_features)

        Returns
        -------
        columns : TableColumns
        problems : tuple of ColumnProblem
            As `fit` raises them.
        """
        found = self._inspect(*as_frame(X))
        return TableColumns(found.readings), found.problems

    def transform(self, X: Any) -> Any:
        """Read new rows in the same way.

        Cells that may mean something else than in the fitted table are refused: 0.05 where the others have percent
        signs. Other odd cells, such as levels that a category did not have, become missing; one warning counts them.

        Parameters
        ----------
        X : pandas or polars frame, Arrow table, or array-like of shape (n_samples, n_features)
            The columns of a frame are found by their names, in any order; dropped ones may be lacking.

        Returns
        -------
        frame : DataFrame
            With the columns that are used: float64, boolean, datetime64[us], or of a categorical type, ordered or not.
        """
        check_is_fitted(self)
        frame, named = as_frame(X)
        used = [reading for reading in self.columns_ if reading.used]
        if not named or not hasattr(self, "feature_names_in_"):
            validate_data(self, X, reset=False, skip_check_array=True)
            frame = frame.set_axis([reading.name for reading in self.columns_], axis=1)
        frame = frame.set_axis(frame.columns.map(str), axis=1)
        lacking = [reading.name for reading in used if reading.name not in frame.columns]
        if lacking:
            raise ValueError(
                f"The feature names should match those that were passed during fit: X has no column {lacking[0]!r}"
                + (f", nor {len(lacking) - 1} others" if len(lacking) > 1 else "")
                + "."
            )
        frame = frame[[reading.name for reading in used]]
        new, cells, problems = NewCells(), {}, []
        style = self._file_style()
        for reading, raw in zip(used, raw_columns(frame, self.missing), strict=True):
            try:
                cells[reading.feature] = convert(raw, _in_style(raw, reading, style), new)
            except CellError as error:
                text = f"{error.text}. Correct it."
                problems.append(ColumnProblem(raw.name, text, error.remedies, row=error.row))
        if problems:
            raise TableProblems(problems)
        self._warn(new.notes())
        return self._typed(frame, cells)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that are used."""
        check_is_fitted(self)
        return np.array([reading.name for reading in self.columns_ if reading.used], dtype=object)

    def get_state(self) -> dict[str, Any]:
        """Return what `from_state` makes an equal reader of, for JSON. Examples, which are cells, are left out."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        parameters = self.get_params()
        if self.overrides is not None:
            kinds = {
                str(name): kind if isinstance(kind, str) else list(map(str, kind))
                for name, kind in self.overrides.items()
            }
            parameters["overrides"] = kinds
        return {
            "parameters": parameters | {"missing": list(self.missing)},
            "columns": [asdict(replace(reading, examples=())) for reading in self.columns_],
            "named": names is not None,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Make a fitted reader of what `get_state` returned; anything else is refused with a ValueError."""
        try:
            parameters = dict(state["parameters"])
            reader = cls(**parameters)
            reader._file_style()
            readings = tuple(_checked_reading(column) for column in state["columns"])
            parse_overrides(reader.overrides, [reading.name for reading in readings])
            used = [reading.feature for reading in readings if reading.used]
            if used != list(range(len(used))) or len({reading.name for reading in readings}) < len(readings):
                raise ValueError("its columns are not numbered")
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"it holds no table reader: {error!r}") from error
        reader._publish(readings, named=bool(state["named"]))
        return reader

    def _file_style(self) -> FileStyle:
        """Check the parameters that say how the table is written."""
        allowed: dict[str, Any] = {"decimal": DECIMALS, "day_first": ORDERS, "file_style": FILE_STYLES}
        for name, values in allowed.items():
            value = getattr(self, name)
            if not any(value is known or (isinstance(value, str) and value == known) for known in values):
                raise ValueError(f"{name}={value!r} is not allowed: it must be one of {', '.join(map(repr, values))}.")
        if isinstance(self.missing, str) or not all(isinstance(text, str) for text in self.missing):
            raise ValueError(f"missing={self.missing!r} is not allowed: it must be a list of texts.")
        comma = self.file_style == "comma-separated"
        return FileStyle(DECIMALS[self.decimal], ORDERS[self.day_first], self.file_style is not None, comma)

    def _inspect(self, frame: Any, named: bool) -> InspectedTable:
        style, names = self._file_style(), list(map(str, frame.columns))
        twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
        if twice is not None:
            raise ValueError(f"X has several columns {twice!r}. Give each column its own name.")
        overrides = parse_overrides(self.overrides, names)
        return inspect_columns(raw_columns(frame, self.missing), overrides, style, inspect_numbers=named)

    def _fit(self, X: Any) -> tuple[Any, Mapping[int, Cells]]:
        """Set the fitted attributes; return the table as a frame, and the cells of the columns that are used."""
        frame, named = as_frame(X)
        for extent, what in zip(frame.shape, ("sample", "feature"), strict=True):
            if extent == 0:
                raise ValueError(
                    f"Found array with 0 {what}(s) (shape={frame.shape}) while a minimum of 1 is required."
                )
        found = self._inspect(frame, named)
        if found.problems:
            raise TableProblems(found.problems)
        readings = [replace(reading, feature=-1) for reading in found.readings]
        if not found.cells:
            raise ValueError(f"X has no column to cluster by: {describe_dropped(readings)}")
        for feature, j in enumerate(found.cells):
            readings[j] = replace(readings[j], feature=feature)
        self._publish(readings, named=named)
        told = [reading for reading in readings if reading.kind != Kind.NEAR_DUPLICATE]  # those do no harm
        self._warn(column_notes(told), " `columns_` has all; to decide otherwise, pass overrides={name: kind}.")
        return frame, dict(enumerate(found.cells.values()))

    def _publish(self, readings: Sequence[ColumnReading], *, named: bool) -> None:
        self.columns_ = TableColumns(readings)
        self.dropped_columns_ = {r.name: f"{r.kind}: {r.reason}" for r in readings if not r.used}
        self.notes_ = column_notes(readings, len(readings) + sum(len(reading.notes) for reading in readings))
        self.n_features_in_ = len(readings)
        self.__dict__.pop("feature_names_in_", None)
        if named:
            self.feature_names_in_ = np.array([reading.name for reading in readings], dtype=object)

    def _typed(self, frame: Any, cells: Mapping[int, Cells]) -> Any:
        """Make the frame of the columns that are used."""
        used = [reading for reading in self.columns_ if reading.used]
        typed = {reading.name: typed_series(cells[reading.feature], reading) for reading in used}
        return pd.DataFrame(typed).set_axis(frame.index, axis=0)

    def _warn(self, notes: Sequence[str], advice: str = "") -> None:
        if notes:
            warnings.warn(" ".join(notes) + advice, UserWarning, stacklevel=4)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _in_style(raw: RawColumn, reading: ColumnReading, style: FileStyle) -> ColumnReading:
    """Take the style that the user gives; where the fitted table shows none, the one that the kind of file suggests."""
    if reading.read_as == Kind.NUMBER:
        commas = isinstance(raw.cells, Texts) and any("," in level for level in raw.cells.levels)
        likely = Style.DECIMAL_POINT if style.plain_points and not commas else ""
        return replace(reading, style=style.decimal or reading.style or likely)
    if reading.read_as == Kind.DATE and style.dates and reading.style in ("", Style.DAY_FIRST, Style.MONTH_FIRST):
        return replace(reading, style=style.dates)
    return reading


def _checked_reading(column: Mapping[str, Any]) -> ColumnReading:
    """Make a reading of its fields in a file, and check their types."""
    given = dict(column)
    for name in ("levels", "notes", "examples"):
        given[name] = tuple(given[name])
    reading = ColumnReading(**given)
    texts = (reading.name, reading.kind, reading.reason, reading.unit, reading.style, *reading.levels, *reading.notes)
    whole = type(reading.feature) is int and type(reading.used) is bool and type(reading.padded) is bool
    answers = reading.read_as in READ_AS and (reading.read_as != "") == reading.used and not reading.examples
    needed = {Kind.YES_NO: 2, Kind.ORDERED: 1}.get(reading.read_as, 0)
    if not (all(isinstance(text, str) for text in texts) and whole and answers and len(reading.levels) >= needed):
        raise ValueError("a column is not described as one")
    if len(set(reading.levels)) < len(reading.levels):
        raise ValueError("a column has a level twice")
    return reading
