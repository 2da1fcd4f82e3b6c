"""Checks of the partitions, labels and weights that are given."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray
from clusterforests._utils.validation import MAX_MEMBERS, integer
from clusterforests.consensus.consensus_clustering import check_partitions
from clusterforests.table.checks import check_weights

Combine: TypeAlias = Callable[[IntArray, int], Any]  # partitions, number of clusters -> labels

SEED = integer(0)


def check_members(partitions: Any, labels: Any, weights: Any) -> tuple[IntArray, IndexArray, FloatArray | None]:
    """Check partitions, labels and weights of the same rows."""
    members = check_given(partitions)
    counts = None if weights is None else check_counts(weights, members.shape[1])
    return members, check_labels(labels, members.shape[1]), counts


def check_given(partitions: Any) -> IntArray:
    """Do what check_partitions does, but at once if nothing has to be renumbered, which sorts every partition.

    Labels then stay in the small type that they have.
    """
    if (
        type(partitions) is np.ndarray
        and partitions.dtype.kind == "i"
        and partitions.ndim == 2
        and 0 < len(partitions) <= MAX_MEMBERS
        and partitions.size > 0
        and partitions.min() >= -1
        and partitions.max() < partitions.shape[1]
        and bool((partitions.max(axis=0) >= 0).all())
    ):
        return partitions
    return check_partitions(partitions)


def check_labels(labels: Any, n_rows: int) -> IndexArray:
    """Check that there is one label for each row, numbered from 0 without a gap."""
    given = np.asarray(labels)
    if given.shape != (n_rows,) or given.dtype.kind not in "biu":
        raise ValueError(
            f"labels must be {n_rows} integers, one for each row; it has shape {given.shape} and holds {given.dtype}."
        )
    found: IndexArray = given.astype(np.intp)
    if found.min() < 0 or (np.bincount(found) == 0).any():
        raise ValueError(
            "labels must be numbered from 0 without a gap, and no row may be without one. Renumber them with "
            "np.unique(labels, return_inverse=True)[1]."
        )
    return found


def check_counts(weights: Any, n_rows: int) -> FloatArray:
    """Check row weights that are not None."""
    try:
        counts = check_weights(weights, n_rows)
    except ValueError as error:
        raise ValueError(str(error).replace("sample_weight", "weights")) from error
    assert counts is not None
    return counts


def check_names(names: Any, n_features: int) -> list[str]:
    """Check names of the features; None numbers them."""
    if names is None:
        return [f"feature {j}" for j in range(n_features)]
    if isinstance(names, str) or len(names) != n_features:
        raise ValueError(f"names must be {n_features} names, one for each feature; it is {names!r}.")
    return [str(name) for name in names]


def combined(combine: Combine, members: IntArray, n_clusters: int) -> IndexArray:
    """Combine partitions into labels from 0; rows that no partition clusters get -1 and are not shown to `combine`."""
    clustered = members.max(axis=0) >= 0
    n = int(clustered.sum())
    labels = np.full(len(clustered), -1, dtype=np.intp)
    if n == 0:
        return labels
    found = np.asarray(combine(members if n == len(clustered) else members[:, clustered], n_clusters))
    if found.shape != (n,) or found.dtype.kind not in "biu":
        raise ValueError(
            f"combine must return one integer label for each of the {n} rows; it returned {found.dtype} of shape "
            f"{found.shape}."
        )
    labels[clustered] = np.unique(found, return_inverse=True)[1]
    return labels
