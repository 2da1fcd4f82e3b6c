"""Files of AnnData (.h5ad): cells are rows, genes are columns."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray
from clusterforests._utils.memory import check_memory
from clusterforests.app.files.assembling import assemble, assign_roles
from clusterforests.app.files.request import DataFile, Request
from clusterforests.table.frames import is_missing
from clusterforests.table.reader.raw_columns import MEASURED, RawColumn
from clusterforests.table.row_sources import open_source, open_table, read_blocks

INSTALL = "pip install clusterforests[anndata]"
IN_PYTHON = "use clusterforests.tl.cluster_forest in Python, which reads backed files in blocks and keeps sparse tables"


def read_h5ad(file: str, source: Path | bytes, request: Request) -> DataFile:
    """Read `.X` with the names of observations as row names; --label and --known-labels name columns of `.obs`."""
    try:
        import anndata
    except ImportError as error:
        raise ImportError(f"{file}: reading .h5ad files needs anndata ({INSTALL}).") from error
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
        return _read_opened(file, data, request)
    finally:
        data.file.close()


def _read_opened(file: str, data: Any, request: Request) -> DataFile:
    if data.X is None:
        raise ValueError(f"{file} has no .X to cluster. Put the values there, one row per observation.")
    obs = data.obs
    for option, column in (("--label", request.label), ("--known-labels", request.known)):
        if column is not None and column not in obs.columns:
            raise ValueError(f"{file}: .obs has no column {column!r}, which {option} names.")
    if request.id is not None:
        raise ValueError(f"{file}: the names of observations are the row names of an .h5ad file. Leave --id out.")
    names = list(map(str, data.var_names))
    roles = assign_roles(file, names, replace(request, label=None, known=None))
    values = _columns(file, open_table(data.X))
    columns = {j: RawColumn(name, cells, MEASURED) for j, (name, cells) in enumerate(zip(names, values, strict=True))}
    read = assemble(file, roles, columns, request, range(1, len(obs) + 1))
    truth, known = (_classes(obs, column) for column in (request.label, request.known))
    names = list(map(str, data.obs_names))
    return replace(read, ids=names, id_name=str(obs.index.name or "obs"), truth=truth, known=known)


def _classes(obs: Any, column: str | None) -> list[str | None] | None:
    """Return a column of classes as texts, None where one is missing."""
    return None if column is None else [None if is_missing(cell) else str(cell) for cell in obs[column].tolist()]


def _columns(file: str, table: Any) -> FloatArray:
    """Read a table block by block, one row of the result for each gene."""
    n, p = table.shape
    check_memory(8 * n * p, "The values of all genes", f"Keep the most variable genes only, or {IN_PYTHON}.")
    source = open_source(table)
    if source is None:
        raise ValueError(f"{file}: .X holds {table.dtype}, not numbers.")
    values = np.empty((p, n))
    for start, rows in read_blocks(source):
        values[:, start : start + len(rows)] = rows.T
    return values
