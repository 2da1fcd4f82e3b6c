"""Agreement of a clustering with known classes, as the paper measures it."""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import rand_score
from sklearn.metrics.cluster import contingency_matrix


def rand_index(labels_true: Any, labels_pred: Any) -> float:
    """Return rho_r, the share of pairs of rows on which two labellings agree: together or apart (Definition 5)."""
    return float(rand_score(labels_true, labels_pred))


def clustering_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Return rho_c, the share of rows that agree under the best one-to-one matching of labels (Definition 6).

    If there are more clusters than classes, or fewer, those left without a partner count as wrong.
    """
    table = contingency_matrix(labels_true, labels_pred)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / np.sum(table))
