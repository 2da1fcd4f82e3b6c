"""Landmarks: some rows of labels that stand for all of them, each with the weight of those nearest to it."""

from typing import NamedTuple

import numpy as np

from clusterforests._base.portable_math import exponential
from clusterforests._base.random import Purpose, stream, uniform
from clusterforests._base.typing import FloatArray, IndexArray, IntArray, KeyArray
from clusterforests.backends import Backend
from clusterforests.combining.affinity import Inside, Signatures, coassociate

WAVES = 4  # in which the second half of the landmarks is drawn, each from what is not covered yet
PAIRS_AT_A_TIME = 2048  # compared
COMPARED_ROWS = 512  # rows compared with the landmarks at a time: few, so that memory for their shares is used again


class Picked(NamedTuple):
    """Signatures that stand for all, the number of the one that each signature is nearest to, and their weights."""

    chosen: IndexArray
    nearest: IndexArray
    weights: FloatArray


class Nearest(NamedTuple):
    """For each signature the one with the highest P among some, the first on ties, and that P."""

    signature: IndexArray
    share: FloatArray

    def merge(self, other: "Nearest") -> "Nearest":
        """Find the nearest among those of both."""
        before = (other.share == self.share) & (other.signature < self.signature)
        nearer = (other.share > self.share) | before
        return Nearest(np.where(nearer, other.signature, self.signature), np.maximum(self.share, other.share))


def choose_landmarks(
    backend: Backend, signatures: Signatures, count: int, seed: int, *, sampled: bool = False
) -> Signatures:
    """Choose `count` of the signatures and give them the weights of all.

    If the signatures are `sampled`, each of them stands for others like it. Half of the landmarks are drawn by
    weight, the others with a preference for what is far from all chosen so far, so that a small group that is unlike
    the rest is represented.
    """
    chosen, nearest, weights = pick_landmarks(backend, signatures, count, seed)
    labels = np.ascontiguousarray(signatures.labels[:, chosen])
    inside = _inside(signatures, nearest, weights, sampled)
    return Signatures(labels, np.arange(len(chosen)), weights, inside)


def pick_landmarks(backend: Backend, signatures: Signatures, count: int, seed: int) -> Picked:
    """Pick the signatures that are landmarks."""
    half = count - count // 2
    chosen = np.sort(_draw(signatures.weights, half, np.empty(0, np.intp), stream(seed, Purpose.LANDMARKS, 0)))
    found = _nearest(backend, signatures, chosen)
    for wave in range(WAVES):
        missing = count - len(chosen)
        share = -(-missing // (WAVES - wave))
        far = signatures.weights * np.square(np.square(1.0 - found.share))
        more = np.sort(_draw(far, share, chosen, stream(seed, Purpose.LANDMARKS, wave + 1)))
        found = found.merge(_nearest(backend, signatures, more))
        chosen = np.concatenate([chosen, more])
    chosen = np.sort(chosen)
    nearest = np.searchsorted(chosen, found.signature)
    nearest[chosen] = np.arange(len(chosen))
    weights = np.bincount(nearest, signatures.weights, minlength=len(chosen)).astype(np.float64)
    return Picked(chosen, nearest, weights)


def _inside(signatures: Signatures, nearest: IndexArray, weights: FloatArray, sampled: bool) -> Inside:
    """Estimate the pairs inside each landmark by comparing each of its signatures with the next."""
    order = np.argsort(nearest, kind="stable")
    cell = nearest[order]
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    following = np.arange(1, len(order) + 1)
    following[np.append(first[1:], len(order)) - 1] = first  # A landmark's last signature is followed by its first.
    P = _shares(signatures.labels, order, order[following])
    several = np.bincount(cell, minlength=len(weights)) > 1
    mean = np.bincount(cell, P, minlength=len(weights)) / np.bincount(cell, minlength=len(weights))
    mean[~several] = mean[several].mean() if several.any() else 1.0
    alike = signatures.weights**2 - signatures.weights * sampled
    same = np.bincount(nearest, alike, minlength=len(weights)).clip(min=0) / weights**2
    return Inside(same, mean)


def _shares(labels: IntArray, a: IndexArray, b: IndexArray) -> FloatArray:
    """Compute P of the pairs (a[i], b[i])."""
    rows, shares = np.ascontiguousarray(labels.T), np.zeros(len(a))
    for start in range(0, len(a), PAIRS_AT_A_TIME):
        some = slice(start, start + PAIRS_AT_A_TIME)
        x, y = rows[a[some]], rows[b[some]]
        known = (x >= 0) & (y >= 0)
        together, both = np.count_nonzero(known & (x == y), axis=1), np.count_nonzero(known, axis=1)
        np.divide(together, both, out=shares[some], where=both > 0)
    return shares


def _draw(preference: FloatArray, count: int, taken: IndexArray, key: KeyArray) -> IndexArray:
    """Draw without replacement in proportion to the preference; without any only if nothing else is left."""
    waiting = exponential(uniform(stream(key, np.arange(len(preference)))))
    with np.errstate(divide="ignore", invalid="ignore"):
        arrival = np.where(preference > 0, waiting / preference, np.inf)
    arrival[taken] = np.nan  # NaN is sorted last.
    return np.argsort(arrival, kind="stable")[:count]


def _nearest(backend: Backend, signatures: Signatures, chosen: IndexArray) -> Nearest:
    """Find for each signature the nearest of those chosen, whose numbers ascend."""
    if not len(chosen):
        return Nearest(np.full(len(signatures), len(signatures)), np.full(len(signatures), -1.0))
    landmarks = np.ascontiguousarray(signatures.labels[:, chosen])
    if signatures.labels.min(initial=0) < 0:
        return _nearest_with_gaps(backend, signatures, chosen, landmarks)
    place, matches = backend.most_matched(signatures.labels, landmarks)
    return Nearest(chosen[place], matches / len(landmarks))


def _nearest_with_gaps(backend: Backend, signatures: Signatures, chosen: IndexArray, landmarks: IntArray) -> Nearest:
    """Find the same where rows are not clustered in all members."""
    found = Nearest(np.empty(len(signatures), np.intp), np.empty(len(signatures)))
    for start in range(0, len(signatures), COMPARED_ROWS):
        some = slice(start, start + COMPARED_ROWS)
        P = coassociate(backend, np.ascontiguousarray(signatures.labels[:, some]), landmarks)
        found.signature[some] = chosen[P.argmax(axis=1)]
        found.share[some] = P.max(axis=1)
    return found
