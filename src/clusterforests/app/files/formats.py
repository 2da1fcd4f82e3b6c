"""Files that are no text: matrices of NumPy, workbooks, JSON, Parquet and Arrow, AnnData."""

import io
import json
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clusterforests._utils.arrays import BLOCK_CELLS
from clusterforests._utils.memory import check_memory
from clusterforests.app.files.file_table import FileOptions, FileTable, check_names, require_columns
from clusterforests.app.files.text import Record, cell_text, check_rows, split_names, text_lines, transpose
from clusterforests.app.problems import LocatedProblem
from clusterforests.app.table_reader import ColumnProblem
from clusterforests.app.table_reader.missing_marks import MISSING
from clusterforests.app.table_reader.notes import IGNORING

INSTALL = "pip install clusterforests[app]"
IN_PYTHON = "use clusterforests.tl.cluster_forest in Python, which reads backed files in blocks and keeps sparse tables"

Source = Path | bytes  # where a file is, or what is in it

# Matrices that NumPy saved.

# What NumPy raises for a header that is no header: it is read as Python.
BROKEN = (ValueError, TypeError, EOFError, SyntaxError, RecursionError, OverflowError, tokenize.TokenError)


def read_npy(file: str, source: Source, options: FileOptions) -> FileTable:
    """Read a matrix of numbers. A file is mapped into memory rather than read, so that it may be larger than that."""
    if options.row_names or options.skip or options.as_text or options.classes:
        raise ValueError(f"{file}: the columns of a .npy file have no names, so none can be named.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the error below says what is wrong with the file
            if isinstance(source, bytes):
                X = np.load(io.BytesIO(source), allow_pickle=False)
            else:
                X = np.load(source, mmap_mode="r", allow_pickle=False)
    except BROKEN as error:
        objects = "bject array" in str(error) or "objects in dtype" in str(error)
        what = "holds Python objects, which are not read" if objects else "is not a complete .npy file"
        raise ValueError(f"{file} {what}. Save a matrix of numbers with numpy.save.") from error
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "biuf":
        found = f"an array of {X.dtype} with shape {X.shape}" if isinstance(X, np.ndarray) else "several arrays"
        raise ValueError(f"{file} holds {found}. Save a matrix of numbers, one sample per row, with numpy.save.")
    if 0 in X.shape:
        raise ValueError(f"{file} has shape {X.shape}: there is nothing to cluster.")
    X = X.T if options.transpose else X
    return FileTable(file, X, range(1, len(X) + 1))


# Cells that are objects of Python: of workbooks and of JSON.


def _object_frame(
    file: str,
    names: Sequence[str],
    rows: Sequence[Record],
    options: FileOptions,
    problems: Mapping[str, LocatedProblem] | None = None,
) -> FileTable:
    """Make a frame of rows of objects; columns that hold no cells become problems."""
    problems = problems or {}
    row_names, notes = check_names(file, names, options)
    options = replace(options, row_names=row_names)
    columns = {
        name: _object_column([row[j] for _, row in rows], options.is_text(name), name == row_names)
        for j, name in enumerate(names)
        if options.wants(name) and name not in problems
    }
    found = tuple(problem for name, problem in problems.items() if options.wants(name))
    lines = np.array([line for line, _ in rows])
    return FileTable(
        file, pd.DataFrame(columns, index=range(len(rows)), copy=False), lines, row_names, notes=notes, problems=found
    )


def _object_column(cells: list[Any], text: bool, verbatim: bool) -> Any:
    """Keep numbers, truth values and texts as they are; dates and times become text, as text files have them."""
    if verbatim:
        return np.array([cell_text(cell) for cell in cells], dtype=object)
    missing = (cell is None or cell != cell or (isinstance(cell, str) and cell.strip() in MISSING) for cell in cells)
    kept = (bool, int, float, str)
    found = np.empty(len(cells), dtype=object)
    found[:] = [
        None if gone else cell_text(cell) if text or not isinstance(cell, kept) else cell
        for cell, gone in zip(cells, missing, strict=True)
    ]
    return pd.Series(found).infer_objects()


# Workbooks: .xlsx, .xls and .ods.


def read_workbook(file: str, source: Source, options: FileOptions) -> FileTable:
    """Read a sheet: numbers and dates as they are stored, whatever they look like there; errors are missing cells."""
    try:
        import python_calamine
    except ImportError as error:
        raise ImportError(f"{file}: reading workbooks needs python-calamine ({INSTALL}).") from error
    try:
        book = python_calamine.load_workbook(io.BytesIO(source) if isinstance(source, bytes) else source)
        cells = _choose_sheet(file, book, options.sheet).to_python(skip_empty_area=False)
    except (python_calamine.CalamineError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{file} is not a complete workbook. Save it again, or save it as CSV.") from error
    records = _sheet_records(cells)
    if options.transpose:
        file, records, options = transpose(file, records, options)
    names, rows = split_names(file, records, options)
    return _object_frame(file, names, check_rows(file, list(rows), len(names)), options)


def _choose_sheet(file: str, book: Any, wanted: str | None) -> Any:
    names = book.sheet_names
    listed = ", ".join(map(repr, names))
    if wanted is None:
        filled = [name for name in names if book.get_sheet_by_name(name).height]
        if len(filled) > 1:
            raise ValueError(f"{file} has {len(filled)} sheets with cells. Pass --sheet with one of {listed}.")
        if not filled:
            raise ValueError(f"{file} is empty. A table needs a row of column names and at least one row.")
        return book.get_sheet_by_name(filled[0])
    if wanted in names:
        return book.get_sheet_by_name(wanted)
    if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
        return book.get_sheet_by_index(int(wanted) - 1)
    raise ValueError(f"{file} has no sheet {wanted!r}. Its sheets are {listed}.")


def _sheet_records(cells: Iterable[Sequence[Any]]) -> Iterator[Record]:
    """Number the rows from 1, skip empty ones, and make the others as wide as the first."""
    width = 0
    for number, row in enumerate(cells, 1):
        filled = max((j + 1 for j, cell in enumerate(row) if cell != ""), default=0)
        width = width or filled
        if filled:
            yield number, [*row[:filled], *[""] * (width - filled)]


# JSON: an array of objects, or an object on each line.


def read_json(file: str, stream: Any, options: FileOptions, *, lines: bool) -> FileTable:
    """Read objects, whose keys are the columns. A key that an object lacks is a missing cell there."""
    if options.transpose:
        raise ValueError(f"{file}: --transpose is for tables with rows and columns, which JSON does not have.")
    names: dict[str, int] = {}
    problems: dict[str, LocatedProblem] = {}
    rows = []
    for number, found in _json_objects(file, text_lines(file, stream, options.encoding), lines):
        if not isinstance(found, dict):
            raise ValueError(f"{file}, line {number} is not a JSON object, such as {{'age': 41}} with double quotes.")
        for key, value in found.items():
            names.setdefault(key, len(names))
            if isinstance(value, (list, dict)):
                what = "list" if isinstance(value, list) else "nested object"
                problems.setdefault(key, no_cells(key, f"a {what}", number))
        rows.append((number, found))
    if not names:
        raise ValueError(f"{file} is empty. It needs JSON objects, one for each row.")
    return _object_frame(
        file, list(names), [(number, [found.get(name) for name in names]) for number, found in rows], options, problems
    )


def _json_objects(file: str, text: Iterator[str], lines: bool) -> Iterator[tuple[int, Any]]:
    number = 1
    try:
        if not lines:
            whole = json.loads("".join(text) or "[]")
            yield from enumerate(whole if isinstance(whole, list) else [whole], 1)
            return
        for number, line in enumerate(text, 1):
            if line.strip():
                yield number, json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        number = number if lines else getattr(error, "lineno", 1)
        advice = "Each line must hold one object." if lines else "It must hold an array of objects."
        raise ValueError(f"{file}, line {number} is not JSON: {error}. {advice}") from error


# Parquet and Arrow.


def read_arrow(file: str, source: Source, options: FileOptions, kind: str) -> FileTable:
    """Read a Parquet file, or an Arrow file (also called Feather)."""
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"{file}: reading {kind} files needs pyarrow ({INSTALL}).") from error
    try:
        buffer = (
            pyarrow.py_buffer(source) if isinstance(source, bytes) else pyarrow.memory_map(str(source)).read_buffer()
        )
        if kind == "parquet":
            opened = pyarrow.parquet.ParquetFile(buffer)
            names, n_rows = opened.schema_arrow.names, opened.metadata.num_rows
        else:
            whole = buffer.size >= 6 and bytes(buffer[:6]) == b"ARROW1"
            opened = (pyarrow.ipc.open_file if whole else pyarrow.ipc.open_stream)(buffer).read_all()
            names, n_rows = opened.column_names, opened.num_rows
        if not names:
            raise ValueError(f"{file} has no columns.")
        row_names, notes = check_names(file, names, options)
        options = replace(options, row_names=row_names)
        if n_rows == 0:
            raise ValueError(f"{file} has columns but no rows.")
        columns, problems = {}, []
        for name in filter(options.wants, names):
            column = opened.read(columns=[name]).column(0) if kind == "parquet" else opened.column(name)
            column.validate(full=True)  # a damaged file may hold what reads outside its memory
            types = pyarrow.types
            no_cell = (types.is_nested, types.is_binary, types.is_large_binary, types.is_time)
            if any(test(column.type) for test in no_cell):
                problems.append(no_cells(name, str(column.type)))
            else:
                columns[name] = _arrow_cells(pyarrow, column, text=options.is_text(name))
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        what = " ".join(str(error).split()).rstrip(".")[:200]
        raise ValueError(f"{file} is not a complete {kind} file: {what}. Write or copy it again.") from error
    frame = pd.DataFrame(columns, index=range(n_rows), copy=False)
    return FileTable(file, frame, range(1, n_rows + 1), row_names, notes=notes, problems=tuple(problems))


def _arrow_cells(pyarrow: Any, column: Any, *, text: bool) -> Any:
    """Turn a column into one of pandas; as text, numbers are written as Python writes them."""
    if not text:
        return column.to_pandas()
    if pyarrow.types.is_temporal(column.type):
        column = column.cast("string")
    found = np.empty(len(column), dtype=object)
    found[:] = [None if cell is None else str(cell) for cell in column.to_pylist()]
    return found


def no_cells(name: str, what: str, line: int | None = None) -> LocatedProblem:
    """Refuse lists, objects and bytes, which are no cells."""
    text = f"it holds {what}, neither numbers nor text. Turn it into columns of these."
    return LocatedProblem(ColumnProblem(name, text, (IGNORING,)), line)


# AnnData: cells are rows, genes are columns.


def read_h5ad(file: str, source: Source, options: FileOptions) -> FileTable:
    """Read `.X` with the names of observations as row names; other columns that are asked for are those of `.obs`."""
    try:
        import anndata
    except ImportError as error:
        raise ImportError(
            f"{file}: reading .h5ad files needs anndata (pip install clusterforests[anndata])."
        ) from error
    if isinstance(source, bytes):
        raise ValueError(
            f"{file}: .h5ad files are read from disk, as they are. Save it as a file that is not compressed."
        )
    try:
        data = anndata.read_h5ad(source, backed="r")
    except Exception as error:  # h5py and anndata raise errors of many kinds for a damaged file
        if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
            raise
        raise ValueError(f"{file} is not a complete .h5ad file: {str(error).splitlines()[0][:200]}") from error
    try:
        return _read_opened(file, data, options)
    finally:
        data.file.close()


def _read_opened(file: str, data: Any, options: FileOptions) -> FileTable:
    if data.X is None:
        raise ValueError(f"{file} has no .X to cluster. Put the values there, one row per observation.")
    if options.row_names is not None:
        raise ValueError(f"{file}: the names of observations are the row names of an .h5ad file. Leave --id out.")
    require_columns(f"{file}: .obs", list(map(str, data.obs.columns)), options.classes)
    n, p = data.X.shape
    if data.X.dtype.kind not in "biuf":
        raise ValueError(f"{file}: .X holds {data.X.dtype}, not numbers.")
    check_memory(8 * n * p, "The values of all genes", f"Keep the most variable genes only, or {IN_PYTHON}.")
    values = np.empty((p, n))
    matrix = data.X.to_memory() if hasattr(data.X, "to_memory") else data.X  # a sparse one, whose cells may be anywhere
    step = max(1, BLOCK_CELLS // max(1, p))
    for start in range(0, n, step):
        rows = matrix[start : start + step]
        values[:, start : start + step] = (rows.toarray() if hasattr(rows, "toarray") else rows).T
    genes = {name: cells for name, cells in zip(map(str, data.var_names), values, strict=True) if options.wants(name)}
    row_names = str(data.obs.index.name or "obs")
    obs = {name: _object_column(data.obs[name].tolist(), text=True, verbatim=False) for name in options.classes}
    frame = pd.DataFrame({row_names: data.obs_names.astype(str), **obs, **genes}, copy=False)
    return FileTable(file, frame, range(1, n + 1), row_names, measured=True)
