"""Partitions that users pass: checked, and their labels renumbered."""

from typing import Any

import numpy as np

from clusterforests._utils.arrays import AnyArray, IndexArray, IntArray
from clusterforests._utils.validation import MAX_MEMBERS

FEW_LABELS = 2**18  # that are renumbered all at once


def check_partitions(partitions: Any) -> IntArray:
    """Return the labels of each partition, renumbered from 0 as they appear; -1 where they are negative."""
    try:
        given = np.asarray(partitions)
    except ValueError as error:
        raise ValueError("partitions must all label the same number of rows.") from error
    if given.ndim != 2 or 0 in given.shape:
        raise ValueError(
            f"partitions must have shape (n_partitions, n_samples), both at least 1; it has shape {given.shape}."
        )
    if len(given) > MAX_MEMBERS:
        raise ValueError(f"partitions has {len(given)} members; at most {MAX_MEMBERS} are allowed.")
    if given.dtype.kind not in "biu":
        raise TypeError(f"partitions must hold integer labels, not {given.dtype}. Encode other labels as integers.")
    if given.size <= FEW_LABELS and int(given.min()) >= 0 and int(given.max()) < given.shape[1]:
        return _all_renumbered(given.astype(np.intp))
    labels = np.full(given.shape, -1, dtype=np.int32)
    for member, out in zip(given, labels, strict=True):
        clustered = member >= 0
        out[clustered] = _renumbered(member[clustered])
    never = np.flatnonzero((labels < 0).all(axis=0))
    if len(never):
        raise ValueError(
            f"{len(never)} row(s) are not clustered in any partition, the first is row {never[0]}: nothing is known "
            "about them. Leave them out, or cluster them in at least one partition."
        )
    return labels


def _all_renumbered(labels: IndexArray) -> IntArray:
    """Do what `_renumbered` does for all partitions at once, which takes more memory but less time."""
    size, n = labels.shape
    width = int(labels.max()) + 1
    places = np.arange(size)[:, None] * width + labels
    first = np.full(size * width, n)
    first[places.ravel()[::-1]] = np.tile(np.arange(n), size)[::-1]  # of several writes to one place the last stays
    order = np.argsort(first.reshape(size, width), axis=1)
    rank = np.empty((size, width), dtype=np.int32)
    np.put_along_axis(rank, order, np.arange(width, dtype=np.int32)[None, :], axis=1)
    renumbered: IntArray = rank.ravel()[places]
    return renumbered


def _renumbered(labels: AnyArray) -> AnyArray:
    """Number the labels from 0 in the order in which they appear, so that their names do not matter."""
    if len(labels) == 0 or int(labels.max()) >= len(labels):  # only labels that are far apart are sorted
        labels = np.unique(labels, return_inverse=True)[1]
    first = np.full(int(labels.max(initial=-1)) + 1, len(labels))  # the row where each label appears first
    first[labels[::-1]] = np.arange(len(labels))[::-1]  # of several writes to one place the last stays
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first))
    renumbered: IntArray = rank[labels]
    return renumbered
