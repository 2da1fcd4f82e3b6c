"""Pairs of rows, in a text file of two columns: the names of the rows, or their numbers from 1."""

import os
from collections.abc import Sequence

import numpy as np
import pandas as pd

from clusterforests._utils.arrays import Int64Array
from clusterforests.app.files.file_table import FileOptions
from clusterforests.app.files.opening import unpacked
from clusterforests.app.files.text import TextRows, is_number, shown


def read_pairs(
    path: str, row_names: pd.Index, *, named: bool, encoding: str = "utf-8", option: str = ""
) -> tuple[Int64Array, tuple[str, ...]]:
    """Read the pairs of a file as positions of rows.

    A first line of several that holds neither names nor numbers of rows is taken for the names of the columns.

    Parameters
    ----------
    path : str
        Name of the file.
    row_names : Index
        Names of the rows.
    named : bool
        Whether the file has these names; otherwise it has the numbers of the rows, from 1.
    encoding : str, default="utf-8"
        Encoding of the file.
    option : str, default=""
        What named the file, for messages.

    Returns
    -------
    pairs : ndarray of shape (n_pairs, 2)
    notes : tuple of str
        What is to be said about the file.
    """
    file = f"{option} {path}".strip()
    if os.path.isdir(path):
        raise IsADirectoryError(f"{file} is a folder. Name a file in it.")
    with open(path, "rb") as stream, unpacked(file, stream) as contents:
        try:
            records = list(TextRows(file, contents, FileOptions(encoding=encoding), expected=2))
        except ValueError as error:
            if " is empty. " not in str(error):
                raise
            records = []
    names = row_names.astype(str).str.strip() if named else pd.RangeIndex(1, len(row_names) + 1).astype(str)
    example = f"such as {names[0]},{names[-1]}."
    notes: tuple[str, ...] = ()
    pairs = []
    for i, (line, cells) in enumerate(records):
        where = f"{file}, line {line}"
        if len(cells) != 2:
            count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            raise ValueError(f"{where} has {count}. Each line must name two rows, {example}")
        words = [cell.strip() for cell in cells]
        if i == 0 and len(records) > 1 and not any(word in names or (not named and is_number(word)) for word in words):
            notes = (f"{where} names no rows ({shown(words[0])}, {shown(words[1])}) and is taken as column names.",)
            continue
        pairs.append([_position(where, word, names, row_names.name if named else None) for word in words])
    if not pairs:
        raise ValueError(f"{file} has no pairs. Each line must name two rows, {example}")
    return np.array(pairs, dtype=np.int64), notes


def _position(where: str, word: str, names: pd.Index, column: object) -> int:
    """Find the position of a row, or refuse a name that does not say which it is."""
    found: Sequence[int] = np.flatnonzero(names == word).tolist()
    if len(found) == 1:
        return found[0]
    if column is None:
        raise ValueError(
            f"{where}: {shown(word)} is not a row number, 1 to {len(names)}. Correct it, or pass --id with the column "
            "that names the rows."
        )
    if found:
        raise ValueError(
            f"{where}: {len(found)} rows are called {shown(word)} in column {column!r}, so it does not say which is "
            "meant. Give each row a name of its own."
        )
    raise ValueError(f"{where}: no row is called {shown(word)} in column {column!r}. Correct the name.")
