"""Cuts of one graph into several numbers, against cuts one by one."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import collapse
from clusterforests.consensus.cut import ConsensusGraph, cut_graph, cut_numbers
from clusterforests.consensus.settings import CutSettings

BACKEND = CpuBackend(1)
SIZES = [40, 35, 30, 25, 20]
TRUTH = np.repeat(np.arange(5), SIZES)


def nested(members=60, noise=0.05, seed=0):
    """Trees that see five groups, of which two pairs and then two more are merged in ever fewer of them."""
    rng = np.random.default_rng(seed)
    merged = [[0, 1, 2, 3, 4]] * 3 + [[0, 0, 2, 3, 4]] * 4 + [[0, 0, 2, 2, 4]] * 5 + [[0, 0, 0, 0, 4]] * 6
    labels = np.array([np.array(merged[m % len(merged)])[TRUTH] for m in range(members)])
    wrong = rng.random(labels.shape) < noise
    labels[wrong] = rng.integers(0, 5, wrong.sum())
    return collapse(labels.astype(np.int32), None)


def settings(method):
    return CutSettings(2, method, "auto", "auto", None)


@pytest.mark.parametrize("method", ["kway", "gaps-or-kway", "ncut", "average", "medoid", "mcla"])
def test_every_cut_is_that_of_its_number(method):
    signatures = nested()
    numbers = [2, 3, 4, 5]
    found = cut_numbers(BACKEND, signatures, settings(method), numbers)
    for k, groups in zip(numbers, found, strict=True):
        own = settings(method)._replace(n_clusters=k)
        alone = cut_graph(ConsensusGraph(BACKEND, signatures, own), own).cut.groups
        assert adjusted_rand_score(alone, groups) == 1
        assert set(groups) == set(range(k))
    assert adjusted_rand_score(found[-1][signatures.inverse], TRUTH) == 1


@pytest.mark.parametrize("method", ["kway", "gaps-or-kway", "ncut"])
def test_order_and_company_do_not_matter(method):
    signatures = nested()
    together = cut_numbers(BACKEND, signatures, settings(method), [5, 2])
    alone = [cut_numbers(BACKEND, signatures, settings(method), [k])[0] for k in (5, 2)]
    for mine, theirs in zip(together, alone, strict=True):
        assert adjusted_rand_score(mine, theirs) == 1


def test_weights_count():
    labels = nested().labels[:, :60]
    weights = 1.0 + (np.arange(60) % 3 == 0)
    weighted = collapse(np.ascontiguousarray(labels), weights)
    repeated = collapse(np.repeat(labels, weights.astype(int), axis=1), None)
    for method in ("kway", "gaps-or-kway"):
        a, b = (cut_numbers(BACKEND, rows, settings(method), [2, 3]) for rows in (weighted, repeated))
        for mine, theirs in zip(a, b, strict=True):
            np.testing.assert_array_equal(
                np.repeat(mine[weighted.inverse], weights.astype(int)), theirs[repeated.inverse]
            )


@pytest.mark.parametrize("method", ["kway", "gaps-or-kway", "ncut", "average"])
def test_more_groups_than_rows_cannot_be_cut(method):
    three = collapse(np.tile([0, 0, 1, 2, 2], (4, 1)).astype(np.int32), None)
    first, second = cut_numbers(BACKEND, three, settings(method), [2, 7])
    assert set(first) == {0, 1}
    assert second is None
