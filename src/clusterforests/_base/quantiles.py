"""Quantiles of weighted values."""

import numpy as np

from clusterforests._base.typing import FloatArray


def weighted_quantile(values: FloatArray, weights: FloatArray, q: float) -> float:
    """Find a quantile of known values; where a share of exactly q lies below a gap, the middle of the gap."""
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weights[order])
    target = q * upto[-1]
    slack = 1e-9 * upto[-1]
    low = min(int(np.searchsorted(upto, target - slack)), len(values) - 1)
    high = min(int(np.searchsorted(upto, target + slack, side="right")), len(values) - 1)
    return float(values[order[low]] / 2 + values[order[high]] / 2)
