"""Rows on a GPU: new ones, checks and counts of all, and what is refused before a fit starts."""

import sys

import emulated_cupy
import numpy as np
import pytest
from accelerator import BIG, RNG, rows_on_gpu

from clusterforests import ClusterForest
from clusterforests._utils.memory import DeviceLimits, SizeLimits
from clusterforests.consensus.placement import Tally
from clusterforests.gpu.reader import check_on_gpu
from clusterforests.rows.new_rows import Predictor


@pytest.mark.gpu
@pytest.mark.parametrize("consensus", ["refined", "kway", "average"])
def test_new_rows_stay_on_the_gpu(cupy, big, monkeypatch, lower_limits, consensus):
    """Nothing of them goes through this machine's memory but what is asked for; blocks change nothing."""
    settings = {"n_estimators": 12, "random_state": 0, "consensus": consensus, "n_jobs": -1}
    found = ClusterForest(4, **settings).fit(cupy.asarray(big))
    cpu = ClusterForest(4, **settings).fit(big)
    new = np.ascontiguousarray(big[::3] * np.float64(1.01))

    def refuse(*_):
        raise AssertionError("read by this machine")

    monkeypatch.setattr(Predictor, "read", refuse)
    answers = {}
    for name in ("predict", "predict_proba", "transform"):
        answers[name] = cupy.asnumpy(getattr(found, name)(cupy.asarray(new)))
    found._limits = SizeLimits(device=DeviceLimits(label_bytes=12 * 400))
    for name, whole in answers.items():
        assert (cupy.asnumpy(getattr(found, name)(cupy.asarray(new))) == whole).all()
    monkeypatch.undo()
    for name, whole in answers.items():
        assert (getattr(cpu, name)(new) == whole).all()


@pytest.mark.gpu
def test_new_rows_with_missing_cells_or_columns_go_to_the_cpu(cupy, big):
    found = ClusterForest(4, n_estimators=8, random_state=0).fit(cupy.asarray(big))
    holes = big[:50].copy()
    holes[3, 1] = np.nan
    assert len(found.predict(cupy.asarray(holes))) == 50
    holes[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        found.predict(cupy.asarray(holes))
    with pytest.raises(ValueError, match="4 features"):
        found.predict(cupy.asarray(np.ascontiguousarray(big[:50, :4])))


@pytest.mark.gpu
def test_rows_that_share_a_key_are_refused(cupy, big):
    table = rows_on_gpu(big)
    keys = cupy.asnumpy(table.seen.keys)
    keys[7] = keys[4]
    with pytest.raises(ValueError, match="differ but share the key"):
        check_on_gpu(table.table, cupy.asarray(keys), np.arange(5))
    check_on_gpu(table.table, table.seen.keys, np.arange(5))


@pytest.mark.gpu
@pytest.mark.parametrize("clusters", [3, 5000])
def test_tallies(cupy, clusters):
    """In the block's own memory, and of too many clusters for it."""
    found = RNG.integers(1, clusters, 30000).astype(np.int32)
    tally = rows_on_gpu(BIG[:100])._tally(cupy.asarray(found), clusters)
    expected = Tally.of(found, clusters)
    assert (tally.weights == expected.weights).all()
    assert (tally.first == expected.first).all()


@pytest.mark.gpu
def test_too_little_memory_is_said_before_a_fit(big, lower_limits):
    lower_limits(device=DeviceLimits(scratch_bytes=2**60))
    with pytest.raises(
        MemoryError, match=r"needs .* GiB on the GPU beside the table.*Free other arrays, or use device="
    ):
        ClusterForest(4, n_estimators=8, device="gpu").fit(big)


def test_a_gpu_that_is_too_old_is_said_before_a_fit(monkeypatch, lower_limits):
    lower_limits(large_rows=2000)
    monkeypatch.setitem(sys.modules, "cupy", emulated_cupy)
    monkeypatch.setattr(emulated_cupy.Device, "compute_capability", "75")
    with pytest.raises(RuntimeError, match=r"compute capability 8\.0 or later; this one has 7\.5\. Use device='cpu'"):
        ClusterForest(4, n_estimators=8, device="gpu").fit(BIG[:4001])
