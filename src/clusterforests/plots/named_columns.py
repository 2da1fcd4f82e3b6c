"""The fitted table as numbers, with a name for each column."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from clusterforests._base.typing import FloatArray
from clusterforests._base.warnings import warn_caller
from clusterforests.diagnostics.arguments import check_names
from clusterforests.forest_view import ForestView
from clusterforests.story.same_columns import check_same_columns
from clusterforests.story.same_table import check_same_table
from clusterforests.story.table_rows import count_rows, take_rows
from clusterforests.tables.frames import is_dask


class NamedColumns(NamedTuple):
    """Columns of numbers, NaN where a cell is missing. A category has a column per level, or one if it has two."""

    values: FloatArray
    names: list[str]


def feature_names(view: ForestView, given: Sequence[Any] | None = None) -> list[str]:
    """Return the given names, or those of the fitted frame, or numbers."""
    return check_names(view.feature_names if given is None else given, view.n_features)


def named_columns(view: ForestView, X: Any, given: Sequence[Any] | None = None) -> NamedColumns:
    """Encode X, which must be the table that the forest was fitted on; warn if it may not quite be."""
    n, n_given = len(view.labels), count_rows(X)
    if n_given != n:
        raise ValueError(f"X has {n_given} rows but the forest was fitted on {n}. Pass the table it was fitted on.")
    rows = np.arange(n)
    encoded = view.encode(take_rows(X, rows) if is_dask(X) else X)
    for doubt in check_same_table(view, X) + check_same_columns(view, rows, encoded.values):
        warn_caller(doubt)
    features = feature_names(view, given)
    return NamedColumns(encoded.values, [column.title(features) for column in view.columns()])
