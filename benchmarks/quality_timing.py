"""What choosing costs: a fit with automatic settings, the same settings given, and the published ones, in turn."""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from quality_data import load_set
from stamp import current_commit

from clusterforests import ClusterForest, PaperForest
from paper.experiments.runner import read_table, write_table

TIMED_SETS = ("soybean", "wine", "wdbc", "robot", "imgseg", "madelon", "ecoli", "vowel", "orl")
MAY_BE_NONE = ("max_samples", "landmarks", "base_clusters")


class Timing(NamedTuple):
    """Median processor seconds; every fit has one thread."""

    set: str
    automatic: float
    given: float
    published: float
    commit: str


def time_fits(sets: Sequence[str], path: Path, repeat: int = 5) -> list[Timing]:
    timings = []
    for name in sets:
        timings.append(_time_set(name, repeat))
        print(f"{path.name}: {timings[-1]}", flush=True)
    write_table(path, Timing._fields, timings)
    return timings


def read_timings(path: Path) -> list[Timing]:
    return [Timing(name, *map(float, seconds), commit) for name, *seconds, commit in read_table(path, Timing._fields)]


def settings_of(forest: ClusterForest) -> dict[str, Any]:
    """What a fitted forest chose, as parameters; without those that its trees do not have, which are None."""
    chosen = {name: choice.value for name, choice in forest.selection_.items() if name in forest.get_params()}
    return {name: value for name, value in chosen.items() if value is not None or name in MAY_BE_NONE}


def _time_set(name: str, repeat: int) -> Timing:
    X, _, k = load_set(name)
    automatic = ClusterForest(k, random_state=0).fit(X)
    given = ClusterForest(random_state=0, **settings_of(automatic)).fit(X)
    if (automatic.labels_ != given.labels_).any():
        raise ValueError(f"On {name} the settings in selection_ give other labels than the automatic fit.")
    forests = (automatic, given, PaperForest(k, random_state=0))
    runs = [[_seconds(forest, X) for forest in forests] for _ in range(repeat)]
    return Timing(name, *map(statistics.median, zip(*runs, strict=True)), current_commit())


def _seconds(forest: ClusterForest, X: Any) -> float:
    started = time.process_time()
    forest.fit(X)
    return time.process_time() - started
