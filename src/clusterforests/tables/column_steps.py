"""Steps of scaling for many columns at a time: those of `ColumnDistribution.step`, to the last bit."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests import _core
from clusterforests._base.column_blocks import as_floats, column_blocks
from clusterforests._base.typing import AnyArray, BoolArray, FloatArray, IntArray


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


def column_steps(values: AnyArray, ways: tuple[str, ...], threads: int = 1) -> tuple[ColumnSteps, BoolArray]:
    """Fit the steps of single columns whose rows all count once; and which columns vary."""
    steps = ColumnSteps.identity(len(ways), values.shape[1])
    varies = np.zeros(values.shape[1], dtype=bool)
    for block in column_blocks(*values.shape):
        ordered = np.array(values[:, block].T, order="C")  # a copy in any case, which is sorted in place
        ordered.sort(axis=1)
        for view, way in enumerate(ways):
            counts, exponent, shift, divisor = _core.fit_steps(as_floats(ordered), way == "range", threads)
            varies[block] = counts > 1
            if way == "rank":
                steps.ranked[view, block] = varies[block]
            else:
                steps.exponent[view, block], steps.shift[view, block] = exponent, shift
                steps.divisor[view, block] = divisor
    return steps, varies
