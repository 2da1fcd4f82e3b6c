"""Some columns of the scaled table, computed without the others."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests import _core
from clusterforests._base.column_blocks import as_floats, column_blocks, is_wide
from clusterforests._base.typing import AnyArray, FloatArray, IndexArray, IntArray
from clusterforests.tables.projections import Projections
from clusterforests.tables.scaling import Scaling


def scaled_columns(scaling: Scaling, values: AnyArray, columns: IntArray, threads: int = 1) -> FloatArray:
    """Compute columns of what `scaling.apply(values)` gives: (rows, columns).

    Of a wide table they are made from some of its columns at a time. A projected column is a sum over many: what is
    added up so far is then the first term of the next sum, so that all terms are added in their order.
    """
    views, count = scaling.exponent.shape
    if not is_wide(count) or scaling.is_identity or scaling.sources is not None or not _ascending(scaling):
        return scaling.apply(values, threads)[:, columns]
    summed = np.unique(columns[columns >= views * count]) - views * count
    single = np.flatnonzero(columns < views * count)
    blocks = _Blocks(scaling, summed, columns[single])
    out, sums = np.empty((len(values), len(columns))), np.zeros((len(values), len(summed)))
    for block in column_blocks(len(values), count):
        scaled, sums = blocks.apply(block, as_floats(values, block), sums, threads)
        own = single[(columns[single] % count >= block.start) & (columns[single] % count < block.stop)]
        view, place = np.divmod(columns[own], count)
        out[:, own] = scaled[:, view * blocks.width(block) + place - block.start]
    later = np.flatnonzero(columns >= views * count)
    out[:, later] = sums[:, np.searchsorted(summed, columns[later] - views * count)]
    return out


@dataclass(frozen=True)
class ScaledRows:
    """Rows of a scaled table without projections; those of a wide one are scaled when their columns are asked for."""

    scaling: Scaling
    values: AnyArray
    rows: IndexArray
    table: FloatArray | None  # scaled, if the table is not wide

    @classmethod
    def of(cls, scaling: Scaling, values: AnyArray, rows: IndexArray) -> "ScaledRows":
        wide = is_wide(scaling.exponent.shape[1])
        return cls(scaling, values, rows, None if wide else scaling.apply(values[rows]))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return self.scaling.width

    def take(self, columns: IntArray, most_rows: int) -> FloatArray:
        """Take columns of the first rows, in Fortran's order."""
        if self.table is not None:
            return self.table[:, columns][:most_rows]
        first = self.values[self.rows[:most_rows]]
        return np.asfortranarray(scaled_columns(self.scaling, first, columns))


def _ascending(scaling: Scaling) -> bool:
    """Tell whether the terms of each projected column are of one column after the other."""
    places = scaling.projections.columns % scaling.exponent.shape[1]
    later = np.diff(places) >= 0
    later[scaling.projections.starts[1:-1] - 1] = True  # where the next projected column begins
    return bool(later.all())


@dataclass(frozen=True)
class _Blocks:
    """The scaling of a block of columns, beside which sums of the blocks before are left as they are."""

    scaling: Scaling
    summed: IndexArray  # the projected columns that are added up
    single: IntArray  # scaled columns that are asked for themselves

    def width(self, block: slice) -> int:
        """The number of columns of a view: the block's, and those of the sums."""
        return int(block.stop - block.start) + len(self.summed)

    def apply(self, block: slice, values: FloatArray, sums: FloatArray, threads: int) -> tuple[FloatArray, FloatArray]:
        """Scale a block of columns, and add it to the sums."""
        scaling, spare = self.scaling, len(self.summed)
        views, count = scaling.exponent.shape
        terms = self._terms(block)
        needed = np.zeros((views, count), dtype=bool)
        needed.ravel()[self.single] = True
        view, place = np.divmod(terms.columns, self.width(block))
        inside = place < block.stop - block.start
        needed[view[inside], place[inside] + block.start] = True
        ranked = scaling.ranked[:, block] * needed[:, block]
        starts, knots, ranks = self._knots(block, ranked=bool(ranked.any()))
        core = _core.Scaling(
            _padded(scaling.exponent[:, block], spare, 0),
            _padded(scaling.shift[:, block], spare, 0.0),
            _padded(scaling.divisor[:, block], spare, 1.0),
            _padded(ranked, spare, 0),
            np.append(starts, np.full(spare, starts[-1])),
            knots,
            ranks,
            terms.starts,
            terms.columns,
            terms.coefficients,
        )
        scaled = core.apply(np.hstack([values, sums]), threads)
        return scaled, np.ascontiguousarray(scaled[:, scaled.shape[1] - spare :])

    def _terms(self, block: slice) -> Projections:
        """Return the sums so far, then the terms that are in a block."""
        projections, count = self.scaling.projections, self.scaling.exponent.shape[1]
        columns, coefficients, lengths = [], [], [0]
        for place, j in enumerate(self.summed):
            own = slice(*projections.starts[j : j + 2])
            view, column = np.divmod(projections.columns[own], count)
            first, last = np.searchsorted(column, [block.start, block.stop])
            columns.append([self.width(block) - len(self.summed) + place])
            columns.append(view[first:last] * self.width(block) + column[first:last] - block.start)
            coefficients += [[1.0], projections.coefficients[own][first:last]]
            lengths.append(1 + last - first)
        return Projections(
            np.cumsum(lengths, dtype=np.int64),
            np.concatenate([np.empty(0, np.int32), *columns]).astype(np.int32),
            np.concatenate([np.empty(0), *coefficients]),
        )

    def _knots(self, block: slice, *, ranked: bool) -> tuple[Any, FloatArray, FloatArray]:
        """Return the knots of the block's columns, if any is ranked."""
        starts = self.scaling.starts[block.start : block.stop + 1]
        if not ranked:
            return np.zeros(len(starts), np.int64), np.empty(0), np.empty(0)
        own = slice(starts[0], starts[-1])
        return starts - starts[0], self.scaling.knots[own], self.scaling.ranks[own]


def _padded(steps: AnyArray, spare: int, value: float) -> AnyArray:
    """Add columns that are left as they are."""
    return np.ascontiguousarray(np.pad(steps, ((0, 0), (0, spare)), constant_values=value))
