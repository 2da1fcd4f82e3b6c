"""Statistics of weighted rows: the adjusted Rand index, quantiles, valleys of density."""

import numpy as np
from scipy.special import bdtr

from clusterforests._utils.arrays import AnyIntArray, FloatArray

# A share of the pairs that is smaller than this is rounding.
EXPECTED_INDEX_ROUNDING = 1e-15


def contingency(a: AnyIntArray, b: AnyIntArray, weights: FloatArray, n_clusters: int | None = None) -> FloatArray:
    """Sum the weights of the rows in each pair of clusters, leaving out rows with a negative label.

    `n_clusters` is the number of clusters of `a`, if it has more than these rows show.
    """
    known = (a >= 0) & (b >= 0)
    shape = (int(a.max()) + 1 if n_clusters is None else n_clusters, max(int(b.max()), 0) + 1)
    cells = a[known].astype(np.int64) * shape[1] + b[known]
    return np.bincount(cells, weights[known], minlength=shape[0] * shape[1]).astype(np.float64).reshape(shape)


def adjusted_rand(
    a: AnyIntArray, b: AnyIntArray, weights: FloatArray | None = None, *, replacement: bool = False
) -> float:
    """Compare two clusterings, over the rows that have a label (not below zero) in both.

    Pairs are of distinct rows, where a row of weight w counts as w copies of itself. With `replacement` they are pairs
    of draws from the weighted rows, so that only the ratios of the weights matter.

    Returns
    -------
    index : float
        1 if the clusterings are equal, about 0 if they are unrelated, NaN if there is no pair.
    """
    weights = np.ones(len(a)) if weights is None else weights
    table = contingency(a, b, weights)
    known = weights[(a >= 0) & (b >= 0)]
    total = float(known.sum())
    alone = 0.0 if replacement else float((known * np.minimum(known, 1.0)).sum())
    if total**2 - alone <= 0:
        return float("nan")
    alone /= total**2
    shares = table / total
    both, of_a, of_b = (float((t**2).sum()) - alone for t in (shares, shares.sum(axis=1), shares.sum(axis=0)))
    expected, largest = of_a * of_b / (1.0 - alone), (of_a + of_b) / 2
    return 1.0 if largest - both < EXPECTED_INDEX_ROUNDING else (both - expected) / (largest - expected)


# Quantiles of weighted values.


def weighted_quantile(values: FloatArray, weights: FloatArray, q: float) -> float:
    """Find a quantile of known values; where a share of exactly q lies below a gap, the middle of the gap."""
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weights[order])
    target = q * upto[-1]
    slack = 1e-9 * upto[-1]
    low = min(int(np.searchsorted(upto, target - slack)), len(values) - 1)
    high = min(int(np.searchsorted(upto, target + slack, side="right")), len(values) - 1)
    return float(values[order[low]] / 2 + values[order[high]] / 2)


# A valley of density between two groups of points on a line.
#
# A density with one mode is never lowest in the middle one of three intervals. Whatever the shape of a single group
# (Gaussian, heavy-tailed, flat), rows that thin out between two points and grow dense again speak for two.


# Half-widths of the intervals, as shares of the groups' distance.
VALLEY_WIDTHS = np.array([0.1, 0.15, 0.2, 0.25])
# The widths are nearly one test: the best of four costs less than Bonferroni's factor.
VALLEY_TRIES = 2.0


def valley(first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """Find the p-value and the depth of the valley between points around 0 and points around 1.

    Binomial tests compare the count in an interval between them with those in an interval around each; of the two
    sides the one with less evidence counts. The middle lies nearer to the group that is less spread out.
    """
    spread = np.array([first.std(), second.std()]) + np.finfo(float).tiny
    middle = np.clip(spread[0] / spread.sum(), 0.3, 0.7)
    ends = np.array(
        [
            [-VALLEY_WIDTHS, np.minimum(VALLEY_WIDTHS, middle - VALLEY_WIDTHS)],
            [middle - VALLEY_WIDTHS, middle + VALLEY_WIDTHS],
            [np.maximum(1 - VALLEY_WIDTHS, middle + VALLEY_WIDTHS), 1 + VALLEY_WIDTHS],
        ]
    )
    points = np.sort(np.concatenate([first, second]))
    low, between, high = np.diff(np.searchsorted(points, ends), axis=1)[:, 0]
    widths = np.diff(ends, axis=1)[:, 0]
    p = np.maximum(
        bdtr(between, between + low, widths[1] / (widths[1] + widths[0])),
        bdtr(between, between + high, widths[1] / (widths[1] + widths[2])),
    )
    best = int(np.argmin(p))
    core = min(low[best] / widths[0, best], high[best] / widths[2, best])
    depth = 1 - between[best] / widths[1, best] / core if core > 0 else 0.0
    return min(1.0, VALLEY_TRIES * float(p[best])), max(-1.0, float(depth))
