"""Result files: always whole, however a run ends."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from clusterforests._base.files import replace_text


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A CSV file; numbers that are not whole have four decimals."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([f"{value:.4f}" if isinstance(value, float) else value for value in row])
    replace_text(path, table.getvalue())


def read_table(path: Path, header: Sequence[str]) -> list[list[str]]:
    """The lines after the header; a last one that was cut short is left out, and no file is no lines."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    lines = list(csv.reader(text[: text.rfind("\n") + 1].splitlines()))
    for number, line in enumerate(lines, 1):
        if len(line) != len(header) or (number == 1 and line != list(header)):
            raise ValueError(f"{path}, line {number}: expected the columns {', '.join(header)}. Move the file away.")
    return lines[1:]
