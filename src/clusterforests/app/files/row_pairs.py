"""Pairs of rows, in a text file of two columns: the names of the rows, or their numbers from 1."""

import os
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import Int64Array
from clusterforests.app.files.request import DataFile, Request
from clusterforests.app.files.text_files import is_number, shown, split_text, unpack


class RowPairs(NamedTuple):
    """Pairs of row positions, (n_pairs, 2), or None for none, and what is to be said about their file."""

    rows: Int64Array | None
    notes: tuple[str, ...] = ()


def row_name(data: DataFile, row: int) -> str:
    """Name a row as the labels do."""
    return str(row + 1) if data.ids is None else repr(data.ids[row])


def read_pairs(option: str, path: str, data: DataFile, encoding: str) -> RowPairs:
    """Read the pairs of a file that an option names.

    A first line of several that holds neither names nor numbers of rows is taken for the names of the columns.
    """
    if os.path.isdir(path):
        raise IsADirectoryError(f"{option} {path} is a folder. Name a file in it.")
    file = f"{option} {path}"
    with open(path, "rb") as stream:
        records, _ = split_text(file, unpack(file, stream), Request(encoding=encoding), cells=2)
    found = _Rows(data)
    notes: tuple[str, ...] = ()
    pairs = []
    for line, cells in records:
        where = f"{file}, line {line}"
        if len(cells) != 2:
            count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            raise ValueError(f"{where} has {count}. Each line must name two rows, such as {found.example}.")
        if line == records[0][0] and len(records) > 1 and not any(map(found.looks_like_a_row, cells)):
            notes = (f"{where} names no rows ({shown(cells[0])}, {shown(cells[1])}) and is taken as column names.",)
            continue
        pairs.append([found.position(where, cell.strip()) for cell in cells])
    if not pairs:
        raise ValueError(f"{file} has no pairs. Each line must name two rows, such as {found.example}.")
    return RowPairs(np.array(pairs, dtype=np.int64), notes)


class _Rows:
    """Finds rows by their names or, if they have none, by their numbers."""

    def __init__(self, data: DataFile) -> None:
        self.n_rows, self.column = data.table.shape[0], data.id_name
        self.named: Mapping[str, list[int]] | None = None
        self.example = "3,17"
        if data.ids is not None:
            self.example = ",".join(data.ids[row].strip() for row in (0, self.n_rows - 1))
            named = defaultdict(list)
            for row, name in enumerate(data.ids):
                named[name.strip()].append(row)
            self.named = dict(named)

    def looks_like_a_row(self, cell: str) -> bool:
        """Tell whether a cell may be meant as a row."""
        return is_number(cell.strip()) if self.named is None else cell.strip() in self.named

    def position(self, where: str, name: str) -> int:
        """Find the position of a row, or refuse a name that does not say which it is."""
        if self.named is None:
            if not name.isdecimal() or not 1 <= int(name) <= self.n_rows:
                raise ValueError(
                    f"{where}: {shown(name)} is not a row number, 1 to {self.n_rows}. Correct it, or pass --id with "
                    "the column that names the rows."
                )
            return int(name) - 1
        rows = self.named.get(name, [])
        if len(rows) == 1:
            return rows[0]
        if rows:
            raise ValueError(
                f"{where}: {len(rows)} rows are called {shown(name)} in column {self.column!r}, so it does not say "
                "which is meant. Give each row a name of its own."
            )
        raise ValueError(f"{where}: no row is called {shown(name)} in column {self.column!r}. Correct the name.")
