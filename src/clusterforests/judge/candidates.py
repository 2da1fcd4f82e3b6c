"""The numbers of clusters that a user asks for, checked against the rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from clusterforests._utils.validation import ascending, warn_caller
from clusterforests.consensus.nodes import check_landmarks
from clusterforests.table.checks import check_enough_rows
from clusterforests.trees.settings import Setting

MOST_CLUSTERS = 50  # that "auto" chooses


def asked_n_clusters(n_clusters: Any, landmarks: Any, n_distinct: int, n_rows: int) -> tuple[Setting, list[int]]:
    """Check the number of clusters against the rows; or list the candidates, if it is to be chosen."""
    if isinstance(n_clusters, (int, np.integer)):
        check_landmarks(landmarks, int(n_clusters))
        check_enough_rows(n_rows, int(n_clusters))
        if n_clusters <= n_distinct:
            return Setting(int(n_clusters), "given"), []
        reason = f"X has {n_distinct} distinct rows, fewer than n_clusters={n_clusters}: each becomes a cluster."
        warn_caller(reason, ConvergenceWarning)
        return Setting(n_distinct, reason), []
    asked: Sequence[int] = range(1, MOST_CLUSTERS + 1) if isinstance(n_clusters, str) else n_clusters
    candidates = ascending(asked, n_distinct)
    if not candidates:
        raise ValueError(f"n_clusters={n_clusters!r}: X has only {n_distinct} distinct rows. Give lower numbers.")
    return Setting(candidates[0], "lowest candidate"), candidates
