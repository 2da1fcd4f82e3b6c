"""Do the clusters only repeat one feature?"""

import numpy as np

from clusterforests._base.adjusted_rand import adjusted_rand
from clusterforests._base.typing import FloatArray, IntArray
from clusterforests.tables.feature_columns import EncodedTable

MOST_VALUES = 50
ROWS_PER_VALUE = 3  # at least: where each row has its own value, that value is no category
SAME = 0.9  # adjusted Rand index from which a feature counts as repeated


def repeated_features(table: EncodedTable, labels: IntArray, weights: FloatArray | None) -> dict[int, float]:
    """Find the features of few values that agree with the clusters, and their adjusted Rand indices.

    `labels` are the clusters of the first rows of the table. The only feature of a table is not repeated: nothing else
    could be found.
    """
    if labels.max(initial=0) == 0 or len(table.widths) == 1:
        return {}
    mass = None if weights is None else weights[: len(labels)]
    found = {}
    for feature, (first, width) in enumerate(zip(table.first, table.widths, strict=True)):
        columns = table.values[: len(labels), first : first + width]
        values = columns[:, 0] if width == 1 else columns.argmax(axis=1)
        levels, members = np.unique(values, return_inverse=True)
        if 1 < len(levels) <= min(MOST_VALUES, len(labels) // ROWS_PER_VALUE):
            index = adjusted_rand(labels, members, mass, replacement=True)
            if index >= SAME:
                found[feature] = float(index)
    return found
