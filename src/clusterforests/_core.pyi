"""
The C++ core. Arrays must be C-contiguous and of the types given; what does not fit raises ValueError or TypeError.

Clusterings are passed flat: problem i has the columns `columns[offsets[i]:offsets[i + 1]]` and `clusters[i]` clusters,
and its centres, `clusters[i]` by columns, follow those of problem i - 1. Labels are (members, rows); labels below zero
match nothing. No result depends on the number of threads.
"""

from typing import overload

import numpy
from numpy.typing import NDArray

class Table:
    """
    The distinct rows of a table, in an order that depends on their values alone.

    By column, true value = (coordinate + origin) * 2**exponent, and coordinates differ from 0 by less than
    2**(reach - exponent).
    """

    def __init__(
        self,
        x: NDArray[numpy.float64],
        weights: NDArray[numpy.float64] | None = None,
        keyed: int | None = None,
        keys: NDArray[numpy.uint64] | None = None,
    ) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def distinct(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def weight_exponent(self) -> int: ...
    @property
    def exponent(self) -> NDArray[numpy.int32]: ...
    @property
    def origin(self) -> NDArray[numpy.float64]: ...
    @property
    def reach(self) -> NDArray[numpy.int32]: ...

def project(
    x: NDArray[numpy.float64],
    exponent: NDArray[numpy.int32],
    origin: NDArray[numpy.float64],
    reach: NDArray[numpy.int32],
) -> Table:
    """Take rows to the coordinates of another table, for `assign`."""

def hash_rows(
    x: NDArray[numpy.float64], threads: int, before: NDArray[numpy.uint64] | None = None
) -> NDArray[numpy.uint64]:
    """
    Hash each row, beginning with the hashes of the columns before. 0 and -0 are equal, and so are all NaNs.
    """

def scan_rows(
    x: NDArray[numpy.float64], threads: int
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Hash each row as `hash_rows` does, and find the smallest and the largest value of each column.

    These are NaN where the column has a NaN, and infinity and -infinity where there are no rows; -0 becomes 0.
    """

def is_finite(x: NDArray[numpy.float64]) -> bool:
    """Tell whether no number is infinite or NaN."""

CONSTANT_REACH: int = -100000

class RowKeys:
    """
    The keys that order the rows of a `Table`, made of columns that come some at a time.
    """

    def __init__(self, rows: int) -> None: ...
    def add(
        self,
        x: NDArray[numpy.float64],
        rows: NDArray[numpy.int64],
        weights: NDArray[numpy.float64] | None,
        threads: int,
    ) -> None:
        """
        Add the next columns of a table, (columns, all its rows); `rows` are those that have keys.
        """

    def finished(self) -> NDArray[numpy.uint64]:
        """Return the keys of the columns so far."""

@overload
def take_columns(
    x: NDArray[numpy.float32],
    rows: NDArray[numpy.int64],
    columns: NDArray[numpy.int32],
    exponent: NDArray[numpy.int32],
    shift: NDArray[numpy.float64],
    divisor: NDArray[numpy.float64],
    center: NDArray[numpy.float64],
    threads: int,
) -> NDArray[numpy.float64]:
    """
    Take columns of rows as (x / 2**exponent - shift) / divisor - center: (columns, rows). Any strides will do.
    """

@overload
def take_columns(
    x: NDArray[numpy.float64],
    rows: NDArray[numpy.int64],
    columns: NDArray[numpy.int32],
    exponent: NDArray[numpy.int32],
    shift: NDArray[numpy.float64],
    divisor: NDArray[numpy.float64],
    center: NDArray[numpy.float64],
    threads: int,
) -> NDArray[numpy.float64]: ...
def fit_steps(
    ordered: NDArray[numpy.float64], range: bool, threads: int
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Fit (x / 2**exponent - shift) / divisor to columns, (columns, rows), whose values ascend.

    They have mean 0 and variance 1 then, or range from 0 to 1. Returns the numbers of different values, exponents,
    shifts and divisors.
    """

def rank_columns(x: NDArray[numpy.float64], order: NDArray[numpy.int64], threads: int) -> NDArray[numpy.float64]:
    """
    Rank the cells of columns, (columns, rows), from 0 to 1; `order` has the rows of each, the lowest first.
    """

def share_variance(
    x: NDArray[numpy.float64],
    labels: NDArray[numpy.int32],
    first: NDArray[numpy.int64],
    sizes: NDArray[numpy.float64],
    threads: int,
) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Add up squares between clusters, (clusterings, columns), and all squares of columns, (columns, rows).

    Columns are centred and rounded to whole numbers up to 2**26, whose size is returned too. The clusters of clustering
    t are first[t], ..., first[t + 1] - 1 of all; `sizes` are their numbers of rows.
    """

class Scaling:
    """
    The steps that bring columns to comparable size, and sums of the scaled columns.

    The steps are (views, columns). Each projected column is the sum of its terms, in their order.
    """

    def __init__(
        self,
        exponent: NDArray[numpy.int32],
        shift: NDArray[numpy.float64],
        divisor: NDArray[numpy.float64],
        ranked: NDArray[numpy.uint8],
        starts: NDArray[numpy.int64],
        knots: NDArray[numpy.float64],
        ranks: NDArray[numpy.float64],
        term_starts: NDArray[numpy.int64],
        term_columns: NDArray[numpy.int32],
        coefficients: NDArray[numpy.float64],
    ) -> None: ...
    def apply(self, x: NDArray[numpy.float64], threads: int = 1) -> NDArray[numpy.float64]:
        """Write all views of the rows side by side, then the projected columns."""

def fill(
    values: NDArray[numpy.float64],
    places: NDArray[numpy.float64],
    donor_values: NDArray[numpy.float64],
    donor_places: NDArray[numpy.float64],
    weights: NDArray[numpy.float64],
    first: NDArray[numpy.int32],
    widths: NDArray[numpy.int32],
    means: NDArray[numpy.float64],
    neighbours: float,
    nearest: int,
    threads: int,
) -> NDArray[numpy.float64]:
    """
    Copy the values and fill their missing features from the nearest donors that have them.

    Feature j is the columns first[j] to first[j] + widths[j] - 1, and missing if the first of these is NaN.
    """

def draw_features(
    keys: NDArray[numpy.uint64],
    features: int,
    count: int,
    excluded: NDArray[numpy.int32],
    offsets: NDArray[numpy.int64],
) -> NDArray[numpy.int32]:
    """
    Draw `count` distinct features for each key, none of excluded[offsets[i]:offsets[i + 1]], which must ascend.

    Where fewer are left, entries past the last one drawn are -1.
    """

class KMeansResult:
    """
    An entry of each array for each problem; its centres are an empty array if it is not solved.

    Sums are in units of 4**exponent times the table's unit of weight.
    """

    @property
    def solved(self) -> NDArray[numpy.bool_]: ...
    @property
    def within(self) -> NDArray[numpy.float64]: ...
    @property
    def between(self) -> NDArray[numpy.float64]: ...
    @property
    def within_pairs(self) -> NDArray[numpy.float64]: ...
    @property
    def between_pairs(self) -> NDArray[numpy.float64]: ...
    @property
    def centers(self) -> list[NDArray[numpy.float64]]: ...
    @property
    def exponent(self) -> NDArray[numpy.int32]: ...
    @property
    def iterations(self) -> NDArray[numpy.int32]: ...

def kmeans(
    table: Table,
    columns: NDArray[numpy.int32],
    offsets: NDArray[numpy.int64],
    clusters: NDArray[numpy.int32],
    seeds: NDArray[numpy.uint64],
    restarts: int,
    max_iter: int,
    effort: int,
    threads: int,
) -> KMeansResult:
    """
    Solve K-means problems. A column listed twice counts twice in the distance.
    """

def fit_kmeans(
    x: NDArray[numpy.float64],
    weights: NDArray[numpy.float64] | None,
    clusters: int,
    seed: int,
    restarts: int,
    max_iter: int,
    effort: int,
    threads: int,
) -> tuple[
    int,
    bool,
    int,
    int,
    float,
    NDArray[numpy.int32],
    NDArray[numpy.float64],
    NDArray[numpy.float64],
    NDArray[numpy.float64],
    NDArray[numpy.int32],
]:
    """
    Solve one problem over all columns of x and label its rows: `Table`, `kmeans` and `assign` in one call.

    Returns the number of distinct rows, whether the problem was solved, the power of two that is the unit of distances,
    Lloyd iterations, within sum of squares, the table's exponents and origin, the centres' coordinates, the centres and
    the labels. Rows of weight 0 get a label, too. Labels mean nothing if the problem was not solved.
    """

def assign(
    table: Table,
    columns: NDArray[numpy.int32],
    offsets: NDArray[numpy.int64],
    clusters: NDArray[numpy.int32],
    centers: NDArray[numpy.float64],
    threads: int,
) -> NDArray[numpy.int32]:
    """
    Find the nearest centre of each row in each clustering, lowest index on ties; -1 for rows of weight 0.
    """

def float32_error(columns: int) -> float:
    """
    Bound the error of a float32 score over so many columns, relative to the sizes of its factors.
    """

def float64_error(columns: int) -> float:
    """
    Bound the error of a float64 squared distance over so many columns, relative to the squared sizes of its ends.
    """

FLOAT32_RANGE: int = 60

DISTANCE_FLOOR: float = 1e-30

class Passes:
    """Clusterings by their centres, for rows that come block by block."""

    def __init__(
        self,
        scaling: Scaling | None,
        exponent: NDArray[numpy.int32],
        origin: NDArray[numpy.float64],
        reach: NDArray[numpy.int32],
        columns: NDArray[numpy.int32],
        offsets: NDArray[numpy.int64],
        clusters: NDArray[numpy.int32],
        centers: NDArray[numpy.float64],
    ) -> None: ...
    def add(
        self,
        x: NDArray[numpy.float64],
        weights: NDArray[numpy.float64] | None,
        bits: NDArray[numpy.int32],
        mass_bits: int,
        sums: NDArray[numpy.int64],
        mass: NDArray[numpy.int64],
        threads: int,
    ) -> None:
        """
        Add the rows to the sums of the nearest centres, in units of 2**-bits by column and 2**-mass_bits.
        """

    @overload
    def label(self, x: NDArray[numpy.float64], labels: NDArray[numpy.int8], start: int, threads: int) -> None:
        """
        Write the nearest centre of each row in each clustering to labels[:, start : start + len(x)].
        """

    @overload
    def label(self, x: NDArray[numpy.float64], labels: NDArray[numpy.int16], start: int, threads: int) -> None: ...
    @overload
    def label(self, x: NDArray[numpy.float64], labels: NDArray[numpy.int32], start: int, threads: int) -> None: ...

def coassociate(
    a: NDArray[numpy.int32], b: NDArray[numpy.int32], table: NDArray[numpy.float64], threads: int
) -> NDArray[numpy.float64]:
    """
    Write out table[number of members in which row i of `a` and row j of `b` share a label].
    """

def most_matched(
    a: NDArray[numpy.int32], b: NDArray[numpy.int32], threads: int
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32]]:
    """
    Find for each row of `a` the row of `b` with which it shares the most labels, and how many.
    """

def multiply(matrix: NDArray[numpy.float64], vectors: NDArray[numpy.float64], threads: int) -> NDArray[numpy.float64]:
    """
    Multiply a matrix with each of the vectors, which are rows, in a fixed order of sums.
    """

class Matches:
    """
    Products with W[i, j] = table[number of members in which row i and column j share a label].
    """

    def __init__(self, columns: NDArray[numpy.int32], table: NDArray[numpy.float64]) -> None: ...
    @property
    def columns(self) -> int: ...
    @property
    def members(self) -> int: ...
    @property
    def stored_bytes(self) -> int: ...
    def store(self, rows: NDArray[numpy.int32], threads: int) -> None:
        """Keep the match counts of these rows."""

    def multiply(
        self, rows: NDArray[numpy.int32] | None, vectors: NDArray[numpy.float64], threads: int
    ) -> NDArray[numpy.float64]:
        """
        Multiply the rows of W, those stored if None, with each of the vectors, which are rows.
        """

class GroupVotes:
    """
    The group of nodes to which rows are linked most: sums of weights[j] * table[number of shared labels], by group.

    Only for tables of table[c] = a**c - 1 and up to 255 members.
    """

    def __init__(
        self,
        labels: NDArray[numpy.int32],
        groups: NDArray[numpy.int32],
        weights: NDArray[numpy.float64],
        table: NDArray[numpy.float64],
    ) -> None: ...
    @overload
    def place(self, labels: NDArray[numpy.int8], threads: int) -> NDArray[numpy.int32]:
        """
        Find the groups of rows by their labels (T, r).

        -1 where two sums are too close for float32, and where a label is below zero.
        """

    @overload
    def place(self, labels: NDArray[numpy.int16], threads: int) -> NDArray[numpy.int32]: ...
    @overload
    def place(self, labels: NDArray[numpy.int32], threads: int) -> NDArray[numpy.int32]: ...

def sum_lines(
    labels: NDArray[numpy.int32], first: NDArray[numpy.int64], lines: NDArray[numpy.float64], threads: int
) -> NDArray[numpy.float64]:
    """
    Sum, for each row, the lines of its labels in the members' tables lines[first[m]:first[m + 1]].

    The last line of a table is for labels below zero, the one before it for labels that have no line of their own.
    """

def count_cells(
    labels: NDArray[numpy.int32],
    first: NDArray[numpy.int64],
    groups: NDArray[numpy.int32],
    weights: NDArray[numpy.float64] | None,
    cells: NDArray[numpy.float64],
    threads: int,
) -> None:
    """
    Add each row's weight to the cell of its group in the line that its label picks, in every partition.
    """

def sum_companions(
    labels: NDArray[numpy.int32],
    first: NDArray[numpy.int64],
    cells: NDArray[numpy.float64],
    everyone: NDArray[numpy.float64],
    copies: NDArray[numpy.float64],
    rounding: float,
    threads: int,
) -> NDArray[numpy.float64]:
    """
    Sum for each row the shares of the groups among its companions, and what it counts for itself.
    """

def order_columns(labels: NDArray[numpy.int32]) -> tuple[NDArray[numpy.int64], NDArray[numpy.bool_]]:
    """
    Order the columns by the bytes of their labels, and say which differ from the one before them.
    """

def column_keys(labels: NDArray[numpy.int32]) -> NDArray[numpy.uint64]:
    """Hash the labels of each row over all members."""

def instruction_set() -> str:
    """Name the instruction set in use."""

def instruction_sets() -> list[str]:
    """List the instruction sets that this machine can run, fastest first."""

def use_instruction_set(name: str) -> None:
    """Choose an instruction set, or "auto"."""
