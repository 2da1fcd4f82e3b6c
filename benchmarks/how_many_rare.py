"""Are rare groups, far from all others, counted and found? Large tables with one of them beside one or three groups."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from runner import current_commit

from clusterforests import ClusterForest
from paper.experiments.runner import read_table, write_table

ROWS = 20_000, 100_000
PERCENT = 0.1, 0.2, 0.5
AWAY = 6, 8, 12
DRAWS = 5
FIRST = 8300  # this seed and those of the other draws are used for nothing else
N_FEATURES, TELLING = 10, 4
APART = 6.0  # standard deviations between two of three large groups

RECIPE = (
    f"A rare group beside one or three large ones, in turn, in {N_FEATURES} normal features. Three large groups are "
    f"{APART:g} standard deviations apart, in three features. The rare one is away in each of {TELLING} other "
    "features, by so many standard deviations as the table says. Right: the number chosen is the number of groups. "
    "Purity and recall: of the cluster that has most of the rare rows, with K chosen and with K given.\n"
)


class Case(NamedTuple):
    n_rows: int
    percent: float
    away: int
    seed: int

    @property
    def n_large(self) -> int:
        """Groups beside the rare one."""
        return 1 if self.seed % 2 else 3


class Rare(NamedTuple):
    """One table: the number chosen, and how well the rare group was found with that number and with the true one."""

    n_rows: int
    percent: float
    away: int
    seed: int
    n_found: int
    purity: float
    recall: float
    purity_given: float
    recall_given: float
    seconds: float
    commit: str

    @property
    def case(self) -> Case:
        return Case(*self[:4])


def cases(first: int) -> Iterator[Case]:
    for n_rows in ROWS:
        for percent in PERCENT:
            for away in AWAY:
                yield from (Case(n_rows, percent, away, seed) for seed in range(first, first + DRAWS))


def draw_rare(case: Case) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Draw the rows and the group of each; the last group is the rare one."""
    rng = np.random.default_rng(case.seed)
    n_rare = round(case.n_rows * case.percent / 100)
    groups = np.append(rng.integers(0, case.n_large, case.n_rows - n_rare), np.full(n_rare, case.n_large))
    centers = np.zeros((case.n_large + 1, N_FEATURES))
    if case.n_large > 1:
        centers[np.arange(case.n_large), np.arange(case.n_large)] = APART / np.sqrt(2)
    centers[-1, -TELLING:] = case.away * rng.choice([-1, 1], TELLING)
    X = rng.normal(size=(case.n_rows, N_FEATURES)) + centers[groups]
    order = rng.permutation(case.n_rows)
    return X[order], groups[order]


def score_rare(path: Path, first: int = FIRST) -> None:
    """Fit every case that the file does not have yet."""
    done = read_rare(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for case in cases(first):
        if case not in {row.case for row in done}:
            done.append(_score(case))
            write_table(path, Rare._fields, done)
            print(f"{path.name}: {done[-1]}", flush=True)


def _score(case: Case) -> Rare:
    X, groups = draw_rare(case)
    started = time.process_time()
    forest = ClusterForest("auto", random_state=case.seed).fit(X)
    seconds = time.process_time() - started
    rare = groups == case.n_large
    chosen, given = (_found(rare, labels) for labels in (forest.labels_, forest.recut(case.n_large + 1).labels_))
    return Rare(*case, forest.n_clusters_, *chosen, *given, seconds, current_commit())


def _found(rare: npt.NDArray[np.bool_], labels: npt.NDArray[np.integer]) -> tuple[float, float]:
    """Compute purity and recall of the cluster that has most of the rare rows, in percent."""
    own = labels == np.bincount(labels[rare]).argmax()
    both = 100.0 * np.count_nonzero(own & rare)
    return both / np.count_nonzero(own), both / np.count_nonzero(rare)


def read_rare(path: Path) -> list[Rare]:
    """Return the results of a file; none if there is no such file."""
    return [
        Rare(int(n), float(percent), int(away), int(seed), int(found), *(float(x) for x in scores), commit)
        for n, percent, away, seed, found, *scores, commit in read_table(path, Rare._fields)
    ]


def rare_lines(rows: Sequence[Rare]) -> list[list[str]]:
    """Return a line for each kind of table: how often the number is right, and means over the draws."""
    lines = []
    for kind in sorted({row.case[:3] for row in rows}):
        own = [row for row in rows if row.case[:3] == kind]
        right = sum(row.n_found == row.case.n_large + 1 for row in own)
        means = [f"{np.mean(values):.1f}" for values in zip(*(row[5:9] for row in own), strict=True)]
        lines.append([f"{kind[0]:,}", f"{kind[1]:g} %", str(kind[2]), f"{right} of {len(own)}", *means])
    return lines
