"""What of the user's table goes into the report: some of its rows as numbers, and the names of rows and columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._base.random import Purpose, permutations, stream
from clusterforests._base.size_limits import DEFAULT_LIMITS
from clusterforests._base.typing import AnyArray, FloatArray, IndexArray
from clusterforests.tables.frames import column_names, is_missing
from clusterforests.tables.row_blocks import open_source

LOOKED_AT = 20000  # rows that statements about features, clusters and pairs are made from
AT_LEAST = 5  # of them from each cluster
LONGEST_NAME = 200


@dataclass(frozen=True)
class Column:
    """A column of the encoded table: a feature of numbers, or one level of a category."""

    feature: int
    name: str
    level: str | None


@dataclass(frozen=True)
class Table:
    """The rows that are looked at."""

    rows: IndexArray  # ascending
    values: FloatArray  # (rows, columns), NaN where a cell is missing
    columns: list[Column]
    names: list[str]  # of the features
    ids: list[str] | None  # of all rows; None if they have no names
    missing: int  # cells of the rows that are looked at


def read_table(forest: Any, X: Any, names: Any, ids: Any) -> Table:
    """At most about 20,000 rows of X as numbers; all clusters are among them."""
    n = len(forest.labels_)
    shape = getattr(X, "shape", None)
    n_given = len(X) if shape is None else shape[0]
    if n_given != n:
        raise ValueError(f"X has {n_given} rows but the forest was fitted on {n}. Pass the table that was fitted.")
    rows = thin(forest.labels_, LOOKED_AT, AT_LEAST)
    encoding = forest._encoding
    source = open_source(X) if DEFAULT_LIMITS.is_large(n) and not encoding.levels else None
    if source is None:
        values = encoding.apply(forest, X).values[rows]
    else:
        _check_columns(forest, source.shape[1], column_names(X))
        values = source.take(rows)
    titles = _titles(forest, X, names)
    columns = _columns(encoding, titles)
    shown = values[:, encoding._places()[0]]
    return Table(rows, values, columns, titles, _names_of("ids", ids, n, "rows"), int(np.isnan(shown).sum()))


def thin(labels: AnyArray, limit: int, at_least: int) -> IndexArray:
    """Random rows, about `limit` of them: of each cluster its share, but no fewer than `at_least` if it has them."""
    n = len(labels)
    if n <= limit:
        return np.arange(n)
    order = permutations(stream(0, Purpose.REPORTED_ROWS), n)[0]
    sizes = np.bincount(labels)
    if len(sizes) * at_least > limit:
        return np.sort(order[:limit])
    quotas = np.maximum(limit * sizes // n, np.minimum(sizes, at_least))
    by_cluster = order[np.argsort(labels[order], kind="stable")]
    starts = np.cumsum(sizes) - sizes
    chosen = [by_cluster[start : start + quota] for start, quota in zip(starts, quotas, strict=True)]
    return np.sort(np.concatenate(chosen))


def shorten(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "\u2026"


def _check_columns(forest: Any, n_columns: int, names: list[Any] | None) -> None:
    known = getattr(forest, "feature_names_in_", None)
    if n_columns != forest.n_features_in_:
        raise ValueError(f"X has {n_columns} columns but the forest was fitted on {forest.n_features_in_} features.")
    if known is not None and names is not None and names != list(known):
        j = next(j for j, name in enumerate(names) if name != known[j])
        raise ValueError(
            f"The feature names should match those of the fitted table: column {j} of X is {names[j]!r}, there it was "
            f"{known[j]!r}. Pass the table that was fitted."
        )


def _titles(forest: Any, X: Any, names: Any) -> list[str]:
    p = int(forest.n_features_in_)
    given = _names_of("names", names, p, "columns")
    if given is None:
        known = getattr(forest, "feature_names_in_", None)
        known = column_names(X) if known is None else list(known)
        given = [f"column {j + 1}" for j in range(p)] if known is None else [str(name) for name in known]
    return [shorten(name) for name in given]


def _names_of(parameter: str, given: Sequence[Any] | None, n: int, what: str) -> list[str] | None:
    if given is None:
        return None
    if isinstance(given, (str, bytes)) or not hasattr(given, "__len__") or len(given) != n:
        found = len(given) if hasattr(given, "__len__") else type(given).__name__
        raise ValueError(f"{parameter} must hold {n} names, one for each of the {what} of X; it has {found}.")
    return ["" if is_missing(name) else str(name) for name in given]


def _columns(encoding: Any, titles: list[str]) -> list[Column]:
    columns = []
    for j, width in enumerate(encoding._places()[1].tolist()):
        levels = encoding.levels.get(j)
        if levels is None:
            columns.append(Column(j, titles[j], None))
        elif width == 1:
            columns.append(Column(j, titles[j], shorten(str(levels[-1])) if len(levels) > 1 else None))
        else:
            columns += [Column(j, titles[j], shorten(str(level))) for level in levels]
    return columns
