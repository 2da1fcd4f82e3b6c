"""Steps of scaling for many columns at a time: those of `ColumnDistribution.step`, to the last bit."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests._base.column_blocks import as_floats, column_blocks
from clusterforests._base.typing import AnyArray, BoolArray, FloatArray, IndexArray, IntArray


class ColumnSteps(NamedTuple):
    """The step of each column in each view, as the fields of `Scaling`: (V, C)."""

    exponent: IntArray
    shift: FloatArray
    divisor: FloatArray
    ranked: npt.NDArray[np.uint8]

    @classmethod
    def identity(cls, n_views: int, n_columns: int) -> "ColumnSteps":
        shape = n_views, n_columns
        return cls(np.zeros(shape, np.int32), np.zeros(shape), np.ones(shape), np.zeros(shape, np.uint8))


def column_steps(values: AnyArray, ways: tuple[str, ...]) -> tuple[ColumnSteps, BoolArray]:
    """Fit the steps of single columns whose rows all count once; and which columns vary."""
    steps = ColumnSteps.identity(len(ways), values.shape[1])
    varies = np.zeros(values.shape[1], dtype=bool)
    for block in column_blocks(*values.shape):
        ordered = np.sort(as_floats(values, block).T, axis=1)
        for columns, distinct, counts in _by_number_of_values(ordered):
            if distinct.shape[1] > 1:
                columns += block.start
                varies[columns] = True
                for view, way in enumerate(ways):
                    _fit(steps, view, way, columns, distinct, counts)
    return steps, varies


def _by_number_of_values(ordered: FloatArray) -> Iterator[tuple[IndexArray, FloatArray, FloatArray]]:
    """Group columns, whose values ascend, by how many different values they have: which, these values, their counts.

    Sums over arrays of the same length are taken in the same order, one column or many.
    """
    n = ordered.shape[1]
    starts = np.ones(ordered.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=starts[:, 1:])
    numbers = starts.sum(axis=1)
    for number in np.unique(numbers):
        columns = np.flatnonzero(numbers == number)
        first = np.nonzero(starts[columns])[1].reshape(len(columns), number)
        counts = np.diff(first, axis=1, append=n).astype(np.float64)
        yield columns, np.take_along_axis(ordered[columns], first, axis=1), counts


def _fit(
    steps: ColumnSteps, view: int, way: str, columns: IndexArray, distinct: FloatArray, counts: FloatArray
) -> None:
    if way == "rank":
        steps.ranked[view, columns] = 1
        return
    exponent = np.frexp(np.abs(distinct).max(axis=1))[1]
    unit = np.ldexp(distinct, -exponent[:, None])
    steps.exponent[view, columns] = exponent
    if way == "range":
        steps.shift[view, columns], steps.divisor[view, columns] = unit[:, 0], unit[:, -1] - unit[:, 0]
        return
    share = counts / counts.sum(axis=1, keepdims=True)
    mean = (share * unit).sum(axis=1)
    steps.shift[view, columns] = mean
    steps.divisor[view, columns] = np.sqrt((share * (unit - mean[:, None]) ** 2).sum(axis=1))
