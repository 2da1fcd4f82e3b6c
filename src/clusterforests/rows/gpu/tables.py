"""Tables that a GPU reads: opening them, and what of a forest that was fitted there this machine needs."""

import copy
from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray
from clusterforests.rows.gpu.devices import as_cupy, need_cupy, on_gpu, to_host
from clusterforests.rows.gpu.rows import AnyTable, DeviceRows, DeviceTable, open_source_on_gpu, survey_on_gpu
from clusterforests.tables.checks import check_weights
from clusterforests.tables.encoding import Encoding, infinity_message
from clusterforests.tables.frames import check_names, column_names, known_frame
from clusterforests.tables.row_sources import ArraySource, open_source


def read_on_gpu(forest: Any, X: Any, sample_weight: Any, threads: int) -> tuple[DeviceRows, FloatArray | None]:
    """A large table for `fit`, and its weights. Categories and missing cells are encoded by this machine."""
    weights = check_weights(sample_weight, len(X))
    opened = _open_numbers(forest, X, weights, threads)
    if opened is not None:
        rows, forest._encoding = opened
        forest._donors = None
        return rows, weights
    encoded, weights = forest._encode(to_host(X), sample_weight, threads)
    table = open_source_on_gpu(ArraySource(encoded.values), len(encoded.values) * forest.n_estimators)
    places = encoded.first, encoded.widths, encoded.categorical
    return DeviceRows(table, survey_on_gpu(table), *places, weights, threads), weights


def _open_numbers(forest: Any, X: Any, weights: FloatArray | None, threads: int) -> tuple[DeviceRows, Encoding] | None:
    """What `encoding.open_large` does. None where X has categories or missing cells."""
    table = _open(X, forest.n_estimators)
    if table is None:
        return None
    seen = survey_on_gpu(table)
    if np.isnan(seen.low).any():
        return None
    p = table.shape[1]
    X = np.empty((0, p)) if on_gpu(X) else known_frame(X)
    check_names(forest, X, reset=True)
    names = column_names(X)
    encoding = Encoding(None if names is None else tuple(map(str, names)), p, {})
    if not (np.isfinite(seen.low).all() and np.isfinite(seen.high).all()):
        _refuse_infinity(table, encoding)
    first, widths = np.arange(p, dtype=np.int32), np.ones(p, np.int32)
    return DeviceRows(table, seen, first, widths, np.zeros(p, bool), weights, threads), encoding


def _open(X: Any, n_estimators: int) -> AnyTable | None:
    if not on_gpu(X):
        source = open_source(X)
        return None if source is None else open_source_on_gpu(source, source.shape[0] * n_estimators)
    array = as_cupy(X)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"X holds {array.dtype}: an array on the GPU must hold real numbers.")
    return DeviceTable(array if array.dtype in (np.float32, np.float64) else array.astype(np.float64))


def _refuse_infinity(table: AnyTable, encoding: Encoding) -> None:
    cupy = need_cupy()
    for start, rows in table.blocks():
        found = cupy.asnumpy(cupy.argwhere(cupy.isinf(rows))[:1])
        if len(found):
            raise ValueError(infinity_message(start + int(found[0][0]), encoding.describe(found[0][1])))


def gathered(forest: Any) -> Any:
    """The forest with its labels in this machine's memory."""
    whole = copy.copy(forest)
    whole.labels_, whole.partitions_ = to_host(forest.labels_), to_host(forest.partitions_)
    return whole
