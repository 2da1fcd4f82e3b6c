"""Find rare groups: a few rows far from all others, which a random draw of rows would miss.

Trees and feature screening see some hundred rows of a large table, which have one or none of a group of one row in a
thousand. Rare groups are looked for among more rows, by distances alone, so that draws can have some rows of each.
"""

from collections.abc import Sequence

import numpy as np

from clusterforests._utils.arrays import AnyArray, FloatArray, IndexArray, KeyArray, as_floats, order_by_values
from clusterforests._utils.portable_math import exponential
from clusterforests._utils.random import Purpose, stream, uniform
from clusterforests._utils.statistics import valley
from clusterforests._utils.threads import blas_threads
from clusterforests.feature_screening.modes import MANY_VALUES
from clusterforests.table.feature_columns import DistinctRows, FeatureColumns

# Draws from fewer rows miss no group; more rows take too long, and so do more columns.
FEWEST_SEARCHED, MOST_SEARCHED = 1024, 16384
MOST_SEARCHED_COLUMNS = 200
# Rows of a group: fewer leave no valley that chance could not leave; draws do not miss a larger share of the rows.
SMALLEST, LARGEST = 11, 0.03
# Waves of rows, and the rows of each, around which a group is looked for.
WAVES, TRIED = 4, 16
# A group is surrounded by an empty ring of (GAP + RING / columns) times its radius.
GAP, RING = 1.05, 1.5
# Rows beside a group, as multiples of its own, between which and the group a valley must lie at this level.
RARE_GROUP_NEIGHBOURS = 4
RARE_GROUP_P_VALUE = 1e-3
# Of the rows of a draw, so many are of one group.
PREFERRED_SHARE = 1 / 32
# Coordinates are whole numbers, whose sums of squares are exact in any order.
UNIT, MOST_UNITS = 2.0**8, 2.0**20


def find_rare_groups(values: AnyArray, views: FeatureColumns, distinct: DistinctRows, seed: int) -> list[IndexArray]:
    """Find the rare groups of a table: the rows of each.

    Features count that are single columns of many values. A group must be apart even without the feature that shows it
    best: what one feature alone shows is that feature.
    """
    single = views.drawable[views.widths[views.drawable] == 1]
    if len(distinct.rows) < FEWEST_SEARCHED or not 2 <= len(single) <= MOST_SEARCHED_COLUMNS:
        return []
    table = _coordinates(as_floats(values, views.first[0, single], distinct.rows))
    if table.shape[1] < 2:
        return []
    # The order of the rows must not show.
    order = order_by_values(table)
    rows, table = distinct.rows[order], table[order]
    balls = _search(table[:MOST_SEARCHED], seed)
    centers = np.array([center for center, _ in balls]).reshape(-1, table.shape[1])
    return [rows[own < limit] for own, (_, limit) in zip(_distances(table, centers), balls, strict=True)]


def draw_preferences(distinct: DistinctRows, rare_groups: Sequence[IndexArray]) -> KeyArray:
    """Compute how many times as often rows are to be drawn, so that a draw has some of each rare group."""
    times = np.ones(len(distinct.rows), dtype=np.uint64)
    for group in rare_groups:
        times[np.isin(distinct.rows, group)] = max(1, int(PREFERRED_SHARE * len(times) / len(group)))
    return times


def with_preferences(distinct: DistinctRows, rare_groups: Sequence[IndexArray]) -> DistinctRows:
    """Let rows of rare groups count more often."""
    return DistinctRows(distinct.rows, distinct.weights * draw_preferences(distinct, rare_groups))


def _coordinates(table: FloatArray) -> FloatArray:
    """Measure columns from the median in parts of the range of the middle half; those of few values leave."""
    ordered = np.sort(table, axis=0)
    low, middle, high = (ordered[int(q * (len(table) - 1))] for q in (0.25, 0.5, 0.75))
    varied = (1 + (ordered[1:] != ordered[:-1]).sum(axis=0) >= MANY_VALUES) & (high > low)
    # Halves, so that no difference overflows.
    away, middle_half = table[:, varied] / 2 - middle[varied] / 2, high[varied] / 2 - low[varied] / 2
    with np.errstate(over="ignore"):
        units = away / middle_half * UNIT
    whole: FloatArray = np.rint(units).clip(-MOST_UNITS, MOST_UNITS)
    return whole


def _search(table: FloatArray, seed: int) -> list[tuple[FloatArray, float]]:
    """Find the centre of each group, and the squared distance from it below which rows belong to it."""
    found: list[tuple[FloatArray, float]] = []
    known = np.zeros(len(table), dtype=bool)
    nearest = _distances(table, np.zeros((1, table.shape[1])))[0]
    for wave in range(WAVES):
        # Try rows as members of a group, with a preference for what is far from all tried so far.
        waiting = exponential(uniform(stream(seed, Purpose.RARE_GROUPS, wave, np.arange(len(table)))))
        tried = _lowest(waiting / np.maximum(np.square(nearest), 1.0), TRIED)
        away = _distances(table, table[tried])
        nearest = np.minimum(nearest, away.min(axis=0))
        centers = np.array([np.rint(table[_lowest(own, SMALLEST)].mean(axis=0)) for own in away])
        for row, center, distances in zip(tried, centers, _distances(table, centers), strict=True):
            limit = None if known[row] else _limit(table, distances)
            if limit is None:
                continue
            inside = distances < limit
            if not (known & inside).any():
                found.append((center, limit))
            known |= inside
    return found


def _limit(table: FloatArray, distances: FloatArray) -> float | None:
    """Find the squared distance that ends the group around a point; None if there is no group.

    `distances` are those of the rows from the point.
    """
    # The widest empty ring.
    order = _lowest(distances, int(LARGEST * len(table)) + 1)
    squares = np.maximum(distances[order[SMALLEST - 1 :]], 1.0)
    ratios = squares[1:] / squares[:-1]
    size = SMALLEST + int(np.argmax(ratios))
    # The ends of long tails are clipped, and then lie together.
    if ratios.max() < (GAP + RING / table.shape[1]) ** 2 or np.abs(table[order[:size]]).max() >= MOST_UNITS:
        return None
    # A valley between the group and the rows next to it, but for the best feature.
    order = _lowest(distances, (1 + RARE_GROUP_NEIGHBOURS) * size)
    group, neighbours = order[:size], order[size:]
    axis = np.rint(table[group].mean(axis=0) - table[neighbours].mean(axis=0))
    axis[np.argmax(np.abs(axis))] = 0.0
    points = table @ axis
    start, end = points[neighbours].mean(), points[group].mean()
    if start >= end:
        return None
    points = (points - start) / (end - start)
    if valley(np.delete(points, group), points[group])[0] > RARE_GROUP_P_VALUE:
        return None
    return float((squares[size - SMALLEST] + squares[size - SMALLEST + 1]) / 2)


def _lowest(distances: FloatArray, count: int) -> IndexArray:
    """Return the positions of the lowest distances, ascending."""
    last = np.partition(distances, count - 1)[count - 1]
    few = np.flatnonzero(distances <= last)
    return few[np.argsort(distances[few], kind="stable")][:count]


def _distances(table: FloatArray, points: FloatArray) -> FloatArray:
    """Compute squared distances of all rows from some points. All are whole numbers, exact in any order of the sums."""
    own, others = np.einsum("ij,ij->i", table, table), np.einsum("ij,ij->i", points, points)
    with blas_threads(1):
        squared: FloatArray = others[:, None] + own - 2.0 * (points @ table.T)
    return squared
