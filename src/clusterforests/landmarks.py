"""Some rows of labels that stand for all of them, each with the weight of those nearest to it."""

import numpy as np
import numpy.typing as npt

from clusterforests.affinity import Signatures, coassociate
from clusterforests.backends import CpuBackend
from clusterforests.streams import stream, uniform

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]
KeyArray = npt.NDArray[np.uint64]

WAVES = 4  # in which the second half of the landmarks is drawn, each from what the others do not cover yet
BLOCK = 4096  # rows compared with the landmarks at a time

_LANDMARKS = 7  # what the stream of random numbers is for; the number is part of its key


def choose_landmarks(backend: CpuBackend, signatures: Signatures, count: int, seed: int) -> Signatures:
    """`count` of the signatures, with the weights of all.

    Half are drawn by weight. The others are drawn with a preference for what is far from all chosen so far, so that a
    small group that is unlike the rest is represented.
    """
    half = count - count // 2
    chosen = _draw(signatures.weights, half, np.empty(0, np.intp), stream(seed, _LANDMARKS, 0))
    distance = 1.0 - _nearest(backend, signatures, chosen)[1]
    for wave in range(WAVES):
        missing = count - len(chosen)
        share = -(-missing // (WAVES - wave))
        more = _draw(signatures.weights * distance**4, share, chosen, stream(seed, _LANDMARKS, wave + 1))
        distance = np.minimum(distance, 1.0 - _nearest(backend, signatures, more)[1])
        chosen = np.concatenate([chosen, more])
    chosen = np.sort(chosen)
    nearest, _ = _nearest(backend, signatures, chosen)
    nearest[chosen] = np.arange(len(chosen))
    weights = np.bincount(nearest, signatures.weights, minlength=len(chosen)).astype(np.float64)
    labels = np.ascontiguousarray(signatures.labels[:, chosen])
    return Signatures(labels, np.arange(len(chosen)), weights)


def _draw(preference: FloatArray, count: int, taken: IndexArray, key: KeyArray) -> IndexArray:
    """Without replacement, in proportion to the preference; those of none only if nothing else is left."""
    waiting = -np.log1p(-uniform(stream(key, np.arange(len(preference)))))
    with np.errstate(divide="ignore", invalid="ignore"):
        arrival = np.where(preference > 0, waiting / preference, np.inf)
    arrival[taken] = np.nan  # sorted last
    return np.argsort(arrival, kind="stable")[:count]


def _nearest(backend: CpuBackend, signatures: Signatures, chosen: IndexArray) -> tuple[IndexArray, FloatArray]:
    """For each signature the place in `chosen` of the one with the highest P, the first on ties, and that P."""
    nearest = np.zeros(len(signatures), dtype=np.intp)
    share = np.zeros(len(signatures))
    if not len(chosen):
        return nearest, share
    landmarks = np.ascontiguousarray(signatures.labels[:, chosen])
    for start in range(0, len(signatures), BLOCK):
        rows = np.ascontiguousarray(signatures.labels[:, start : start + BLOCK])
        P = coassociate(backend, rows, landmarks)
        nearest[start : start + BLOCK] = P.argmax(axis=1)
        share[start : start + BLOCK] = P.max(axis=1)
    return nearest, share
