"""The emulator of CUDA that the GPU's kernels are tested with: what it computes, and what it refuses."""

import emulated_cupy
import numpy as np
import pytest
from emulated_cuda import MISSING, Kernel, KernelError, compile_kernels

pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))

RNG = np.random.default_rng(0)
CODE = """
constexpr int kLanes = 32;
struct Pair { double value; int place; };

template <class T>
__device__ __forceinline__ T total(T x) {
  for (int apart = 16; apart; apart /= 2) x += __shfl_xor_sync(~0u, x, apart);
  return x;
}

extern "C" __global__ void __launch_bounds__(kLanes * 2) sum_block(const double* x, double* out) {
  __shared__ double parts[kLanes];
  extern __shared__ double all[];
  all[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  const double own = total(all[blockDim.x - 1 - threadIdx.x]);
  if (threadIdx.x % kLanes == 0) parts[threadIdx.x / kLanes] = own;
  __syncthreads();
  if (threadIdx.x >= kLanes) return;
  const double sum = total(threadIdx.x < blockDim.x / kLanes ? parts[threadIdx.x] : 0.0);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

extern "C" __global__ void no_barrier(const int* x, int* out) {
  extern __shared__ int all[];
  all[threadIdx.x] = x[threadIdx.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = all[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void leave_early(int* out) {
  if (threadIdx.x % 3 == 0) return;
  const unsigned here = __ballot_sync(~0u, threadIdx.x % 2);
  __syncthreads();
  out[threadIdx.x] = static_cast<int>(here);
}

extern "C" __global__ void lanes(const int* x, int* out) {
  const int i = threadIdx.x, n = blockDim.x;
  out[i] = __shfl_sync(~0u, x[i], i + 5);
  out[n + i] = __shfl_up_sync(~0u, x[i], 3);
  out[2 * n + i] = __shfl_down_sync(~0u, x[i], 3);
  out[3 * n + i] = __any_sync(~0u, x[i] > 90);
  out[4 * n + i] = __all_sync(~0u, x[i] > 0);
  const unsigned half = i % 32 < 16 ? 0xffffu : 0xffff0000u;
  if (i % 32 < 16)
    out[5 * n + i] = __ballot_sync(half, x[i] > 50);
  else
    out[5 * n + i] = __shfl_xor_sync(half, x[i], 1);
}

extern "C" __global__ void histogram(const int* x, int count, int* bins, int* least, int* most, unsigned* seen) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(bins + x[i], 1);
    atomicMin(least, x[i]);
    atomicMax(most, x[i]);
    atomicOr(seen, 1u << x[i]);
  }
}

extern "C" __global__ void words(const unsigned* x, unsigned* out) {
  const int i = threadIdx.x, n = blockDim.x;
  out[i] = __popc(x[i]);
  out[n + i] = __ffs(x[i]);
  out[2 * n + i] = __byte_perm(x[i], ~x[i], 0x7531);
  out[3 * n + i] = __float_as_uint(__uint_as_float(x[i]));
}

extern "C" __global__ void multiply(const unsigned char* a, const signed char* b, int* c) {
  const int lane = threadIdx.x, group = lane / 4, member = lane % 4;
  unsigned left[4], right[2];
  int sum[4];
  for (int i = 0; i < 4; ++i) {
    left[i] = *reinterpret_cast<const unsigned*>(a + (group + 8 * (i & 1)) * 32 + member * 4 + 16 * (i >> 1));
    sum[i] = c[(group + 8 * (i >> 1)) * 8 + member * 2 + (i & 1)];
  }
  for (int i = 0; i < 2; ++i) right[i] = *reinterpret_cast<const unsigned*>(b + group * 32 + member * 4 + 16 * i);
  multiply_bytes(sum, left, right);
  for (int i = 0; i < 4; ++i) c[(group + 8 * (i >> 1)) * 8 + member * 2 + (i & 1)] = sum[i];
}

extern "C" __global__ void mixed(const Pair* pairs, double scale, long long at, const float* unused, double* out) {
  if (!unused) out[threadIdx.x] = pairs[at].value * scale + pairs[at].place;
}

extern "C" __global__ void misuse(int which, int* out) {
  extern __shared__ int all[];
  __shared__ int few[4];
  const int i = threadIdx.x;
  if (which == 0 && i % 32 < 5) __syncwarp();
  if (which == 0) __syncthreads();
  if (which == 1) out[i] = __shfl_sync(i < 8 ? 0xffu : 0xffffff00u, i, 20);
  if (which == 2) out[i] = reinterpret_cast<int4*>(out + 1)->x;
  if (which == 3) all[64 * (i + 1)] = 1;
  if (which == 4) few[i] = i;
  if (which == 5) out[i] = __ballot_sync(0xfu, 1);
  if (which == 6) {
    if (i < 8)
      __syncthreads();
    else
      __syncthreads();
  }
  if (which == 7) {
    if (i == 31) return;
    out[i] = __shfl_xor_sync(~0u, i, 1);
  }
  if (which == 8) {
    int sum[4] = {};
    const unsigned a[4] = {}, b[2] = {};
    if (i < 31) multiply_bytes(sum, a, b);
  }
  if (which == 9) out[i] = i / out[0];
  if (which == 10) out[i] = few[0] = i < 16 ? __shfl_sync(~0u, i, 0) : static_cast<int>(__shfl_sync(~0u, 1.0, 0));
}
"""


class Array(np.ndarray):
    """Says that it is on the GPU."""

    @property
    def device_address(self):
        return self.ctypes.data


def device(values, dtype=None):
    return np.array(values, dtype=dtype).view(Array)


@pytest.fixture(scope="module")
def kernel():
    library = compile_kernels(CODE, ("--std=c++17", "--fmad=false"))
    return lambda name: Kernel(library, name)


@pytest.mark.parametrize("threads", [64, 256, 1024])
def test_barriers_and_both_kinds_of_shared_memory(kernel, threads):
    x, out = device(RNG.integers(0, 100, 5 * threads), float), device(np.zeros(5))
    kernel("sum_block")((5,), (threads,), (x, out), shared_mem=8 * threads)
    assert (out == x.reshape(5, -1).sum(axis=1)).all()


def test_a_missing_barrier_shows(kernel):
    """Threads see nothing of those that run after them, and shared memory begins as garbage."""
    x, out = device(np.arange(64), np.int32), device(np.zeros((2, 64)), np.int32)
    kernel("no_barrier")((2,), (64,), (x, out), shared_mem=256)
    assert (out[:, :32] != x[::-1][:32]).any(axis=1)[0]
    assert (out[:, 32:] != x[::-1][32:]).any(axis=1)[1]


def test_threads_that_left_are_not_waited_for(kernel):
    out = device(np.zeros(70), np.int32)
    kernel("leave_early")((1,), (70,), (out,))
    i = np.arange(70)
    there = (i % 3 != 0) & (i % 2 == 1)
    ballots = [sum(int(there[j]) << j % 32 for j in range(w, min(70, w + 32))) for w in (0, 32, 64)]
    expected = np.where(i % 3 == 0, 0, np.array(ballots, dtype=np.uint32).view(np.int32)[i // 32])
    assert (out == expected).all()


def test_lanes(kernel):
    x, out = device(RNG.integers(1, 100, 64), np.int32), device(np.zeros((6, 64)), np.int32)
    kernel("lanes")((1,), (64,), (x, out))
    warps, lane = x.reshape(2, 32), np.arange(32)
    assert (out[0].reshape(2, 32) == warps[:, (lane + 5) % 32]).all()
    assert (out[1].reshape(2, 32) == warps[:, np.where(lane < 3, lane, lane - 3)]).all()
    assert (out[2].reshape(2, 32) == warps[:, np.where(lane > 28, lane, lane + 3)]).all()
    assert (out[3].reshape(2, 32) == (warps > 90).any(axis=1, keepdims=True)).all()
    assert (out[4] == 1).all()
    halves = out[5].reshape(2, 32)
    assert (halves[:, :16] == ((warps[:, :16] > 50) << lane[:16]).sum(axis=1, keepdims=True)).all()
    assert (halves[:, 16:] == warps[:, lane[16:] ^ 1]).all()


def test_atomics(kernel):
    x = device(RNG.integers(2, 29, 1000), np.int32)
    bins, least, most = device(np.zeros(32), np.int32), device([99], np.int32), device([0], np.int32)
    seen = device([0], np.uint32)
    kernel("histogram")((3,), (64,), (x, np.int32(1000), bins, least, most, seen))
    assert (bins == np.bincount(x, minlength=32)).all()
    assert (least[0], most[0]) == (x.min(), x.max())
    assert seen[0] == sum(1 << int(i) for i in np.unique(x))


def test_words(kernel):
    x = device(RNG.integers(0, 2**32, 40), np.uint32)
    x[0] = 0
    out = device(np.zeros((4, 40)), np.uint32)
    kernel("words")((1,), (40,), (x, out))
    assert out[0].tolist() == [int(v).bit_count() for v in x]
    assert out[1].tolist() == [(int(v) & -int(v)).bit_length() for v in x]
    both = np.stack([x, ~x], axis=1).view(np.uint8)
    assert (np.ascontiguousarray(both[:, 1::2]).view(np.uint32)[:, 0] == out[2]).all()
    assert (out[3] == x).all()


def test_products_of_matrices(kernel):
    """Sums wrap around."""
    a, b = device(RNG.integers(0, 256, (16, 32)), np.uint8), device(RNG.integers(-128, 128, (8, 32)), np.int8)
    c = device(RNG.integers(-(2**31), 2**31, (16, 8)), np.int32)
    c[0, 0] = 2**31 - 1
    expected = (c.astype(np.int64) + a.astype(np.int64) @ b.T.astype(np.int64)).astype(np.int32)
    kernel("multiply")((1,), (32,), (a, b, c))
    assert (c == expected).all()


def test_arguments_of_all_kinds(kernel):
    pairs = np.array([(1.5, 2), (2.5, 3)], dtype=np.dtype([("value", "f8"), ("place", "i4")], align=True))
    given = device(pairs.view(np.uint8)), np.float64(2), np.int64(1), np.uint64(0), device(np.zeros(3))
    kernel("mixed")((1,), (3,), given)
    assert (given[-1] == 8).all()


@pytest.mark.parametrize(
    ("at", "value", "says"),
    [
        (1, np.int64(2), "argument 2 has another dtype"),
        (1, np.float32(2), "argument 2 has another dtype"),
        (2, np.int32(1), "argument 3 has another dtype"),
        (3, np.uint64(8), "argument 4 is no array"),
        (4, device(np.zeros(3, np.float32)), "argument 5 has another dtype"),
        (2, device(np.zeros(3)), "argument 3 is an array"),
        (0, device(np.zeros(40, np.uint8))[1:], "argument 1 is not aligned"),
    ],
)
def test_wrong_arguments(kernel, at, value, says):
    given = [device(np.zeros(32, np.uint8)), np.float64(2), np.int64(1), np.uint64(0), device(np.zeros(3))]
    given[at] = value
    with pytest.raises(KernelError, match=says):
        kernel("mixed")((1,), (3,), given)


def test_host_arrays_and_missing_arguments(kernel):
    with pytest.raises(TypeError, match="not ndarray"):
        kernel("leave_early")((1,), (70,), (np.zeros(70, np.int32),))
    with pytest.raises(KernelError, match="0 arguments for 1 parameters"):
        kernel("leave_early")((1,), (70,), ())


@pytest.mark.parametrize(
    ("which", "says"),
    [
        (0, r"thread 0 waits for lanes 0xffffffff of its warp, thread 5 waits at the barrier in line \d+"),
        (1, "lane 0 takes a value of lane 20, which gives none"),
        (2, "misaligned"),
        (3, "beyond its memory"),
        (4, "4: .*beyond the end of an array"),
        (5, r"lane \d+ is not in its own mask 0xf"),
        (6, r"two barriers, in lines \d+ and \d+"),
        (7, "lane 30 takes a value of lane 31, which gives none"),
        (8, "needs all lanes of a warp, it has 0x7fffffff"),
        (9, "division by zero"),
        (10, "no thread can go on: thread 0 waits for lanes 0xffffffff"),
    ],
)
def test_misuse_is_an_error(kernel, which, says):
    out = device(np.zeros(64), np.int32)
    out = out[-(out.ctypes.data // 4) % 4 :]  # from a multiple of 16 bytes on
    for _ in range(2):
        with pytest.raises(KernelError, match=r"misuse, block \(0, 0\), thread .*" + says):
            kernel("misuse")((2,), (32,), (np.int32(which), out), shared_mem=256)
    kernel("misuse")((2,), (32,), (np.int32(-1), out), shared_mem=256)


@pytest.mark.parametrize(("grid", "block"), [((0,), (32,)), ((1, 65536), (32,)), ((1,), (1025,))])
def test_impossible_grids(kernel, grid, block):
    with pytest.raises(KernelError, match="no grid of"):
        kernel("leave_early")(grid, block, (device(np.zeros(70, np.int32)),))


def test_shared_memory_has_to_be_asked_for(kernel):
    x, out, own = device(np.zeros(64)), device(np.zeros(1)), kernel("sum_block")
    with pytest.raises(KernelError, match="65536 bytes of shared memory, 49152 were asked for"):
        own((1,), (64,), (x, out), shared_mem=2**16)
    own.max_dynamic_shared_size_bytes = 2**16
    own((1,), (64,), (x, out), shared_mem=2**16)
    with pytest.raises(KernelError, match="too many"):
        own.max_dynamic_shared_size_bytes = 2**18


def test_code_that_does_not_compile():
    with pytest.raises(ValueError, match="do not compile"):
        compile_kernels("nonsense", ("--std=c++17", "--fmad=false"))
    with pytest.raises(ValueError, match="--use_fast_math"):
        compile_kernels("", ("--std=c++17", "--fmad=false", "--use_fast_math"))


def test_arrays_do_not_mix_with_those_of_this_machine(kernel):
    here, there = np.arange(6.0), emulated_cupy.asarray(np.arange(6.0))
    for mix in (
        lambda: there + here,
        lambda: here == there,
        lambda: np.asarray(there),
        lambda: emulated_cupy.minimum(there, here),
        lambda: kernel("sum_block")((1,), (64,), (here, there)),
    ):
        with pytest.raises(TypeError):
            mix()
    with pytest.raises(TypeError):
        there[2:4] = here[:2]
    assert isinstance(emulated_cupy.asnumpy(there), np.ndarray)
    assert (emulated_cupy.asnumpy(there[np.array([1, 4])] * 2 + there[:2]) == [2, 9]).all()


def test_kernels_stay_within_arrays(kernel):
    """Also within arrays that functions made, and views of them."""
    out = emulated_cupy.zeros(1)
    for x in (emulated_cupy.empty(60), emulated_cupy.ones(60) + 1, emulated_cupy.zeros(70)[10:]):
        with pytest.raises(KernelError, match="thread 60: it reads or writes beyond its memory"):
            kernel("sum_block")((1,), (64,), (x, out), shared_mem=512)
    kernel("sum_block")((1,), (64,), (emulated_cupy.ones(64), out), shared_mem=512)
    assert out[0] == 64


def test_new_arrays_are_garbage():
    assert (emulated_cupy.asnumpy(emulated_cupy.empty(3, np.uint8)) == emulated_cupy.GARBAGE).all()
