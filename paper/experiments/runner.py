"""Runs cells on all cores, writes what is finished at once, goes on where a killed run stopped."""

import contextlib
import csv
import functools
import io
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import joblib
from sklearn.utils import Bunch

from clusterforests._utils.files import replace_text
from paper.datasets import load_uci
from paper.experiments.methods import METHODS
from paper.experiments.spec import DATASETS, Cell
from paper.metrics import clustering_accuracy, rand_index

# Result files: always whole, however a run ends.


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


BLOCK = 2  # runs that are finished, and written, together


class Row(NamedTuple):
    """One labelling and its scores, in percent."""

    dataset: str
    method: str
    setting: str
    variant: str
    run: int
    rho_r: str
    rho_c: str


@dataclass(frozen=True)
class Task:
    cell: Cell
    runs: tuple[int, ...]


Report = Callable[[int, int, float], None]  # tasks done, tasks in all, share of the work done


def run_cells(cells: Sequence[Cell], path: Path, runs: int, jobs: int, report: Report | None = None) -> list[Row]:
    """The rows of all cells, in `path` too. What `path` holds already is not computed again.

    Each finished block is a line of a journal beside `path` until all are there, so a kill costs the blocks that were
    being computed and no more.
    """
    journal = path.with_suffix(".journal")
    # By what was run: a line of the journal takes the place of an older one.
    known = {row[:5]: row for row in [*read_rows(path), *_read_journal(journal)]}
    rows = sorted(known.values())
    tasks = sorted(_open_tasks(cells, runs, _finished(rows)), key=_work, reverse=True)
    total, spent = sum(map(_work, tasks)), 0.0
    write_table(path, Row._fields, rows)
    with joblib.parallel_config("loky", inner_max_num_threads=1), journal.open("w", encoding="utf-8") as out:
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        for count, (task, found) in enumerate(parallel(joblib.delayed(_run)(task) for task in tasks), 1):
            out.write(json.dumps(found) + "\n")
            out.flush()
            os.fsync(out.fileno())
            known |= {row[:5]: row for row in found}
            spent += _work(task)
            if report is not None:
                report(count, len(tasks), spent / total)
    rows = sorted(known.values())
    write_table(path, Row._fields, rows)
    journal.unlink()
    most = {cell.key: _runs_of(cell, runs) for cell in cells}
    return [row for row in rows if row.run < most.get(row[:3], 0)]


def _runs_of(cell: Cell, runs: int) -> int:
    return runs if cell.most_runs is None else min(runs, cell.most_runs)


def _finished(rows: Iterable[Row]) -> set[tuple[str, str, str, int]]:
    """The runs that have every variant which any run of their cell has."""
    variants: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    of_run: dict[tuple[str, str, str, int], set[str]] = defaultdict(set)
    for row in rows:
        variants[row[:3]].add(row.variant)
        of_run[(*row[:3], row.run)].add(row.variant)
    return {run for run, found in of_run.items() if found == variants[run[:3]]}


def _open_tasks(cells: Iterable[Cell], runs: int, done: set[tuple[str, str, str, int]]) -> Iterator[Task]:
    for cell in cells:
        left = [run for run in range(_runs_of(cell, runs)) if (*cell.key, run) not in done]
        for first in range(0, len(left), BLOCK):
            yield Task(cell, tuple(left[first : first + BLOCK]))


def _work(task: Task) -> float:
    """A guess in arbitrary units, for the order (long ones first) and the time left."""
    cell = task.cell
    settings = dict(cell.settings)
    size = cell.rows * DATASETS[cell.dataset][2] + 200
    factor = 100.0 if cell.method == "CF" and not settings else 15.0
    if cell.method == "bC2" and cell.dataset == "madelon":
        factor *= 20
    return size * factor * len(task.runs)


def _run(task: Task) -> tuple[Task, list[Row]]:
    cell = task.cell
    data = _load(cell.dataset)
    found = []
    for run in task.runs:
        labellings = METHODS[cell.method](data.data, DATASETS[cell.dataset][2], dict(cell.settings), run)
        for variant, labels in labellings.items():
            scores = (100 * rand_index(data.target, labels), 100 * clustering_accuracy(data.target, labels))
            found.append(Row(*cell.key, variant, run, *(f"{score:.4f}" for score in scores)))
    return task, found


@functools.lru_cache(maxsize=2)
def _load(name: str) -> Bunch:
    return load_uci(name)


def read_rows(path: Path) -> list[Row]:
    return [Row(d, m, s, v, int(run), r, c) for d, m, s, v, run, r, c in read_table(path, Row._fields)]


def _read_journal(path: Path) -> list[Row]:
    """The rows of the whole lines: the last one may have been cut short."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    rows = []
    for line in text[: text.rfind("\n") + 1].splitlines():
        with contextlib.suppress(ValueError, TypeError):  # a damaged line is computed again
            rows += [Row(*row) for row in json.loads(line)]
    return rows


class Clock:
    """Prints how far a run is and about how long it still takes."""

    def __init__(self, name: str, show: Callable[[str], None]) -> None:
        self.name = name
        self.show = show
        self.started = time.monotonic()

    def __call__(self, done: int, total: int, share: float) -> None:
        spent = time.monotonic() - self.started
        left = spent * (1 - share) / max(share, 1e-9)
        self.show(f"{self.name}: {done} of {total} blocks, {spent / 60:.1f} min, about {left / 60:.1f} min left")
