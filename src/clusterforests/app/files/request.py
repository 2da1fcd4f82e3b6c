"""What to read from a file, and what was read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clusterforests._utils.arrays import AnyArray
from clusterforests.app.command_line.problems import LocatedProblem
from clusterforests.table.reader.column_reading import ColumnReading
from clusterforests.table.reader.raw_columns import ColumnTable

ReadProgress = Callable[[int, int], None]  # (bytes read, bytes to read; 0 if that is unknown)


@dataclass(frozen=True)
class Request:
    """What each column is for. Columns are named by the first line of the file."""

    id: str | None = None
    label: str | None = None
    known: str | None = None  # classes of some rows, which the clusters keep
    ignore: Sequence[str] = ()
    categories: Sequence[str] = ()
    numbers: Sequence[str] = ()
    dates: Sequence[str] = ()
    ordered: Sequence[str] = ()  # names, or name=low,middle,high
    missing: Sequence[str] = ()  # what stands for a missing value besides the usual
    wanted: Sequence[str] | None = None  # the features, in this order; None means all columns without another use
    readings: Mapping[str, ColumnReading] = field(default_factory=dict)  # how a model reads wanted columns
    levels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of wanted categories, by their text
    delimiter: str | None = None
    decimal: str | None = None
    date_order: str = ""  # a style of dates, where they do not show it
    encoding: str = "utf-8"
    header: bool = True
    names: Sequence[str] | None = None  # of the columns, where no line of the file has them
    sheet: str | None = None  # of an Excel workbook
    transpose: bool = False  # samples are columns
    progress: ReadProgress | None = None
    only_inspect: bool = False  # hand out problems instead of raising them


@dataclass(frozen=True)
class DataFile:
    """The contents of a file: the features, and what belongs to the rows."""

    table: ColumnTable | AnyArray
    ids: list[str] | None = None
    id_name: str | None = None
    truth: list[str | None] | None = None
    known: list[str | None] | None = None
    notes: tuple[str, ...] = ()
    readings: tuple[ColumnReading, ...] = ()  # of all columns of the file, in their order
    problems: tuple[LocatedProblem, ...] = ()
