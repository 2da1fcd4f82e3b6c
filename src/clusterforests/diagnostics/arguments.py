"""Checks of the partitions, labels and weights that are given."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from clusterforests._base.parameters import MAX_MEMBERS, integer
from clusterforests._base.typing import FloatArray, IndexArray, IntArray
from clusterforests.combining.partitions import check_partitions
from clusterforests.tables.checks import check_weights

Combine: TypeAlias = Callable[[IntArray, int], Any]  # partitions, number of clusters -> labels

SEED = integer(0)
ROUNDING = 1e-9  # smaller differences of sums of weights are rounding


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


def check_labels(labels: Any, n_rows: int, n_clusters: int | None = None) -> IndexArray:
    """Check that there is one label for each row, numbered from 0: without a gap, or below n_clusters."""
    given = np.asarray(labels)
    if given.shape != (n_rows,) or given.dtype.kind not in "biu":
        raise ValueError(
            f"labels must be {n_rows} integers, one for each row; it has shape {given.shape} and holds {given.dtype}."
        )
    found: IndexArray = given.astype(np.intp)
    if found.min() < 0 or (n_clusters is None and (np.bincount(found) == 0).any()):
        raise ValueError(
            "labels must be numbered from 0 without a gap, and no row may be without one. Renumber them with "
            "np.unique(labels, return_inverse=True)[1]."
        )
    if n_clusters is not None and found.max() >= n_clusters:
        raise ValueError(f"labels has the cluster {found.max()} but shares has only {n_clusters} columns.")
    return found


def check_shares(shares: Any, labels: Any) -> tuple[FloatArray, IndexArray]:
    """Check what `cluster_shares` returned, and labels for it."""
    given = np.asarray(shares, dtype=np.float64)
    if given.ndim != 2 or 0 in given.shape or not ((given >= 0) & (given <= 1)).all():
        raise ValueError("shares must have shape (n_samples, n_clusters) and hold numbers from 0 to 1.")
    return given, check_labels(labels, *given.shape)


def check_counts(weights: Any, n_rows: int) -> FloatArray:
    """Check row weights that are not None."""
    try:
        counts = check_weights(weights, n_rows)
    except ValueError as error:
        raise ValueError(str(error).replace("sample_weight", "weights")) from error
    assert counts is not None
    return counts


def labels_from(combine: Combine, members: IntArray, n_clusters: int) -> IndexArray:
    """Combine partitions into labels from 0; -1 for rows that none clusters, which `combine` does not see."""
    clustered = members.max(axis=0) >= 0
    labels = np.full(len(clustered), -1, dtype=np.intp)
    n = int(clustered.sum())
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
