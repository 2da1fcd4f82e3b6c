"""Trees and rules of placement as flat arrays for the kernels in `cuda/`: what the C++ core keeps in its classes."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests.affinity import Signatures, weight_table
from clusterforests.passes import Pass
from clusterforests.placement import Links
from clusterforests.scaling import Scaling

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]
AnyArray = npt.NDArray[Any]

CONSTANT = -100000  # the reach of a column without variation
FLOAT_RANGE = 60  # powers of two: columns further apart are not compared in float32
CENTERS = 8  # that compete at a time, at most
PARTS = (4, 5, 6, 8)  # as many as compete at a time
GROUP_TREES = 12  # most trees of a group
WORD = 32  # nodes in a word of bits
LANES = 32  # threads of a warp
UNIT_BYTES = 24 * 1024  # of shared memory for the sums of a warp, if more than one column fits

STEP = np.dtype(
    [(name, np.float64) for name in ("first", "second", "shift", "divisor", "to_first", "to_second", "origin")]
    + [("steps_per_unit", np.float64), ("scale", np.float64), ("knots", np.int64), ("before", np.int64)]
    + [("column", np.int32), ("count", np.int32)]
)
TREE = np.dtype(
    [(name, np.int64) for name in ("columns", "ahead", "offset", "centers")]
    + [(name, np.float32) for name in ("slope", "base", "rounding", "floor")]
    + [(name, np.int32) for name in ("clusters", "width", "parts", "part", "number", "unused")]
)
GROUP = np.dtype(
    [(name, np.int32) for name in ("begin", "end", "columns", "count", "floats", "widths", "parts", "unused")]
)
UNIT_COLUMNS = 4
UNIT = np.dtype(
    [("sums", np.int64, UNIT_COLUMNS)]
    + [(name, np.int32) for name in ("step", "tree", "clusters", "count")]
    + [("columns", np.int32, UNIT_COLUMNS)]
)


class Steps(NamedTuple):
    """How columns of the table become those that trees have."""

    each: AnyArray  # of STEP
    knots: FloatArray
    ranks: FloatArray
    before: IntArray


class FlatTrees(NamedTuple):
    """Centres and what their float32 search needs, in the order of the arguments of `label_rows`."""

    groups: AnyArray  # of GROUP: trees that have columns in common
    group_columns: IntArray
    each: AnyArray  # of TREE
    columns: IntArray
    places: IntArray  # of the columns in their group
    unit: npt.NDArray[np.float32]
    ahead: npt.NDArray[np.float32]
    offset: npt.NDArray[np.float32]
    first: FloatArray
    second: FloatArray
    root: FloatArray
    centers: FloatArray


class Ballot(NamedTuple):
    """W between rows and nodes, and vectors to multiply it with."""

    first: IntArray  # of each tree: the line of bits of its label 0
    bits: npt.NDArray[np.uint32]  # (lines, words); line 0 is empty
    table: FloatArray
    vectors: FloatArray  # (v, nodes padded to whole words)
    base: FloatArray  # (v,)


def used_columns(trees: Pass) -> IntArray:
    """The columns of the views that any tree has, ascending."""
    return np.unique(np.concatenate(trees.columns))


def halves(power: AnyArray) -> tuple[FloatArray, FloatArray]:
    """2**power as two factors, because 2**1074 is not a double; as `PowerOfTwo` in the core."""
    first = np.trunc(power / 2).astype(np.int64)
    return np.ldexp(1.0, first), np.ldexp(1.0, power - first)


def flatten_steps(trees: Pass, used: IntArray) -> Steps:
    scaling, coordinates = trees.scaling, trees.coordinates
    each = np.zeros(len(used), STEP)
    each["to_first"], each["to_second"] = halves(-coordinates.exponent[used].astype(np.int64))
    each["origin"], each["scale"] = coordinates.origin[used], np.ldexp(1.0, trees.bits[used])
    if not len(scaling.exponent):
        each["first"] = each["second"] = each["divisor"] = 1.0
        each["column"] = used
        return Steps(each, np.zeros(1), np.zeros(1), np.zeros(2, np.int32))
    view, column = np.divmod(used, scaling.exponent.shape[1])
    power = -scaling.exponent[view, column].astype(np.int64)
    above = np.maximum(0, power - 1023)
    each["first"], each["second"] = np.ldexp(1.0, above), np.ldexp(1.0, power - above)
    each["shift"], each["divisor"] = scaling.shift[view, column], scaling.divisor[view, column]
    each["column"] = column
    each["count"] = np.where(scaling.ranked[view, column] != 0, np.diff(scaling.starts)[column], 0)
    each["knots"] = scaling.starts[column]
    each["before"] = scaling.starts[column] + 2 * column  # a ladder has two more bounds than knots
    before, per_unit = _ladders(scaling)
    each["steps_per_unit"] = per_unit[column]
    return Steps(each, scaling.knots, scaling.ranks, before)


def _ladders(scaling: Scaling) -> tuple[IntArray, FloatArray]:
    """For equal steps of each column's range the number of knots before each."""
    bounds, per_unit = [], np.zeros(len(scaling.starts) - 1)
    for c, (start, end) in enumerate(zip(scaling.starts[:-1], scaling.starts[1:], strict=True)):
        knots, count = scaling.knots[start:end], int(end - start)
        before = np.zeros(count + 2, dtype=np.int64)
        if count:
            with np.errstate(divide="ignore", over="ignore"):
                steps = count / (knots[-1] - knots[0])
            per_unit[c] = steps if np.isfinite(steps) else 0.0
            above = knots - knots[0] if per_unit[c] else np.zeros(count)  # the range may not be a double
            at = np.minimum((above * per_unit[c]).astype(np.int64), count)
            before = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=count + 1))])
        bounds.append(before)
    return np.concatenate(bounds).astype(np.int32), per_unit


def flatten_trees(trees: Pass, used: IntArray, most_columns: int) -> FlatTrees:
    """The same numbers as `Field` in the core has for each tree. Trees with columns in common are neighbours."""
    each = np.zeros(len(trees.centers), TREE)
    each["number"] = np.argsort([columns.min() for columns in trees.columns], kind="stable")
    parts: list[list[AnyArray]] = [[] for _ in range(8)]
    for tree in each:
        listed, centers = trees.columns[tree["number"]], trees.centers[tree["number"]]
        for part, values in zip(parts, _flatten_tree(tree, trees, listed, centers, used), strict=True):
            part.append(values)
    for name, at in (("columns", 0), ("ahead", 2), ("offset", 3), ("centers", 7)):
        each[name] = np.cumsum([0, *(part.size for part in parts[at][:-1])])
    columns, unit, ahead, offset, first, second, root, exact = (np.concatenate(part) for part in parts)
    groups, group_columns, places = _group(each, parts[0], most_columns)
    return FlatTrees(groups, group_columns, each, columns, places, unit, ahead, offset, first, second, root, exact)


def _group(each: AnyArray, columns: list[AnyArray], most_columns: int) -> tuple[AnyArray, IntArray, IntArray]:
    """Neighbouring trees that have few columns together; a tree that has more by itself is alone, with none listed."""
    members: list[list[int]] = [[]]
    together: set[int] = set()
    for t, own in enumerate(columns):
        if members[-1] and (len(members[-1]) == GROUP_TREES or len(together | set(own.tolist())) > most_columns):
            members.append([])
            together = set()
        members[-1].append(t)
        together |= set(own.tolist())
    groups = np.zeros(len(members), GROUP)
    listed: list[AnyArray] = []
    places: list[AnyArray] = []
    for group, trees in zip(groups, members, strict=True):
        shared = np.unique(np.concatenate([columns[t] for t in trees]))
        group["begin"], group["end"], group["columns"] = trees[0], trees[-1] + 1, sum(map(len, listed))
        group["count"] = len(shared) if len(shared) <= most_columns else 0
        own = each[trees]
        group["widths"], group["parts"] = own["width"].sum(), own["parts"].sum()
        size = (own["width"].astype(np.int64) * own["parts"]).sum() + group["parts"]
        group["floats"] = min(2 * (-(-group["widths"] // 4) * 4) + CENTERS * size, np.iinfo(np.int32).max)
        listed.append(shared)
        places.extend(np.searchsorted(shared, columns[t]) for t in trees)
    return groups, np.concatenate(listed).astype(np.int32), np.concatenate(places).astype(np.int32)


def _flatten_tree(tree: Any, trees: Pass, listed: IntArray, centers: FloatArray, used: IntArray) -> list[AnyArray]:
    """Columns without variation are left out; one listed m times is kept once, times the root of m."""
    columns, place, times = np.unique(listed, return_index=True, return_counts=True)
    varies = trees.coordinates.reach[columns] != CONSTANT
    columns, place, root = columns[varies], place[varies], np.sqrt(times[varies].astype(np.float64))
    power = trees.coordinates.exponent[columns].astype(np.int64)
    if len(columns):
        power = power - trees.coordinates.reach[columns].max()
    first, second = halves(power)
    exact = centers[:, place] * first * second * root
    k, d = exact.shape
    in_range = bool((np.abs(power) <= FLOAT_RANGE).all())
    unit = np.ldexp(root, power if in_range else np.zeros_like(power)).astype(np.float32)
    error = (d + 8) * 2.0**-23  # twice what rounding to float32 can do to a score of d products
    last_word = (d + 4) * 2.0**-47  # and what rounding to float64 can do to the distances that have it
    ahead = exact - exact[0]
    square = ((exact[0] - exact) * (exact[0] + exact)).sum(axis=1)
    farthest = np.abs(exact).sum(axis=1).max(initial=0.0)
    tree["slope"], tree["base"] = error * np.abs(ahead).max(initial=0.0), error * 0.5 * np.abs(square).max()
    tree["rounding"], tree["floor"] = last_word, (last_word * farthest**2 + 1e-30) if in_range else np.inf
    part = next(p for p in PARTS if p >= min(k, CENTERS))
    parts = -(-k // part)
    tree["clusters"], tree["width"], tree["parts"], tree["part"] = k, d, parts, part
    number = np.arange(k)
    wide, offset = np.zeros((parts, d, CENTERS), np.float32), np.full((parts, CENTERS), -np.inf, np.float32)
    wide[number // part, :, number % part] = ahead * unit
    offset[number // part, number % part] = 0.5 * square
    at = np.searchsorted(used, columns).astype(np.int32)
    return [at, unit, wide.ravel(), offset.ravel(), first, second, root, exact.ravel()]


def flatten_units(trees: Pass, used: IntArray) -> tuple[AnyArray, npt.NDArray[np.int64]]:
    """The sums to take: of each tree the columns, in their order and once for each time, then the weights.

    Also where in them the values of all trees are, as `Sums.values` has them; the others are weights. A unit has as
    many columns as a warp has room for.
    """
    units: list[tuple[Any, ...]] = []
    values, done, spare = [], 0, [0] * UNIT_COLUMNS
    for t, (listed, centers) in enumerate(zip(trees.columns, trees.centers, strict=True)):
        k, d = centers.shape
        columns = [*np.searchsorted(used, listed).tolist(), len(used)]
        each = min(UNIT_COLUMNS, max(1, UNIT_BYTES // (8 * LANES * k)))
        for start in range(0, d + 1, each):
            some = columns[start : start + each]
            sums = [*range(done + start, done + start + len(some)), *spare][:UNIT_COLUMNS]
            units.append((sums, d + 1, t, k, len(some), [*some, *spare][:UNIT_COLUMNS]))
        values.append((done + np.arange(k * (d + 1)).reshape(k, -1)[:, :-1]).ravel())
        done += k * (d + 1)
    return np.array(units, dtype=UNIT), np.concatenate(values)


def make_ballot(nodes: Signatures, links: Links, voters: FloatArray, parts: npt.NDArray[np.int64]) -> Ballot:
    """`parts` are the numbers of clusters in the trees."""
    members, m = nodes.labels.shape
    words = -(-m // (WORD * LANES)) * LANES
    first = 1 + np.cumsum(parts) - parts
    bits = np.zeros((1 + int(parts.sum()), words), np.uint32)
    at = np.arange(m)
    for t, labels in enumerate(nodes.labels):
        np.bitwise_or.at(bits, (first[t] + labels, at // WORD), np.uint32(1) << (at % WORD).astype(np.uint32))
    table = weight_table(members, links.threshold, links.sharpness)
    padded = np.zeros((len(voters), words * WORD))
    padded[:, :m] = voters
    return Ballot(first.astype(np.int32), bits, table - table[0], padded, table[0] * voters.sum(axis=1))
