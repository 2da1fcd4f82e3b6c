"""How a column of a table was read: its kind, why, and what is needed to read new cells in the same way."""

from dataclasses import dataclass

NUMBER = "number"
ORDERED = "ordered"
CATEGORY = "category"
YES_NO = "yes/no"
DATE = "date"
IDENTIFIER = "identifier"
FREE_TEXT = "free text"
CONSTANT = "constant"
NEAR_DUPLICATE = "near-duplicate"
RUNNING_NUMBER = "running number"
EMPTY = "empty"
IGNORED = "ignored"
HOURS = "hours"  # how times of day are read

READ_AS = frozenset((NUMBER, ORDERED, CATEGORY, YES_NO, DATE, HOURS, ""))
LEFT_OUT = frozenset((IDENTIFIER, FREE_TEXT, CONSTANT, RUNNING_NUMBER, EMPTY, IGNORED))

DECIMAL_POINT, DECIMAL_COMMA = "decimal point", "decimal comma"
DAY_FIRST, MONTH_FIRST = "day first", "month first"


@dataclass(frozen=True)
class ColumnReading:
    """How a column was read.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : str
        "number", "ordered", "category", "yes/no", "date", "identifier", "free text", "constant", "near-duplicate",
        "running number", "empty", or "ignored" if the user left it out.
    reason : str
        Why, in words.
    used : bool
        Whether the column is used for clustering.
    read_as : str
        How its cells became numbers: "number", "date" (days since 1970), "hours" (times of day), "ordered" (ranks from
        0), "yes/no" or "category" (zeros and ones for each level); "" if it is not used.
    feature : int
        Number of the feature that it became, -1 if none.
    unit : str
        Unit of its numbers, such as "kg", "€" or "%".
    style : str
        "decimal point", "decimal comma", "day first", "month first" or "yyyymmdd"; "" where there is nothing to tell.
    order : tuple of str
        The levels of an ordered column from low to high; of a yes/no column, "no" and "yes" as they are written.
    notes : tuple of str
        What the user should know: each is a sentence.
    examples : tuple of str
        Some cells as they are written. Models that are saved do not keep them: they may be names of people.
    padded : bool
        Whether digits with leading zeros, such as 007, are numbers, because the user says so.
    """

    name: str
    kind: str
    reason: str
    used: bool
    read_as: str = ""
    feature: int = -1
    unit: str = ""
    style: str = ""
    order: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    padded: bool = False
