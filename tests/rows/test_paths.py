"""Every way from partitions to clusters, dense, operator and landmarks, and from trees to all rows: against oracles."""

import numpy as np
import pytest
import reference
from accelerator import need_gpu, rows_on_gpu
from sklearn.metrics import adjusted_rand_score

from clusterforests._utils.devices import to_host
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import LIMITS, GraphLimits
from clusterforests.consensus.consensus_clustering import combine
from clusterforests.consensus.nodes import CutSettings
from clusterforests.rows.sampled import LocalBlocks, settle_centers
from clusterforests.table.feature_columns import numeric_table
from clusterforests.table.row_sources import ArraySource, large_numeric_table, scan_table
from clusterforests.table.scaling import fit_scaling
from clusterforests.trees.forest import GrowthPlan
from clusterforests.trees.growth import GrowthSettings

# Limits that force one of them.
PATHS = {
    "dense": LIMITS,
    "stored": GraphLimits(matrix_nodes=0, matrix_part=0, stored_bytes=2**28),
    "counted": GraphLimits(matrix_nodes=0, matrix_part=0, stored_bytes=0),
    "n_landmarks": LIMITS,
    "sampled landmarks": GraphLimits(collapsed=10),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("threshold", [0.4, "auto"])
@pytest.mark.parametrize("seed", range(3))
def test_recursive_cuts(path, threshold, seed):
    """Landmarks are nearly all rows, so that they have to find what the exact cut finds."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], [60, 50, 40])
    labels = np.where(rng.random((40, 150)) < 0.3, rng.integers(0, 3, (40, 150)), truth).astype(np.int32)
    some = 140 if "n_landmarks" in path else None
    found = combine(CpuBackend(2), labels, CutSettings(3, "ncut", threshold, 4.0, some), seed=seed, limits=PATHS[path])
    assert found.n_landmarks == some
    P = reference.coassociation(labels, labels)
    W = np.expm1(4.0 * P) if threshold == "auto" else reference.regularised(P, threshold, 4.0)
    expected = reference.recursive_cut(W, 3)
    agreement = adjusted_rand_score(expected, found.labels)
    assert agreement == 1 if some is None else agreement > 0.9
    assert (found.placement.clusters(CpuBackend(), labels) == found.labels).all()


def dask_rows(X, lengths, monkeypatch):
    """Imported here, because machines with a GPU need not have Dask."""
    import dask

    from clusterforests.rows.dask.reader import DaskReader

    monkeypatch.setitem(dask.config.config, "scheduler", "synchronous")
    pieces = [dask.delayed(X[end - n : end]) for n, end in zip(lengths, np.cumsum(lengths), strict=True)]
    return DaskReader(pieces, None, np.array(lengths), 4, str)


@pytest.mark.parametrize(
    "lengths",
    [None, (150,), (7, 0, 100, 43), pytest.param("gpu", marks=pytest.mark.gpu)],
    ids=["here", "dask", "dask in pieces", "gpu"],
)
def test_trees_on_all_rows(lengths, monkeypatch):
    """Means and labels of rows that are in this process, Dask's, or on a GPU, against plain ones."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4)) + 4 * rng.integers(0, 3, (150, 1))
    part = numeric_table(np.ascontiguousarray(X[::3]))
    scaling = fit_scaling(part, "mixed")
    settings = GrowthSettings(np.arange(2, 9, dtype=np.int32), True, 2, 1, 2, True, False, "centroid", 1, 50)
    forest = GrowthPlan(part.values, None, scaling, settings, 0, None).make_trees(CpuBackend())
    columns = [scaling.views.columns(t, f) for t, f in enumerate(forest.features)]
    exponent, origin, _ = forest.coordinates
    centers = [np.ldexp(c + origin[f], exponent[f]) for c, f in zip(forest.centers, columns, strict=True)]
    if lengths is None:
        rows = LocalBlocks(large_numeric_table(ArraySource(X), scan_table(ArraySource(X))))
    elif lengths == "gpu":
        need_gpu(monkeypatch)
        rows = rows_on_gpu(X)
    else:
        rows = dask_rows(X, lengths, monkeypatch)
        assert len(rows.draw(100, 0).weights) == 100
    found = settle_centers(forest, scaling, rows.ends(), ArraySource(X), None)
    expected, labels = reference.spread(scaling.apply(X), columns, centers)
    assert (np.asarray(to_host(rows.label(found))) == labels).all()
    for c, f, center in zip(found.centers, columns, expected, strict=True):
        np.testing.assert_allclose(np.ldexp(c + origin[f], exponent[f]), center, rtol=1e-9, atol=1e-9)


def test_all_rows_as_landmarks_are_the_exact_cut():
    """The rows then walk, instead of being cut, and arrive where the cut puts them."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [60, 50, 40])
    labels = np.where(rng.random((40, 150)) < 0.3, rng.integers(0, 3, (40, 150)), truth).astype(np.int32)
    exact = combine(CpuBackend(), labels, CutSettings(3, "ncut", 0.4, 4.0, None)).labels
    many = GraphLimits(collapsed=10)
    for method in ("ncut", "kway"):
        exact = combine(CpuBackend(), labels, CutSettings(3, method, 0.4, 4.0, None)).labels
        walked = combine(CpuBackend(), labels, CutSettings(3, method, 0.4, 4.0, 150), limits=many)
        assert not len(walked.placement.fixed_nodes)
        assert (walked.labels == exact).all()
