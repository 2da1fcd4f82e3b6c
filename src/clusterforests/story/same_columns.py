"""Whether the columns of a table are those that a forest was fitted on, by their means and standard deviations."""

import numpy as np

from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.forest_view import ForestView

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
