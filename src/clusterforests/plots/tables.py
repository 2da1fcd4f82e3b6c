"""The fitted table as numbers, with a name for each column."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from clusterforests._base.typing import FloatArray, IntArray
from clusterforests.estimator import ClusterForest


class NamedTable(NamedTuple):
    """Columns of numbers, NaN where missing. A category is a column for each level, or one if it has two."""

    values: FloatArray
    names: list[str]
    first: IntArray  # column of each feature
    widths: IntArray  # columns of each feature


def feature_names(forest: ClusterForest, given: Sequence[Any] | None = None) -> list[str]:
    """Those given, or those of the fitted frame, or numbers."""
    names = getattr(forest, "feature_names_in_", None) if given is None else given
    if names is not None and (isinstance(names, str) or len(names) != forest.n_features_in_):
        raise ValueError(f"names must be {forest.n_features_in_} names, one for each feature; it is {given!r}.")
    return [f"feature {j}" for j in range(forest.n_features_in_)] if names is None else [str(name) for name in names]


def named_table(forest: ClusterForest, X: Any, given: Sequence[Any] | None = None) -> NamedTable:
    """X, which must be the table that the forest was fitted on."""
    encoded = forest._encoding.apply(forest, X)
    if len(encoded.values) != len(forest.labels_):
        raise ValueError(
            f"X has {len(encoded.values)} rows but the forest was fitted on {len(forest.labels_)}. Pass the table it "
            "was fitted on."
        )
    names = []
    for j, name in enumerate(feature_names(forest, given)):
        levels = forest._encoding.levels.get(j)
        if levels is None:
            names.append(name)
        else:
            names.extend(f"{name} = {level}" for level in (levels[-1:] if encoded.widths[j] == 1 else levels))
    return NamedTable(encoded.values, names, encoded.first, encoded.widths)
