"""Arrays that other processes sent begin at any byte; the core takes them only where their type may be."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from clusterforests import ClusterForest, HartiganWongKMeans
from clusterforests._utils.arrays import aligned
from clusterforests.table.row_sampling import WeightedKeys

X = np.random.default_rng(0).normal(size=(60, 4)) + 5 * np.repeat([0, 1, 2], 20)[:, None]


def test_arrays_are_copied_only_where_they_must_be():
    odd = np.ndarray(5, np.float64, bytearray(41), offset=1)
    assert not odd.flags.aligned
    array, found = aligned(odd), aligned([{"keys": WeightedKeys(odd.view(np.uint64), odd)}])
    assert all(each.flags.aligned for each in (array, *found[0]["keys"]))
    assert aligned(array) is array


@pytest.mark.parametrize("model", [ClusterForest(3, n_estimators=10, random_state=0), HartiganWongKMeans(3)])
def test_a_model_in_a_message_predicts(model):
    """As Dask sends it: the arrays are parts of one buffer, one after the other, from any byte on."""
    fitted, buffers = clone(model).fit(X), []
    sent = pickle.dumps(fitted, protocol=5, buffer_callback=buffers.append)
    assert buffers
    message, parts = b"".join(b"\0" + each.raw().tobytes() for each in buffers), []
    at = 0
    for each in buffers:
        size = each.raw().nbytes
        parts.append(memoryview(message)[at + 1 : at + 1 + size])
        at += 1 + size
    received = pickle.loads(sent, buffers=parts)
    assert (received.predict(X) == fitted.predict(X)).all()
