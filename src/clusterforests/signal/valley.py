"""A valley of density between two groups of places on a line.

A density with one mode is never lowest in the middle one of three intervals. Whatever the shape of a single group
(Gaussian, heavy-tailed, flat), rows that thin out between two places and grow dense again speak for two.
"""

import numpy as np
from scipy.special import bdtr

from clusterforests._base.typing import FloatArray

WIDTHS = np.array([0.1, 0.15, 0.2, 0.25])  # half-widths of the intervals, as shares of the groups' distance
TRIES = 2.0  # the widths are nearly one test: the best of four costs less than Bonferroni's factor


def valley(first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """Find the p-value and the depth of the valley between places around 0 and places around 1.

    Binomial tests compare the count in an interval between them with those in an interval around each; of the two
    sides the one with less evidence counts. The middle lies nearer to the group that is less spread out.
    """
    spread = np.array([first.std(), second.std()]) + np.finfo(float).tiny
    middle = np.clip(spread[0] / spread.sum(), 0.3, 0.7)
    ends = np.array(
        [
            [-WIDTHS, np.minimum(WIDTHS, middle - WIDTHS)],
            [middle - WIDTHS, middle + WIDTHS],
            [np.maximum(1 - WIDTHS, middle + WIDTHS), 1 + WIDTHS],
        ]
    )
    places = np.sort(np.concatenate([first, second]))
    low, between, high = np.diff(np.searchsorted(places, ends), axis=1)[:, 0]
    widths = np.diff(ends, axis=1)[:, 0]
    p = np.maximum(
        bdtr(between, between + low, widths[1] / (widths[1] + widths[0])),
        bdtr(between, between + high, widths[1] / (widths[1] + widths[2])),
    )
    best = int(np.argmin(p))
    core = min(low[best] / widths[0, best], high[best] / widths[2, best])
    depth = 1 - between[best] / widths[1, best] / core if core > 0 else 0.0
    return min(1.0, TRIES * float(p[best])), max(-1.0, float(depth))
