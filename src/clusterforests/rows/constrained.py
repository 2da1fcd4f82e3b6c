"""Rows of which the user knows something, or whose clusters must have certain sizes."""

from dataclasses import replace

from clusterforests.combining.constraints import Asked
from clusterforests.rows.in_memory import InMemoryRows
from clusterforests.rows.protocol import Rows


def constrain(rows: Rows, asked: Asked) -> Rows:
    """Let rows keep what the user asks for; refuse it where trees see only a sample of them."""
    names = asked.names
    if not names:
        return rows
    if not isinstance(rows, InMemoryRows):
        raise ValueError(
            f"{names[0]} is kept only where all rows are compared, and trees of {rows.n_rows} rows see a sample. "
            "Fit at most 65536 rows and predict the others, or pass max_samples=None for a table in memory."
        )
    return replace(rows, constraints=asked.read(rows.n_rows, rows.sample_of_all.weights))
