"""Features brought to comparable size, in one way for all trees or in three ways in turn."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clusterforests.views import Encoded, Views

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

WAYS = {
    "none": ("none",),
    "standard": ("standard",),
    "range": ("range",),
    "rank": ("rank",),
    "mixed": ("standard", "range", "rank"),
}


@dataclass(frozen=True)
class ColumnLaw:
    """The distinct values of a column and the weight of each: all that scaling may depend on.

    So the order of the rows does not show, and a weight of 2 is the same as a row repeated.
    """

    values: FloatArray
    weights: FloatArray
    position: npt.NDArray[np.intp]  # row -> value

    @property
    def constant(self) -> bool:
        return len(self.values) < 2

    def scaled(self, way: str) -> FloatArray:
        """The column of the rows, divided by its standard deviation or range, or its ranks from 0 to 1."""
        values = self.values if way == "none" or self.constant else self._scaled_values(way)
        column: FloatArray = values[self.position]
        return column

    def _scaled_values(self, way: str) -> FloatArray:
        unit = np.ldexp(self.values, -np.frexp(np.abs(self.values).max())[1])
        if way == "standard":
            share = self.weights / self.weights.sum()
            unit = unit - share @ unit
            scaled: FloatArray = unit / np.sqrt(share @ unit**2)
        elif way == "range":
            scaled = (unit - unit[0]) / (unit[-1] - unit[0])
        else:
            reached = np.cumsum(self.weights)
            scaled = (reached - self.weights / 2) / reached[-1]
        return scaled


def column_law(x: FloatArray, weights: FloatArray | None = None) -> ColumnLaw:
    values, position, counts = np.unique(x, return_inverse=True, return_counts=True)
    mass = counts if weights is None else np.bincount(position, weights)
    return ColumnLaw(values, mass.astype(np.float64), position)


def scale_table(encoded: Encoded, scale: str, weights: FloatArray | None = None) -> tuple[FloatArray, Views]:
    """The columns of every view side by side, and where each feature is. `scale` is a key of WAYS.

    Features without variation are not drawn, unless features are left as they are.
    """
    first, widths = encoded.first, encoded.widths
    if scale == "none":
        return encoded.values, Views(first[None, :], widths, np.arange(len(widths), dtype=np.int32))
    ways = WAYS[scale]
    n, count = encoded.values.shape
    table = np.empty((n, count * len(ways)), order="F")
    varies = np.zeros(len(widths), bool)
    for j, (start, width) in enumerate(zip(first, widths, strict=True)):
        columns = range(start, start + width)
        laws = [column_law(encoded.values[:, c], weights) for c in columns]
        varies[j] = not all(law.constant for law in laws)
        for view, way in enumerate(ways):
            for c, law in zip(columns, laws, strict=True):
                table[:, view * count + c] = _scaled_level(law, laws, way) if width > 1 else law.scaled(way)
    drawable = np.flatnonzero(varies).astype(np.int32)
    if not len(drawable):
        drawable = np.arange(len(widths), dtype=np.int32)
    offsets = count * np.arange(len(ways), dtype=np.int32)
    return np.ascontiguousarray(table), Views(first + offsets[:, None], widths, drawable)


def _scaled_level(law: ColumnLaw, levels: list[ColumnLaw], way: str) -> FloatArray:
    """The indicator of a level: as a whole the feature has variance 1, or two different levels have distance 1."""
    variance = 2.0
    if way == "standard":
        shares = sorted(float(level.weights @ level.values / level.weights.sum()) for level in levels)
        variance = sum(share * (1 - share) for share in shares) or 1.0
    column: FloatArray = law.scaled("none") / np.sqrt(variance)
    return column
