"""Whether a table is the one that a forest was fitted on, rows in the same order."""

import warnings
from typing import Any

import numpy as np

from clusterforests.forest_view import ForestView
from clusterforests.rows.results import in_memory
from clusterforests.story.table_rows import take_rows

BLOCKS = 16  # of rows that are compared, from the first to the last
BLOCK_ROWS = 1024
REFUSED = 0.05  # of these rows in other clusters: another table, or other rows
ELSEWHERE = 0.25  # of them, where another clusterer made the trees


def check_same_table(view: ForestView, X: Any) -> list[str]:
    """Compare the clusters of some rows with what `predict` says of them: it puts fitted rows where they are.

    Returns a caution if a few rows differ, as they do where cells were rounded; refuses the table if many do. Where
    another clusterer made the trees, a row need not be where its centre is nearest: only many such rows are a caution.
    """
    n = len(view.labels)
    step = max(BLOCK_ROWS, -(-n // BLOCKS))
    rows = np.concatenate([np.arange(first, min(first + BLOCK_ROWS, n)) for first in range(0, n, step)])
    rows = np.setdiff1d(rows, view.guided_rows())  # `predict` does not know what the user told of them
    if not len(rows):
        return []
    some = take_rows(X, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = in_memory(view.forest.predict(X))[rows] if some is None else in_memory(view.forest.predict(some))
    count, wrong = len(rows), int(np.count_nonzero(found != view.predicted(rows)))
    if not wrong:
        return []
    what = f"`predict` puts {wrong:,} of {count:,} rows of this table into other clusters than the fit"
    if view.parameters["estimator"] is not None:
        if wrong <= ELSEWHERE * count:
            return []
        return [
            f"{what}: it may be another table, or in another order, unless `estimator` makes clusters without centres."
        ]
    if wrong > REFUSED * count:
        raise ValueError(
            f"X is not the table that the forest was fitted on, or its rows are in another order: {what}. Pass the "
            "table it was fitted on."
        )
    return [f"{what}: it may not be quite the table that was clustered."]
