"""Call the C++ core with valid and with invalid arguments. No call may crash it.

python tests/robustness/fuzz_core.py --seconds 600 --seed 1
python tests/robustness/fuzz_core.py --seed 1 --only 4711       repeat one of these calls and print its arguments

Every call depends on the seed and its own number alone. The last line is a summary as JSON.
"""

import argparse
import collections
import contextlib
import faulthandler
import json
import mmap
import os
import resource
import signal
import time
import warnings

import numpy as np

from clusterforests import _core

MOST_BYTES = 8 << 30
MOST_SECONDS = 1.0  # of a call, before a signal stops it
REFUSED = (ValueError, TypeError, MemoryError, OverflowError, BufferError)
INTEGERS = [0, 1, -1, 2, 7, 255, 1024, 1025, 2**16, 2**24, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63), 2**64]
FLOATS = [0.0, -0.0, 1.0, -1.5, 1e-320, 1e300, 1.7e308, -1.7e308, np.nan, np.inf, -np.inf]
OTHERS = [None, "text", b"bytes", 3, 2.5, [1, 2], (), {}, object(), np.float64(1), np.array("x"), 2**70]
TYPES = ["f8", "f4", "i8", "i4", "i2", "u8", "u1", "?", "c16", "S3", "O", ">f8", ">i4", "M8[s]"]


class Caller:
    """Arguments for one call."""

    def __init__(self, seed, number):
        self.rng = np.random.default_rng([seed, number])
        self.hostile = self.rng.random() < 0.8
        n, p = self.size(40), self.size(6)
        self.rows = self.rng.choice([self.rng.normal(size=(n, p)), self.rng.integers(0, 3, size=(n, p)) * 1.0])

    def size(self, most):
        return int(self.rng.integers(0, most) if self.hostile else self.rng.integers(1, most))

    def pick(self, values):
        return values[self.rng.integers(len(values))]

    def problems(self, width):
        """Draw columns, offsets and clusters of some problems; the first two may be empty."""
        count = self.size(4)
        sizes = self.rng.integers(1, 4, size=count)
        columns = self.rng.integers(0, max(1, width), size=sizes.sum(), dtype=np.int32)
        return columns, np.cumsum([0, *sizes], dtype=np.int64), self.rng.integers(1, 5, size=count, dtype=np.int32)

    def labels(self, members, rows):
        return self.rng.integers(-1, 4, size=(members, rows), dtype=np.int32)

    def spoil(self, arguments):
        """Change some of the arguments."""
        arguments = list(arguments)
        if self.hostile and arguments:
            count = min(len(arguments), self.rng.integers(1, 4))
            for i in self.rng.choice(len(arguments), count, replace=False):
                arguments[i] = self.worse(arguments[i])
            if self.rng.random() < 0.05:
                arguments[-1] = arguments[0]
            if self.rng.random() < 0.03:
                arguments.append(arguments[0])
        return arguments

    def worse(self, value):
        if self.rng.random() < 0.08:
            return self.pick(OTHERS)
        if isinstance(value, np.ndarray):
            return self.pick([self.reshaped, self.refilled, self.relaid, self.retyped])(value)
        return self.pick(INTEGERS) if isinstance(value, int) else self.pick(FLOATS)

    def reshaped(self, array):
        shape = list(array.shape)
        change = self.rng.integers(7)
        if change == 0:
            return array[..., :-1].copy()
        if change == 1:
            return np.concatenate([array, array[-1:]])
        if change == 2:
            return array[None]
        if change == 3:
            return array.ravel()
        if change == 4:  # an array of no bytes, of any length
            if array.ndim == 1:
                return array[:0]
            shape[0], shape[-1] = self.pick([(0, 2**40), (2**40, 0), (0, 0), (2**31, 0), (0, 2**31)])
            return np.empty(shape, array.dtype)
        if change == 5:  # one number that claims to be many
            return np.broadcast_to(np.zeros(1, array.dtype), [self.pick([3, 2**10, 2**24])] * array.ndim)
        return np.empty(array.shape[::-1], array.dtype)

    def refilled(self, array):
        array = array.copy()
        if array.size:
            at = self.rng.integers(array.size, size=self.rng.integers(1, array.size + 1))
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                some = np.array([self.pick(FLOATS if array.dtype.kind == "f" else INTEGERS) for _ in at], dtype=object)
                if array.dtype.kind in "iu":
                    some = [int(v) % 2 ** (8 * array.dtype.itemsize) for v in some]
                    some = np.array(some, dtype=np.uint64).astype(array.dtype)
                array.ravel()[at] = some
        return array

    def relaid(self, array):
        change = self.rng.integers(6)
        if change == 0:
            return array[::-1]
        if change == 1:
            return np.asfortranarray(array)
        if change == 2:
            return np.repeat(array, 2, axis=-1)[..., ::2]
        if change == 3:
            array = array.copy()
            array.flags.writeable = False
            return array
        if change == 4:  # not at a multiple of its items' size
            room = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
            room[...] = array
            return room
        return array.T

    def retyped(self, array):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return array.astype(self.pick(TYPES))


def threads(caller):
    return caller.pick([1, 2, 3])


def kmeans(caller):
    table = _core.Table(np.ascontiguousarray(caller.rows))
    if caller.rng.random() < 0.1:
        others = caller.refilled(np.ascontiguousarray(caller.rows))
        table = _core.project(others, table.exponent, table.origin, table.reach)
    columns, offsets, clusters = caller.problems(table.columns)
    seeds = caller.rng.integers(0, 2**63, size=len(clusters), dtype=np.uint64)
    effort = int(caller.rng.integers(3))
    return _core.kmeans, [table, columns, offsets, clusters, seeds, caller.size(12) + 1, 20, effort, threads(caller)]


def fit_kmeans(caller):
    some = caller.rng.integers(0, 2, size=len(caller.rows)) * 1.0
    weights = caller.pick([None, some, some * caller.rng.random(len(some))])
    seed, effort = int(caller.rng.integers(2**63)), int(caller.rng.integers(3))
    arguments = [caller.rows, weights, caller.size(5) + 1, seed, caller.size(12) + 1, 20, effort, threads(caller)]
    return _core.fit_kmeans, arguments


def centers_for(caller, columns, offsets, clusters):
    return caller.rng.normal(size=int((np.diff(offsets) * clusters).sum()))


def assign(caller):
    table = _core.Table(np.ascontiguousarray(caller.rows))
    columns, offsets, clusters = caller.problems(table.columns)
    return _core.assign, [
        table, columns, offsets, clusters, centers_for(caller, columns, offsets, clusters), threads(caller)
    ]  # fmt: skip


def coordinates(caller, width):
    rng = caller.rng
    exponent, reach = rng.integers(-5, 5, size=(2, width), dtype=np.int32)
    return [exponent, rng.normal(size=width), caller.pick([reach, np.full(width, _core.CONSTANT_REACH, np.int32)])]


def project(caller):
    return _core.project, [caller.rows, *coordinates(caller, caller.rows.shape[1])]


def scaling_arguments(caller):
    views, columns = 1 + caller.size(2), caller.rows.shape[1]
    sizes = caller.rng.integers(1, 5, size=columns)
    knots = np.concatenate([np.sort(caller.rng.normal(size=size)) for size in sizes] or [np.empty(0)])
    shape = (views, columns)
    return [
        caller.rng.integers(-3, 3, size=shape, dtype=np.int32),
        caller.rng.normal(size=shape),
        caller.rng.random(size=shape) + 0.5,
        caller.rng.integers(0, 2, size=shape, dtype=np.uint8),
        np.cumsum([0, *sizes], dtype=np.int64),
        knots,
        caller.rng.random(len(knots)),
        *terms(caller, views * columns),
    ]


def terms(caller, columns):
    """Make projected columns, some of them without terms."""
    sizes = caller.rng.integers(0, 4, size=caller.size(4) if columns else 0)
    count = int(sizes.sum())
    return [
        np.cumsum([0, *sizes], dtype=np.int64),
        caller.rng.integers(0, max(columns, 1), size=count, dtype=np.int32),
        caller.rng.normal(size=count),
    ]


def make_scaling(caller):
    return _core.Scaling, scaling_arguments(caller)


def apply_scaling(caller):
    return _core.Scaling(*scaling_arguments(caller)).apply, [caller.rows, threads(caller)]


def passes(caller):
    """Make a pass, or use it for sums or for labels."""
    scaling = _core.Scaling(*scaling_arguments(caller)) if caller.rng.random() < 0.5 else None
    x = np.ascontiguousarray(caller.rows)
    width = x.shape[1] if scaling is None else scaling.apply(x[:1]).shape[1]
    columns, offsets, clusters = caller.problems(width)
    centers = centers_for(caller, columns, offsets, clusters)
    arguments = [scaling, *coordinates(caller, width), columns, offsets, clusters, centers]
    if caller.rng.random() < 0.3:
        return _core.Passes, arguments
    made = _core.Passes(*arguments)
    if caller.rng.random() < 0.5:
        bits = caller.rng.integers(0, 30, size=width, dtype=np.int32)
        weights = caller.pick([None, caller.rng.random(len(x)) * 3])
        sums, mass = np.zeros(len(centers), np.int64), np.zeros(clusters.sum(), np.int64)
        return made.add, [x, weights, bits, int(caller.rng.integers(40)), sums, mass, threads(caller)]
    labels = np.zeros((len(clusters), len(x) + 3), caller.pick(["i1", "i2", "i4"]))
    return made.label, [x, labels, int(caller.rng.integers(4)), threads(caller)]


def hash_rows(caller):
    before = caller.rng.integers(0, 2**63, size=len(caller.rows), dtype=np.uint64)
    return _core.hash_rows, [caller.rows, threads(caller), caller.pick([None, before])]


def scan_rows(caller):
    return _core.scan_rows, [caller.rows, threads(caller)]


def is_finite(caller):
    return _core.is_finite, [caller.rows]


def row_keys(caller):
    """Add blocks of columns, whose rows may come in another order or twice, to keys."""
    rows = caller.rng.integers(0, max(1, len(caller.rows)), size=caller.size(40))
    keys = _core.RowKeys(len(rows))
    if caller.rng.random() < 0.1:
        return _core.RowKeys, [len(rows)]
    columns = np.ascontiguousarray(caller.rows.T)
    keys.add(columns[:1], rows, None, 1)
    if caller.rng.random() < 0.1:
        return keys.finished, []
    return keys.add, [columns[1:], rows, caller.pick([None, caller.rng.random(len(rows))]), threads(caller)]


def take_columns(caller):
    n, p = caller.rows.shape
    x = caller.pick([caller.rows, caller.rows.astype(np.float32), np.asfortranarray(caller.rows), caller.rows[::-1]])
    rows = caller.rng.integers(0, max(1, n), size=caller.size(40))
    columns = caller.rng.integers(0, max(1, p), size=caller.size(6), dtype=np.int32)
    exponent, steps = caller.rng.integers(-5, 5, size=p, dtype=np.int32), caller.rng.random((3, p)) + 0.5
    return _core.take_columns, [x, rows, columns, exponent, *steps, threads(caller)]


def fit_steps(caller):
    return _core.fit_steps, [np.sort(caller.rows.T.copy(), axis=1), caller.pick([True, False]), threads(caller)]


def rank_columns(caller):
    columns = np.ascontiguousarray(caller.rows.T)
    return _core.rank_columns, [columns, np.argsort(columns, axis=1), threads(caller)]


def share_variance(caller):
    numbers = caller.rng.integers(1, 5, size=caller.size(4))
    labels = caller.rng.integers(0, np.repeat(numbers, len(caller.rows)).reshape(len(numbers), -1), dtype=np.int32)
    first = np.cumsum([0, *numbers], dtype=np.int64)
    sizes = 1.0 + caller.rng.integers(0, 9, size=int(numbers.sum()))
    return _core.share_variance, [np.ascontiguousarray(caller.rows.T), labels, first, sizes, threads(caller)]


def matches(caller):
    """Make an operator, or use it for products with stored or given rows."""
    members, columns, rows = 1 + caller.size(5), caller.size(50), caller.size(50)
    shares = caller.rng.random() < 0.3
    arguments = [caller.labels(members, columns), caller.rng.random((members + 1) ** (1 + shares))]
    use = caller.rng.integers(3)
    if use == 0:
        return _core.Matches, arguments
    made = _core.Matches(*arguments)
    if use == 1:
        return made.store, [caller.labels(members, rows), threads(caller)]
    given = caller.labels(members, rows)
    if caller.rng.random() < 0.5:
        made.store(given, threads(caller))
        given = None
    return made.multiply, [given, caller.rng.normal(size=(1 + caller.size(10), columns)), threads(caller)]


def group_votes(caller):
    """Make votes of groups of nodes, or place rows by them."""
    members, nodes, rows = 1 + caller.size(5), caller.size(40), caller.size(50)
    groups = caller.rng.integers(0, 1 + caller.size(6), size=nodes, dtype=np.int32)
    table = caller.pick([1.3, 2.0, 1.0 + 1e-12]) ** np.arange(members + 1) - 1
    arguments = [caller.labels(members, nodes), groups, caller.rng.random(nodes) * 3, table]
    if caller.rng.random() < 0.5:
        return _core.GroupVotes, arguments
    given = caller.labels(members, rows).astype(caller.pick([np.int8, np.int16, np.int32]))
    return _core.GroupVotes(*arguments).place, [given, threads(caller)]


def coassociate(caller):
    members = 1 + caller.size(5)
    sides = [caller.labels(members, caller.size(60)) for _ in range(2)]
    return _core.coassociate, [*sides, caller.rng.random(members + 1), threads(caller)]


def multiply(caller):
    vectors = caller.rng.normal(size=(1 + caller.size(4), caller.rows.shape[1]))
    return _core.multiply, [caller.rows, vectors, threads(caller)]


def sum_lines(caller):
    members = caller.size(5)
    first = np.cumsum([0, *caller.rng.integers(2, 6, size=members)], dtype=np.int64)
    lines = caller.rng.normal(size=(first[-1], caller.size(5)))
    return _core.sum_lines, [caller.labels(members, caller.size(50)), first, lines, threads(caller)]


def most_matched(caller):
    members = 1 + caller.size(5)
    return _core.most_matched, [caller.labels(members, caller.size(60)) for _ in range(2)] + [threads(caller)]


def label_lines(caller):
    """Labels of some rows, and where the lines of their cells begin; at times there are too few lines."""
    members, rows, width = caller.size(5), caller.size(50), 1 + caller.size(5)
    first = np.cumsum([0, *caller.rng.integers(caller.pick([1, 5]), 8, size=members)], dtype=np.int64)
    return caller.labels(members, rows), first, caller.rng.random(size=(first[-1], width))


def count_cells(caller):
    labels, first, cells = label_lines(caller)
    groups = caller.rng.integers(0, cells.shape[1], size=labels.shape[1], dtype=np.int32)
    weights = caller.pick([None, caller.rng.random(labels.shape[1])])
    return _core.count_cells, [labels, first, groups, weights, cells, threads(caller)]


def sum_companions(caller):
    labels, first, cells = label_lines(caller)
    copies = caller.rng.random(labels.shape[1])
    return _core.sum_companions, [labels, first, cells, cells.sum(axis=1), copies, 1e-9, threads(caller)]


def order_columns(caller):
    return _core.order_columns, [caller.labels(caller.size(5), caller.size(50))]


def column_keys(caller):
    return _core.column_keys, [caller.labels(caller.size(5), caller.size(50))]


def draw_features(caller):
    count, features = caller.size(5), 2 + caller.size(20)
    taken = caller.rng.integers(0, 3, size=count)
    excluded = np.concatenate([np.sort(caller.rng.choice(features, t, False)) for t in taken] or [[]])
    keys = caller.rng.integers(0, 2**63, size=count, dtype=np.uint64)
    offsets = np.cumsum([0, *taken], dtype=np.int64)
    return _core.draw_features, [keys, features, 1 + caller.size(features), excluded.astype(np.int32), offsets]


def fill(caller):
    rng = caller.rng
    n, m, p = caller.size(30), 1 + caller.size(30), caller.size(4)
    widths = rng.integers(1, 3, size=p).astype(np.int32)
    columns = int(widths.sum())
    values, donors = rng.normal(size=(n, columns)), rng.normal(size=(m, columns))
    values[rng.random(values.shape) < 0.2] = np.nan
    first = (np.cumsum(widths) - widths).astype(np.int32)
    means = rng.normal(size=columns)
    numbers = [5.0, 1 + caller.size(20), threads(caller)]
    return _core.fill, [values, values.copy(), donors, donors.copy(), np.ones(m), first, widths, means, *numbers]


def set_instructions(caller):
    return _core.use_instruction_set, [caller.pick(["auto", "baseline", "", "nothing", 3, None])]


def make(caller):
    rows, columns = caller.rows.shape
    keys = caller.rng.integers(0, caller.pick([3, 2**63]), size=rows, dtype=np.uint64)
    ordered_by = caller.pick([[], [int(caller.rng.integers(0, columns + 1))], [None, keys]])
    return _core.Table, [caller.rows, caller.pick([None, np.ones(rows)]), *ordered_by]


def error_bound(caller):
    return caller.pick([_core.float32_error, _core.float64_error]), [caller.size(40)]


CALLS = [make, kmeans, fit_kmeans, assign, project, make_scaling, apply_scaling, passes, hash_rows, scan_rows,
         is_finite, matches, group_votes, coassociate, most_matched, multiply, sum_lines, count_cells,
         sum_companions, order_columns, column_keys, draw_features, fill, error_bound, set_instructions,
         row_keys, take_columns, fit_steps, rank_columns, share_variance]  # fmt: skip


running = []  # a signal that comes when the call is over raises nothing


def stop(signum, frame):
    if running:
        running.clear()
        raise TimeoutError


def run_one(seed, number, show=False):
    """Make a call and return what became of it: ran, refused or stopped. Exceptions not in REFUSED propagate."""
    caller = Caller(seed, number)
    build = caller.pick(CALLS)
    try:
        function, arguments = build(caller)
    except REFUSED:
        return build.__name__, "refused"  # what it needs could not be made of a table of nothing
    arguments = caller.spoil(arguments)
    if show:
        print(function, *arguments, sep="\n", flush=True)
    try:
        running.append(number)
        signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
        result = function(*arguments)
        several = isinstance(result, _core.KMeansResult)
        for array in [getattr(result, name) for name in dir(result)] if several else [result]:
            if isinstance(array, np.ndarray) and array.size < 10**6:
                array.tobytes()  # all of it is there to be read
        return build.__name__, "ran"
    except REFUSED:
        return build.__name__, "refused"
    except TimeoutError:
        return build.__name__, "stopped"
    finally:
        running.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="make this call alone")
    parser.add_argument("--progress", help="file that says which call is being made, for whoever sees the crash")
    given = parser.parse_args()
    faulthandler.enable()
    signal.signal(signal.SIGALRM, stop)
    if not any(name in os.environ.get("LD_PRELOAD", "") for name in ("asan", "tsan")):  # which reserve far more
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    if given.only is not None:
        print(*run_one(given.seed, given.only, show=True))
        return
    counts, functions = collections.Counter(), collections.Counter()
    end, number, slowest = time.monotonic() + given.seconds, 0, (0.0, 0)
    with contextlib.ExitStack() as stack:
        told = None
        if given.progress:
            file = stack.enter_context(open(given.progress, "w+b"))
            file.truncate(8)
            told = stack.enter_context(mmap.mmap(file.fileno(), 8))
        while time.monotonic() < end:
            if told is not None:
                told[:] = number.to_bytes(8, "little")
            start = time.process_time()
            name, outcome = run_one(given.seed, number)
            slowest = max(slowest, (time.process_time() - start, number))
            counts[outcome] += 1
            functions[name] += outcome == "ran"
            number += 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    seconds = {"slowest_seconds": round(slowest[0], 2), "slowest_call": slowest[1]}
    print(json.dumps({"calls": number, **counts, **seconds, "peak_mb": peak, "functions": functions}))


if __name__ == "__main__":
    main()
