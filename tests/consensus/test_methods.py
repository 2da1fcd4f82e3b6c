"""The methods of cutting: which cut is kept, how rows are placed by it, and several numbers of clusters at once."""

from dataclasses import replace

import numpy as np
import pytest
from noisy_partitions import noisy, uncollapsed
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import collapse
from clusterforests.consensus.methods import MEDOID_OF, METHODS, ConsensusGraph, choose_medoid, cut_numbers
from clusterforests.consensus.nodes import CutSettings, works_without_matrix
from clusterforests.consensus.placement import Cut, Embedding, MostLinked, MostShared, NearestNode, Placement, Walk

BACKEND = CpuBackend(1)
RULES = {"ncut": Walk, "kway": Embedding, "refined": MostLinked, "gaps": NearestNode}


def cut_nodes(signatures, method, n_clusters=3, threshold="auto"):
    settings = CutSettings(n_clusters, method, threshold)
    return ConsensusGraph(BACKEND, signatures, settings).cut(method)


@pytest.mark.parametrize("method", METHODS)
def test_rows_are_placed_as_the_method_says(method):
    """Cuts by trees walk, K-way cuts have centres, refined ones count links, others take shares or a nearest node."""
    labels, truth = noisy()
    nodes = replace(uncollapsed(labels), values=truth[:, None] + labels[:2].T)
    cut = cut_nodes(nodes, method, threshold=0.4)
    assert (cut.method == method) != (method in ("medoid", "gaps-or-refined"))
    assert (cut.tree is not None) == (cut.method == "ncut")
    assert type(Placement.of(cut, nodes).rule) is RULES.get(cut.method, MostShared)
    X = np.random.default_rng(0).normal(size=(60, 3)) + 5 * np.arange(60)[:, None] // 20
    forest = ClusterForest(3, n_estimators=20, consensus=cut.method, random_state=0).fit(X)
    assert type(forest._predictor.placement.rule) is RULES.get(cut.method, MostShared)


@pytest.mark.parametrize("method", METHODS)
def test_methods_that_need_no_matrix_make_none(method, monkeypatch):
    def refuse(*_):
        raise MemoryError

    nodes = replace(uncollapsed(noisy()[0]), values=np.random.default_rng(0).normal(size=(60, 2)))
    monkeypatch.setattr("clusterforests.consensus.methods.check_pairs", refuse)
    monkeypatch.setattr("clusterforests.consensus.normalized_cut.check_pairs", refuse)
    if works_without_matrix(method):
        assert set(cut_nodes(nodes, method).groups) == {0, 1, 2}
    else:
        with pytest.raises(MemoryError):
            cut_nodes(nodes, method)


def test_one_function_and_one_entry_make_a_method(monkeypatch):
    """As docs/extending.md says."""

    def thirds(graph):
        return Cut(np.arange(len(graph.signatures), dtype=np.int32) % graph.n_clusters)

    monkeypatch.setitem(METHODS, "thirds", thirds)
    nodes = uncollapsed(noisy()[0])
    cut = cut_nodes(nodes, "thirds")
    assert cut.method == "thirds"
    assert cut.groups.tolist() == [0, 1, 2] * 20
    assert isinstance(Placement.of(cut, nodes).rule, MostShared)


@pytest.mark.parametrize("exact", [False, True])
def test_nodes_of_an_exact_cut_stay(exact):
    labels, _ = noisy()
    nodes = uncollapsed(labels)
    cut = cut_nodes(nodes, "average")
    placement = Placement.of(cut, nodes, exact=exact)
    assert len(placement.fixed_nodes) == (60 if exact else 0)
    assert (placement.clusters(CpuBackend(), labels) == cut.groups).all()


# The medoid, and gaps or else.


def test_the_odd_one_out_loses():
    good, near, odd = (np.array(g) for g in ([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1]))
    name, agreements = choose_medoid({"odd": odd, "near": near, "good": good}, np.ones(6))
    assert name in ("near", "good")
    assert agreements["odd"] == min(agreements.values())
    assert choose_medoid({"first": good, "second": good, "third": good}, np.ones(6))[0] == "first"


def agreements(reason):
    """Read the mean agreement of each cut that was tried with the others."""
    said = reason.removeprefix("agrees best with the other cuts: ").split(", ")
    return {name: float(value) for name, value in (one.split() for one in said)}


def test_the_medoid_is_one_of_the_cuts():
    nodes = uncollapsed(noisy(noise=0.5, seed=3)[0])
    cut = cut_nodes(nodes, "medoid")
    agreement = agreements(cut.reason)
    assert tuple(agreement) == MEDOID_OF
    assert agreement[cut.method] == max(agreement.values())
    assert (cut.groups == cut_nodes(nodes, cut.method).groups).all()


def test_cuts_that_cannot_be_made_are_left_out_and_named(monkeypatch):
    nodes = uncollapsed(noisy(noise=0.5, seed=3)[0])

    def refuse(name):
        def fail(graph):
            raise ValueError(f"{name} cannot do it. Try something else.")

        monkeypatch.setitem(METHODS, name, fail)

    refuse("kway")
    cut = cut_nodes(nodes, "medoid")
    agreed, failed = cut.reason.split("; ")
    assert list(agreements(agreed)) == ["average-trimmed", "ncut"]
    assert (failed, *cut.failed) == ("kway failed: kway cannot do it",) * 2
    with pytest.raises(ValueError, match="kway cannot do it"):
        cut_nodes(nodes, "kway")
    refuse("ncut")
    cut = cut_nodes(nodes, "medoid")
    assert (cut.method, len(cut.failed)) == ("average-trimmed", 2)
    monkeypatch.undo()
    refuse("gaps")
    cut = cut_nodes(nodes, "gaps-or-refined")
    assert cut.method == "kway"
    assert "gaps cannot do it" in cut.reason


def test_gaps_are_cut_where_they_are_clean():
    """Trees of many clusters that never cross a border, among trees of few that do, show a gap there."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [40, 30])
    fine = [2 * ((np.arange(70) + shift) // 7) + truth for shift in range(6)]
    coarse = [rng.integers(0, 3, 70) for _ in range(14)]
    labels = np.array([np.unique(one, return_inverse=True)[1] for one in [*coarse, *fine]], dtype=np.int32)
    cut = cut_nodes(uncollapsed(labels), "gaps-or-refined", 2)
    assert cut.method == "gaps"
    assert "0.0%" in cut.reason
    assert adjusted_rand_score(truth, cut.groups) == 1
    # The same trees, but blind for the border. The values are not known either.
    labels[-6:] = np.array([rng.permutation(one) for one in labels[-6:]])
    cut = cut_nodes(uncollapsed(labels), "gaps-or-refined", 2)
    assert cut.method == "kway"
    assert "no gaps" in cut.reason
    assert (cut.groups == cut_nodes(uncollapsed(labels), "kway", 2).groups).all()


# Several numbers of clusters.

TRUTH = np.repeat(np.arange(5), [40, 35, 30, 25, 20])


def nested(members=60, noise=0.05, seed=0):
    """Trees that see five groups, of which two pairs and then two more are merged in ever fewer of them."""
    rng = np.random.default_rng(seed)
    merged = [[0, 1, 2, 3, 4]] * 3 + [[0, 0, 2, 3, 4]] * 4 + [[0, 0, 2, 2, 4]] * 5 + [[0, 0, 0, 0, 4]] * 6
    labels = np.array([np.array(merged[m % len(merged)])[TRUTH] for m in range(members)])
    wrong = rng.random(labels.shape) < noise
    labels[wrong] = rng.integers(0, 5, wrong.sum())
    return collapse(labels.astype(np.int32), None)


def settings(method):
    return CutSettings(2, method)


@pytest.mark.parametrize("method", ["kway", "gaps-or-refined", "ncut", "average", "medoid"])
def test_every_cut_is_that_of_its_number(method):
    signatures = nested()
    numbers = [2, 3, 4, 5]
    found = cut_numbers(BACKEND, signatures, settings(method), numbers)
    for k, groups in zip(numbers, found, strict=True):
        own = settings(method)._replace(n_clusters=k)
        alone = ConsensusGraph(BACKEND, signatures, own).cut(method).groups
        assert adjusted_rand_score(alone, groups) == 1
        assert set(groups) == set(range(k))
    assert adjusted_rand_score(found[-1][signatures.inverse], TRUTH) == 1


@pytest.mark.parametrize("method", ["kway", "gaps-or-refined", "ncut"])
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
    for method in ("kway", "gaps-or-refined"):
        a, b = (cut_numbers(BACKEND, rows, settings(method), [2, 3]) for rows in (weighted, repeated))
        for mine, theirs in zip(a, b, strict=True):
            np.testing.assert_array_equal(
                np.repeat(mine[weighted.inverse], weights.astype(int)), theirs[repeated.inverse]
            )


@pytest.mark.parametrize("method", ["kway", "gaps-or-refined", "ncut", "average"])
def test_more_groups_than_rows_cannot_be_cut(method):
    three = collapse(np.tile([0, 0, 1, 2, 2], (4, 1)).astype(np.int32), None)
    first, second = cut_numbers(BACKEND, three, settings(method), [2, 7])
    assert set(first) == {0, 1}
    assert second is None
