"""Runs cells on all cores; what is finished is kept, so that a command that was stopped goes on where it was."""

import csv
import functools
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import joblib
from sklearn.utils import Bunch

from clusterforests._utils.files import replace_text
from paper.datasets import load_uci
from paper.experiments.methods import METHODS
from paper.experiments.spec import DATASETS, Cell
from paper.metrics import clustering_accuracy, rand_index

BLOCK = 2  # runs that are finished, and kept, together
Show = Callable[[str], None]


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A CSV file; numbers that are not whole have four decimals."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([f"{value:.4f}" if isinstance(value, float) else value for value in row])
    replace_text(path, table.getvalue())


def read_table(path: Path, header: Sequence[str]) -> list[list[str]]:
    """The lines after the header."""
    first, *lines = csv.reader(path.read_text(encoding="utf-8").splitlines())
    if first != list(header):
        raise ValueError(f"{path} must have the columns {', '.join(header)}.")
    return lines


def compute(
    work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], folder: Path, jobs: int, name: str, show: Show
) -> list[Any]:
    """What `work` returns for each task, in any order; tasks that were done before are read from `folder`."""
    known = joblib.Memory(folder / "cache", verbose=0).cache(work)
    found = []
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        for result in parallel(joblib.delayed(known)(*task) for task in tasks):
            found.append(result)
            show(f"{name}: {len(tasks) - len(found)} of {len(tasks)} left")
    return found


class Row(NamedTuple):
    """One labelling and its scores, in percent."""

    dataset: str
    method: str
    setting: str
    variant: str
    run: int
    rho_r: str
    rho_c: str


def run_cells(cells: Sequence[Cell], path: Path, runs: int, jobs: int, show: Show) -> list[Row]:
    """The rows of all cells, in the file `path` too."""
    blocks = [
        (cell, tuple(range(first, min(first + BLOCK, last))))
        for cell in cells
        for last in [runs if cell.most_runs is None else min(runs, cell.most_runs)]
        for first in range(0, last, BLOCK)
    ]
    # Long ones first, or the last of them would keep a single core busy.
    blocks.sort(key=lambda block: _work(block[0]), reverse=True)
    rows = sorted(row for found in compute(run_block, blocks, path.parent, jobs, path.stem, show) for row in found)
    write_table(path, Row._fields, rows)
    return rows


def run_block(cell: Cell, runs: Sequence[int]) -> list[Row]:
    """The rows of some runs of a cell."""
    data = _load(cell.dataset)
    found = []
    for run in runs:
        labellings = METHODS[cell.method](data.data, DATASETS[cell.dataset][2], dict(cell.settings), run)
        for variant, labels in labellings.items():
            scores = (100 * rand_index(data.target, labels), 100 * clustering_accuracy(data.target, labels))
            found.append(Row(*cell.key, variant, run, *(f"{score:.4f}" for score in scores)))
    return found


def _work(cell: Cell) -> float:
    """A guess in arbitrary units."""
    factor = 100.0 if cell.method == "CF" and not cell.settings else 15.0
    if cell.method == "bC2" and cell.dataset == "madelon":
        factor *= 20
    return (cell.rows * DATASETS[cell.dataset][2] + 200) * factor


@functools.lru_cache(maxsize=2)
def _load(name: str) -> Bunch:
    return load_uci(name)
