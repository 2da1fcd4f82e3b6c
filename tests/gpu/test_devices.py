"""Where arrays live, with a stand-in for CuPy; tests/gpu/test_gpu.py has the real one."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from clusterforests._utils.devices import as_cupy, need_cupy, on_gpu, send_to, to_host
from clusterforests.gpu.results import DeviceResults
from clusterforests.rows.opening import choose_device
from clusterforests.rows.results import FittedRows


class OnDevice:
    """An array on a GPU, as far as anyone can tell."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.shape, self.dtype = self.values.shape, self.values.dtype

    def __dlpack_device__(self):
        return (2, 0)


class Foreign(OnDevice):
    """Another library's, which keeps gradients."""

    detached = False

    def __dlpack__(self):
        return self.values

    def detach(self):
        found = Foreign(self.values)
        found.detached = True
        return found


class CUDARuntimeError(Exception):
    pass


@pytest.fixture
def cupy(monkeypatch):
    runtime = SimpleNamespace(getDeviceCount=lambda: 1, CUDARuntimeError=CUDARuntimeError)
    stand_in = SimpleNamespace(
        ndarray=OnDevice,
        asnumpy=lambda array: array.values,
        asarray=lambda values: OnDevice(getattr(values, "values", values)),
        from_dlpack=lambda array: (OnDevice(array.__dlpack__()), array),
        cuda=SimpleNamespace(runtime=runtime),
    )
    monkeypatch.setitem(sys.modules, "cupy", stand_in)
    return stand_in


def test_who_is_on_a_gpu():
    assert on_gpu(OnDevice([1]))
    assert on_gpu(SimpleNamespace(__cuda_array_interface__={}))
    host = SimpleNamespace(__dlpack_device__=lambda: (1, 0), __cuda_array_interface__={})
    assert not any(on_gpu(X) for X in (np.ones(3), [1, 2], host))


def test_what_is_missing_is_said(cupy, monkeypatch):
    assert need_cupy() is cupy
    cupy.cuda.runtime.getDeviceCount = lambda: 0
    with pytest.raises(RuntimeError, match=r"this machine has none. Use device='cpu'"):
        need_cupy()

    def no_driver():
        raise CUDARuntimeError("no driver")

    cupy.cuda.runtime.getDeviceCount = no_driver
    with pytest.raises(RuntimeError, match="CuPy finds none: no driver"):
        need_cupy()
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match="needs CuPy, which is not installed"):
        need_cupy()


def test_arrays_go_there_and_back(cupy, monkeypatch):
    own = OnDevice([1.0, 2.0])
    assert as_cupy(own) is own
    cupy.ndarray = list
    taken, given = as_cupy(Foreign([1.0, 2.0]))
    assert taken.values.tolist() == [1, 2]
    assert given.detached
    assert as_cupy(SimpleNamespace(values=[3.0])).values.tolist() == [3]
    cupy.ndarray = OnDevice
    assert to_host(own) is own.values
    host = np.ones(2)
    assert to_host(host) is host
    assert send_to(host, own) is own.values
    assert isinstance(send_to(own, host), OnDevice)
    torch = SimpleNamespace(Tensor=Foreign, from_dlpack=lambda array: ("torch", array.values.tolist()))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert isinstance(send_to(own, host), OnDevice)
    cupy.ndarray = (OnDevice, Foreign)
    assert send_to(Foreign([0]), host) == ("torch", [1, 1])


HERE, THERE = np.empty((10, 2)), OnDevice(np.empty((10, 2)))


@pytest.mark.parametrize(
    ("asked", "X", "small", "sampled", "value", "why"),
    [
        ("cpu", THERE, False, True, "cpu", "given"),
        ("auto", HERE, False, True, "cpu", "X is not on a GPU"),
        ("auto", THERE, False, True, "gpu", "X is on the GPU"),
        ("gpu", HERE, False, True, "gpu", "given"),
        ("gpu", HERE, True, True, "cpu", "of few rows the CPU is faster"),
        ("gpu", HERE, False, False, "cpu", "max_samples=None, n_landmarks=None and other clusterers are for the CPU"),
    ],
)
def test_where_a_fit_runs(cupy, asked, X, small, sampled, value, why):
    assert choose_device(asked, X, small=small, sampled=sampled) == (value, why)


def test_labels_are_gathered(cupy):
    rows = FittedRows(OnDevice([[0, 1]]), OnDevice([0, 1]), None, None, 2, (2,))
    here = DeviceResults(rows.labels).gather(rows)
    assert here.labels.tolist() == [0, 1]
    assert here.partitions.tolist() == [[0, 1]]
    assert isinstance(rows.labels, OnDevice)
