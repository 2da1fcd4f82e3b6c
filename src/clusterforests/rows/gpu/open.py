"""Open a table that a GPU reads."""

from typing import Any

import numpy as np

from clusterforests._base.size_limits import DeviceLimits
from clusterforests.forest.automatic_settings import Setting
from clusterforests.rows.gpu.devices import as_cupy, need_cupy, on_gpu, to_host
from clusterforests.rows.gpu.host_copy import CopiedResults
from clusterforests.rows.gpu.reader import (
    AnyTable,
    DeviceReader,
    DeviceTable,
    check_device,
    open_source_on_gpu,
    survey_on_gpu,
)
from clusterforests.rows.in_memory import read_in_memory
from clusterforests.rows.protocol import Reading
from clusterforests.rows.results import Results
from clusterforests.rows.sampled import SampledRows
from clusterforests.tables.checks import check_weights
from clusterforests.tables.encoding import Encoding, infinity_message
from clusterforests.tables.frames import check_names, column_names, known_frame
from clusterforests.tables.row_sources import ArraySource, open_source


def open_rows(forest: Any, X: Any, sample_weight: Any, where: Setting, results: Results) -> SampledRows:
    """Open a large table that a GPU reads. This machine encodes categories and fills missing cells."""
    check_device(len(X), forest._limits.device)
    opened = _open_numbers(forest, X, sample_weight, where) or _open_encoded(forest, X, sample_weight, where)
    reader, reading = opened
    backend = forest._make_backend()
    reader.backend = backend
    if not on_gpu(X):
        results = copied = CopiedResults()
        reader.on_labels = copied.begin
    return SampledRows.of(forest, reader, reading, backend, results)


def _open_encoded(forest: Any, X: Any, sample_weight: Any, where: Setting) -> tuple[DeviceReader, Reading]:
    sample, reading = read_in_memory(forest, to_host(X), sample_weight, where)
    encoded = sample.table
    label_bytes = len(encoded.values) * forest.n_estimators
    table = open_source_on_gpu(ArraySource(encoded.values), label_bytes, forest._limits.device)
    places = encoded.first, encoded.widths, encoded.categorical
    return DeviceReader(table, survey_on_gpu(table), *places, reading.weights), reading


def _open_numbers(forest: Any, X: Any, sample_weight: Any, where: Setting) -> tuple[DeviceReader, Reading] | None:
    """Do what `large_encoding.open_large` does. None where X has categories or missing cells."""
    weights = check_weights(sample_weight, len(X))
    table = _open(X, forest.n_estimators, forest._limits.device)
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
    reader = DeviceReader(table, seen, first, widths, np.zeros(p, bool), weights)
    return reader, Reading(encoding, None, weights, where)


def _open(X: Any, n_estimators: int, limits: DeviceLimits) -> AnyTable | None:
    if not on_gpu(X):
        source = open_source(X)
        return None if source is None else open_source_on_gpu(source, source.shape[0] * n_estimators, limits)
    array = as_cupy(X)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"X holds {array.dtype}: an array on the GPU must hold real numbers.")
    return DeviceTable(array if array.dtype in (np.float32, np.float64) else array.astype(np.float64), limits)


def _refuse_infinity(table: AnyTable, encoding: Encoding) -> None:
    cupy = need_cupy()
    for start, rows in table.read_blocks():
        found = cupy.asnumpy(cupy.argwhere(cupy.isinf(rows))[:1])
        if len(found):
            raise ValueError(infinity_message(start + int(found[0][0]), encoding.describe(found[0][1])))
