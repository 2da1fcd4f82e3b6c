"""One table of numbers, held in every way that rows can be read from without a copy."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

RNG = np.random.default_rng(0)
X = (RNG.normal(size=(700, 5)) + 4 * RNG.integers(0, 3, 700)[:, None]).astype(np.float32).astype(np.float64)
X[RNG.random(X.shape) < 0.2] = 0.0
X[3, 1] = -0.0
NAMES = list("abcde")


def in_chunks(x):
    return pa.Table.from_batches(
        [pa.RecordBatch.from_arrays([pa.array(c) for c in part.T], names=NAMES) for part in np.array_split(x, 4)]
    )


def mapped(x, folder):
    held = np.memmap(folder / "table.bin", dtype=np.float32, mode="w+", shape=x.shape)
    held[:] = x
    held.flush()
    return np.memmap(folder / "table.bin", dtype=np.float32, mode="r", shape=x.shape)


KINDS = {
    "float64": lambda x: x,
    "float32": lambda x: x.astype(np.float32),
    "F order": np.asfortranarray,
    "every second column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "other byte order": lambda x: x.astype(">f4"),
    "pandas": lambda x: pd.DataFrame(x, columns=NAMES),
    "pandas, mixed": lambda x: pd.DataFrame(x, columns=NAMES).astype({"b": np.float32}),
    "polars": lambda x: pl.DataFrame(x, schema=NAMES),
    "polars, in chunks": lambda x: pl.concat([pl.DataFrame(part, schema=NAMES) for part in np.array_split(x, 3)]),
    "arrow": lambda x: pa.table(dict(zip(NAMES, x.T, strict=True))),
    "arrow, in chunks": in_chunks,
    "arrow batch": lambda x: pa.RecordBatch.from_arrays([pa.array(c) for c in x.T], names=NAMES),
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
}
