"""Groups by the highest score, none of them empty."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from clusterforests._base.typing import FloatArray, IntArray


def best_nonempty_groups(scores: FloatArray, weights: FloatArray) -> IntArray:
    """Give each row the group with its highest score, the first on ties, but leave no group empty.

    Of all labellings without an empty group this one has the highest sum of weighted scores: each group claims one row
    and the others are free, so the cost of the claims is an assignment problem.
    """
    labels: IntArray = scores.argmax(axis=1).astype(np.int32)
    if len(np.unique(labels)) < scores.shape[1]:
        cost = weights[:, None] * (scores.max(axis=1, keepdims=True) - scores)
        claimed, groups = linear_sum_assignment(cost)
        labels[claimed] = groups
    return labels
