"""Find islands: small groups of rows, far from all others, that a random draw of rows would miss.

Trees and the search for features see some hundred rows of a large table, which have one or none of a group of one row
in a thousand. Islands are looked for among more rows, by distances alone, so that draws can have some rows of each.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyArray, FloatArray, IndexArray, KeyArray
from clusterforests._utils.memory import as_floats
from clusterforests._utils.portable_math import exponential
from clusterforests._utils.random import Purpose, stream, uniform
from clusterforests._utils.row_keys import order_by_values
from clusterforests._utils.statistics import valley
from clusterforests._utils.threads import blas_threads
from clusterforests.table.feature_columns import DistinctRows, FeatureColumns

FEWEST_ROWS, MOST_ROWS = 1024, 16384  # draws from fewer rows miss no group; more take too long
MOST_COLUMNS = 200
MANY_VALUES = 20  # that a column must have: a rare step of a scale is no island
SMALLEST = 11  # rows: fewer leave no valley that chance could not leave
LARGEST = 0.03  # of the rows: draws do not miss more
WAVES, TRIED = 4, 16  # rows around which an island is looked for, in each wave
GAP, RING = 1.05, 1.5  # an island is surrounded by an empty ring of (GAP + RING / columns) times its radius
NEIGHBOURS = 4  # times as many as the rows of an island
LEVEL = 1e-3
DRAWN = 1 / 32  # of the rows of a draw are of one island
UNIT, MOST_UNITS = 2.0**8, 2.0**20  # coordinates are whole numbers, whose sums of squares are exact in any order


def find_islands(values: AnyArray, views: FeatureColumns, distinct: DistinctRows, seed: int) -> list[IndexArray]:
    """Find the islands of a table: the rows of each.

    Features count that are single columns of many values. An island must be apart even without the feature that shows
    it best: what one feature alone tells is that feature.
    """
    single = views.drawable[views.widths[views.drawable] == 1]
    if len(distinct.rows) < FEWEST_ROWS or not 2 <= len(single) <= MOST_COLUMNS:
        return []
    table = _coordinates(as_floats(values, views.first[0, single], distinct.rows))
    if table.shape[1] < 2:
        return []
    order = order_by_values(table)  # so that the order of the rows does not show
    rows, table = distinct.rows[order], table[order]
    balls = _search(table[:MOST_ROWS], seed)
    centers = np.array([ball.center for ball in balls]).reshape(-1, table.shape[1])
    limits = [ball.limit for ball in balls]
    return [rows[own < limit] for own, limit in zip(_distances(table, centers), limits, strict=True)]


def preferences(distinct: DistinctRows, islands: Sequence[IndexArray]) -> KeyArray:
    """Compute how many times as often rows are to be drawn, so that a draw has some of each island."""
    times = np.ones(len(distinct.rows), dtype=np.uint64)
    for island in islands:
        times[np.isin(distinct.rows, island)] = max(1, int(DRAWN * len(times) / len(island)))
    return times


def preferring(distinct: DistinctRows, islands: Sequence[IndexArray]) -> DistinctRows:
    """Let rows of islands count more often."""
    return DistinctRows(distinct.rows, distinct.weights * preferences(distinct, islands))


def _coordinates(table: FloatArray) -> FloatArray:
    """Measure columns from the median in parts of the range of the middle half; those of few values leave."""
    ordered = np.sort(table, axis=0)
    low, middle, high = (ordered[int(q * (len(table) - 1))] for q in (0.25, 0.5, 0.75))
    varied = (1 + (ordered[1:] != ordered[:-1]).sum(axis=0) >= MANY_VALUES) & (high > low)
    away, middle_half = table[:, varied] / 2 - middle[varied] / 2, high[varied] / 2 - low[varied] / 2  # no overflow
    with np.errstate(over="ignore"):
        units = away / middle_half * UNIT
    whole: FloatArray = np.rint(units).clip(-MOST_UNITS, MOST_UNITS)
    return whole


class _Ball(NamedTuple):
    """The centre of an island, and the squared distance from it below which rows belong to it."""

    center: FloatArray
    limit: float


def _search(table: FloatArray, seed: int) -> list[_Ball]:
    """Try rows as members of an island, with a preference for what is far from all tried so far."""
    found: list[_Ball] = []
    known = np.zeros(len(table), dtype=bool)
    nearest = _distances(table, np.zeros((1, table.shape[1])))[0]
    for wave in range(WAVES):
        waiting = exponential(uniform(stream(seed, Purpose.ISLANDS, wave, np.arange(len(table)))))
        tried = _lowest(waiting / np.maximum(np.square(nearest), 1.0), TRIED)
        away = _distances(table, table[tried])
        nearest = np.minimum(nearest, away.min(axis=0))
        centers = np.array([np.rint(table[_lowest(own, SMALLEST)].mean(axis=0)) for own in away])
        for row, center, distances in zip(tried, centers, _distances(table, centers), strict=True):
            if known[row] or (ball := _ball_around(table, center, distances)) is None:
                continue
            inside = distances < ball.limit
            if not (known & inside).any():
                found.append(ball)
            known |= inside
    return found


def _ball_around(table: FloatArray, center: FloatArray, distances: FloatArray) -> _Ball | None:
    """Find the island with this centre, to which rows have these distances; None if there is none."""
    order = _lowest(distances, int(LARGEST * len(table)) + 1)
    squares = np.maximum(distances[order[SMALLEST - 1 :]], 1.0)
    ratios = squares[1:] / squares[:-1]
    size = SMALLEST + int(np.argmax(ratios))
    if ratios.max() < (GAP + RING / table.shape[1]) ** 2 or np.abs(table[order[:size]]).max() >= MOST_UNITS:
        return None  # the ends of long tails are clipped, and then lie together
    if not _apart(table, distances, size):
        return None
    return _Ball(center, (squares[size - SMALLEST] + squares[size - SMALLEST + 1]) / 2)


def _apart(table: FloatArray, distances: FloatArray, size: int) -> bool:
    """Say whether a valley lies between the rows nearest to a place and the next ones, but for the best feature."""
    order = _lowest(distances, (1 + NEIGHBOURS) * size)
    island, neighbours = order[:size], order[size:]
    axis = np.rint(table[island].mean(axis=0) - table[neighbours].mean(axis=0))
    axis[np.argmax(np.abs(axis))] = 0.0
    places = table @ axis
    start, end = places[neighbours].mean(), places[island].mean()
    if start >= end:
        return False
    places = (places - start) / (end - start)
    others = np.delete(places, island)
    return valley(others, places[island])[0] <= LEVEL


def _lowest(distances: FloatArray, count: int) -> IndexArray:
    """Return the places of the lowest distances, ascending."""
    last = np.partition(distances, count - 1)[count - 1]
    few = np.flatnonzero(distances <= last)
    return few[np.argsort(distances[few], kind="stable")][:count]


def _distances(table: FloatArray, places: FloatArray) -> FloatArray:
    """Compute squared distances of all rows from some places. All are whole numbers, exact in any order of the sums."""
    own, others = np.einsum("ij,ij->i", table, table), np.einsum("ij,ij->i", places, places)
    with blas_threads(1):
        squared: FloatArray = others[:, None] + own - 2.0 * (places @ table.T)
    return squared
