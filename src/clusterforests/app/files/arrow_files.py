"""Parquet and Arrow files, read with pyarrow."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from clusterforests.app.command_line.problems import LocatedProblem
from clusterforests.app.files.assembling import assemble, assign_roles, read_the_others
from clusterforests.app.files.request import DataFile, Request
from clusterforests.table.frames import arrow_column
from clusterforests.table.reader.column_problems import ColumnProblem, ignoring
from clusterforests.table.reader.raw_columns import CategoryColumn, RawColumn

INSTALL = "pip install clusterforests[files]"


def read_arrow(file: str, source: Path | bytes, request: Request, kind: str) -> DataFile:
    """Read a Parquet file, or an Arrow file (also called Feather), column by column."""
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"{file}: reading {kind} files needs pyarrow ({INSTALL}).") from error
    try:
        names, n_rows, column = (_open_parquet if kind == "parquet" else _open_arrow)(pyarrow, source)
        if not names:
            raise ValueError(f"{file} has no columns.")
        roles = assign_roles(file, names, request)
        if n_rows == 0:
            raise ValueError(f"{file} has columns but no rows.")
        used = [j for j, use in enumerate(roles.uses) if use is not None]
        columns, unread = {}, []
        for done, j in enumerate(used, 1):
            name = names[j]
            text = roles.uses[j] != "feature" or name in request.categories or name in request.levels
            cells = column(j)
            cells.validate(full=True)  # a damaged file may hold what reads outside its memory
            found = _problem(pyarrow, cells, name) or (_text if text else _cells)(pyarrow, cells, name)
            if isinstance(found, ColumnProblem):
                unread.append(LocatedProblem(found))
            else:
                columns[j] = found
            if request.progress is not None:
                request.progress(done, len(used))
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        what = " ".join(str(error).split()).rstrip(".")[:200]
        raise ValueError(f"{file} is not a complete {kind} file: {what}. Write or copy it again.") from error
    return read_the_others(
        file,
        request,
        unread,
        lambda rest: assemble(file, assign_roles(file, names, rest), columns, rest, range(1, n_rows + 1)),
    )


def _open_parquet(pyarrow: Any, source: Path | bytes) -> tuple[list[str], int, Callable[[int], Any]]:
    opened = pyarrow.parquet.ParquetFile(io.BytesIO(source) if isinstance(source, bytes) else source, memory_map=True)
    names = opened.schema_arrow.names
    return names, opened.metadata.num_rows, lambda j: opened.read(columns=[names[j]]).column(0)


def _open_arrow(pyarrow: Any, source: Path | bytes) -> tuple[list[str], int, Callable[[int], Any]]:
    buffer = pyarrow.py_buffer(source) if isinstance(source, bytes) else pyarrow.memory_map(str(source)).read_buffer()
    whole = buffer.size >= 6 and bytes(buffer[:6]) == b"ARROW1"
    table = (pyarrow.ipc.open_file if whole else pyarrow.ipc.open_stream)(buffer).read_all()
    return table.column_names, table.num_rows, table.column


def _problem(pyarrow: Any, column: Any, name: str) -> ColumnProblem | None:
    """Refuse lists, structs and maps, which are no cells, whatever the column is for."""
    if pyarrow.types.is_nested(column.type):
        return _refused(name, column.type, "Make it columns of its own.")
    return None


def _refused(name: str, kind: Any, advice: str) -> ColumnProblem:
    return ColumnProblem(name, f"it holds {kind}, neither numbers nor text. {advice}", (ignoring(name),))


def _cells(pyarrow: Any, column: Any, name: str) -> RawColumn | ColumnProblem:
    """Read a feature by its type; cells of a type that is neither numbers, dates nor text are refused."""
    try:
        raw = arrow_column(column, name)
    except (TypeError, ValueError):
        return _refused(name, column.type, "Convert it to one of them.")
    if isinstance(raw.cells, np.ndarray) and np.isinf(raw.cells).any():
        row = int(np.flatnonzero(np.isinf(raw.cells))[0]) + 1
        advice = "Correct it, or make it null if it is missing."
        return ColumnProblem(name, f"row {row} is infinite. {advice}", (ignoring(name),))
    return raw


def _text(pyarrow: Any, column: Any, name: str) -> CategoryColumn:
    """Read names of rows, known classes and categories as text; numbers and truth values as they are."""
    kinds = ("integer", "floating", "boolean", "decimal", "null")
    typed = any(getattr(pyarrow.types, f"is_{kind}")(column.type) for kind in kinds)
    coded = (column if typed else column.cast("string")).combine_chunks().dictionary_encode()
    if isinstance(coded, pyarrow.ChunkedArray):
        coded = coded.combine_chunks() if coded.num_chunks != 1 else coded.chunk(0)
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    # Numbers and truth values are written as Python writes them: Arrow's own text for True is "true".
    return CategoryColumn(codes, tuple(map(str, coded.dictionary.to_pylist())))
