"""Place all rows of a Dask table, partition by partition, and name the clusters by size."""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from clusterforests.consensus.placement import Placement, Tally, settle_by
from clusterforests.rows.dask import partition_work as pieces
from clusterforests.rows.dask.tasks import compute, merged, persist, share, stack, tasks

PlaceTasks = Callable[[Any], list[Any]]  # a shared rule -> for each partition the groups of its rows
Told = Callable[[int, int], None]


def settle_partitions(
    placement: Placement, place: PlaceTasks, weights: Sequence[Any] | None, lengths: list[int], told: Any = None
) -> tuple[Placement, Any]:
    """Place the rows by tasks that know how; return the rule, with the names of the groups, and the clusters."""
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).tolist()

    def place_all(now: Placement) -> tuple[list[Any], Tally]:
        groups = place(share("rule", now))
        own = [None] * len(groups) if weights is None else weights
        counted = zip(groups, own, [len(now.names)] * len(groups), starts, strict=True)
        tallies = tasks("tally-rows", pieces.tally, list(counted))
        *groups, tally = persist([*groups, merged("merge-tallies", tallies, total)])
        return groups, compute([tally], told, groups)[0]

    placement, groups = settle_by(placement, place_all)
    named = tasks("name-clusters", np.take, [(placement.names, found) for found in groups])
    return placement, stack(persist(named), lengths, np.int32)


def total(parts: list[Any]) -> Any:
    """Add up what can be added."""
    return functools.reduce(operator.add, parts)
