"""What to read from a file, and what was read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clusterforests._base.typing import AnyArray
from clusterforests.tables.column_table import ColumnTable

ReadProgress = Callable[[int, int], None]  # (bytes read, bytes to read; 0 if that is unknown)


@dataclass(frozen=True)
class Request:
    """What each column is for. Columns are named by the first line of the file."""

    id: str | None = None
    label: str | None = None
    ignore: Sequence[str] = ()
    categories: Sequence[str] = ()
    wanted: Sequence[str] | None = None  # the features, in this order; None means all columns without another use
    levels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of wanted categories, by their text
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str = "utf-8"
    header: bool = True
    names: Sequence[str] | None = None  # of the columns, where no line of the file has them
    sheet: str | None = None  # of an Excel workbook
    transpose: bool = False  # samples are columns
    progress: ReadProgress | None = None


@dataclass(frozen=True)
class DataFile:
    """The contents of a file: the features, and what belongs to the rows."""

    table: ColumnTable | AnyArray
    ids: list[str] | None = None
    id_name: str | None = None
    truth: list[str | None] | None = None
    notes: tuple[str, ...] = ()
