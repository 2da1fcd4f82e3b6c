"""The adjusted Rand index of two clusterings of weighted rows."""

import numpy as np

from clusterforests._base.typing import AnyIntArray, FloatArray

ROUNDING = 1e-15  # a share of the pairs that is smaller than this is rounding


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
    mass = np.ones(len(a)) if weights is None else weights
    table = contingency(a, b, mass)
    known = mass[(a >= 0) & (b >= 0)]
    total = float(known.sum())
    alone = 0.0 if replacement else float((known * np.minimum(known, 1.0)).sum())
    if total**2 - alone <= 0:
        return float("nan")
    alone /= total**2
    shares = table / total
    both, of_a, of_b = (float((t**2).sum()) - alone for t in (shares, shares.sum(axis=1), shares.sum(axis=0)))
    expected, largest = of_a * of_b / (1.0 - alone), (of_a + of_b) / 2
    return 1.0 if largest - both < ROUNDING else (both - expected) / (largest - expected)
