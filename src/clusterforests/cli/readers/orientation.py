"""Tables that look turned: genes as rows and samples as columns."""

import re
from collections.abc import Sequence

MORE_ROWS = 4  # times as many rows as columns
FEW_STEMS = 4  # columns for each stem of their names: sample1, sample2, ... have one
MOST = 0.8  # of the names
GENE = re.compile(
    r"(ENS[A-Z]*[GTP]\d{6,}(\.\d+)?|[A-Z][A-Z0-9]{1,9}([-.][A-Z0-9]+)*|[A-Z][a-z]{1,8}\d+[a-z0-9]*|\d{3,}(_[a-z])*_at"
    r"|cg\d{8}|hsa-[a-z]+-\S+)"
)


def orientation_notes(rows: Sequence[str], columns: Sequence[str], n_rows: int) -> tuple[str, ...]:
    """Return a hint if the rows are named like genes and the columns like samples, of which there are far fewer."""
    if n_rows < MORE_ROWS * len(columns) or len(columns) < 2 * FEW_STEMS:
        return ()
    genes = sum(GENE.fullmatch(name.strip('"')) is not None for name in rows)
    stems = {re.sub(r"\d+", "", name) for name in columns}
    if genes < MOST * n_rows or len(stems) > len(columns) / FEW_STEMS:
        return ()
    return (
        f"The rows look like genes ({rows[0]}, ...) and the columns like samples ({columns[0]}, ...): the genes are "
        "clustered. To cluster the samples, pass --transpose.",
    )
