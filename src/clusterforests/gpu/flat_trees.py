"""Flatten trees and rules of placement for the kernels in `cuda/`: what the C++ core keeps in its classes."""

import itertools
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests import _core
from clusterforests._utils.arrays import AnyArray, FloatArray, Int64Array, IntArray
from clusterforests._utils.memory import DeviceLimits
from clusterforests.consensus.affinity import Signatures, weight_table
from clusterforests.consensus.placement import Links, MostLinked
from clusterforests.rows.lloyd_pass import Labelling
from clusterforests.table.scaling import Scaling

PART_SIZES = np.array([3, 5, 7, 10, 13, 15])  # as many centres compete at a time
SEARCH_ROWS = 512  # whose columns are on the chip together
GROUP_REACH = 4  # powers of two between the units of length of its trees
WORD_BITS = 32  # nodes in a word of bits
WORDS_AT_A_TIME = 4
LINE_BYTES = 16  # of as many words

STEP = np.dtype(
    [(name, np.float64) for name in ("first", "second", "shift", "divisor", "to_first", "to_second", "origin")]
    + [("steps_per_unit", np.float64), ("knots", np.int64), ("before", np.int64)]
    + [("column", np.int32), ("count", np.int32), ("terms", np.int32), ("end", np.int32)]
)
TERM = np.dtype([("coefficient", np.float64), ("step", np.int64)])
TREE = np.dtype(
    [(name, np.int64) for name in ("columns", "records", "centers")]
    + [("margin", np.float32, 3)]
    + [(name, np.int32) for name in ("clusters", "width", "pairs", "parts", "part", "number", "unused")]
)
GROUP = np.dtype([(name, np.int32) for name in ("begin", "end", "columns", "count", "floats")])


class Ladders(NamedTuple):
    """The knots of ranked columns with their ranks, and for equal steps of a column's range the knots before each."""

    knots: FloatArray  # (knots, 2)
    before: IntArray
    per_unit: FloatArray  # of each column: steps


class FlatTrees(NamedTuple):
    """Centres and what their float32 search needs, in the order of the arguments of `label_rows`."""

    groups: AnyArray  # of GROUP, and one that only says where the last one's columns end
    group_columns: IntArray
    group_units: npt.NDArray[np.float32]  # what a coordinate there adds to a row's length
    each: AnyArray  # of TREE
    columns: IntArray
    records: npt.NDArray[np.float32]  # of each part of each tree: see nearest.cu
    first: FloatArray
    second: FloatArray
    root: FloatArray
    centers: FloatArray


class Lines(NamedTuple):
    """The labels of nodes as bits, a line for each label of each tree."""

    first: IntArray  # of each tree: the line of its label 0
    part_trees: IntArray  # trees come in parts, whose lines fit on the chip: where each begins
    part_lines: IntArray
    fits: bool  # whether each part does
    bits: npt.NDArray[np.uint32]  # (lines, words); line 0 is empty


class Ballot(NamedTuple):
    """W between rows and nodes, and vectors to multiply it with."""

    lines: Lines
    table: FloatArray
    vectors: FloatArray  # (v, nodes padded to whole words)
    base: FloatArray  # (v,)


class GroupBallot(NamedTuple):
    """W between rows and nodes, which are in the order of their groups; each group begins with a word of its own."""

    lines: Lines
    table: FloatArray
    weights: FloatArray  # of the nodes, 0 where there is none
    word_groups: IntArray  # of each word
    base: FloatArray  # of each group


def used_columns(trees: Labelling) -> IntArray:
    """List the columns that any tree has, ascending."""
    return np.unique(np.concatenate(trees.columns))


def halves(power: AnyArray) -> tuple[FloatArray, FloatArray]:
    """Split 2**power into two factors, because 2**1074 is not a double; as `PowerOfTwo` in the core."""
    first = np.trunc(power / 2).astype(np.int64)
    return np.ldexp(1.0, first), np.ldexp(1.0, power - first)


def flatten_steps(trees: Labelling, used: IntArray, ladders: Ladders) -> tuple[AnyArray, AnyArray]:
    """Describe how columns of the table become those that trees have, as STEP and TERM.

    After the columns in use come those that only projected columns need.
    """
    projections = trees.scaling.projections
    first = trees.scaling.width - len(projections)  # projected column
    scaled, projected = used[used < first], used[used >= first] - first
    owners = np.repeat(np.arange(len(projections)), np.diff(projections.starts))
    listed = np.flatnonzero(np.isin(owners, projected))
    sources = projections.columns[listed]
    columns = np.concatenate([used, np.setdiff1d(sources, scaled)])
    each = _view_steps(trees, columns, np.where(columns < first, columns, 0), ladders)
    own, each["end"] = slice(len(scaled), len(used)), -1
    each["end"][own] = np.cumsum(np.diff(projections.starts)[projected])
    each["terms"][own] = each["end"][own] - np.diff(projections.starts)[projected]
    terms, order = np.zeros(max(1, len(listed)), TERM), np.argsort(columns)
    terms["coefficient"][: len(listed)] = projections.coefficients[listed]
    terms["step"][: len(listed)] = order[np.searchsorted(columns, sources, sorter=order)]
    return each, terms


def _view_steps(trees: Labelling, columns: IntArray, sources: IntArray, ladders: Ladders) -> AnyArray:
    """Describe how the `sources`, columns of views, are scaled, and how `columns` then get to their positions."""
    scaling, coordinates = trees.scaling, trees.coordinates
    each = np.zeros(len(columns), STEP)
    each["to_first"], each["to_second"] = halves(-coordinates.exponent[columns].astype(np.int64))
    each["origin"] = coordinates.origin[columns]
    if scaling.is_identity:
        each["first"] = each["second"] = each["divisor"] = 1.0
        each["column"] = sources
        return each
    view, column = np.divmod(sources, scaling.exponent.shape[1])
    power = -scaling.exponent[view, column].astype(np.int64)
    above = np.maximum(0, power - 1023)
    each["first"], each["second"] = np.ldexp(1.0, above), np.ldexp(1.0, power - above)
    each["shift"], each["divisor"] = scaling.shift[view, column], scaling.divisor[view, column]
    each["column"] = column
    each["count"] = np.where(scaling.ranked[view, column] != 0, np.diff(scaling.starts)[column], 0)
    each["knots"] = scaling.starts[column]
    each["before"] = scaling.starts[column] + 2 * column  # a ladder has two more bounds than knots
    each["steps_per_unit"] = ladders.per_unit[column]
    return each


def flatten_ladders(scaling: Scaling) -> Ladders:
    if not len(scaling.knots):
        return Ladders(np.zeros((1, 2)), np.zeros(2, np.int32), np.zeros(max(1, len(scaling.starts) - 1)))
    bounds, per_unit = [], np.zeros(len(scaling.starts) - 1)
    for c, (start, end) in enumerate(itertools.pairwise(scaling.starts)):
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
    knots = np.column_stack([scaling.knots, scaling.ranks])
    return Ladders(knots, np.concatenate(bounds).astype(np.int32), per_unit)


class _Entries:
    """All trees side by side: a row for each column of each tree, and one for each centre and column.

    Columns without variation are left out; one listed m times is kept once, times the root of m.
    """

    def __init__(self, trees: Labelling) -> None:
        exponent, _, reach = trees.coordinates
        self.clusters = np.array([len(c) for c in trees.centers])
        listed = np.array([len(c) for c in trees.columns])
        owner, wide = np.repeat(np.arange(len(listed)), listed), np.int64(len(exponent))
        key, position, times = np.unique(
            owner * wide + np.concatenate(trees.columns), return_index=True, return_counts=True
        )
        varies = reach[key % wide] != _core.CONSTANT_REACH
        key, position, times = key[varies], position[varies], times[varies]
        self.tree, self.column = np.divmod(key, wide)
        self.width = np.bincount(self.tree, minlength=len(listed))
        self.root = np.sqrt(times.astype(np.float64))
        self.reach = np.full(len(listed), np.iinfo(np.int32).min, np.int64)
        np.maximum.at(self.reach, self.tree, reach[self.column])
        self.power = exponent[self.column].astype(np.int64) - self.reach[self.tree]
        self.in_range = np.ones(len(listed), bool)
        self.in_range[self.tree[np.abs(self.power) > _core.FLOAT32_RANGE]] = False
        self.start = np.cumsum(self.width) - self.width  # of a tree's columns
        # Of each centre and column: its tree, the centre's number, the column's position among all trees' columns.
        self.size = self.clusters * self.width
        self.owner = np.repeat(np.arange(len(listed)), self.size)
        self.center, at = np.divmod(within(self.size), self.width[self.owner])
        self.at = self.start[self.owner] + at
        first_center = np.cumsum(self.clusters * listed) - self.clusters * listed
        from_tree = position[self.at] - (np.cumsum(listed) - listed)[self.owner]
        values = np.concatenate([c.ravel() for c in trees.centers])
        self.values = values[first_center[self.owner] + self.center * listed[self.owner] + from_tree]


def within(sizes: AnyArray) -> AnyArray:
    """Count from 0 to size - 1 for each size, one after the other."""
    ends = np.cumsum(sizes)
    positions: AnyArray = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)
    return positions


class _Scores:
    """The centres in the units of their trees, and how far they are from each tree's first centre."""

    def __init__(self, entries: _Entries) -> None:
        n_trees, owner, at = len(entries.clusters), entries.owner, entries.at
        self.first, self.second = halves(entries.power)
        self.exact = exact = entries.values * self.first[at] * self.second[at] * entries.root[at]
        self.start = np.cumsum(entries.size) - entries.size  # of a tree's centres
        begins = exact[self.start[owner] + at - entries.start[owner]]  # the tree's first centre
        self.ahead = exact - begins
        row = (np.cumsum(entries.clusters) - entries.clusters)[owner] + entries.center
        n_rows = int(entries.clusters.sum())
        self.square = np.bincount(row, (begins - exact) * (begins + exact), n_rows)
        self.row_tree = np.repeat(np.arange(n_trees), entries.clusters)
        self.farthest, self.steepest, self.highest = np.zeros((3, n_trees))
        np.maximum.at(self.farthest, self.row_tree, np.bincount(row, np.abs(exact), n_rows))
        np.maximum.at(self.steepest, owner, np.abs(self.ahead))
        np.maximum.at(self.highest, self.row_tree, np.abs(self.square))

    def margins(self, entries: _Entries, unit: FloatArray) -> FloatArray:
        """Bound the error of a difference of two scores, hence twice the error of one."""
        error = 2 * np.array([_core.float32_error(width) for width in entries.width.tolist()])
        exact_error = np.array([_core.float64_error(width) for width in entries.width.tolist()])
        floor = error * 0.5 * self.highest + exact_error * self.farthest**2 + _core.DISTANCE_FLOOR
        floor = np.where(entries.in_range, floor, np.inf)
        return np.column_stack([floor, error * self.steepest * unit, exact_error * unit**2])


def flatten_trees(trees: Labelling, used: IntArray, limits: DeviceLimits) -> FlatTrees:
    """Give each tree the numbers that `NearestCenter` has in the core. Trees with columns in common are neighbours."""
    # Order the trees, and list their centres and what their scores are made of.
    lowest = np.array([columns.min() for columns in trees.columns])
    order = np.lexsort((lowest, _Entries(trees).reach))
    picked = replace(trees, columns=[trees.columns[t] for t in order], centers=[trees.centers[t] for t in order])
    entries = _Entries(picked)
    scores = _Scores(entries)
    each = np.zeros(len(order), TREE)
    each["number"], each["clusters"], each["width"] = order, entries.clusters, entries.width
    each["columns"], each["centers"] = entries.start, scores.start
    # Split the centres of each tree into parts of a size for which there is a kernel.
    at_used = np.searchsorted(used, entries.column.ravel())
    parts = -(-entries.clusters // PART_SIZES[-1])
    part = PART_SIZES[np.searchsorted(PART_SIZES, -(-entries.clusters // parts))]
    each["parts"], each["pairs"] = parts, np.maximum(1, -(-entries.width // 2))
    lines = parts * (1 + 2 * each["pairs"])
    # Group the trees whose columns fit on the chip together.
    members = _group(entries, at_used, limits, lines * _record(part))
    groups, group_columns, group_units, positions, unit = _list_columns(members, entries, at_used, limits.tile_columns)
    each["margin"] = scores.margins(entries, unit)
    alone = np.repeat(groups["count"][:-1] == 0, [len(m) for m in members])
    each["part"] = np.where(alone, PART_SIZES[-1], part)
    # Write the records that the search reads.
    floats = parts * _part_floats(each)
    each["records"] = np.cumsum(floats) - floats
    groups["floats"][:-1] = [min(floats[m].sum(), np.iinfo(np.int32).max) for m in members]
    records = _write_records(each, entries, scores, floats, positions)
    columns, centers = at_used.astype(np.int32), scores.exact
    own = scores.first, scores.second, entries.root, centers
    return FlatTrees(groups, group_columns, group_units, each, columns, records, *own)


def _write_records(
    each: AnyArray, entries: _Entries, scores: _Scores, floats: AnyArray, positions: AnyArray
) -> npt.NDArray[np.float32]:
    """Write what the search reads of each part of each tree: see nearest.cu."""
    owner, at, parts = entries.owner, entries.at, each["parts"].astype(np.int64)
    record, part_floats = _record(each["part"].astype(np.int64)), _part_floats(each)
    records = np.zeros(int(floats.sum()), np.float32)
    for tree, begin in enumerate(each["records"]):
        records[begin : begin + floats[tree]].reshape(parts[tree], -1)[:, : each["part"][tree]] = -np.inf
    factor = np.ldexp(entries.root, np.where(entries.in_range[entries.tree], entries.power, 0))
    there, slot = np.divmod(entries.center, each["part"][owner])
    line = 1 + at - entries.start[owner]
    begins = each["records"][owner] + there * part_floats[owner] + line * record[owner]
    records[begins + slot] = scores.ahead * factor[at]
    row_tree = scores.row_tree
    there, slot = np.divmod(within(entries.clusters), each["part"][row_tree])
    records[each["records"][row_tree] + there * part_floats[row_tree] + slot] = 0.5 * scores.square
    # Every record has the position of the column after it.
    lines = np.repeat(np.arange(len(positions)), parts[entries.tree])
    tree = entries.tree[lines]
    before = within(parts[entries.tree]) * part_floats[tree] + (lines - entries.start[tree]) * record[tree]
    records.view(np.int32)[each["records"][tree] + before + each["part"][tree]] = positions[lines]
    return records


def _part_floats(each: AnyArray) -> AnyArray:
    """Count the floats of a part of each tree."""
    floats: AnyArray = (1 + 2 * each["pairs"].astype(np.int64)) * _record(each["part"].astype(np.int64))
    return floats


def _record(part: AnyArray) -> AnyArray:
    """Count the floats of a record: a part's centres, the position of a column, and what fills it up."""
    floats: AnyArray = (part + 4) // 4 * 4
    return floats


def _group(entries: _Entries, columns: AnyArray, limits: DeviceLimits, floats: AnyArray) -> list[AnyArray]:
    """Group neighbouring trees that fit on the chip together and have much the same unit of length."""
    members: list[list[int]] = [[]]
    together: set[int] = set()
    held = 0
    for t, own in enumerate(np.split(columns, entries.start[1:])):
        joined, group = together | set(own.tolist()), members[-1]
        held += floats[t]
        fits = len(joined) <= limits.tile_columns and 4 * (SEARCH_ROWS * len(joined) + held) <= limits.chip_bytes
        if group and not (
            fits and entries.in_range[[t, group[0]]].all() and entries.reach[t] - entries.reach[group[0]] <= GROUP_REACH
        ):
            members.append([])
            joined, held = set(own.tolist()), floats[t]
        members[-1].append(t)
        together = joined
    return [np.array(group) for group in members]


def _list_columns(
    members: list[AnyArray], entries: _Entries, columns: AnyArray, most_columns: int
) -> tuple[AnyArray, IntArray, npt.NDArray[np.float32], AnyArray, FloatArray]:
    """The groups with their columns and units of length, the positions of each tree's columns, and the group's
    unit of length in each tree's.

    A tree that has more columns than fit on the chip is alone; its positions are those among all columns.
    """
    groups = np.zeros(len(members) + 1, GROUP)
    listed: list[AnyArray] = []
    units: list[AnyArray] = []
    positions, reach, done = columns.copy(), np.ones(len(entries.reach)), 0
    for group, trees in zip(groups, members, strict=False):
        own = np.arange(entries.start[trees[0]], entries.start[trees[-1]] + entries.width[trees[-1]])
        shared, position = np.unique(columns[own], return_inverse=True)
        farthest = entries.reach[trees].max()
        reach[trees] = np.ldexp(1.0, np.minimum(farthest - entries.reach[trees], 127))
        power = entries.power[own] + entries.reach[entries.tree[own]] - farthest
        unit = np.zeros(len(shared))
        size = np.ldexp(entries.root[own], power if entries.in_range[trees[0]] else np.zeros_like(power))
        np.maximum.at(unit, position, size)
        group["begin"], group["end"], group["columns"] = trees[0], trees[-1] + 1, done
        if len(shared) <= most_columns:
            group["count"] = len(shared)
            positions[own] = position
        listed.append(shared)
        units.append(unit)
        done += len(shared)
    groups["columns"][-1] = done
    return groups, np.concatenate(listed).astype(np.int32), np.concatenate(units).astype(np.float32), positions, reach


def make_ballot(
    nodes: Signatures, links: Links, node_weights: FloatArray, parts: Int64Array, chip_bytes: int
) -> Ballot:
    """Make the ballot of a rule. `parts` are the numbers of clusters in the trees."""
    members, m = nodes.labels.shape
    lines = _draw_lines(nodes.labels, np.arange(m), parts, chip_bytes)
    table = weight_table(members, links.threshold, links.scale)
    padded = np.zeros((len(node_weights), WORD_BITS * lines.bits.shape[1]))
    padded[:, :m] = node_weights
    return Ballot(lines, table - table[0], padded, table[0] * node_weights.sum(axis=1))


def make_group_ballot(nodes: Signatures, rule: MostLinked, parts: Int64Array, chip_bytes: int) -> GroupBallot:
    """Make the ballot of the rule `MostLinked`, by which every node votes for its own group."""
    groups = rule.node_weights.argmax(axis=0)
    counts = np.bincount(groups, minlength=len(rule.node_weights))
    wide = -(-counts // WORD_BITS)  # words of each group
    order = np.argsort(groups, kind="stable")
    positions = np.empty(len(groups), dtype=np.int64)
    positions[order] = np.repeat(WORD_BITS * (np.cumsum(wide) - wide), counts) + within(counts)
    lines = _draw_lines(nodes.labels, positions, parts, chip_bytes)
    table = weight_table(len(nodes.labels), rule.links.threshold, rule.links.scale)
    weights = np.zeros(WORD_BITS * lines.bits.shape[1])
    weights[positions] = rule.node_weights.max(axis=0)
    word_groups = np.repeat(np.arange(len(counts)), wide)
    word_groups = np.append(word_groups, np.full(lines.bits.shape[1] - len(word_groups), word_groups[-1]))
    base = table[0] * rule.node_weights.sum(axis=1)
    return GroupBallot(lines, table - table[0], weights, word_groups.astype(np.int32), base)


def _draw_lines(labels: IntArray, positions: AnyArray, parts: Int64Array, chip_bytes: int) -> Lines:
    """Write the labels (T, m) of nodes as bits at their positions."""
    words = -(-(int(positions.max()) + 1) // (WORD_BITS * WORDS_AT_A_TIME)) * WORDS_AT_A_TIME
    first = 1 + np.cumsum(parts) - parts
    bits = np.zeros((1 + int(parts.sum()), words), np.uint32)
    word, bit = positions // WORD_BITS, np.ldexp(1.0, positions % WORD_BITS)
    for line, count, own in zip(first.tolist(), parts.tolist(), labels, strict=True):
        sums = np.bincount(own.astype(np.intp) * words + word, bit, minlength=count * words)
        bits[line : line + count] = sums.astype(np.uint32).reshape(count, words)
    begins = _share_chip(parts, chip_bytes // LINE_BYTES - 1)
    ends = np.append(first, len(bits))[begins]
    fits = bool((np.diff(ends) < chip_bytes // LINE_BYTES).all())
    return Lines(first.astype(np.int32), begins.astype(np.int32), ends.astype(np.int32), fits, bits)


def _share_chip(parts: Int64Array, lines: int) -> Int64Array:
    """Divide trees, eight at a time, into parts that have at most so many lines, if eight have."""
    begins, held = [0], 0
    for start in range(0, len(parts), 8):
        own = int(parts[start : start + 8].sum())
        if held and held + own > lines:
            begins.append(start)
            held = 0
        held += own
    return np.array([*begins, len(parts)], dtype=np.int64)
