"""Whether a table is the one that a forest was fitted on, rows in the same order."""

import warnings
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray
from clusterforests.description.table_sample import take_rows
from clusterforests.forest_view import ForestView
from clusterforests.rows.results import in_memory

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


# Whether the columns of a table are those that a forest was fitted on, by their means and standard deviations.

TOLERANCE = 0.1  # of a standard deviation, and of its logarithm: cells that are rounded change less
SAMPLE_TOLERANCE = 0.5  # where some rows stand for all


def check_same_columns(view: ForestView, rows: IndexArray, values: FloatArray) -> list[str]:
    """Compare the columns of encoded rows with those of the fit: another unit need not change what `predict` says.

    Returns a caution if some differ. Columns with missing cells are not compared, because `fit` filled these.
    """
    known = view.column_moments()
    if known is None:
        return []
    weights = np.ones(len(rows)) if view.weights is None else view.weights[rows]
    share = (weights / weights.sum())[:, None]
    with np.errstate(
        all="ignore"
    ):  # a column of another unit may be far too large, and one of equal cells has no scale
        unit = np.ldexp(values, -known.exponent)
        mean = (share * unit).sum(axis=0)
        deviation = np.sqrt((share * (unit - mean) ** 2).sum(axis=0))
        apart = np.maximum(np.abs(mean - known.mean), known.deviation * np.abs(np.log(deviation / known.deviation)))
    tolerance = TOLERANCE if len(rows) == len(view.labels) else SAMPLE_TOLERANCE
    found = np.flatnonzero((apart > tolerance * known.deviation) & ~np.isnan(values).any(axis=0))
    if not len(found):
        return []
    first, columns = found[0], view.columns()
    names = view.feature_names
    where = columns[first].title(names or [f"column {j + 1}" for j in range(view.n_features)])
    now, before = (f"{float(np.ldexp(x[first], known.exponent[first])):.3g}" for x in (mean, known.mean))
    spread, fitted = (f"{float(np.ldexp(x[first], known.exponent[first])):.3g}" for x in (deviation, known.deviation))
    count = f"{len(found):,} column{'s' if len(found) > 1 else ''} of this table"
    return [
        f"{count} cannot be as fitted, the first is {where}: mean {now} and standard deviation {spread}, in the fit "
        f"{before} and {fitted}. What is said of values is of this table."
    ]
