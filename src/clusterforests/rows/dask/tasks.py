"""Named tasks for a table's partitions, merged in trees, on whatever scheduler Dask has at hand.

A worker that dies loses nothing: what tasks share is part of the graph, and a task makes the partition that it needs
anew, so Dask runs the lost tasks again elsewhere. `cluster_errors` explains what even that cannot save.
"""

import contextlib
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import dask
import dask.array as da
from dask.core import get_dependencies
from dask.delayed import Delayed, delayed
from dask.highlevelgraph import HighLevelGraph

from clusterforests._utils.arrays import aligned

MERGED_AT_A_TIME = 16
WARNED_ABOVE = "distributed.admin.large-graph-warning-threshold"  # 10 MB, unless it is set
GRAPH_BYTES = 2**30

Told = Callable[[int, int], None]  # (tasks done, tasks)


class Chain:
    """The tasks that make a partition. A task that needs it runs them, so that it never travels to another worker."""

    def __init__(self, graph: dict[Any, Any], key: Any) -> None:
        self.graph, self.key = graph, key

    def read(self) -> Any:
        return dask.get(self.graph, self.key)


def chains(pieces: list[Delayed]) -> list[Any]:
    """Chain the tasks of partitions that have none in common. Others, and those on workers, stay as they are."""
    graph = dict(pieces[0].__dask_graph__())  # that of all, but for what is on workers
    found: list[Any] = []
    taken: set[Any] = set()
    for piece in pieces:
        own, needed = {}, [piece.key]
        while needed:
            key = needed.pop()
            if key not in graph or _is_future(graph[key]):
                return pieces
            own[key] = graph[key]
            needed.extend(get_dependencies(graph, key))
        if not taken.isdisjoint(own):
            return pieces
        taken.update(own)
        found.append(Chain(own, piece.key))
    return found


def _is_future(value: Any) -> bool:
    distributed: Any = sys.modules.get("distributed")
    return distributed is not None and isinstance(value, distributed.Future)


def _run(work: Callable[..., Any], *arguments: Any) -> Any:
    return work(*(given.read() if isinstance(given, Chain) else aligned(given) for given in arguments))


def share(name: str, value: Any) -> Delayed:
    """Share a value that many tasks need. It is in the graph, not on a worker that may die with it."""
    return delayed(value, name=f"{name}-{uuid.uuid4().hex}", traverse=False)


def tasks(stage: str, work: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Delayed]:
    """Call `work` with each of the arguments. On the dashboard the tasks have the name of the stage."""
    name, call = f"{stage}-{uuid.uuid4().hex}", delayed(_run, pure=False, traverse=False)
    return [call(work, *arguments, dask_key_name=(name, i)) for i, arguments in enumerate(calls)]


def merged(stage: str, nodes: list[Delayed], merge: Callable[[list[Any]], Any]) -> Delayed:
    """Merge many into one, a few at a time, in their order."""
    while len(nodes) > 1:
        groups = [nodes[i : i + MERGED_AT_A_TIME] for i in range(0, len(nodes), MERGED_AT_A_TIME)]
        name, call = f"{stage}-{uuid.uuid4().hex}", delayed(merge, pure=False)
        nodes = [call(group, dask_key_name=(name, i)) for i, group in enumerate(groups)]
    return nodes[0]


def compute(wanted: Sequence[Delayed], told: Told | None = None, watched: Sequence[Delayed] | None = None) -> list[Any]:
    """Compute the results. `told` hears how many of the watched tasks, or else of all, are done."""
    watched = wanted if watched is None else watched
    client = _client()
    with cluster_errors(), _large_graphs(client):
        if client is None:
            results = list(dask.compute(*wanted))
            if told is not None:
                told(len(watched), len(watched))
            return results
        futures = client.compute([*wanted, *(watched if watched is not wanted else ())])
        finished = sys.modules["distributed"].as_completed(futures[-len(watched) :])
        del futures[len(wanted) :]
        for done, _ in enumerate(finished, 1):
            if told is not None:
                told(done, len(watched))
        return [aligned(result) for result in client.gather(futures)]


def persist(wanted: Sequence[Delayed]) -> list[Delayed]:
    """Compute, and keep the results where they are computed: on the workers, or here if there are none."""
    with cluster_errors(), _large_graphs(_client()):
        return list(dask.persist(*wanted))


def stack(
    nodes: Sequence[Delayed],
    lengths: Sequence[float],
    dtype: Any,
    *,
    before: tuple[int, ...] = (),
    after: tuple[int, ...] = (),
) -> da.Array:
    """Stack the lazy results of all partitions. Other axes come before or after that of the rows."""
    name, none_before, none_after = f"rows-{uuid.uuid4().hex}", (0,) * len(before), (0,) * len(after)
    layer = {(name, *none_before, i, *none_after): node.key for i, node in enumerate(nodes)}
    chunks = (*((n,) for n in before), tuple(lengths), *((n,) for n in after))
    # Not da.concatenate, which drops empty pieces.
    return da.Array(HighLevelGraph.from_collections(name, layer, dependencies=nodes), name, chunks, dtype=dtype)


@contextlib.contextmanager
def cluster_errors() -> Iterator[None]:
    """Raise one clear error where the cluster is the reason."""
    distributed: Any = sys.modules.get("distributed")
    if distributed is None:
        yield
        return
    try:
        yield
    except distributed.KilledWorker as error:
        raise RuntimeError(
            "Several Dask workers died with the same task, most likely for lack of memory. Give workers more of it, or "
            "make the partitions smaller: X.rechunk or X.repartition. Nothing was changed."
        ) from error
    except (distributed.comm.CommClosedError, distributed.CancelledError) as error:
        raise RuntimeError(
            "The Dask scheduler is gone or has dropped the tasks. Nothing was changed: connect to a cluster and call "
            "fit again."
        ) from error


def _large_graphs(client: Any) -> contextlib.AbstractContextManager[Any]:
    """Silence Dask's warning of large graphs on a cluster: a graph carries the sample or the trees."""
    if client is None:
        return contextlib.nullcontext()
    quiet: contextlib.AbstractContextManager[Any] = dask.config.set({WARNED_ABOVE: GRAPH_BYTES})
    return quiet


def has_workers() -> bool:
    return _client() is not None


def _client() -> Any:
    """Find the client of the cluster in use; None if Dask runs in this process."""
    distributed: Any = sys.modules.get("distributed")
    if distributed is None or dask.config.get("scheduler", None) not in (None, "distributed", "dask.distributed"):
        return None
    try:
        return distributed.Client.current()
    except ValueError:
        return None
