"""What to read from a file, and what was read: a frame of raw cells, and the line of the file behind each row."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import pandas as pd

from clusterforests._utils.arrays import AnyArray
from clusterforests.app.problems import LocatedProblem

LISTED = 8  # columns named in a message


@dataclass(frozen=True)
class FileOptions:
    """How a file is read. All of it has a default that is found from the file.

    Parameters
    ----------
    format : str or None, default=None
        One of `FORMATS`; None goes by the extension of the file's name.
    delimiter, decimal : str or None, default=None
        Separator of cells, and decimal sign, of a text file.
    encoding : str, default="utf-8"
        Encoding of a text file.
    header : bool, default=True
        Whether the first line holds the names of the columns.
    sheet : str or None, default=None
        Sheet of a workbook, by its name or its number from 1; None takes the only one that has cells.
    transpose : bool, default=False
        Whether the samples are the columns of the file.
    row_names : str or None, default=None
        Column whose cells are kept to the letter. None takes a first column that has no name.
    classes : collection of str, default=()
        Columns with known classes, which stay text.
    as_text : collection of str, default=()
        Other columns that stay text, whatever their cells look like.
    skip : collection of str, default=()
        Columns that are left out.
    only : collection of str or None, default=None
        The columns to read; None means all.
    progress : callable or None, default=None
        Called with the number of bytes read so far and the size of the file, which is 0 where it is unknown.
    """

    format: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str = "utf-8"
    header: bool = True
    sheet: str | None = None
    transpose: bool = False
    row_names: str | None = None
    classes: Collection[str] = ()
    as_text: Collection[str] = ()
    skip: Collection[str] = ()
    only: Collection[str] | None = None
    progress: Callable[[int, int], None] | None = None

    def wants(self, name: str) -> bool:
        """Tell whether a column is to be read."""
        if name == self.row_names or name in self.classes:
            return True
        return name not in self.skip and (self.only is None or name in self.only)

    def is_text(self, name: str) -> bool:
        """Tell whether a column stays text."""
        return name == self.row_names or name in self.classes or name in self.as_text


@dataclass(frozen=True)
class FileTable:
    """The contents of a file.

    Attributes
    ----------
    name : str
        The file's name in messages.
    cells : DataFrame or ndarray
        The columns as they are written; a matrix of numbers where columns have no names.
    lines : array-like of int
        The line of the file on which each row begins, from 1; of formats without lines the number of the row.
    row_names : str or None
        Column that names the rows.
    style : {None, "text", "comma-separated"}
        How cells are written: the `file_style` of `TableReader`.
    measured : bool
        Whether all columns are measured numbers, whatever their names are.
    notes : tuple of str
        What the user should know, in sentences.
    problems : tuple of LocatedProblem
        Columns that hold no cells. They are not among `cells`.
    """

    name: str
    cells: pd.DataFrame | AnyArray
    lines: Sequence[int] | AnyArray
    row_names: str | None = None
    style: str | None = None
    measured: bool = False
    notes: tuple[str, ...] = ()
    problems: tuple[LocatedProblem, ...] = ()


def check_names(file: str, names: Sequence[str], options: FileOptions) -> tuple[str | None, tuple[str, ...]]:
    """Refuse columns without a name of their own; return the one that names the rows, and a note if nobody said so."""
    seen: dict[str, int] = {}
    for j, name in enumerate(names, 1):
        if name in seen:
            raise ValueError(
                f"{file}, line 1: columns {seen[name]} and {j} are both called {name!r}. Give each column its own name."
            )
        seen[name] = j
    row_names, notes = options.row_names, tuple[str, ...]()
    if row_names is None and len(names) > 1 and names[0] == "":
        row_names, notes = "", ("The first column has no name and is taken as row names.",)
    if "" in seen and not (row_names == "" and seen[""] == 1):
        raise ValueError(f"{file}, line 1: column {seen['']} has no name. Give it one, or remove the column.")
    named = [*options.classes, *options.skip, *options.as_text]
    require_columns(file, names, named if row_names is None else [row_names, *named])
    require_columns(file, names, options.only or (), ", which the model was fitted on")
    return row_names, notes


def require_columns(file: str, names: Sequence[str], wanted: Collection[str], what: str = "") -> None:
    """Refuse to look for columns that are not there; `what` says what they are."""
    missing = [name for name in wanted if name not in names]
    if missing:
        others = f", nor {len(missing) - 1} others" if len(missing) > 1 else ""
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        listed = ", ".join(map(repr, names[:LISTED])) + more
        raise ValueError(f"{file} has no column {missing[0]!r}{what}{others}. Its columns are {listed}.")
