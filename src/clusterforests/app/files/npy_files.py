"""Matrices that NumPy saved."""

import io
import tokenize
import warnings
from pathlib import Path

import numpy as np

from clusterforests.app.files.request import DataFile, Request

# What NumPy raises for a header that is no header: it is read as Python.
BROKEN = (ValueError, TypeError, EOFError, SyntaxError, RecursionError, OverflowError, tokenize.TokenError)


def read_npy(file: str, source: Path | bytes, request: Request) -> DataFile:
    """Read a matrix of numbers. A file is mapped into memory rather than read, so that it may be larger than that."""
    named = {"--id": request.id, "--label": request.label, "--known-labels": request.known, "--ignore": request.ignore}
    for option, given in named.items():
        if given:
            raise ValueError(f"{file}: the columns of a .npy file have no names, so {option} cannot be used.")
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
    return DataFile(X.T if request.transpose else X)
