"""The fitted table as numbers, with a name for each column."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from clusterforests._base.typing import FloatArray
from clusterforests.diagnostics.arguments import check_names
from clusterforests.forest_view import ForestView


class NamedColumns(NamedTuple):
    """Columns of numbers, NaN where a cell is missing. A category has a column per level, or one if it has two."""

    values: FloatArray
    names: list[str]


def feature_names(view: ForestView, given: Sequence[Any] | None = None) -> list[str]:
    """Return the given names, or those of the fitted frame, or numbers."""
    return check_names(view.feature_names if given is None else given, view.n_features)


def named_columns(view: ForestView, X: Any, given: Sequence[Any] | None = None) -> NamedColumns:
    """Encode X, which must be the table that the forest was fitted on."""
    encoded = view.encode(X)
    if len(encoded.values) != len(view.labels):
        raise ValueError(
            f"X has {len(encoded.values)} rows but the forest was fitted on {len(view.labels)}. Pass the table it was "
            "fitted on."
        )
    features = feature_names(view, given)
    return NamedColumns(encoded.values, [column.title(features) for column in view.columns()])
