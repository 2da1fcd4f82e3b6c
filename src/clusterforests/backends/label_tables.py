"""Hashes of columns of labels, sums over tables that labels point into, votes of nodes: computed by the C++ core."""

from clusterforests import _core
from clusterforests._base.typing import AnyIntArray, BoolArray, FloatArray, IndexArray, Int64Array, IntArray, KeyArray


def order_columns(labels: IntArray) -> tuple[IndexArray, BoolArray]:
    """Order the columns of labels (T, r) so that equal ones are neighbours; say which differ from the one before.

    Equal columns stay in their order.
    """
    return _core.order_columns(labels)


def hash_columns(labels: IntArray) -> KeyArray:
    """Hash each column of labels (T, r) to 64 bits; equal columns have equal hashes."""
    return _core.column_keys(labels)


def sum_table_lines(labels: IntArray, first: Int64Array, table: FloatArray, threads: int) -> FloatArray:
    """Sum, for each column of labels (T, r), the lines of the table that its labels pick.

    The lines of partition t begin at first[t]. Its last two are for labels that the partition does not have, and for
    labels below zero.
    """
    return _core.sum_lines(labels, first, table, threads)


def count_cells(
    labels: IntArray, first: Int64Array, groups: IntArray, weights: FloatArray | None, cells: FloatArray, threads: int
) -> None:
    """Add the weight of each column of labels (T, r) to the cell of its group in the lines that its labels pick.

    The lines of partition t begin at first[t]; its last one is for labels below zero, and stays as it is.
    """
    _core.count_cells(labels, first, groups, weights, cells, threads)


def sum_companions(
    labels: IntArray,
    first: Int64Array,
    cells: FloatArray,
    everyone: FloatArray,
    copies: FloatArray,
    rounding: float,
    threads: int,
) -> FloatArray:
    """Sum over the partitions the share of each group among the companions of each column of labels (T, r).

    `everyone` are the sums of the lines, `copies` what each row counts there for itself. A partition whose companions
    weigh at most `rounding` times that says nothing. The last number of a row sums what it counts for itself.
    """
    return _core.sum_companions(labels, first, cells, everyone, copies, rounding, threads)


class GroupVotes:
    """Nodes that vote for their groups, laid out for any number of blocks of rows.

    A link is the node's weight times the entry of the table for the number of labels that both have: a**number - 1.
    """

    def __init__(self, nodes: IntArray, groups: IntArray, weights: FloatArray, table: FloatArray) -> None:
        self._votes = _core.GroupVotes(nodes, groups, weights, table)

    def most_linked(self, labels: AnyIntArray, threads: int) -> IntArray:
        """Find, for each column of labels (T, r), the group whose nodes it is linked to most.

        -1 where that is close, and where a label is below zero.
        """
        return self._votes.place(labels, threads)
