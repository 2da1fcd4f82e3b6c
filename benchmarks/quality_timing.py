"""What choosing costs: a fit with automatic settings, the same settings given, and the published ones, in turn."""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from quality_data import load_set

from clusterforests import ClusterForest
from clusterforests.experiments.files import read_table, write_table

TIMED_SETS = ("soybean", "wine", "wdbc", "robot", "imgseg", "madelon", "ecoli", "vowel", "orl")


class Timing(NamedTuple):
    """Median processor seconds; every fit has one thread."""

    set: str
    automatic: float
    given: float
    published: float


def time_fits(sets: Sequence[str], path: Path, repeat: int = 5) -> list[Timing]:
    timings = []
    for name in sets:
        timings.append(_time_set(name, repeat))
        print(f"{path.name}: {timings[-1]}", flush=True)
    write_table(path, Timing._fields, timings)
    return timings


def read_timings(path: Path) -> list[Timing]:
    return [Timing(name, *map(float, seconds)) for name, *seconds in read_table(path, Timing._fields)]


def settings_of(forest: ClusterForest) -> dict[str, Any]:
    """What a fitted forest chose, as parameters."""
    chosen = {name: choice.value for name, choice in forest.selection_.items()}
    return {name: value for name, value in chosen.items() if name in forest.get_params()}


def _time_set(name: str, repeat: int) -> Timing:
    X, _, k = load_set(name)
    automatic = ClusterForest(k, random_state=0).fit(X)
    given = ClusterForest(random_state=0, **settings_of(automatic)).fit(X)
    if (automatic.labels_ != given.labels_).any():
        raise ValueError(f"On {name} the settings in selection_ give other labels than the automatic fit.")
    forests = (automatic, given, ClusterForest.from_paper(k, random_state=0))
    runs = [[_seconds(forest, X) for forest in forests] for _ in range(repeat)]
    return Timing(name, *map(statistics.median, zip(*runs, strict=True)))


def _seconds(forest: ClusterForest, X: Any) -> float:
    started = time.process_time()
    forest.fit(X)
    return time.process_time() - started
