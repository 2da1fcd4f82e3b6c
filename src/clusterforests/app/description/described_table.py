"""The table that is described: some of its rows as numbers, and how each column is put into words."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.pipeline import Pipeline

from clusterforests._utils.arrays import FloatArray, IndexArray
from clusterforests._utils.random import representative_rows
from clusterforests.app.description.clustering import Clustering, forest_of
from clusterforests.app.description.words import ABSENT, PRESENT, SHARE, ColumnWords
from clusterforests.app.table_reader.columns import ColumnReading, Kind

SAMPLE_ROWS = 20_000  # that statements about columns and clusters are based on, so that a description is quick to make
ROWS_PER_CLUSTER = 5  # at least
MAX_NAME = 200  # characters
WITH_UNIT = re.compile(r"(.*\w)\s*[(\[]([^\s()\[\],;:\"]{1,8})[)\]]")  # "petal length (cm)"


@dataclass(frozen=True)
class DescribedTable:
    """The rows that statements about columns and clusters are based on."""

    rows: IndexArray  # ascending
    values: FloatArray  # (rows, columns), NaN where a cell is missing
    columns: list[ColumnWords]
    encoded: Sequence[Any]  # which feature, or which of its levels, each column is: see `encode`
    names: list[str]  # of the features
    ids: list[str] | None  # names of all rows; None if they have none
    missing: int  # missing cells in the sample
    readings: Sequence[ColumnReading]  # how each column of a messy table was read
    words_of_text: bool  # a sparse table whose columns were not tested one by one: only cells that are not 0 count

    @property
    def n_features(self) -> int:
        """Number of features, without the columns that were dropped."""
        return len({column.feature for column in self.columns})


def typed_table(model: Any, X: Any) -> tuple[Any, Sequence[ColumnReading]]:
    """Return the table as the forest of a model sees it, and how its columns were read."""
    steps = model[:-1] if isinstance(model, Pipeline) else ()
    readings: Sequence[ColumnReading] = ()
    for step in [forest_of(model), *steps]:
        readings = getattr(step, "columns_", readings)
    return (model[:-1].transform(X) if len(steps) else X), readings


def read_table(
    clustering: Clustering,
    X: Any,
    names: Any,
    ids: Any,
    readings: Sequence[ColumnReading] = (),
    sample_rows: int = SAMPLE_ROWS,
) -> DescribedTable:
    """Read some rows of a typed table as numbers, some of every cluster among them."""
    forest, n = clustering.forest, len(clustering.labels)
    rows = representative_rows(clustering.labels, sample_rows, ROWS_PER_CLUSTER)
    encoded = forest.encode(X, None if len(rows) == n else rows)
    values = encoded.values
    titles = _titles(forest, X, names)
    words_of_text = scipy.sparse.issparse(X) and bool(np.isnan(forest.feature_pvalues_).all())
    if words_of_text:
        columns = [ColumnWords(c.feature, titles[c.feature], SHARE, PRESENT, ABSENT) for c in encoded.columns]
        values = (values != 0).astype(np.float64)
    else:
        columns = _words(encoded, values, titles, {reading.feature: reading for reading in readings or _types(X)})
    first = np.unique([column.feature for column in columns], return_index=True)[1]
    missing = int(np.isnan(values[:, first]).sum())
    return DescribedTable(
        rows,
        values,
        columns,
        encoded.columns,
        titles,
        names_of("ids", ids, n, "rows"),
        missing,
        readings,
        words_of_text,
    )


def shorten(text: str) -> str:
    """Cut a name that is too long for the page."""
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 1] + "\u2026"


def names_of(parameter: str, given: Sequence[Any] | None, n: int, what: str) -> list[str] | None:
    """Check names of rows or columns."""
    if given is None:
        return None
    if isinstance(given, (str, bytes)) or not hasattr(given, "__len__") or len(given) != n:
        found = len(given) if hasattr(given, "__len__") else type(given).__name__
        raise ValueError(f"{parameter} must hold {n} names, one for each of the {what} of X; it has {found}.")
    names = pd.Series(list(given), dtype=object)
    return ["" if missing else str(name) for name, missing in zip(names, names.isna(), strict=True)]


def _titles(forest: Any, X: Any, names: Any) -> list[str]:
    given = names_of("names", names, forest.n_features_in_, "columns")
    if given is None:
        given = getattr(forest, "feature_names_in_", None)
    if given is None:
        given = getattr(X, "column_names", getattr(X, "columns", None))
    if given is None:
        given = [f"column {j + 1}" for j in range(forest.n_features_in_)]
    return [shorten(str(name)) for name in given]


# How each column is put into words: a number in its unit, the share of a level, a level of an order, or a date.


def _types(X: Any) -> list[ColumnReading]:
    """Say what the types of a pandas frame say of its columns."""
    found = []
    for feature, (name, dtype) in enumerate(getattr(X, "dtypes", {}).items() if hasattr(X, "iloc") else ()):
        if getattr(dtype, "kind", "") == "M":
            found.append(ColumnReading(str(name), Kind.DATE, "", True, Kind.DATE, feature))
        elif getattr(dtype, "ordered", False):
            order = tuple(map(str, dtype.categories))
            found.append(ColumnReading(str(name), Kind.ORDERED, "", True, Kind.ORDERED, feature, levels=order))
    return found


def _words(
    encoded: Any, values: FloatArray, titles: list[str], readings: dict[int, ColumnReading]
) -> list[ColumnWords]:
    words = []
    for column, cells in zip(encoded.columns, values.T, strict=True):
        name, reading = titles[column.feature], readings.get(column.feature)
        levels = list(map(str, encoded.levels.get(column.feature, ())))
        known = cells[~np.isnan(cells)]
        kind = Kind.NUMBER if reading is None else reading.read_as
        order = _order(reading)
        if column.level is not None:
            # A category of two levels has one column, which marks the second.
            level, other = shorten(str(column.level)), levels[0] if len(levels) == 2 else None
            words.append(ColumnWords(column.feature, name, SHARE, level, other, marks=level))
        elif kind == Kind.YES_NO or (kind == Kind.NUMBER and len(known) and np.isin(known, (0.0, 1.0)).all()):
            no, yes = order if len(order) == 2 else ("0", "1")
            words.append(ColumnWords(column.feature, name, SHARE, yes, no))
        elif kind in (Kind.DATE, Kind.ORDERED):
            words.append(ColumnWords(column.feature, name, kind, order=order))
        else:
            words.append(ColumnWords(column.feature, name, Kind.NUMBER, unit="" if reading is None else reading.unit))
    return _without_units(words)


def _order(reading: Any) -> Any:
    return getattr(reading, "levels", ()) or getattr(reading, "order", ())


def _without_units(words: list[ColumnWords]) -> list[ColumnWords]:
    """Take units out of the names of numbers, unless two columns would then be called the same."""
    parted = [WITH_UNIT.fullmatch(word.name) if word.kind == Kind.NUMBER and not word.unit else None for word in words]
    titles = Counter(word.name if part is None else part[1] for word, part in zip(words, parted, strict=True))
    return [
        word if part is None or titles[part[1]] > 1 else replace(word, title=part[1], unit=part[2])
        for word, part in zip(words, parted, strict=True)
    ]
