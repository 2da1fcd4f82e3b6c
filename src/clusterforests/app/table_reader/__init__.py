"""Messy columns in, typed columns out: everything that is known of tables as people write them."""

from clusterforests.app.table_reader.columns import ColumnReading, TableColumns
from clusterforests.app.table_reader.notes import ColumnProblem, TableProblems
from clusterforests.app.table_reader.reader import TableReader

__all__ = ["ColumnProblem", "ColumnReading", "TableColumns", "TableProblems", "TableReader"]
