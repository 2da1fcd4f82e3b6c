"""Do the clusters only repeat one feature?"""

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray, count_values
from clusterforests._utils.statistics import adjusted_rand
from clusterforests.table.feature_columns import EncodedTable

MOST_VALUES = 50
ROWS_PER_VALUE = 3  # at least: where each row has its own value, that value is no category
CELLS_AT_ONCE = 2**22
SAME = 0.9  # adjusted Rand index from which a feature counts as repeated


def repeated_features(table: EncodedTable, labels: IntArray, weights: FloatArray | None) -> dict[int, float]:
    """Find the features of few values that agree with the clusters, and their adjusted Rand indices.

    `labels` are the clusters of the first rows of the table. The only feature of a table is not repeated: nothing else
    could be found.
    """
    if labels.max(initial=0) == 0 or len(table.widths) == 1:
        return {}
    mass = np.ones(len(labels)) if weights is None else weights[: len(labels)]
    whole = bool((mass == np.rint(mass)).all())  # then a weight is so many equal rows
    most = min(MOST_VALUES, int(mass.sum() if whole else (mass > 0).sum()) // ROWS_PER_VALUE)
    found = {}
    for feature in _with_few_values(table, len(labels), most):
        columns = table.values[: len(labels), table.first[feature] : table.first[feature] + table.widths[feature]]
        values = columns[:, 0] if columns.shape[1] == 1 else columns.argmax(axis=1)
        index = adjusted_rand(labels, np.unique(values, return_inverse=True)[1], mass, replacement=True)
        if index >= SAME:
            found[int(feature)] = float(index)
    return found


def _with_few_values(table: EncodedTable, rows: int, most: int) -> IndexArray:
    """Find the features that have from two to so many values."""
    count = table.widths.astype(np.intp)
    single = np.flatnonzero(table.widths == 1)
    at_once = max(1, CELLS_AT_ONCE // max(1, rows))
    for start in range(0, len(single), at_once):
        some = single[start : start + at_once]
        count[some] = count_values(table.values[:rows, table.first[some]])
    return np.flatnonzero((count > 1) & (count <= most))
