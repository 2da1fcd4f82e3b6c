"""Rows of which the user knows something, or whose clusters must have certain sizes."""

from dataclasses import replace
from typing import Any

from clusterforests.combining.constraints import Asked
from clusterforests.forest.automatic_settings import kind_of_growth
from clusterforests.rows.in_memory import InMemoryRows
from clusterforests.rows.protocol import Rows


def constrain(forest: Any, rows: Rows, asked: Asked) -> Rows:
    """Let rows keep what the user asks for; refuse it where trees see only a sample of them."""
    names = asked.names
    if not names:
        return rows
    if not isinstance(rows, InMemoryRows):
        raise ValueError(
            f"{names[0]} is offered where all rows are compared, but trees of {rows.n_rows} rows see a sample. Fit at "
            f"most {forest._limits.large_rows} rows and `predict` the others, or pass max_samples=None for a table in "
            "memory."
        )
    if asked.outliers is not None and kind_of_growth(vars(forest)).value == "grown":
        raise ValueError(
            f"outliers={asked.outliers!r} needs trees of several kinds, not trees that grow. Leave trees, estimator "
            "and the settings of growth at their defaults, or leave outliers out."
        )
    return replace(rows, constraints=asked.read(rows.n_rows, rows.sample_of_all.weights))
