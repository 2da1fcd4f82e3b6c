"""The C++ core. Arrays must be C-contiguous and of the types given; what does not fit raises ValueError or TypeError.

Clusterings are passed flat: problem i has the columns `columns[offsets[i]:offsets[i + 1]]` and `clusters[i]` clusters,
and its centres, `clusters[i]` by columns, follow those of problem i - 1. Labels are (members, rows); labels below zero
match nothing. No result depends on the number of threads.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

CONSTANT_REACH: int  # the reach of a column without variation
FLOAT32_RANGE: int  # powers of two: columns further apart are not compared in float32
DISTANCE_FLOOR: float  # squared distances that differ by less are not compared in float32

class RowKeys:
    """The keys that order the rows of a `Table`, made of columns that come some at a time."""

    def __init__(self, rows: int) -> None: ...
    def add(
        self,
        x: npt.NDArray[np.float64],
        rows: npt.NDArray[np.int64],
        weights: npt.NDArray[np.float64] | None,
        threads: int,
    ) -> None:
        """Add the next columns of a table, (columns, all its rows); `rows` are those that have keys."""
    def finished(self) -> npt.NDArray[np.uint64]:
        """Return the keys of the columns so far."""

class Table:
    """The distinct rows of a table, in an order that depends on their values alone.

    By column, true value = (coordinate + origin) * 2**exponent, and coordinates differ from 0 by less than
    2**(reach - exponent).
    """

    def __init__(
        self,
        x: npt.NDArray[np.float64],
        weights: npt.NDArray[np.float64] | None = None,
        keyed: int | None = None,
        keys: npt.NDArray[np.uint64] | None = None,
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
    def exponent(self) -> npt.NDArray[np.int32]: ...
    @property
    def origin(self) -> npt.NDArray[np.float64]: ...
    @property
    def reach(self) -> npt.NDArray[np.int32]: ...

class KMeansResult:
    """An entry of each array for each problem; its centres are an empty array if it is not solved.

    Sums are in units of 4**exponent times the table's unit of weight.
    """

    @property
    def solved(self) -> npt.NDArray[np.bool_]: ...
    @property
    def within(self) -> npt.NDArray[np.float64]: ...
    @property
    def between(self) -> npt.NDArray[np.float64]: ...
    @property
    def within_pairs(self) -> npt.NDArray[np.float64]: ...
    @property
    def between_pairs(self) -> npt.NDArray[np.float64]: ...
    @property
    def exponent(self) -> npt.NDArray[np.int32]: ...
    @property
    def iterations(self) -> npt.NDArray[np.int32]: ...
    @property
    def centers(self) -> list[npt.NDArray[np.float64]]: ...

class Scaling:
    """The steps that bring columns to comparable size, and sums of the scaled columns.

    The steps are (views, columns). Each projected column is the sum of its terms, in their order.
    """

    def __init__(
        self,
        exponent: npt.NDArray[np.int32],
        shift: npt.NDArray[np.float64],
        divisor: npt.NDArray[np.float64],
        ranked: npt.NDArray[np.uint8],
        starts: npt.NDArray[np.int64],
        knots: npt.NDArray[np.float64],
        ranks: npt.NDArray[np.float64],
        term_starts: npt.NDArray[np.int64],
        term_columns: npt.NDArray[np.int32],
        coefficients: npt.NDArray[np.float64],
    ) -> None: ...
    def apply(self, x: npt.NDArray[np.float64], threads: int = 1) -> npt.NDArray[np.float64]:
        """Write all views of the rows side by side, then the projected columns."""

class Passes:
    """Clusterings by their centres, for rows that come block by block."""

    def __init__(
        self,
        scaling: Scaling | None,
        exponent: npt.NDArray[np.int32],
        origin: npt.NDArray[np.float64],
        reach: npt.NDArray[np.int32],
        columns: npt.NDArray[np.int32],
        offsets: npt.NDArray[np.int64],
        clusters: npt.NDArray[np.int32],
        centers: npt.NDArray[np.float64],
    ) -> None: ...
    def add(
        self,
        x: npt.NDArray[np.float64],
        weights: npt.NDArray[np.float64] | None,
        bits: npt.NDArray[np.int32],
        mass_bits: int,
        sums: npt.NDArray[np.int64],
        mass: npt.NDArray[np.int64],
        threads: int,
    ) -> None:
        """Add the rows to the sums of the nearest centres, in units of 2**-bits by column and 2**-mass_bits."""

    def label(
        self, x: npt.NDArray[np.float64], labels: npt.NDArray[np.signedinteger[Any]], start: int, threads: int
    ) -> None:
        """Write the nearest centre of each row in each clustering to labels[:, start : start + len(x)]."""

class Matches:
    """Products with W[i, j] = table[number of members in which row i and column j share a label]."""

    def __init__(self, columns: npt.NDArray[np.int32], table: npt.NDArray[np.float64]) -> None: ...
    @property
    def columns(self) -> int: ...
    @property
    def members(self) -> int: ...
    @property
    def stored_bytes(self) -> int: ...
    def store(self, rows: npt.NDArray[np.int32], threads: int) -> None:
        """Keep the match counts of these rows."""

    def multiply(
        self, rows: npt.NDArray[np.int32] | None, vectors: npt.NDArray[np.float64], threads: int
    ) -> npt.NDArray[np.float64]:
        """Multiply the rows of W, those stored if None, with each of the vectors, which are rows."""

class GroupVotes:
    """The group of nodes to which rows are linked most: sums of weights[j] * table[number of shared labels], by group.

    Only for tables of table[c] = a**c - 1 and up to 255 members.
    """

    def __init__(
        self,
        labels: npt.NDArray[np.int32],
        groups: npt.NDArray[np.int32],
        weights: npt.NDArray[np.float64],
        table: npt.NDArray[np.float64],
    ) -> None: ...
    def place(self, labels: npt.NDArray[np.int8 | np.int16 | np.int32], threads: int) -> npt.NDArray[np.int32]:
        """Find the groups of rows by their labels (T, r).

        -1 where two sums are too close for float32, and where a label is below zero.
        """

def project(
    x: npt.NDArray[np.float64],
    exponent: npt.NDArray[np.int32],
    origin: npt.NDArray[np.float64],
    reach: npt.NDArray[np.int32],
) -> Table:
    """Take rows to the coordinates of another table, for `assign`."""

def take_columns(
    x: npt.NDArray[np.float32] | npt.NDArray[np.float64],
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int32],
    exponent: npt.NDArray[np.int32],
    shift: npt.NDArray[np.float64],
    divisor: npt.NDArray[np.float64],
    center: npt.NDArray[np.float64],
    threads: int,
) -> npt.NDArray[np.float64]:
    """Take columns of rows as (x / 2**exponent - shift) / divisor - center: (columns, rows). Any strides will do."""

def fit_steps(
    ordered: npt.NDArray[np.float64], range: bool, threads: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Fit (x / 2**exponent - shift) / divisor to columns, (columns, rows), whose values ascend.

    They have mean 0 and variance 1 then, or range from 0 to 1. Returns the numbers of different values, exponents,
    shifts and divisors.
    """

def rank_columns(x: npt.NDArray[np.float64], order: npt.NDArray[np.int64], threads: int) -> npt.NDArray[np.float64]:
    """Rank the cells of columns, (columns, rows), from 0 to 1; `order` has the rows of each, the lowest first."""

def share_variance(
    x: npt.NDArray[np.float64],
    labels: npt.NDArray[np.int32],
    first: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.float64],
    threads: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Add up squares between clusters, (clusterings, columns), and all squares of columns, (columns, rows).

    Columns are centred and rounded to whole numbers up to 2**26, whose size is returned too. The clusters of clustering
    t are first[t], ..., first[t + 1] - 1 of all; `sizes` are their numbers of rows.
    """

def hash_rows(
    x: npt.NDArray[np.float64], threads: int, before: npt.NDArray[np.uint64] | None = None
) -> npt.NDArray[np.uint64]:
    """Hash each row, beginning with the hashes of the columns before. 0 and -0 are equal, and so are all NaNs."""

def scan_rows(
    x: npt.NDArray[np.float64], threads: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Hash each row as `hash_rows` does, and find the smallest and the largest value of each column.

    These are NaN where the column has a NaN, and infinity and -infinity where there are no rows; -0 becomes 0.
    """

def is_finite(x: npt.NDArray[np.float64]) -> bool:
    """Tell whether no number is infinite or NaN."""

def kmeans(
    table: Table,
    columns: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    clusters: npt.NDArray[np.int32],
    seeds: npt.NDArray[np.uint64],
    restarts: int,
    max_iter: int,
    effort: int,
    threads: int,
) -> KMeansResult:
    """Solve K-means problems. A column listed twice counts twice in the distance."""

def fit_kmeans(
    x: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64] | None,
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
    npt.NDArray[np.int32],
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
    npt.NDArray[np.int32],
]:
    """Solve one problem over all columns of x and label its rows: `Table`, `kmeans` and `assign` in one call.

    Returns the number of distinct rows, whether the problem was solved, the power of two that is the unit of distances,
    Lloyd iterations, within sum of squares, the table's exponents and origin, the centres' coordinates, the centres and
    the labels. Rows of weight 0 get a label, too. Labels mean nothing if the problem was not solved.
    """

def assign(
    table: Table,
    columns: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    clusters: npt.NDArray[np.int32],
    centers: npt.NDArray[np.float64],
    threads: int,
) -> npt.NDArray[np.int32]:
    """Find the nearest centre of each row in each clustering, lowest index on ties; -1 for rows of weight 0."""

def float32_error(columns: int) -> float:
    """Bound the error of a float32 score over so many columns, relative to the sizes of its factors."""

def float64_error(columns: int) -> float:
    """Bound the error of a float64 squared distance over so many columns, relative to the squared sizes of its ends."""

def draw_features(
    keys: npt.NDArray[np.uint64],
    features: int,
    count: int,
    excluded: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
) -> npt.NDArray[np.int32]:
    """Draw `count` distinct features for each key, none of excluded[offsets[i]:offsets[i + 1]], which must ascend.

    Where fewer are left, entries past the last one drawn are -1.
    """

def coassociate(
    a: npt.NDArray[np.int32], b: npt.NDArray[np.int32], table: npt.NDArray[np.float64], threads: int
) -> npt.NDArray[np.float64]:
    """Write out table[number of members in which row i of `a` and row j of `b` share a label]."""

def most_matched(
    a: npt.NDArray[np.int32], b: npt.NDArray[np.int32], threads: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Find for each row of `a` the row of `b` with which it shares the most labels, and how many."""

def multiply(
    matrix: npt.NDArray[np.float64], vectors: npt.NDArray[np.float64], threads: int
) -> npt.NDArray[np.float64]:
    """Multiply a matrix with each of the vectors, which are rows, in a fixed order of sums."""

def sum_lines(
    labels: npt.NDArray[np.int32],
    first: npt.NDArray[np.int64],
    lines: npt.NDArray[np.float64],
    threads: int,
) -> npt.NDArray[np.float64]:
    """Sum, for each row, the lines of its labels in the members' tables lines[first[m]:first[m + 1]].

    The last line of a table is for labels below zero, the one before it for labels that have no line of their own.
    """

def count_cells(
    labels: npt.NDArray[np.int32],
    first: npt.NDArray[np.int64],
    groups: npt.NDArray[np.int32],
    weights: npt.NDArray[np.float64] | None,
    cells: npt.NDArray[np.float64],
    threads: int,
) -> None:
    """Add each row's weight to the cell of its group in the line that its label picks, in every partition."""

def sum_companions(
    labels: npt.NDArray[np.int32],
    first: npt.NDArray[np.int64],
    cells: npt.NDArray[np.float64],
    everyone: npt.NDArray[np.float64],
    copies: npt.NDArray[np.float64],
    rounding: float,
    threads: int,
) -> npt.NDArray[np.float64]:
    """Sum for each row the shares of the groups among its companions, and what it counts for itself."""

def order_columns(labels: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Order the columns by the bytes of their labels, and say which differ from the one before them."""

def column_keys(labels: npt.NDArray[np.int32]) -> npt.NDArray[np.uint64]:
    """Hash the labels of each row over all members."""

def fill(
    values: npt.NDArray[np.float64],
    places: npt.NDArray[np.float64],
    donor_values: npt.NDArray[np.float64],
    donor_places: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    first: npt.NDArray[np.int32],
    widths: npt.NDArray[np.int32],
    means: npt.NDArray[np.float64],
    neighbours: float,
    nearest: int,
    threads: int,
) -> npt.NDArray[np.float64]:
    """Copy the values and fill their missing features from the nearest donors that have them.

    Feature j is the columns first[j] to first[j] + widths[j] - 1, and missing if the first of these is NaN.
    """

def instruction_set() -> str:
    """Name the instruction set in use."""

def instruction_sets() -> list[str]:
    """List the instruction sets that this machine can run, fastest first."""

def use_instruction_set(name: str) -> None:
    """Choose an instruction set, or "auto"."""
