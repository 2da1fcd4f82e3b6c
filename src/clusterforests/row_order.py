"""Rows in an order that depends on their values alone."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests.streams import stream, uniform

FloatArray = npt.NDArray[np.float64]

HASHED = 2**20  # keys at a time

_SAMPLE = 6  # what the stream of random numbers is for; the number is part of its key


class DistinctRows(NamedTuple):
    """Which rows of a table stand for all of them, in a random order, and the weight of each."""

    rows: npt.NDArray[np.intp]
    weights: FloatArray


def row_keys(X: FloatArray) -> npt.NDArray[np.uint64]:
    """A hash of each row. NaNs are equal to each other, and so are 0 and -0."""
    keys = np.zeros(len(X), dtype=np.uint64)
    for column in X.T:
        plain = np.where(np.isnan(column), np.nan, column + 0.0)
        keys = stream(keys, plain.view(np.uint64))
    return keys


def order_by_values(X: FloatArray, weights: FloatArray | None = None) -> npt.NDArray[np.intp]:
    """A random order of the rows that does not depend on how they came."""
    keys = row_keys(X)
    return np.lexsort((keys,) if weights is None else (weights, keys))


def distinct_rows(X: FloatArray, weights: FloatArray | None = None) -> DistinctRows:
    """The different rows of positive weight; the weights of equal rows add up."""
    mass = np.ones(len(X)) if weights is None else weights
    counted = np.flatnonzero(mass > 0)
    keys = row_keys(X[counted])
    order = np.lexsort((mass[counted], keys))
    starts = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]) != 0)
    return DistinctRows(counted[order[starts]], np.add.reduceat(mass[counted[order]], starts))


def draw_rows(keys: npt.NDArray[np.uint64], weights: FloatArray | None, size: int, seed: int) -> DistinctRows:
    """At most `size` different rows, by their keys and the seed alone, in random order; equal rows have equal keys.

    A row of weight w waits for an exponential time of mean 1 / w: so heavy rows, or such that are there many times, are
    drawn first. Each stands for its weight over its chance to be drawn, in units in which a row of weight 1 has 1.
    """
    if weights is None:
        names, first, counts = np.unique(keys, return_index=True, return_counts=True)
        mass = counts.astype(np.float64)
    else:
        counted = np.flatnonzero(weights > 0)
        order = counted[np.lexsort((weights[counted], keys[counted]))]
        starts = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]) != 0)
        names, first, mass = keys[order[starts]], order[starts], np.add.reduceat(weights[order], starts)
    chance = np.empty(len(names))
    for start in range(0, len(names), HASHED):
        some = slice(start, start + HASHED)
        chance[some] = uniform(stream(stream(seed, _SAMPLE), names[some]))
    waiting = -np.log1p(-chance) / mass
    if len(names) <= size:
        order = np.argsort(waiting, kind="stable")
        return DistinctRows(first[order], mass[order])
    last = np.partition(waiting, size)[size]
    few = np.flatnonzero(waiting <= last)
    few = few[np.argsort(waiting[few], kind="stable")][:size]
    return DistinctRows(first[few], mass[few] * (np.expm1(-last) / np.expm1(-mass[few] * last)))
