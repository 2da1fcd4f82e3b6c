"""What tells a cluster apart: the columns in which it differs from the rest, by how much, and in words."""

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray
from clusterforests._utils.statistics import weighted_quantile
from clusterforests.app.description.words import (
    SHARE,
    ColumnWords,
    interval_phrase,
    number_phrase,
    percent,
    round_outward,
    share_phrase,
    shown_pair,
)
from clusterforests.app.table_reader.columns import Kind

# How far the rows of a cluster differ from all others in each column.
#
# Everything is by ranks, so that neither units nor outliers matter. Cliff's delta is the chance that a row of the
# cluster is above a row of the rest, less the chance that it is below: from -1 to 1. In a column of zeros and ones it
# is the share of ones in the cluster less that in the rest.

CELLS_AT_ONCE = 2**21
_UNIFORM = 1 / 12**0.5  # standard deviation of ranks from 0 to 1


@dataclass(frozen=True)
class Effects:
    """Of each cluster and column, (n_clusters, n_columns): NaN where the cluster or the rest has no known cell."""

    delta: FloatArray  # Cliff's delta
    error: FloatArray  # standard deviation of delta, at most, if the column is shuffled
    spread: FloatArray  # standard deviation of the ranks in the cluster as a share of that of all rows


def rank_columns(values: FloatArray, weights: FloatArray, columns: BoolArray | None = None) -> FloatArray:
    """Rank the known cells of each column, or of some: the share of rows below, and half of those that are equal.

    Ranks of other columns are NaN.
    """
    ranks = np.full(values.shape, np.nan)
    for j in range(values.shape[1]) if columns is None else np.flatnonzero(columns):
        column = values[:, j]
        known = np.flatnonzero(~np.isnan(column) & (weights > 0))
        if len(known):
            ranks[known, j] = _midranks(column[known], weights[known])
    return ranks


def _midranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    order = np.argsort(values, kind="stable")
    ordered, upto = values[order], np.cumsum(weights[order])
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    ends = upto[last]
    middles = (np.append(0.0, ends[:-1]) + ends) / (2 * ends[-1])
    ranks = np.empty(len(values))
    ranks[order] = np.repeat(middles, np.diff(last, prepend=-1))
    return ranks


def measure_effects(ranks: FloatArray, labels: IndexArray, weights: FloatArray, n_clusters: int) -> Effects:
    """Compare each cluster with the rest in each column.

    Parameters
    ----------
    ranks : array of shape (n, C)
        From `rank_columns`.
    labels, weights : array of shape (n,)
        Cluster of each row, and how often it counts.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    effects : Effects
    """
    step = max(1, CELLS_AT_ONCE // max(1, len(ranks)))
    parts = [_measure(ranks[:, j : j + step], labels, weights, n_clusters) for j in range(0, ranks.shape[1], step)]
    return Effects(
        *(np.concatenate([getattr(part, field.name) for part in parts], axis=1) for field in fields(Effects))
    )


def _measure(ranks: FloatArray, labels: IndexArray, weights: FloatArray, n_clusters: int) -> Effects:
    known = ~np.isnan(ranks)
    mass = known * weights[:, None]
    filled = np.where(known, ranks, 0.0)
    shape = n_clusters, ranks.shape[1]
    sizes, first, second = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for c in range(n_clusters):
        rows = labels == c
        w, r = mass[rows], filled[rows]
        sizes[c], first[c], second[c] = w.sum(axis=0), (w * r).sum(axis=0), (w * r * r).sum(axis=0)
    total = sizes.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = total - sizes
        there = (sizes > 0) & (rest > 1e-9 * total)
        above = (first * total - sizes**2 / 2) / (sizes * rest)
        error = np.sqrt((total + 1) / (3 * sizes * rest))
        variance = second / sizes - (first / sizes) ** 2
    spread = np.sqrt(np.maximum(variance, 0.0)) / _UNIFORM
    return Effects(*(np.where(there, part, np.nan) for part in (np.clip(2 * above - 1, -1, 1), error, spread)))


def weighted_mean(values: FloatArray, weights: FloatArray) -> float:
    """Average known values."""
    scale = float(np.abs(values).max()) or 1.0  # so that no sum overflows
    return float((weights * (values / scale)).sum() / weights.sum() * scale)


FLOOR = 0.33  # of Cliff's delta: less is a small effect (Romano et al. 2006)
ERRORS = 2.5  # standard deviations of a shuffled column that an effect is above, too
SPARSE_FLOOR, SPARSE_ERRORS = 0.1, 6.0  # of sparse tables: few rows have a word, and no word was tested
NARROW = 0.5  # ranks of a cluster that lies in the middle spread at most so much of those of all rows
MIDDLE = 0.1, 0.9  # quantiles that the middle lies between
MIDDLE_FLOOR = 0.5  # by which its share in the cluster exceeds that in the rest
GAP = 2.0  # interquartile ranges that part a cluster from the rest in a column that is not known to be informative
MOST = 8  # of a cluster


@dataclass(frozen=True)
class Trait:
    """A column in which a cluster differs from all other rows.

    Attributes
    ----------
    column : str
        Name of the column.
    level : str or None
        The level whose share differs, if it is a category.
    statistic : str
        What `inside` and `outside` are: "median", "mean" (where medians are equal), or "share": of the level, or of
        the interval.
    inside, outside : float
        Of the cluster's rows, and of all others.
    interval : tuple of float or None
        The interval that most of the cluster's rows lie in, if it is neither higher nor lower than the rest.
    effect : float
        Cliff's delta, from -1 to 1: for a level the difference of the two shares. For an interval this difference.
    shown : tuple of str
        `inside` and `outside` as they are written in the column's own units.
    text : str
        In words.
    name : str
        In one or two words.
    """

    column: str
    level: str | None
    statistic: str
    inside: float
    outside: float
    interval: tuple[float, float] | None
    effect: float
    shown: tuple[str, str]
    text: str
    name: str


@dataclass(frozen=True)
class Compared:
    """The cells of a cluster and of the rest, of which something is said."""

    values: FloatArray  # (n, C)
    weights: FloatArray
    inside: BoolArray  # (n,)

    def halves(self, place: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return known cells and their weights: of the cluster, and of the rest."""
        cells = self.values[:, place]
        known = ~np.isnan(cells) & (self.weights > 0)
        here, there = known & self.inside, known & ~self.inside
        return cells[here], self.weights[here], cells[there], self.weights[there]


def find_traits(
    compared: Compared,
    columns: list[ColumnWords],
    effects: Effects,
    cluster: int,
    informative: IndexArray,
    *,
    sparse: bool = False,
) -> tuple[Trait, ...]:
    """Find what tells a cluster apart, the largest effect first, each feature at most once.

    Only informative features are looked at: clusters differ in the columns they were made from, even if these are
    noise. If no feature is known to be informative, there must be a wide gap between the cluster and the rest.
    """
    delta, error, spread = effects.delta[cluster], effects.error[cluster], effects.spread[cluster]
    sure = np.isin([column.feature for column in columns], informative) | (len(informative) == 0)
    sure &= ~np.isnan(delta)
    if sparse:  # that a word is not there says little
        share = compared.values.mean(axis=0)
        exact = error * np.sqrt(3 * share * (1 - share))  # many equal cells make the deviation smaller
        apart = sure & (delta >= np.maximum(SPARSE_FLOOR, SPARSE_ERRORS * np.nan_to_num(exact)))
    else:
        apart = sure & (np.abs(delta) >= np.maximum(FLOOR, ERRORS * np.nan_to_num(error)))
    found: dict[int, Trait] = {}
    for j in sorted(np.flatnonzero(apart).tolist(), key=lambda j: -abs(delta[j])):
        if len(found) == MOST:
            break
        trait = None
        if len(informative) > 0 or _has_gap(compared, j):
            trait = _difference(compared, columns[j], j, float(delta[j]))
        if trait is not None:
            found.setdefault(columns[j].feature, trait)
    narrow = sure & (spread <= NARROW) & (ERRORS * np.nan_to_num(error) <= MIDDLE_FLOOR) & (len(informative) > 0)
    for j in np.flatnonzero(narrow).tolist():
        middle = _interval(compared, columns[j], j) if columns[j].kind != SHARE else None
        if middle is not None:
            found.setdefault(columns[j].feature, middle)
    return tuple(sorted(found.values(), key=lambda trait: -abs(trait.effect))[:MOST])


def _has_gap(compared: Compared, place: int) -> bool:
    """Say whether a wide gap parts nearly all rows of the cluster from nearly all others, as no cut of noise does."""
    here, w_here, there, w_there = compared.halves(place)
    quartiles = [
        [weighted_quantile(*side, q) for q in (0.1, 0.25, 0.75, 0.9)] for side in ((here, w_here), (there, w_there))
    ]
    low, high = sorted(quartiles)
    ranges = [side[2] - side[1] for side in quartiles]
    return min(ranges) > 0 and high[0] - low[3] >= GAP * max(ranges)


def _difference(compared: Compared, column: ColumnWords, place: int, delta: float) -> Trait | None:
    """Describe a column that is higher or lower; None if neither medians nor means say so."""
    here, w_here, there, w_there = compared.halves(place)
    if column.kind == SHARE:
        return _share(column, weighted_mean(here, w_here), weighted_mean(there, w_there), delta)
    for statistic, measure in (("median", _median), ("mean", weighted_mean)):
        inside, outside = measure(here, w_here), measure(there, w_there)
        if inside != outside and (inside > outside) == (delta > 0):
            text, name = number_phrase(column, inside, outside, statistic)
            shown = shown_pair(column, inside, outside, statistic)
            return Trait(column.name, None, statistic, inside, outside, None, delta, shown, text, name)
    return None


def _share(column: ColumnWords, inside: float, outside: float, delta: float) -> Trait:
    level = column.level
    if delta < 0 and column.other is not None:
        level, inside, outside, delta = column.other, 1 - inside, 1 - outside, -delta
    assert level is not None
    text, name = share_phrase(column, level, inside, outside)
    shown = percent(inside), percent(outside)
    return Trait(column.name, level, "share", inside, outside, None, delta, shown, text, name)


def _interval(compared: Compared, column: ColumnWords, place: int) -> Trait | None:
    """Describe a column in which the cluster lies in the middle; None if much of the rest does, too."""
    here, w_here, there, w_there = compared.halves(place)
    low, high = (weighted_quantile(here, w_here, q) for q in MIDDLE)
    if column.kind == Kind.NUMBER:
        low, high = round_outward(low, high)
    inside, outside = _share_between(here, w_here, low, high), _share_between(there, w_there, low, high)
    if inside - outside < MIDDLE_FLOOR:
        return None
    text, name = interval_phrase(column, low, high, inside, outside)
    shown = percent(inside), percent(outside)
    return Trait(column.name, None, "share", inside, outside, (low, high), inside - outside, shown, text, name)


def _share_between(values: FloatArray, weights: FloatArray, low: float, high: float) -> float:
    return float(weights[(values >= low) & (values <= high)].sum() / weights.sum())


def _median(values: FloatArray, weights: FloatArray) -> float:
    return weighted_quantile(values, weights, 0.5)


def trait_entry(trait: Trait) -> dict[str, Any]:
    """Write a trait for JSON."""
    return {name: value for name, value in asdict(trait).items() if name not in ("shown", "name")}
