"""From a file or a messy frame to clusters, in one call: what people use, and what the command line calls."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline, make_pipeline

from clusterforests import ClusterForest
from clusterforests._utils.arrays import AnyArray
from clusterforests._utils.validation import rename_places, warn_caller
from clusterforests.app.description import Description, describe
from clusterforests.app.files.file_table import FileOptions, FileTable, require_columns
from clusterforests.app.files.opening import read_file
from clusterforests.app.files.row_pairs import read_pairs
from clusterforests.app.label_files import label_format, write_labels
from clusterforests.app.problems import FileProblems, LocatedProblem
from clusterforests.app.report import write_report
from clusterforests.app.saving import save
from clusterforests.app.table_reader import TableColumns, TableProblems, TableReader
from clusterforests.app.table_reader.notes import column_notes
from clusterforests.app.table_reader.raw_columns import as_frame

FRAME = "the table"  # its name in messages, where it is not from a file
NOT_KNOWN = ("-1", "-1.0")  # classes as Python writes those that are not known


@dataclass(frozen=True)
class TableRows:
    """A table taken apart: the columns to cluster by, and what belongs to the rows.

    Attributes
    ----------
    file : FileTable
        The table as it was read.
    cells : DataFrame or ndarray
        The columns to cluster by.
    row_names : Index
        The names of the rows; where they have none, their numbers from 1 or the index of the frame.
    classes : list or None
        Known classes, which are only compared with the clusters; None where a row has none.
    known_labels : sequence or None
        Classes of some rows, which the clusters keep.
    """

    file: FileTable
    cells: pd.DataFrame | AnyArray
    row_names: pd.Index
    classes: list[Any] | None = None
    known_labels: Any = None

    @property
    def ids(self) -> list[str] | None:
        """The names of the rows, None if no column has them."""
        return None if self.file.row_names is None else list(map(str, self.row_names))

    def row_name(self, row: int) -> str:
        """Name a row in a message."""
        return str(row + 1) if self.file.row_names is None else repr(self.row_names[row])


def open_table(
    table: Any,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    known_labels: str | Sequence[Any] | None = None,
    missing: Sequence[str] = (),
    options: FileOptions | None = None,
) -> TableRows:
    """Read a file, or take a frame, and set the columns aside that are not to cluster by; see `cluster_table`."""
    known_column = known_labels if isinstance(known_labels, str) else None
    asides = [column for column in (label_column, known_column) if column is not None]
    if isinstance(table, (str, os.PathLike)):
        file = read_file(os.fspath(table), replace(options or FileOptions(), row_names=id_column, classes=asides))
    else:
        frame = table if isinstance(table, np.ndarray) else as_frame(table)[0]
        file = FileTable(FRAME, frame, range(len(frame)), id_column)
    cells = file.cells
    row_names = table.index if isinstance(table, pd.DataFrame) else pd.RangeIndex(1, len(cells) + 1)
    if isinstance(cells, np.ndarray):
        return TableRows(file, cells, row_names, known_labels=known_labels)

    # Columns beside those to cluster by.
    taken = [column for column in (file.row_names, *asides) if column is not None]
    if any(problem.problem.column in taken for problem in file.problems):
        raise FileProblems(file.name, file.problems)
    require_columns(file.name, list(cells.columns), taken)
    if file.row_names is not None:
        row_names = pd.Index(cells[file.row_names], name=file.row_names or "id")
    classes = None if label_column is None else _classes(cells[label_column], missing)
    known: Any = known_labels if known_column is None else _known_labels(cells[known_column], missing)
    left = cells.drop(columns=taken)
    if left.shape[1] == 0 and not file.problems:
        listed = ", ".join(map(repr, cells.columns))
        raise ValueError(f"{file.name} has no column to cluster by: its columns are {listed}.")
    return TableRows(file, left, row_names, classes, known)


def _classes(cells: Any, missing: Sequence[str]) -> list[Any]:
    """Return the cells of a column, None where one is missing."""
    gone = cells.isna() | cells.isin(list(missing))
    return [None if no else cell for cell, no in zip(cells.tolist(), gone, strict=True)]


def _known_labels(cells: Any, missing: Sequence[str]) -> list[Any]:
    known = [None if str(name) in NOT_KNOWN else name for name in _classes(cells, missing)]
    if all(name is None for name in known):
        raise ValueError(f"known_labels: column {cells.name!r} has no classes. Leave it out, or fill in some.")
    return known


def prepare_table(
    table: Any,
    *,
    overrides: Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
    decimal: str | None = None,
    day_first: bool | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    known_labels: str | Sequence[Any] | None = None,
    options: FileOptions | None = None,
) -> tuple[TableRows, TableReader]:
    """Open a table for a model to be fitted, and make the reader of its columns; see `cluster_table`."""
    overrides = dict(overrides or {})
    if isinstance(table, (str, os.PathLike)):
        # Columns that are ignored are not even kept in memory.
        skip = {name for name, kind in overrides.items() if kind == "ignore"}
        as_text = {name for name, kind in overrides.items() if kind not in ("ignore", "number")}
        overrides = {name: kind for name, kind in overrides.items() if name not in skip}
        options = options or FileOptions()
        options = replace(options, decimal=options.decimal or decimal, skip=skip, as_text=as_text)
    rows = open_table(
        table,
        id_column=id_column,
        label_column=label_column,
        known_labels=known_labels,
        missing=missing,
        options=options,
    )
    if isinstance(rows.cells, pd.DataFrame):
        require_columns(rows.file.name, list(rows.cells.columns), [*overrides])
        if rows.file.measured:
            overrides = dict.fromkeys(rows.cells.columns, "number") | overrides
    reader = TableReader(
        overrides or None, missing=missing, decimal=decimal, day_first=day_first, file_style=rows.file.style
    )
    return rows, reader


def read_columns(rows: TableRows, reader: TableReader, *, fit: bool) -> Any:
    """Turn the columns of a table into typed ones; all problems of a table are one error.

    Parameters
    ----------
    rows : TableRows
    reader : TableReader
        It is fitted if `fit` is true. Otherwise the rows are new, and it knows how to read them.
    fit : bool

    Returns
    -------
    typed : DataFrame or ndarray
    """
    if isinstance(rows.cells, np.ndarray):
        return rows.cells
    if rows.cells.shape[1] == 0:
        raise FileProblems(rows.file.name, rows.file.problems)
    try:
        with warnings.catch_warnings(), naming_rows(rows):
            if fit:
                warnings.simplefilter("ignore")  # the reader has notes of what it did
            typed = reader.fit_transform(rows.cells) if fit else reader.transform(rows.cells)
    except TableProblems as error:
        if rows.file.name == FRAME:
            raise
        found = [LocatedProblem(problem, _line(rows, problem.row)) for problem in error.problems]
        raise FileProblems(rows.file.name, [*rows.file.problems, *found]) from error
    if rows.file.problems:
        raise FileProblems(rows.file.name, rows.file.problems)
    empty = np.flatnonzero(typed.isna().all(axis=1))
    if len(empty):
        raise ValueError(
            f"{rows.file.name}, line {rows.file.lines[empty[0]]} has no value in any column to cluster by. Remove it, "
            "or fill it in."
        )
    return typed


def _line(rows: TableRows, row: int | None) -> int | None:
    return None if row is None else int(rows.file.lines[row])


@contextmanager
def naming_rows(rows: TableRows) -> Iterator[None]:
    """Let errors of an estimator speak of a file, and of its rows by their names or numbers from 1."""
    try:
        yield
    except (ValueError, TypeError, MemoryError) as error:
        if rows.file.name == FRAME or isinstance(error, (FileProblems, TableProblems)):
            raise
        text = rename_places(str(error), rows.row_name)
        raise ValueError(f"{rows.file.name}{text[1:] if text.startswith('X ') else f': {text}'}") from error


@dataclass(frozen=True)
class ClusteredTable:
    """The clusters of a table.

    Attributes
    ----------
    labels : Series of int
        The cluster of each row, by its name; 0 is the largest, and -1 a row that lies apart from all.
    memberships : Series of float
        How surely each row is in its cluster, from 0 to 1.
    model : Pipeline
        The fitted `TableReader` and `ClusterForest`. It predicts the clusters of the rows of other frames.
    notes : tuple of str
        What to know about the columns and the rows, in sentences; they were warnings too.
    rows : TableRows
        The table as it was read.
    typed : DataFrame or ndarray
        The columns that were clustered by.
    n_pairs : mapping of str to int
        Number of pairs of `must_link` and `cannot_link`.
    """

    labels: "pd.Series[int]"
    memberships: "pd.Series[float]"
    model: Pipeline
    notes: tuple[str, ...]
    rows: TableRows
    typed: Any
    n_pairs: Mapping[str, int]

    @property
    def forest(self) -> Any:
        """The fitted `ClusterForest`."""
        return self.model[-1]

    @property
    def columns(self) -> TableColumns | None:
        """How each column was read; None if they have no names."""
        return getattr(self.model[0], "columns_", None)

    @cached_property
    def description(self) -> Description:
        """The clusters in plain English."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its columns were told of when they were read
            return describe(self.model, self.rows.cells, ids=self.rows.ids)

    def __str__(self) -> str:
        return str(self.description)

    def write_labels(self, path: str | os.PathLike[str]) -> None:
        """Write a line for each row: its name, its cluster and its membership.

        Parameters
        ----------
        path : str or path-like
            Its ending says the format: .csv, .tsv, .jsonl (also .gz), .parquet, .arrow or .npy.
        """
        place = Path(path)
        write_labels(place, self.labels, self.memberships, label_format(place))

    def write_report(self, path: str | os.PathLike[str], **more: Any) -> None:
        """Write an HTML page about the clusters.

        Parameters
        ----------
        path : str or path-like
        **more
            `title`, `command` and `seconds` of `clusterforests.write_report`.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write_report(self.model, self.rows.cells, path, ids=self.rows.ids, truth=self.rows.classes, **more)

    def save_model(self, path: str | os.PathLike[str], *, keep_rows: bool = True) -> None:
        """Write the model to a file, for `clusterforests.load`.

        Parameters
        ----------
        path : str or path-like
        keep_rows : bool, default=True
            Whether the model keeps rows of the table from which it fills missing cells of new ones.
        """
        save(self.model, path, keep_rows=keep_rows)


def cluster_table(
    table: Any,
    n_clusters: int | str | Sequence[int] = "auto",
    *,
    overrides: Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
    decimal: str | None = None,
    day_first: bool | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    known_labels: str | Sequence[Any] | None = None,
    must_link: Any = None,
    cannot_link: Any = None,
    options: FileOptions | None = None,
    random_state: Any = 0,
    **parameters: Any,
) -> ClusteredTable:
    """Cluster the rows of a file or of a messy frame.

    `TableReader` finds out what the columns hold, and `ClusterForest` clusters the rows. What may mean two things is
    refused, in one error that says what to do.

    Parameters
    ----------
    table : str, path-like, frame or array
        Name of a file: CSV, TSV, JSON (also compressed), .xlsx, .xls, .ods, Parquet, Arrow, .npy or .h5ad; or a table.
    n_clusters : int, "auto" or sequence of int, default="auto"
        Number of clusters, or numbers to choose from: see `ClusterForest`.
    overrides, missing, decimal, day_first
        How columns are read where that is not clear: see `TableReader`.
    id_column : str or None, default=None
        Column with the names of the rows. It is not clustered by.
    label_column : str or None, default=None
        Column with known classes, which are only compared with the clusters.
    known_labels : str, sequence or None, default=None
        Classes of some rows, or the column that has them: each becomes a cluster.
    must_link, cannot_link : str, path-like, array of shape (n_pairs, 2) or None, default=None
        Pairs of rows that belong to one cluster, or to different ones: positions from 0, or a file that names them.
    options : FileOptions or None, default=None
        How a file is read, where that is not what its name and its first lines say.
    random_state : int, RandomState, Generator or None, default=0
        The same value gives the same result.
    **parameters
        Other parameters of `ClusterForest`, such as `n_estimators` or `contamination`.

    Returns
    -------
    clustered : ClusteredTable

    Examples
    --------
    >>> import pandas as pd
    >>> from clusterforests import cluster_table
    >>> heights = [f"{cm} cm" for cm in (150, 152, 155, 190, 192, 195)] * 5
    >>> clustered = cluster_table(pd.DataFrame({"height": heights}), 2)
    >>> clustered.labels.value_counts().tolist()
    [15, 15]
    """
    rows, reader = prepare_table(
        table,
        overrides=overrides,
        missing=missing,
        decimal=decimal,
        day_first=day_first,
        id_column=id_column,
        label_column=label_column,
        known_labels=known_labels,
        options=options,
    )
    notes = list(rows.file.notes)
    guidance: dict[str, Any] = {"known_labels": rows.known_labels}
    for name, pairs in {"must_link": must_link, "cannot_link": cannot_link}.items():
        guidance[name] = pairs
        if isinstance(pairs, (str, os.PathLike)):
            encoding = "utf-8" if options is None else options.encoding
            guidance[name], told = read_pairs(
                os.fspath(pairs), rows.row_names, named=rows.file.row_names is not None, encoding=encoding, option=name
            )
            notes += told
    typed = read_columns(rows, reader, fit=True)
    if isinstance(typed, pd.DataFrame):
        notes += column_notes(reader.columns_)
    for note in notes:
        warn_caller(note)
    forest = ClusterForest(n_clusters, random_state=random_state, **parameters)
    with naming_rows(rows):
        forest.fit(typed, **guidance)
    model = make_pipeline(reader, forest) if isinstance(typed, pd.DataFrame) else make_pipeline(forest)
    labels = pd.Series(forest.labels_, index=rows.row_names, name="cluster")
    own = pd.Series(np.where(labels < 0, 0.0, forest.item_consensus_), index=rows.row_names, name="membership")
    n_pairs = {name: 0 if guidance[name] is None else len(guidance[name]) for name in ("must_link", "cannot_link")}
    return ClusteredTable(labels, own, model, tuple(notes), rows, typed, n_pairs)
