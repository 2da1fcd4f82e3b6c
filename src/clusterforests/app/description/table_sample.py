"""The user's table for the description and the report: some of its rows as numbers, and names of rows and columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._utils.arrays import AnyArray, FloatArray, IndexArray
from clusterforests._utils.random import Purpose, permutations, stream
from clusterforests.forest_view import ForestView
from clusterforests.inspection.stability import N_SPLITS
from clusterforests.rows.fitted_table import take_rows
from clusterforests.table.frames import column_names, is_dask, is_missing

# How much of a large table the description is made from.


@dataclass(frozen=True)
class DescriptionLimits:
    """Sizes that keep a description quick to make."""

    sample_rows: int = 20_000  # rows that statements about features, clusters and pairs are based on
    sample_rows_per_cluster: int = 5  # at least
    splits: int = N_SPLITS  # of the forest into two halves


MAX_NAME = 200  # characters


@dataclass(frozen=True)
class NamedColumn:
    """A column of the table as numbers: a feature that is a number, or one level of a category."""

    feature: int
    name: str
    level: str | None


@dataclass(frozen=True)
class TableSample:
    """The rows that statements about features, clusters and pairs are based on."""

    rows: IndexArray  # ascending
    values: FloatArray  # (rows, columns), NaN where a cell is missing
    columns: list[NamedColumn]
    names: list[str]  # of the features
    ids: list[str] | None  # names of all rows; None if they have none
    missing: int  # missing cells in the sample


def sample_table(view: ForestView, X: Any, names: Any, ids: Any, limits: DescriptionLimits) -> TableSample:
    """Read some rows of X as numbers, some of every cluster among them."""
    n = len(view.labels)
    rows = representative_rows(view.labels, limits.sample_rows, limits.sample_rows_per_cluster)
    some = None if len(rows) == n and not is_dask(X) else take_rows(X, rows)
    encoded = view.encode(X if some is None else some)
    values = encoded.values[rows] if some is None else encoded.values
    titles = _titles(view, X, names)
    columns = [
        NamedColumn(feature, titles[feature], None if level is None else shorten(str(level)))
        for feature, level in view.columns()
    ]
    missing = int(np.isnan(values[:, encoded.first]).sum())
    return TableSample(rows, values, columns, titles, _names_of("ids", ids, n, "rows"), missing)


def representative_rows(labels: AnyArray, limit: int, per_cluster: int) -> IndexArray:
    """Draw about `limit` random rows: each cluster's share, but at least `per_cluster` of it if it has that many."""
    n = len(labels)
    if n <= limit:
        return np.arange(n)
    order = permutations(stream(0, Purpose.REPORTED_ROWS), n)[0]
    sizes = np.bincount(labels)
    if len(sizes) * per_cluster > limit:
        return np.sort(order[:limit])
    quotas = np.maximum(limit * sizes // n, np.minimum(sizes, per_cluster))
    by_cluster = order[np.argsort(labels[order], kind="stable")]
    starts = np.cumsum(sizes) - sizes
    chosen = [by_cluster[start : start + quota] for start, quota in zip(starts, quotas, strict=True)]
    return np.sort(np.concatenate(chosen))


def shorten(text: str) -> str:
    """Cut a name that is too long for the page."""
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 1] + "\u2026"


def _titles(view: ForestView, X: Any, names: Any) -> list[str]:
    given = _names_of("names", names, view.n_features, "columns") or view.feature_names or column_names(X)
    if given is None:
        given = [f"column {j + 1}" for j in range(view.n_features)]
    return [shorten(str(name)) for name in given]


def _names_of(parameter: str, given: Sequence[Any] | None, n: int, what: str) -> list[str] | None:
    if given is None:
        return None
    if isinstance(given, (str, bytes)) or not hasattr(given, "__len__") or len(given) != n:
        found = len(given) if hasattr(given, "__len__") else type(given).__name__
        raise ValueError(f"{parameter} must hold {n} names, one for each of the {what} of X; it has {found}.")
    return ["" if is_missing(name) else str(name) for name in given]
