"""The cut that agrees best with the others."""

import numpy as np
import pytest
from noisy_partitions import noisy, uncollapsed
from sklearn.metrics import adjusted_rand_score

from clusterforests import consensus_clustering
from clusterforests.backends import CpuBackend
from clusterforests.consensus.cut import ConsensusGraph, choose_medoid, cut_graph, place_by
from clusterforests.consensus.methods import METHODS, FromAffinity, FromLabels
from clusterforests.consensus.placement import MostShared
from clusterforests.consensus.settings import CutSettings


def cut_nodes(backend, signatures, settings):
    return cut_graph(ConsensusGraph(backend, signatures, settings), settings)


def test_the_odd_one_out_loses():
    good, near, odd = (np.array(g) for g in ([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1]))
    name, agreements = choose_medoid({"odd": odd, "near": near, "good": good}, np.ones(6))
    assert name in ("near", "good")
    assert agreements["odd"] == min(agreements.values())
    assert choose_medoid({"first": good, "second": good, "third": good}, np.ones(6))[0] == "first"


def test_medoid_through_the_labels_only_entry():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    partitions = [np.where(rng.random(60) < 0.15, rng.integers(0, 3, 60), truth) for _ in range(15)]
    assert (
        adjusted_rand_score(truth, consensus_clustering(partitions, 3, method="medoid", affinity_threshold="auto")) == 1
    )


def test_the_medoid_is_one_of_the_cuts():
    labels, _ = noisy(noise=0.5, seed=3)
    nodes = uncollapsed(labels)

    def cut(method):
        return cut_nodes(CpuBackend(), nodes, CutSettings(3, method, "auto", "auto", None))

    kept = cut("medoid")
    agreement = agreements(kept.reason)
    assert tuple(agreement) == METHODS["medoid"].methods
    assert agreement[kept.method] == max(agreement.values())
    assert (kept.cut.groups == cut(kept.method).cut.groups).all()
    assert cut(kept.method).reason is None


def agreements(reason):
    """Read the mean agreement of each cut that was tried with the others."""
    said = reason.removeprefix("agrees best with the other cuts: ").split(", ")
    return {name: float(value) for name, value in (one.split() for one in said)}


def test_gaps_are_cut_where_they_are_clean():
    """Trees of many clusters that never cross a border, among trees of few that do, show a gap there."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [40, 30])
    fine = [2 * ((np.arange(70) + shift) // 7) + truth for shift in range(6)]
    coarse = [rng.integers(0, 3, 70) for _ in range(14)]
    labels = np.array([np.unique(one, return_inverse=True)[1] for one in [*coarse, *fine]], dtype=np.int32)
    settings = CutSettings(2, "gaps-or-kway", "auto", "auto", None)
    kept = cut_nodes(CpuBackend(), uncollapsed(labels), settings)
    assert (kept.method, kept.reason) == ("gaps", "gaps lie between the clusters: 0.0% of the links cross them")
    assert adjusted_rand_score(truth, kept.cut.groups) == 1
    labels[-6:] = np.array([rng.permutation(one) for one in labels[-6:]])  # the same, but blind for the border
    kept = cut_nodes(CpuBackend(), uncollapsed(labels), settings)
    assert (kept.method, kept.reason) == ("kway", "no gaps lie between the clusters")


def test_a_method_that_cannot_make_so_many_groups_is_left_out_of_the_medoid(monkeypatch):
    def refuse(*_):
        raise ValueError("too few different rows")

    monkeypatch.setitem(METHODS, "kway", FromAffinity(refuse))
    nodes = uncollapsed(noisy()[0])
    settings = CutSettings(3, "medoid", 0.4, "auto", None)
    agreed, failed = cut_nodes(CpuBackend(), nodes, settings).reason.split("; ")
    assert list(agreements(agreed)) == ["average-trimmed", "ncut"]
    assert failed == "kway failed: too few different rows"
    with pytest.raises(ValueError, match="too few different rows"):
        cut_nodes(CpuBackend(), nodes, settings._replace(method="kway"))


def test_one_function_and_one_entry_make_a_method(monkeypatch):
    """As docs/extending.md says."""

    def halves(backend, signatures, n_clusters):
        return np.arange(len(signatures)) % n_clusters

    monkeypatch.setitem(METHODS, "halves", FromLabels(halves))
    nodes = uncollapsed(noisy()[0])
    kept = cut_nodes(CpuBackend(), nodes, CutSettings(3, "halves", 0.4, "auto", None))
    assert kept.cut.groups.tolist() == [0, 1, 2] * 20
    assert isinstance(place_by(kept.cut, nodes).rule, MostShared)


@pytest.mark.parametrize("exact", [False, True])
def test_nodes_of_an_exact_cut_stay(exact):
    labels, _ = noisy()
    nodes = uncollapsed(labels)
    kept = cut_nodes(CpuBackend(), nodes, CutSettings(3, "average", 0.4, "auto", None))
    placement = place_by(kept.cut, nodes, exact=exact)
    assert len(placement.settled) == (60 if exact else 0)
    assert (placement.clusters(CpuBackend(), labels) == kept.cut.groups).all()


@pytest.mark.parametrize("method", ["ncut", "ncut-best", "kway", "medoid"])
def test_affinity_scale_0_takes_the_shares_themselves(method):
    labels, truth = noisy(noise=0.3, seed=1)
    for affinity_scale in (0, 1e-300):
        found = consensus_clustering(labels, 3, method=method, affinity_threshold="auto", affinity_scale=affinity_scale)
        assert adjusted_rand_score(truth, found) > 0.9
    equal = r"affinity_scale=0 with affinity_threshold=0\.4 makes all links of the graph equal"
    if method != "medoid":
        with pytest.raises(ValueError, match=equal):
            consensus_clustering(labels, 3, method=method, affinity_scale=0)
    else:  # one of its three cuts needs no such links
        with pytest.warns(UserWarning, match=f"method='medoid' chose among fewer cuts: kway failed: {equal}.*; ncut"):
            consensus_clustering(labels, 3, method=method, affinity_scale=0)


def test_cuts_that_failed_are_named(monkeypatch):
    labels, _ = noisy(noise=0.5, seed=3)
    graph_cut = ConsensusGraph.cut

    def fail(self, name):
        if name in failing:
            raise ValueError(f"{name} cannot do it. Try something else.")
        return graph_cut(self, name)

    monkeypatch.setattr(ConsensusGraph, "cut", fail)

    def reason(method):
        return cut_nodes(CpuBackend(), uncollapsed(labels), CutSettings(3, method, "auto", "auto", None)).reason

    failing = {"kway"}
    assert reason("medoid").endswith("; kway failed: kway cannot do it")
    failing = {"kway", "ncut"}
    only = "the only cut that could be made; kway failed: kway cannot do it; ncut failed: ncut cannot do it"
    assert reason("medoid") == only
    failing = {"gaps"}
    assert reason("gaps-or-kway") == "gaps could not be looked for: gaps cannot do it"
