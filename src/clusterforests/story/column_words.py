"""What is said of each column: a number in its unit, the share of a level, a level of an order, or a date."""

import re
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from clusterforests._base.typing import FloatArray
from clusterforests.forest_view import ForestView
from clusterforests.story.table_sample import NamedColumn, TableSample
from clusterforests.tables.column_reading import DATE, NUMBER, ORDERED, YES_NO, ColumnReading

SHARE = "share"  # of a level
PRESENT, ABSENT = "present", "absent"  # cells of a sparse table
WITH_UNIT = re.compile(r"(.*\w)\s*[(\[]([^\s()\[\],;:\"]{1,8})[)\]]")  # "petal length (cm)"


@dataclass(frozen=True)
class ColumnWords:
    """How a column of the table of numbers is put into words."""

    feature: int
    name: str
    kind: str  # NUMBER, SHARE, DATE or ORDERED
    level: str | None = None  # whose share it is
    other: str | None = None  # the only other level, if there are two
    order: tuple[str, ...] = ()  # levels of an ordered column, from the lowest, which is 0
    unit: str = ""
    title: str = ""  # the name without the unit, if it has one: "petal length" of "petal length (cm)"

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.name)


def words_for(view: ForestView, table: TableSample) -> list[ColumnWords]:
    """Say how each column of the table of numbers is put into words."""
    if view.reduced:
        return [ColumnWords(column.feature, column.name, SHARE, PRESENT, ABSENT) for column in table.columns]
    readings = {reading.feature: reading for reading in view.readings if reading.used}
    words = []
    for j, column in enumerate(table.columns):
        if column.level is None:
            words.append(_number(column, readings.get(column.feature), table.values[:, j]))
        else:
            levels = [str(level) for level in view.levels[column.feature]]
            other = levels[0] if len(levels) == 2 else None  # the column marks the second of two
            words.append(ColumnWords(column.feature, column.name, SHARE, column.level, other))
    return _without_units(words)


def _number(column: NamedColumn, reading: ColumnReading | None, values: FloatArray) -> ColumnWords:
    kind, order = (NUMBER, ()) if reading is None else (reading.read_as, reading.order)
    if kind == YES_NO or (kind == NUMBER and _only_zeros_and_ones(values)):
        no, yes = order if len(order) == 2 else ("0", "1")
        return ColumnWords(column.feature, column.name, SHARE, yes, no)
    if kind in (DATE, ORDERED):
        return ColumnWords(column.feature, column.name, kind, order=order)
    return ColumnWords(column.feature, column.name, NUMBER, unit="" if reading is None else reading.unit)


def _only_zeros_and_ones(values: FloatArray) -> bool:
    known = values[~np.isnan(values)]
    return len(known) > 0 and bool(np.isin(known, (0.0, 1.0)).all())


def _without_units(words: list[ColumnWords]) -> list[ColumnWords]:
    """Take units out of the names of numbers, unless two columns would then be called the same."""
    parted = [WITH_UNIT.fullmatch(word.name) if word.kind == NUMBER and not word.unit else None for word in words]
    titles = Counter(word.name if part is None else part[1] for word, part in zip(words, parted, strict=True))
    return [
        word if part is None or titles[part[1]] > 1 else replace(word, title=part[1], unit=part[2])
        for word, part in zip(words, parted, strict=True)
    ]
