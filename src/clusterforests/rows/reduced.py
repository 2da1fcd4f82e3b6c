"""What a forest says of the columns of a wide sparse table, whose components its trees see."""

from dataclasses import replace
from typing import Any

import numpy as np

from clusterforests.rows.results import clusters_of, in_memory
from clusterforests.tables.reduction import Reduction


def publish_columns(forest: Any, X: Any, reduction: Reduction) -> None:
    """Set the attributes that have an entry for each column: every tree uses all columns."""
    everything = np.arange(forest.n_features_in_, dtype=np.int32)
    forest.estimators_features_ = [everything] * len(forest.estimators_features_)
    forest.feature_importances_ = reduction.importances(X, in_memory(clusters_of(forest)))
    forest.feature_pvalues_ = np.full(forest.n_features_in_, np.nan)
    forest.repeated_features_, forest._donors = {}, None
    if forest.n_clusters_evidence_ is not None:
        forest.n_clusters_evidence_ = replace(forest.n_clusters_evidence_, columns=everything.astype(np.intp))
