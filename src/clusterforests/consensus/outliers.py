"""Rows that belong to no cluster: those far from every cluster, measured by each cluster's own spread.

A cluster is a normal distribution, fitted to its inner rows so that rows that do not belong to it hardly count. The
cube root of a row's squared distance is nearly normal; its middle and its spread among the rows of the cluster that are
no outliers say how far is far, so that a cluster with long tails keeps more of its rows.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy.special import chdtri, ndtri
from threadpoolctl import threadpool_limits

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray, IntArray
from clusterforests._utils.statistics import weighted_quantile
from clusterforests._utils.validation import Rule, above, choice, either, none
from clusterforests.consensus.refinement import LEAST_VARIANCE, usual_steps

OUTLIER_RULES: dict[str, Rule] = {"contamination": either(none(), choice("auto"), above(0, 1, or_equal=False))}
FALSE_ALARMS = 0.001  # of the rows of normal clusters that "auto" takes for outliers
LEVEL = float(ndtri(1 - FALSE_ALARMS))
INNER = 0.975  # of a normal distribution: the rows that it is fitted to
STEPS = 30
OUTLIER = -1  # the label of a row that belongs to no cluster
MAD = 1.4826  # times the median distance from the median is a normal distribution's standard deviation
WIDEST = 2.5  # times the spread by quantiles: exponential distributions, which are long-tailed, have about 2
LOW, HIGH = 0.25, 0.65  # quantiles beside the median: below the row that outliers begin with if they are a third


@dataclass(frozen=True)
class OutlierRule:
    """Clusters as normal distributions, and how far from all of them an outlier is."""

    columns: IntArray  # (d,) of the scaled table
    scale: FloatArray  # (d,): values are divided by it
    centers: FloatArray  # (k, d)
    roots: FloatArray  # (k d, d): below each other, lower triangles that times their transpose are the covariances
    middles: FloatArray  # (k,) of the cube roots of the squared distances
    widths: FloatArray  # (k,)
    level: float
    spared: tuple[int, ...] = ()  # clusters that have no other rows than outliers, which keep them

    @property
    def _roots(self) -> FloatArray:
        return self.roots.reshape(len(self.centers), len(self.scale), len(self.scale))

    def scores(self, values: FloatArray) -> FloatArray:
        """Measure how far rows (n, d) are from the nearest cluster: about normal for rows that belong to one."""
        best = np.full(len(values), np.inf)
        with threadpool_limits(1, "blas"):  # so that the last digit does not depend on the threads asked for
            for center, root, middle, width in zip(self.centers, self._roots, self.middles, self.widths, strict=True):
                far = np.cbrt(_squared(values / self.scale - center, root))
                with np.errstate(over="ignore"):  # a cluster whose mass is in one place has next to no width
                    np.minimum(best, (far - middle) / width, out=best)
        return best

    def finds(self, values: FloatArray, clusters: IntArray) -> BoolArray:
        """Tell which rows, of these nearest clusters, are outliers."""
        found: BoolArray = (self.scores(values) > self.level) & ~np.isin(clusters, self.spared)
        return found


class _Shape(NamedTuple):
    center: FloatArray
    root: FloatArray
    middle: float
    width: float


def fit_outliers(values: FloatArray, columns: IntArray, clusters: IntArray, mass: FloatArray) -> OutlierRule:
    """Fit the clusters, with the level of "auto".

    Parameters
    ----------
    values : array of shape (n, d)
        Scaled rows in these columns, each of which varies.
    clusters, mass : arrays of shape (n,)
        The nearest cluster of each row, and its weight.
    """
    scale = np.sqrt(np.average((values - np.average(values, 0, mass)) ** 2, 0, mass))
    unit = values / scale
    counted = np.where(np.bincount(clusters, mass)[clusters] > 0, mass, 1.0)  # a cluster without weight has a shape too
    inside = [np.flatnonzero((clusters == c) & (counted > 0)) for c in range(int(clusters.max()) + 1)]
    middles = np.array([_quantiles(unit[own], counted[own], 0.5) for own in inside])
    deviation = MAD * _quantiles(np.abs(unit - middles[clusters]), mass, 0.5)
    common = deviation**2 + LEAST_VARIANCE + (usual_steps(unit) / 2) ** 2
    with threadpool_limits(1, "blas"):
        shapes = [_fit(unit[own], counted[own], common) for own in inside]
    centers, roots, usual, widths = (np.array(part) for part in zip(*shapes, strict=True))
    return OutlierRule(columns, scale, centers, roots.reshape(-1, len(scale)), usual, widths, LEVEL)


class Judged(NamedTuple):
    """The rule, and the rows that it finds."""

    rule: OutlierRule
    outside: BoolArray


def find_outliers(
    values: FloatArray, columns: IntArray, clusters: IntArray, weights: FloatArray | None, asked: float | str
) -> Judged | None:
    """Find the rows far from every cluster: by the level of "auto", or the farthest, as large a share as is asked for.

    None if no column varies: then no row is far from another.

    Parameters
    ----------
    values : array of shape (n, d)
        Scaled rows in these columns.
    clusters : array of shape (n,)
        The nearest cluster of each row.
    """
    mass = np.ones(len(values)) if weights is None else weights
    varies = np.ptp(values[mass > 0], axis=0) > 0
    if not varies.any():
        return None
    rule = fit_outliers(values[:, varies], columns[varies], clusters, mass)
    scores = rule.scores(values[:, varies])
    if not isinstance(asked, str):
        rule = replace(rule, level=weighted_quantile(scores, mass, 1 - asked))
    return Judged(rule, scores > rule.level)


def lost_clusters(clusters: IntArray, outside: BoolArray, n_clusters: int) -> IndexArray:
    """Find the clusters that have no other rows than outliers."""
    return np.flatnonzero(np.bincount(clusters[~outside], minlength=n_clusters) == 0)


def check_left(clusters: IntArray, outside: BoolArray, n_clusters: int, asked: float | str) -> None:
    """Refuse outliers that are all there is of a cluster."""
    if len(lost := lost_clusters(clusters, outside, n_clusters)):
        raise ValueError(
            f"contamination={asked!r} leaves cluster {lost[0]} of {n_clusters} without a row. Lower it, or n_clusters."
        )


def _fit(values: FloatArray, mass: FloatArray, common: FloatArray) -> _Shape:
    """Fit a normal distribution to the inner rows of a cluster; the variances `common` to all count as some rows."""
    d = values.shape[1]
    center, root = _quantiles(values, mass, 0.5), np.diag(np.sqrt(common))
    inner = np.zeros(len(values), dtype=bool)
    limit = chdtri(d, 1 - INNER) / chdtri(d, 0.5)
    squared = _squared(values - center, root)
    for _ in range(STEPS):
        found = squared <= limit * weighted_quantile(squared, mass, 0.5)
        if np.array_equal(found, inner):
            break
        inner, own = found, mass[found]
        center = own @ values[inner] / own.sum()
        away = values[inner] - center
        scatter = (own[:, None] * away).T @ away + (d + 1) * np.diag(common)
        root = np.linalg.cholesky(scatter / (own.sum() + d + 1))
        squared = _squared(values - center, root)
    return _Shape(center, root, *_yardstick(np.cbrt(squared), mass, d))


def _yardstick(far: FloatArray, mass: FloatArray, d: int) -> tuple[float, float]:
    """Find the middle of a cluster's distances and their spread, from the rows that are no outliers by them.

    They begin with quantiles that a third of outliers does not reach. The spread is then that of the farther half of
    the rows that are left, so that long tails, which the quantiles do not see, widen it. If it widens too much, rows
    from outside have been taken in, and the quantiles hold.
    """
    middle, high = (weighted_quantile(far, mass, q) for q in (0.5, HIGH))
    width = _width(far, mass, middle, (high - middle) / ndtri(HIGH), d)
    first = middle, width
    left = np.zeros(len(far), dtype=bool)
    for _ in range(STEPS):
        found = far <= middle + LEVEL * width
        if np.array_equal(found, left):
            break
        left = found
        middle = weighted_quantile(far[left], mass[left], 0.5)
        upper = left & (far > middle)
        spread = np.sqrt(np.average((far[upper] - middle) ** 2, weights=mass[upper])) if upper.any() else 0.0
        width = _width(far[left], mass[left], middle, float(spread), d)
        if width > WIDEST * first[1]:
            return first
    return middle, width


def _width(far: FloatArray, mass: FloatArray, middle: float, above: float, d: int) -> float:
    """Take the spread above the middle, but not less than that below it or half of a normal distribution's."""
    below = (middle - weighted_quantile(far, mass, LOW)) / -ndtri(LOW)
    return float(max(above, below, np.sqrt(2 / (9 * d)) * middle / 2, np.finfo(np.float64).tiny))


def _squared(away: FloatArray, root: FloatArray) -> FloatArray:
    """Compute the squared Mahalanobis length of each row."""
    lengths: FloatArray = (scipy.linalg.solve_triangular(root, away.T, lower=True) ** 2).sum(axis=0)
    return lengths


def _quantiles(values: FloatArray, mass: FloatArray, q: float) -> FloatArray:
    """Find the quantile of each column."""
    return np.array([weighted_quantile(column, mass, q) for column in values.T])


def are_outliers(rule: OutlierRule, labels: Any, nearest: Any) -> Any:
    """Tell which fitted rows are outliers, those that keep a cluster of their own included; arrays of any kind."""
    found = labels == OUTLIER
    for cluster in rule.spared:
        found = found | (nearest == cluster)
    return found


def without_outliers(rule: OutlierRule, clusters: Any, outside: Any) -> Any:
    """Give outliers no label, but for those of spared clusters; arrays may be of any kind."""
    for cluster in rule.spared:
        outside = outside & (clusters != cluster)
    return clusters + outside * (OUTLIER - clusters)
