"""The group that a row is linked to most, by sums in float32 that decide only where they are certain."""

import numpy as np
import pytest
import reference

from clusterforests import _core
from clusterforests.backends import CpuBackend
from clusterforests.consensus import placement as placement_module
from clusterforests.consensus.affinity import Signatures, weight_table
from clusterforests.consensus.placement import Cut, Links, MostLinked, Placement

SHAPES = [(1, 1, 1), (7, 40, 2), (8, 300, 3), (20, 600, 5), (200, 1100, 4), (255, 513, 30)]  # members, nodes, groups


def drawn(members, nodes, groups, rows=150):
    """Labels of nodes that go with their groups, and of rows like them; some rows have labels that no node has."""
    rng = np.random.default_rng(members)
    own = np.arange(nodes, dtype=np.int32) % groups
    centers = rng.integers(0, 6, (members, groups))

    def like(group):
        noise = rng.integers(0, 6, (members, len(group)))
        return np.where(rng.random((members, len(group))) < 0.5, centers[:, group], noise).astype(np.int32)

    labels = like(rng.integers(0, groups, rows))
    labels[0, ::7] = 50
    return like(own), own, rng.exponential(size=nodes) + 0.1, labels


@pytest.mark.parametrize("instruction_set", _core.instruction_sets(), indirect=True)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("scale", [0.3, 10.0, 50.0])
def test_the_group_is_that_of_the_oracle(instruction_set, shape, scale):
    nodes, groups, weights, labels = drawn(*shape)
    table = weight_table(len(nodes), "auto", scale)
    votes = reference.group_votes(nodes, groups, weights, table, labels)
    found = _core.GroupVotes(nodes, groups, weights, table).place(labels, 2)
    certain = found >= 0
    assert (found == votes.argmax(axis=0))[certain].all()
    ordered = np.sort(np.vstack([votes, np.full(labels.shape[1], -1.0)]), axis=0)
    assert certain[ordered[-1] > 1.01 * ordered[-2] + 0.01 * weights.sum()].all()


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32])
@pytest.mark.parametrize("threads", [1, 3])
def test_labels_of_any_size_lead_to_the_same_groups(kind, threads):
    nodes, groups, weights, labels = drawn(20, 600, 5)
    made = _core.GroupVotes(nodes, groups, weights, weight_table(20, "auto", 4.0))
    assert (made.place(labels.astype(kind), threads) == made.place(labels, 1)).all()


def test_rows_with_a_missing_label_are_left_open_and_no_other():
    nodes, groups, weights, labels = drawn(20, 600, 5)
    table = weight_table(20, "auto", 4.0)
    made = _core.GroupVotes(nodes, groups, weights, table)
    whole = made.place(labels, 1)
    labels[3, 40], labels[19, 100] = -1, -128
    found = made.place(labels.astype(np.int8), 2)
    assert (found[[40, 100]] == -1).all()
    others = np.delete(np.arange(labels.shape[1]), [40, 100])
    assert (found[others] == whole[others]).all()


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64])
def test_a_whole_table_of_labels_is_placed_as_its_blocks_are(kind, monkeypatch):
    """Labels that the core reads where they are, and others, in columns too, lead to the clusters of the rule."""
    nodes, groups, weights, labels = drawn(20, 600, 5)
    signatures, rule = Signatures(nodes, np.arange(600), weights), MostLinked.of(Links("auto", 4.0), groups, weights)
    labels[:, 7], labels[4, 11], labels[2, 30:120] = nodes[:, 0], -1, -1
    expected = rule.groups(CpuBackend(), signatures, labels)
    monkeypatch.setattr(placement_module, "PLACED_ROWS", 16)
    placement = Placement.of(Cut(groups, lambda: rule), signatures)
    for given in (labels.astype(kind), np.asfortranarray(labels.astype(kind))):
        found = placement.clusters(CpuBackend(2), given)
        assert found.dtype == np.int32
        assert (found == placement.group_to_cluster[expected]).all()


def test_rows_with_missing_labels_change_no_sum_of_the_others():
    """Their links are computed in another way, whose rounding may differ."""
    nodes, groups, weights, labels = drawn(20, 600, 5)
    signatures, links = Signatures(nodes, np.arange(600), weights), Links("auto", 4.0)
    node_weights = np.vstack([weights, weights * (groups == 1)])
    alone = links.kernel_sums(CpuBackend(), signatures, labels, node_weights)
    holed = labels.copy()
    holed[3, 40], holed[19, 100] = -1, -1
    mixed = links.kernel_sums(CpuBackend(), signatures, holed, node_weights)
    others = np.delete(np.arange(labels.shape[1]), [40, 100])
    np.testing.assert_array_equal(mixed[:, others], alone[:, others])
    for row in (40, 100):
        own = links.kernel_sums(CpuBackend(), signatures, np.ascontiguousarray(holed[:, [row]]), node_weights)
        np.testing.assert_allclose(mixed[:, [row]], own, rtol=1e-12)


def test_ties_are_left_open():
    """Two groups of the same nodes: the rule that the sums stand for decides."""
    nodes, _, _, labels = drawn(20, 100, 1)
    twice, groups, weights = np.hstack([nodes, nodes]), np.repeat([0, 1], 100).astype(np.int32), np.ones(200)
    table = weight_table(20, "auto", 2.0)
    assert (_core.GroupVotes(twice, groups, weights, table).place(labels, 1) == -1).all()
    rule = MostLinked.of(Links("auto", 2.0), groups, weights)
    signatures = Signatures(twice, np.arange(200), weights)
    assert (rule.groups(CpuBackend(), signatures, labels) == 0).all()


@pytest.mark.parametrize("threshold", ["auto", 0.2])
@pytest.mark.parametrize("shape", [(20, 600, 5), (300, 200, 3), (20, 30, 5)], ids=str)
def test_the_rule_is_that_of_the_sums(shape, threshold):
    """Whether single precision takes part or not: with a threshold, many members or few nodes it does not."""
    nodes, groups, weights, labels = drawn(*shape)
    rule = MostLinked.of(Links(threshold, 4.0), groups, weights)
    votes = reference.group_votes(nodes, groups, weights, weight_table(len(nodes), threshold, 4.0), labels)
    found = rule.groups(CpuBackend(2), Signatures(nodes, np.arange(len(weights)), weights), labels)
    assert (found == votes.argmax(axis=0)).all()


def test_bad_votes_are_refused():
    nodes, groups, weights, labels = drawn(8, 40, 2)
    table = weight_table(8, "auto", 2.0)
    made = _core.GroupVotes(nodes, groups, weights, table)
    for bad in (
        (nodes, groups[1:], weights, table),
        (nodes, groups - 1, weights, table),
        (nodes, groups, -weights, table),
        (nodes, groups, weights, table[1:]),
        (nodes, groups, weights, table + 1),
        (nodes, groups, weights, table**2),
        (nodes, groups, weights, np.full(9, np.nan)),
        (nodes[:, :0].copy(), groups[:0], weights[:0], table),
    ):
        with pytest.raises(ValueError, match=r"nodes|groups|weights|table"):
            _core.GroupVotes(*bad)
    with pytest.raises(ValueError, match="same partitions"):
        made.place(labels[1:].copy(), 1)
    with pytest.raises(ValueError, match="threads"):
        made.place(labels, 0)
