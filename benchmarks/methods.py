"""Fit a peer or one of our variants by name."""

import inspect
from collections.abc import Sequence

from peers import PEERS, FloatArray, Outcome, missing_peers
from variants import UNLISTED, VARIANTS, replaced

from clusterforests import ClusterForest

FEW_SEEDS = 2


def outcome(method: str, X: FloatArray, k: int, seed: int) -> Outcome:
    """Fit one method. The default before exists only in the results, or as today's default of an older checkout."""
    if method in PEERS:
        found = PEERS[method].fit(X, k, seed)
        return found if isinstance(found, Outcome) else Outcome(found)
    settings, names = (VARIANTS | UNLISTED)[method]
    with replaced(names):
        forest = ClusterForest(**{"n_clusters": k, "random_state": seed, **settings}).fit(X)
    return Outcome(forest.labels_, lambda: forest.feature_importances_)


def seeds_of(method: str, seeds: Sequence[int]) -> Sequence[int]:
    """Return the seeds a method runs with: one where nothing is random, few where it is slow."""
    if method not in PEERS:
        return seeds
    peer = PEERS[method]
    return seeds[: FEW_SEEDS if peer.slow else None] if peer.random else seeds[:1]


def check_methods(names: Sequence[str]) -> list[str]:
    """Return the methods that can run here; a misspelt parameter must stop the run, not score 0."""
    known = inspect.signature(ClusterForest).parameters
    for name in names:
        if unknown := [key for key in (VARIANTS[name].settings if name in VARIANTS else {}) if key not in known]:
            raise ValueError(f"VARIANTS[{name!r}] sets {', '.join(unknown)}, which ClusterForest does not have.")
    missing = missing_peers(names)
    for name, needed in missing.items():
        print(f"{name} is left out: it needs {needed}.", flush=True)
    return [name for name in names if name not in missing]
